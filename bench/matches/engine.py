"""A GTP engine in a process of its own: another program that plays, or that counts the score.

No wait is without a bound, whatever the engine does: it may end, hang, write nonsense, or fill its stderr. What it last wrote
there is part of what is said of a failure.
"""

import collections
import contextlib
import dataclasses
import functools
import math
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import IO

from jaxgo.board.coordinates import coordinate, point
from jaxgo.records.sgf import without_controls
from search.choice import Choice, passing
from search.game import Game
from search.in_steps import Steps
from search.selfplay import FAILURE, TIME, Forfeit

#: What stands before an engine's command line where bots stand by their names.
PREFIX = "gtp:"
#: Seconds that an answer may take where no clock runs: engines load networks and compile.
PATIENCE = 600.0
#: Seconds without an answer of an engine that is started after which it is said for what the match waits.
SILENCE = 5.0
#: Seconds that an engine may take to end after it has closed its output.
ENDING = 1.0
#: What an engine last wrote to stderr: so many lines of so many characters are told.
STDERR_LINES, STDERR_WIDTH = 3, 200
#: What an engine says is read in pieces of so many characters, where it ends no line; of an answer, and of pieces that nobody has
#: asked for, so many are taken. Engines that say more are broken, and are ended before they fill the memory.
PIECE, MOST_PIECES = 4096, 10_000
#: Debian has games where not every user's PATH leads.
_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/games"])
_LETTERS = {1: "b", -1: "w"}
_SCORE = re.compile(r"([BW])\+([0-9]+(?:\.[0-9]*)?)")

#: Engines that have not been ended.
_running: "set[Engine]" = set()


class EngineError(Exception):
    """The engine cannot be started, refuses a command, has ended, or does not answer; the text says which."""


class NoAnswer(EngineError):
    """The engine does not answer in time; it has been ended."""


class Engine:
    """A running engine; `close` ends it.

    Args:
      command: its command line, as a shell splits it.

    Raises:
      EngineError: it cannot be started, or is no GTP engine.
    """

    def __init__(self, command: str):
        arguments = split(command)
        self._group_ended = False
        try:
            self._process = subprocess.Popen(
                located(arguments),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                start_new_session=True,  # so that what it starts ends with it
            )  # fmt: skip
        except OSError as error:
            raise EngineError(f"{arguments[0]!r} cannot be started: {error.strerror}") from None
        _running.add(self)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._errors: collections.deque[str] = collections.deque(maxlen=STDERR_LINES)
        self._threads = [
            threading.Thread(target=read, args=(self._process, where), daemon=True)
            for read, where in ((_read_output, self._lines), (_read_errors, self._errors))
        ]
        for thread in self._threads:
            thread.start()
        waiting = threading.Timer(SILENCE, lambda: print(f"waiting for the engine {command!r} to answer", file=sys.stderr))
        waiting.daemon = True
        waiting.start()
        try:
            self.commands = frozenset(self.ask("list_commands", PATIENCE).split())
            self.name = " ".join(self.ask(word).strip() for word in ("name", "version"))
        except NoAnswer as error:
            raise EngineError(f"{error}: does it speak GTP, as `gnugo --mode gtp` does?") from None
        except BaseException:
            self.close()
            raise
        finally:
            waiting.cancel()

    def ask(self, command: str, seconds: float = PATIENCE) -> str:
        """The answer to a command, without the "=".

        Raises:
          NoAnswer: it takes longer than so many seconds.
          EngineError: the engine refuses the command, or has ended.
        """
        deadline = time.monotonic() + seconds
        self._check_silence()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(command + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError):  # it has ended, or was ended; what it said before is still to be read
            pass
        lines: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                self.close()
                raise NoAnswer(f"no answer to {command!r} in {seconds:g} s{self._said()}") from None
            if line is None:
                self._lines.put(None)
                raise EngineError(f"it {self._ending(command)}{self._said()}")
            if line.strip() or lines:  # blank lines before an answer mean nothing
                if not line.strip():
                    break
                lines.append(line.rstrip("\r\n"))
                if not lines[0].startswith(("=", "?")):
                    self.close()
                    raise EngineError(f"its answer to {command!r} is not GTP's: {lines[0][:STDERR_WIDTH]!r}")
                if len(lines) > MOST_PIECES:
                    self.close()
                    raise EngineError(f"its answer to {command!r} does not end")
        text = "\n".join([lines[0][1:].lstrip(), *lines[1:]])
        if lines[0].startswith("?"):
            raise EngineError(f"it refuses {command!r}: {_brief(text) or 'without saying why'}")
        return text

    def _check_silence(self) -> None:
        """That it has said nothing since its last answer: every further answer would be taken for that to another command."""
        with contextlib.suppress(queue.Empty):
            while (line := self._lines.get_nowait()) is not None:
                if line.strip():
                    self.close()
                    raise EngineError(f"it says what it was not asked: {_brief(line)!r}")
            self._lines.put(None)

    @property
    def running(self) -> bool:
        """Whether it can be asked."""
        running = self._process.poll() is None
        if not running:
            self._end_group()
        return running

    def begin(self, size: int, komi: float, seed: int = 0) -> None:
        """A new game. Engines that take seeds (GNU Go) get one.

        Raises:
          EngineError: the engine does not play on this board.
        """
        for command in (f"boardsize {size}", f"komi {komi:.12g}", "clear_board"):
            self.ask(command)
        if "set_random_seed" in self.commands:
            self.ask(f"set_random_seed {seed % 2**31}")

    def play(self, colour: int, move: int, size: int, seconds: float = PATIENCE) -> None:
        """Tells it a move, P for a pass."""
        self.ask(f"play {_LETTERS[colour]} {coordinate(move, size)}", seconds)

    def final_score(self) -> float:
        """Black's points minus White's, komi included, of the game that it was told.

        Raises:
          EngineError: it does not say.
        """
        text = self.ask("final_score").strip()
        if found := _SCORE.match(text.upper()):
            return float(found[2]) * (1 if found[1] == "B" else -1)
        if text.lower() in ("0", "draw", "jigo"):
            return 0.0
        raise EngineError(f"its final_score is {_brief(text)!r}")

    def close(self) -> None:
        """Ends it, and whatever it has started."""
        self._end_group()
        self._process.wait()
        for thread in self._threads:
            thread.join(1.0)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def _ending(self, command: str) -> str:
        """How it has ended at a command, for people, when no more answers come; what is left of it is ended."""
        try:
            return f"ended at {command!r} with exit status {self._process.wait(ENDING)}"
        except subprocess.TimeoutExpired:
            return f"closed its output at {command!r}"
        finally:
            self.close()

    def _end_group(self) -> None:
        """Ends what is left of it and of what it has started; once, as its number may be another's later."""
        if not self._group_ended:
            self._group_ended = True
            _running.discard(self)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _said(self) -> str:
        """What it last wrote to stderr."""
        self._threads[1].join(0.5)  # an engine that has ended may have said why just before
        return f"; stderr: {' | '.join(self._errors)}" if self._errors else ""


