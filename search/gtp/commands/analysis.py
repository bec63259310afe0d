"""Commands that report what the engine thinks while it thinks."""

import dataclasses
import time
from collections.abc import Callable

from search.choice import Player
from search.findings import Findings
from search.gtp import arguments, reports
from search.gtp.clock import FOR_EVER
from search.gtp.commands.play import choose, settle
from search.gtp.protocol import Reply
from search.gtp.reports import Request
from search.gtp.thinker import close

#: How often to look whether somebody does, when there is nothing to do, seconds.
LOOK = 0.005
#: Moves in CGOS's reports.
CGOS_MOVES = 10


def analyze(form: Callable) -> Callable:
    """The command that thinks about the position, and reports in a form, until a line comes in."""

    def command(engine, *words: str):
        request = Request.parse(words, engine.table.size)

        def stream(reply: Reply) -> None:
            table, restrictions = engine.table, request.restrictions
            player = engine.thinker.player(table.komi, restrictions=restrictions)
            colour = request.colour or table.game.to_play
            search = player.prepare(table.game.turn(colour), table.game.history)
            reporter = Reporter(engine, request, form, reply.say, engine.interrupted)

            def progress(_) -> None:
                reply.begin()  # not before: what has no playouts can still fail
                reporter(player)

            try:
                search.run(seconds=FOR_EVER, progress=progress, stop=engine.interrupted)
            finally:
                if restrictions is not None:
                    close(player)
            reply.begin()
            while not engine.interrupted():  # the search has nothing more to learn
                time.sleep(LOOK)

        return stream

    return command


def genmove_analyze(form: Callable, *, play: bool = True, with_more: Callable[[Request], Request] = lambda request: request):
    """The command that chooses a move and reports in a form meanwhile; `play` says whether it plays it, too, and `with_more` what
    is reported beside what the client asks for."""

    def command(engine, *words: str):
        request = with_more(Request.parse(words, engine.table.size))
        colour = request.colour or engine.table.game.to_play

        def stream(reply: Reply) -> None:
            reporter = Reporter(engine, request, form, reply.say)
            try:
                move = choose(engine, colour, play=play, report=reporter, restrictions=request.restrictions)
            except BrokenPipeError:
                raise
            except Exception:
                if reporter.best is None:
                    raise
                # The reply has begun, and the client waits for a move: the best one so far, as it has been told.
                engine.recover()
                move = reporter.best
                if play:
                    settle(engine, colour, arguments.vertex(move, engine.table.size))
            reply.say(f"play {move}")

        return stream

    return command


def for_cgos(request: Request) -> Request:
    """What the server CGOS wants: one report, before the move, with ownership, and few moves unless its client says how many."""
    most = CGOS_MOVES if request.wanted.most_moves is None else request.wanted.most_moves
    wanted = dataclasses.replace(request.wanted, most_moves=most, ownership=True)
    return dataclasses.replace(request, wanted=wanted, root_info=True, interval=FOR_EVER)


class Reporter:
    """Says lines about a player's search, not more often than the client asked for.

    Args:
      engine: whose.
      request: what to report.
      form: how, one of the functions of `search.gtp.reports`.
      say: takes the lines.
      interrupted: whether nobody wants to hear any more; by default the report belongs to a move, which nobody interrupts.
    """

    def __init__(
        self, engine, request: Request, form: Callable, say: Callable[[str], None], interrupted: Callable[[], bool] | None = None
    ):
        self.engine, self.request, self.form, self.say, self.interrupted = engine, request, form, say, interrupted
        self.best: str | None = None
        """The move that the last line has called the best."""
        self._next = time.monotonic() + request.interval
        # What comes after each move takes long to play out, too long for one who is on the clock.
        self._wanted = request.wanted if interrupted else dataclasses.replace(request.wanted, moves_ownership=False)

    def __call__(self, player: Player, last: bool = False) -> None:
        """Says a line if it is time for one."""
        now = time.monotonic()
        if not last and (now < self._next or (self.interrupted is not None and self.interrupted())):
            return
        self._next = max(self._next + self.request.interval, now)
        played = Findings.of(player.search, self._wanted)
        stop = self.interrupted or (lambda: False)
        found = played.with_ownership(self.engine.options.threads, stop) if played.waits else played
        if found is not None and found.infos:  # after the very first playouts no move has been tried yet
            self.say(self.form(found, self.request.root_info))
            self.best = found.infos[0]["move"]
        # However often they are wanted, reports leave the search half of the time: ownership has to be played out.
        done = time.monotonic()
        self._next = max(self._next, done + (done - now))


COMMANDS = {
    "lz-analyze": analyze(reports.lz_line), "kata-analyze": analyze(reports.kata_line),
    "lz-genmove_analyze": genmove_analyze(reports.lz_line), "kata-genmove_analyze": genmove_analyze(reports.kata_line),
    "kata-search_analyze": genmove_analyze(reports.kata_line, play=False),
    "cgos-genmove_analyze": genmove_analyze(reports.cgos_line, with_more=for_cgos),
}  # fmt: skip
