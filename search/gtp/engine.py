"""The engine: takes a line, does the command, writes the reply."""

import contextlib
import dataclasses
import inspect
import sys
import threading
import time
import traceback
from collections.abc import Callable

from jaxgo import Position
from search.gtp import protocol, scoring
from search.gtp.clock import Clock
from search.gtp.commands import COMMANDS
from search.gtp.manners import Resignation
from search.gtp.options import EngineOptions
from search.gtp.protocol import Command, Failure, Reply
from search.gtp.table import Table
from search.gtp.thinker import Thinker

#: Options that a player is not made of.
CHANGED_AT_ONCE = {"visits", "seconds", "ponder", "resign"}

#: Seconds of compiling after which people are told.
SILENCE = 10.0

Stream = Callable[[Reply], None]
"""What a command returns that answers little by little: it says its lines, and returns when there are no more."""


class Engine:
    """A game of Go at the end of a line.

    Args:
      options: how it plays.
      write: takes the text of replies.
      interrupted: whether another line has come in, or the conversation ends; analysis and pondering stop then.
      hurried: whether moves are to be chosen at once: the client has interrupted the command, or the conversation is to end.
      compiled: called after a compilation, while there is time.
    """

    commands = COMMANDS
    """What it knows, by name."""

    def __init__(
        self,
        options: EngineOptions,
        write: Callable[[str], None],
        interrupted: Callable[[], bool] = lambda: False,
        hurried: Callable[[], bool] = lambda: False,
        compiled: Callable[[], None] = lambda: None,
    ):
        self.options, self.interrupted, self.hurried, self._on_compiled = options, interrupted, hurried, compiled
        self.table = Table(options)
        self.thinker = Thinker(options)
        self.clock = Clock()
        self.resignation = Resignation(options.resign)
        self.over = False
        """Whether the client has said quit."""
        self.command = Command("", "", ())
        """The present command."""
        self.received = time.monotonic()
        """When the present command came, or the engine had done what no clock counts: a player's clock runs from then on."""
        self._write = write
        self._replied: Position | None = None  # the one that follows an own move, to be pondered about
        self._judged: tuple[Position, scoring.Judgement] | None = None  # the position judged last, and the judgement
        self.judging = 0.0
        """Seconds that the last judgement took."""
        self._uncounted = 0.0  # when what no clock counts was done last

    def obey(self, line: str, received: float | None = None) -> None:
        """Does what a line asks for, and writes one reply; none to a line without a command.

        Args:
          line: without its end.
          received: when it came, on `time.monotonic`; by default now.
        """
        command = protocol.parse(line)
        if command is None:
            return
        reply = Reply(command, self._write)
        self.command = command
        self.received = max(time.monotonic() if received is None else received, self._uncounted)
        try:
            result = self._call(command)
            if callable(result):
                result(reply)
                reply.end()
            else:
                reply.succeed(result or "")
        except Failure as failure:
            reply.fail(str(failure))
        except BrokenPipeError:  # the client has gone
            raise
        except Exception as error:  # whatever went wrong, the client gets its reply and the game can go on
            self.recover()
            reply.fail(f"internal error: {' '.join(f'{type(error).__name__}: {error}'.split())}")

    def refuse(self, beginning: str, text: str) -> None:
        """Replies to a line of which no more than the beginning is known, with the number that it has; not to a comment."""
        if (command := protocol.parse(beginning)) is not None:
            Reply(command, self._write).fail(text)

    def recover(self) -> None:
        """Tells people of the exception that is being handled, and forgets what it may have left half done."""
        with contextlib.suppress(OSError, ValueError):  # nobody listens
            traceback.print_exc(file=sys.stderr)
        self.thinker.forget()

    def _call(self, command: Command) -> str | Stream | None:
        function = self.commands.get(command.name)
        if function is None:
            raise Failure(protocol.UNKNOWN_COMMAND)
        try:
            inspect.signature(function).bind(self, *command.arguments)
        except TypeError:
            raise Failure(protocol.SYNTAX_ERROR) from None
        return function(self, *command.arguments)

    # What several commands do.

    def change(self, **options) -> None:
        """Goes on with other options, from the next move on."""
        self.options = self.thinker.options = dataclasses.replace(self.options, **options)
        if "resign" in options:
            self.resignation = Resignation(self.options.resign)
        if not options.keys() <= CHANGED_AT_ONCE:
            self.thinker.forget()
        if "threads" in options or self.thinker.has_compiled(self.table.size):  # programs may be others, and no clock runs now
            self.prepare()

    def count_no_time(self) -> None:
        """Notes that what has been done until now is on no player's clock, or on it already: commands may wait for it."""
        self._uncounted = time.monotonic()

    def new_game(self) -> None:
        """Forgets what was thought of the game before; another board is on the table."""
        self.thinker.new_game()
        self.resignation = Resignation(self.options.resign)
        self.stop_pondering()

    def prepare(self) -> None:
        """Compiles for the board on the table, now that no clock runs."""
        size = self.table.size
        # To people, who would take the silence for a fault. Nothing is said where programs are found that were compiled before.
        alarm = threading.Timer(SILENCE, protocol.remark, [f"compiling for {size}x{size}, for up to some minutes; that is kept"])
        alarm.daemon = True
        alarm.start()
        try:
            compiled = self.thinker.compile(size)
        finally:
            alarm.cancel()
        if compiled:
            scoring.score(self.table, self.judgement())
            self._on_compiled()
            self.count_no_time()

    def judgement(self) -> scoring.Judgement:
        """Which of the chains on the table live."""
        position = self.table.game.position
        if self._judged is None or not self.is_judged:
            start = time.monotonic()
            self._judged = position, scoring.judge(position, all_live=self.options.cleanup, devices=self.options.threads)
            self.judging = time.monotonic() - start
        return self._judged[1]

    @property
    def is_judged(self) -> bool:
        """Whether a judgement of the table's position is at hand."""
        return self._judged is not None and self._judged[0] is self.table.game.position

    def played_own_move(self) -> None:
        """Notes that it is the opponent's turn to think."""
        self._replied = self.table.game.position

    def stop_pondering(self) -> None:
        """Leaves the opponent's thinking time unused until the next own move."""
        self._replied = None

    # Pondering.

    @property
    def may_ponder(self) -> bool:
        """Whether there is something to think about while the opponent does."""
        return self.options.ponder and not self.over and self._replied is self.table.game.position and not self.table.game.over

    def ponder(self) -> None:
        """Thinks until a line comes in."""
        try:
            self.thinker.ponder(self.table.game, self.table.komi, self.interrupted)
        except Exception:  # nobody has asked for it: the game goes on
            self.recover()
            self.stop_pondering()
        self._replied = None if not self.interrupted() else self._replied

    def close(self) -> None:
        """Ends what still runs."""
        self.thinker.forget()
