"""Clients for the tests: one that talks to the engine in this process, and one that talks to `jaxgo gtp` over pipes."""

import os
import queue
import select
import subprocess
import sys
import threading
import time

from search.gtp.engine import Engine
from search.gtp.options import EngineOptions

#: Few playouts, on few leaves: the moves are bad, and quick.
QUICK = {"visits": 64, "leaves": 8, "playouts_per_leaf": 4}


class Client:
    """The engine in this process.

    Args:
      size: of the board; None leaves the engine's own.
      lines: how many lines of analysis to hear before another line comes in.
      **options: of the engine.
    """

    def __init__(self, size: int | None = 5, *, lines: int = 1, **options):
        self.written: list[str] = []
        self.lines, self.asked = lines, 0
        self.engine = Engine(EngineOptions(**{**QUICK, **options}), self.written.append, interrupted=self._interrupted)
        if size is not None:
            self.ok(f"boardsize {size}")

    def __call__(self, line: str) -> str:
        """All that is written in answer to a line."""
        del self.written[:]
        self.asked = 0
        self.engine.obey(line)
        return "".join(self.written)

    def ok(self, line: str) -> str:
        """The text of a reply that must be a success."""
        answer = self(line)
        assert answer.startswith("="), (line, answer)
        return body_of(answer)

    def fails(self, line: str) -> str:
        """The text of a reply that must be a failure."""
        answer = self(line)
        assert answer.startswith("?"), (line, answer)
        return body_of(answer)

    def play(self, *moves: str) -> None:
        """Plays moves such as "b C3"."""
        for move in moves:
            self.ok(f"play {move}")

    def board(self) -> str:
        """The board as a diagram, rows from the top."""
        return "\n".join("".join(".XO"[stone] for stone in row) for row in self.engine.table.stones)

    def _interrupted(self) -> bool:
        self.asked += 1  # a client that hears nothing has no patience for ever
        return self.asked > 2_000 or sum(text.count("\n") for text in self.written) > self.lines  # the first is the reply's own


def body_of(answer: str) -> str:
    """The text of a reply, which must be well-formed."""
    assert answer[:1] in "=?" and answer.endswith("\n\n") and "\n\n" not in answer[:-1], repr(answer)
    head, _, rest = answer[1:-2].partition("\n")
    head = head.lstrip("0123456789").removeprefix(" ")
    return "\n".join(part for part in (head, rest) if part)


class Piped:
    """`jaxgo gtp` in a process of its own.

    Args:
      *arguments: of the command.
      check: whether it must end with status 0.
    """

    def __init__(self, *arguments: str, check: bool = True):
        command = [sys.executable, "-m", "jaxgo", "gtp", *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.check, self.errors = check, b""
        self._heard: queue.Queue[bytes] = queue.Queue()
        self._deaf = threading.Event()
        self._threads = [threading.Thread(target=self._hear), threading.Thread(target=self._hear_errors)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> "Piped":
        return self

    def __exit__(self, kind, *_) -> None:
        if kind is not None:
            self.process.kill()
        self.process.stdin.close()
        status = self.process.wait(timeout=60)
        for thread in self._threads:
            thread.join(timeout=60)
        self.process.stderr.close()
        if kind is None and self.check:
            assert status == 0, self.errors.decode()

    def send(self, text: str) -> None:
        """Writes lines."""
        os.write(self.process.stdin.fileno(), text.encode())

    def line(self, timeout: float = 120) -> str:
        """The next line that comes, without its end."""
        return self._heard.get(timeout=timeout).decode().removesuffix("\n")

    def answer(self, timeout: float = 120) -> str:
        """The next whole reply."""
        lines, deadline = [], time.monotonic() + timeout
        while not lines or lines[-1]:
            lines.append(self.line(deadline - time.monotonic()))
        return "\n".join([*lines, ""])

    def ok(self, line: str, timeout: float = 120) -> str:
        """The text of a reply that must be a success."""
        self.send(f"{line}\n")
        answer = self.answer(timeout)
        assert answer.startswith("="), (line, answer)
        return body_of(answer)

    def stop_reading(self) -> None:
        """Closes the end of the pipe that the engine writes to, as the end of the client would."""
        self._deaf.set()

    def _hear(self) -> None:
        rest, descriptor = b"", self.process.stdout.fileno()
        while not self._deaf.is_set():
            if select.select([descriptor], [], [], 0.02)[0]:
                data = os.read(descriptor, 1 << 16)
                if not data:
                    break
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._heard.put(line + b"\n")
        self.process.stdout.close()

    def _hear_errors(self) -> None:
        self.errors = self.process.stderr.read()