@dataclasses.dataclass
class EngineMover:
    """An engine's part in a game.

    Args:
      engine: it has begun the game (`Engine.begin`).
      seconds: for each move, which the engine is told, None for no clock.
      grace: seconds that a move may take beyond.
    """

    engine: Engine
    seconds: float | None
    grace: float
    knows_superko = False

    def __post_init__(self):
        self._told = 0
        if self.seconds is not None and "time_settings" in self.engine.commands:
            try:
                self.engine.ask(f"time_settings 0 {self.seconds:g} 1")
            except EngineError:
                if not self.engine.running:
                    raise
                self.engine.ask(f"time_settings 0 {math.ceil(self.seconds)} 1")  # the protocol has whole seconds only

    def move_in_steps(self, game: Game) -> Steps[Choice]:
        yield from ()
        return self._move(game)

    def _tell_the_time(self, colour: int, deadline: float) -> None:
        """Says what is left, where that is a command; who does not take it in this form may play all the same."""
        if self.seconds is not None and "time_left" in self.engine.commands:
            try:
                self.engine.ask(f"time_left {_LETTERS[colour]} {math.ceil(self.seconds)} 1", deadline - time.monotonic())
            except EngineError:
                if not self.engine.running:
                    raise

    def _move(self, game: Game) -> Choice:
        patience = PATIENCE if self.seconds is None else self.seconds + self.grace
        deadline = time.monotonic() + patience
        try:
            for colour, move in game.moves[self._told :]:
                self.engine.play(colour, move, game.size, deadline - time.monotonic())
            self._tell_the_time(game.to_play, deadline)
            answer = self.engine.ask(f"genmove {_LETTERS[game.to_play]}", deadline - time.monotonic()).strip()
        except NoAnswer as error:
            raise Forfeit(FAILURE if self.seconds is None else TIME, str(error)) from None
        except EngineError as error:
            self.engine.close()  # it is started anew: who knows what it takes the game for
            raise Forfeit(FAILURE, str(error)) from None
        if answer.lower() == "resign":
            return dataclasses.replace(passing(game.size**2), resign=True)
        try:
            move = point(answer, game.size)
        except ValueError:
            self.engine.close()
            raise Forfeit(FAILURE, f"its move {_brief(answer)!r} is none") from None
        self._told = len(game.moves) + 1
        return dataclasses.replace(passing(game.size**2), move=move, variation=[move])


def split(command: str) -> list[str]:
    """A command line as a shell splits it.

    Raises:
      EngineError: there is nothing in it, or a quotation mark is open.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise EngineError(f"the command line cannot be read: {error}") from None
    if not words:
        raise EngineError("there is no command line")
    return words


def located(words: Sequence[str]) -> list[str]:
    """A command with the path of its program, where that is installed."""
    return [shutil.which(words[0], path=_PATH) or words[0], *words[1:]]


def find_gnugo() -> str | None:
    """The command line of GNU Go as a referee by area scoring, None where it is not installed."""
    return "gnugo --mode gtp --chinese-rules" if shutil.which("gnugo", path=_PATH) else None


def kill_all() -> None:
    """Kills all engines of this process, at once and without waiting for anything: in a signal handler, say, or as it ends."""
    for engine in list(_running):  # made in one step, whatever another thread adds
        engine._end_group()


def _read_output(process: subprocess.Popen[str], lines: "queue.SimpleQueue[str | None]") -> None:
    """Hands on what an engine answers, and None at its end."""
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError), process.stdout as output:
        for line in _pieces(output):
            lines.put(line)
            if lines.qsize() > MOST_PIECES:
                process.kill()
                break
    lines.put(None)


def _read_errors(process: subprocess.Popen[str], lines: "collections.deque[str]") -> None:
    """Keeps the last lines of an engine's stderr, so that it never waits for a reader."""
    assert process.stderr is not None
    with contextlib.suppress(OSError, ValueError), process.stderr as errors:
        for line in _pieces(errors):
            if line.strip():
                lines.append(_brief(line))


def _brief(text: str) -> str:
    """What an engine says, for people: one line of bounded length, without characters that a terminal acts on."""
    return without_controls(" ".join(text.split()))[:STDERR_WIDTH]


def _pieces(stream: IO[str]) -> Iterator[str]:
    """A stream's lines; one that does not end comes in pieces."""
    return iter(functools.partial(stream.readline, PIECE), "")
