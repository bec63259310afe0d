"""The engine: takes a line, does the command, writes the reply."""

import inspect
import sys
import time
import traceback
from collections.abc import Callable

from search.gtp import protocol, scoring
from search.gtp.clock import Clock
from search.gtp.protocol import Command, Failure
from search.gtp.settings import Settings
from search.gtp.table import Table
from search.gtp.thinker import Thinker

Say = Callable[[str], None]
"""Writes a line of a reply that goes on."""

Stream = Callable[[Say], None]
"""What a command returns that answers little by little: it says its lines, and returns when there are no more."""


class Engine:
    """A game of Go at the end of a line.

    Args:
      settings: how it plays.
      write: takes the text of replies.
      interrupted: whether another line has come in, or the conversation ends; analysis and pondering stop then.
      ending: whether the conversation is to end soon; moves are chosen at once then.
      compiled: called after a compilation, while there is time.
    """

    def __init__(
        self,
        settings: Settings,
        write: Callable[[str], None],
        interrupted: Callable[[], bool] = lambda: False,
        ending: Callable[[], bool] = lambda: False,
        compiled: Callable[[], None] = lambda: None,
    ):
        self.settings, self.interrupted, self.ending, self._on_compiled = settings, interrupted, ending, compiled
        self.table = Table(settings)
        self.thinker = Thinker(settings)
        self.clock = Clock()
        self.over = False
        """Whether the client has said quit."""
        self.received = time.monotonic()
        """When the present command came."""
        self._write = write
        self._replied = None  # the position that follows an own move, to be pondered about
        self._judged = None  # the position judged last, and the judgement

    @property
    def commands(self) -> dict[str, Callable]:
        """What it knows, by name."""
        from search.gtp.commands import COMMANDS

        return COMMANDS

    def obey(self, line: str) -> None:
        """Does what a line asks for, and writes one reply; none to a line without a command."""
        command = protocol.parse(line)
        if command is None:
            return
        self.received, begun = time.monotonic(), False
        try:
            result = self._call(command)
            if not callable(result):
                self._write(protocol.reply(command, result or ""))
                return
            self._write(f"={command.identity}\n")
            begun = True
            result(self._say)
        except Failure as failure:
            if not begun:
                self._write(protocol.reply(command, str(failure), success=False))
        except BrokenPipeError:  # the client has gone
            raise
        except Exception as error:  # whatever went wrong, the client gets its reply and the game can go on
            traceback.print_exc(file=sys.stderr)
            if not begun:
                text = " ".join(f"{type(error).__name__}: {error}".split())
                self._write(protocol.reply(command, f"internal error: {text}", success=False))
        if begun:
            self._write("\n")

    def _say(self, text: str) -> None:
        """Writes a line of a reply that goes on; an empty one would end it."""
        text = protocol.body(text)
        if text:
            self._write(text + "\n")

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

    def new_game(self) -> None:
        """Forgets what was thought of the game before; another board is on the table."""
        self.thinker.new_game()
        self.stop_pondering()

    def prepare(self) -> None:
        """Compiles for the board on the table, now that no clock runs."""
        if self.thinker.compile(self.table.size):
            scoring.score(self.table, self.judgement())
            self._on_compiled()

    def judgement(self) -> scoring.Judgement:
        """Which of the chains on the table live."""
        position = self.table.game.position
        if self._judged is None or self._judged[0] is not position:
            self._judged = position, scoring.judge(position, all_live=self.settings.cleanup)
        return self._judged[1]

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
        return self.settings.ponder and not self.over and self._replied is self.table.game.position and not self.table.game.over

    def ponder(self) -> None:
        """Thinks until a line comes in."""
        self.thinker.ponder(self.table.game, self.table.komi, self.interrupted)
        self._replied = None if not self.interrupted() else self._replied

    def close(self) -> None:
        """Ends what still runs."""
        self.thinker.forget()
