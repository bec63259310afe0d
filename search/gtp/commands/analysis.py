"""Commands that report what the engine thinks while it thinks."""

import time
from collections.abc import Callable

import numpy as np

from jaxgo import Position
from jaxgo.board.coordinates import coordinate
from search.choice import Choice
from search.gtp import arguments, reports
from search.gtp.commands.play import choose, settle
from search.gtp.protocol import Reply
from search.gtp.reports import Request
from search.gtp.thinker import close
from search.move_infos import move_infos, move_infos_of_choice, root_info
from search.players import Player
from search.search import Search
from search.tree import Tree

#: How long analysis goes on when nobody interrupts it, seconds.
FOR_EVER = 1e9
#: How often to look whether somebody does, when there is nothing to do, seconds.
LOOK = 0.005
#: How long a report may look into ownership while a move is chosen, perhaps on the clock, seconds.
SHORT_LOOK = 0.05
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


def genmove_analyze(form: Callable, *, play: bool = True) -> Callable:
    """The command that chooses a move and reports in a form meanwhile; `play` says whether it plays it, too."""

    def command(engine, *words: str):
        request = Request.parse(words, engine.table.size)
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


def cgos_genmove_analyze(engine, *words: str):
    """Chooses and plays a move; one report for the server CGOS comes before it."""
    before, after = f"maxmoves {CGOS_MOVES}", f"ownership true rootInfo true interval {100 * FOR_EVER:.0f}"
    return genmove_analyze(reports.cgos_line)(engine, *words[:1], *before.split(), *words[1:], *after.split())


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

    def __call__(self, player: Player, last: bool = False) -> None:
        """Says a line if it is time for one."""
        now = time.monotonic()
        if not last and (now < self._next or (self.interrupted is not None and self.interrupted())):
            return
        self._next = max(self._next + self.request.interval, now)
        stop = self.interrupted or (lambda: time.monotonic() > now + SHORT_LOOK)
        infos, root, owners = self._found(player, stop)
        if infos:  # after the very first playouts no move has been tried yet
            self.say(self.form(infos, root, owners))
            self.best = infos[0]["move"]

    def _found(self, player: Player, stop: Callable[[], bool]) -> tuple[list[dict], dict | None, np.ndarray | None]:
        """What `reports` puts into lines."""
        request, search = self.request, player.search
        if isinstance(search, Search):
            found = search.statistics()
            infos, root = move_infos(search, statistics=found), root_info(found)
            if request.pv_visits:
                infos = [{**info, "pvVisits": _visits_along(search.tree, info)} for info in infos]
        else:
            choice = search.choice()
            infos, root = move_infos_of_choice(choice, search.position.size), _root_info_of_choice(choice)
        infos = _of_number(infos, root, search.position, request)
        owners = None
        if request.ownership:
            owners = self.engine.thinker.ownership(search.position)
            owners.refine(stop)
            owners = owners.of_black * int(np.asarray(search.position.to_play)[0])
        return infos, root if request.root_info else None, owners


def _of_number(infos: list[dict], root: dict, position: Position, request: Request) -> list[dict]:
    """As many moves as the client wants: the best, or with others that are legal but have not been tried."""
    if len(infos) < request.min_moves:
        known = {info["move"] for info in infos}
        legal = (coordinate(int(point), position.size) for point in np.flatnonzero(np.asarray(position.legal())[0]))
        others = [name for name in legal if name not in known][: request.min_moves - len(infos)]
        untried = {**root, "visits": 0, "edgeVisits": 0, "weight": 0.0, "prior": 0.0, "lcb": 0.0, "utilityLcb": -1.0, "pv": []}
        infos = infos + [
            {**untried, "move": name, "scoreMean": root["scoreLead"], "order": order}
            for order, name in enumerate(others, start=len(infos))
        ]  # fmt: skip
    return infos[: request.max_moves]


def _root_info_of_choice(choice: Choice) -> dict:
    """`root_info` of a bot without a tree: the best move's rate; it does not measure leads."""
    rate = 0.5 if np.isnan(choice.win_rate) else choice.win_rate
    return {
        "winrate": rate, "utility": 2 * rate - 1, "scoreLead": 0.0, "scoreSelfplay": 0.0, "scoreStdev": 0.0,
        "visits": choice.playouts, "weight": float(choice.playouts),
    }  # fmt: skip


def _visits_along(tree: Tree, info: dict) -> list[int]:
    """The playouts through each move of a line from the root."""
    node, out = tree.root, []
    for name in info["pv"]:
        move = arguments.vertex(name, tree.size)
        # Playouts under way are in the tree already, but not among the move's visits.
        out.append(min(int(tree.visits(node)[move]), out[-1]) if out else info["visits"])
        node = tree.child(node, move)
    return out


COMMANDS = {
    "lz-analyze": analyze(reports.lz_line), "kata-analyze": analyze(reports.kata_line),
    "lz-genmove_analyze": genmove_analyze(reports.lz_line), "kata-genmove_analyze": genmove_analyze(reports.kata_line),
    "kata-search_analyze": genmove_analyze(reports.kata_line, play=False), "cgos-genmove_analyze": cgos_genmove_analyze,
}  # fmt: skip
