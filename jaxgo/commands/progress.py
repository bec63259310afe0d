"""The progress of long work on stderr: a bar in a terminal, few lines elsewhere. Compiling counts for no speed and estimate."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task
from rich.progress import Progress as Bar
from rich.text import Text

_FIRST_LINE_SECONDS, _MOST_SECONDS = 2.0, 60.0
"""Where stderr is no terminal: when the first line of progress comes, and the most time between two; it grows."""
_LONG_ENOUGH = 1.0
"""Seconds of playouts from which on their speed can be told: chunks end in bunches, as many as there are cores."""


class Progress:
    """How far a job is, and how fast: the function that the engine calls after each chunk of playouts.

    Args:
      show: called with the playouts finished and those in all; None shows nothing.
    """

    def __init__(self, show: "Callable[[Progress, int, int], None] | None" = None):
        self._show, self._start = show, time.monotonic()
        self._measured = (0.0, 0)
        """Seconds and playouts of programs before this one, each after its first chunk."""
        self._first = self._last = (0.0, 0)
        self._compiling = True

    def __call__(self, done: int, total: int) -> None:
        self._last = (time.monotonic(), done)
        if self._compiling:
            self._compiling, self._first = False, self._last
        if self._show is not None:
            self._show(self, done, total)

    def compiles(self) -> None:
        """What comes next is another program, which may have to be compiled."""
        if not self._compiling:
            self._measured = self._since_the_first_chunks()
        self._compiling = True

    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._start

    def rate(self) -> float | None:
        """Playouts per second, after the first chunk of each program; None while it is too early to tell."""
        seconds, playouts = self._measured if self._compiling else self._since_the_first_chunks()
        return playouts / seconds if seconds >= _LONG_ENOUGH and playouts else None

    def _since_the_first_chunks(self) -> tuple[float, int]:
        seconds, playouts = self._measured
        return seconds + self._last[0] - self._first[0], playouts + self._last[1] - self._first[1]


@contextlib.contextmanager
def progress_on_stderr(total: int) -> Iterator[Progress]:
    """Shows done and total, playouts per second and time left on stderr.

    Args:
      total: playouts of the whole job, as far as is known; 0 where nothing is.
    """
    with shown("jaxgo", total, "compiling") as show:
        yield Progress(lambda progress, done, total: show(done, total, lambda: _figures(progress, done, total)))


def _figures(progress: Progress, done: int, total: int) -> str:
    """"" while it is too early to tell how fast it is."""
    rate = progress.rate()
    left = "" if rate is None else f", {rate:,.0f} playouts/s, {time_left((total - done) / rate)}"
    return f"{done:,} of {total:,} playouts{left}" if left else ""


Show = Callable[[float, float, Callable[[], str]], None]
"""Shows how much is done, of how much, and what is to be said of it, "" for nothing yet: asked only where it is shown, so that it
can be called after each of thousands of small steps, and in any thread."""


class _Words(ProgressColumn):
    """What is to be said of a task."""

    def render(self, task: Task) -> Text:
        return Text(task.fields["words"]() or task.description)


@contextlib.contextmanager
def shown(command: str, total: float, first: str = "") -> Iterator[Show]:
    """How far long work has come, on stderr: a bar in a terminal; elsewhere, for logs, whole lines, few and fewer.

    Args:
      command: its name, with which lines begin.
      total: the whole work; 0 where it is not known.
      first: what is said beside the bar at first.
    """
    console = Console(stderr=True, markup=False, highlight=False)
    if not console.is_terminal:
        yield _lines(command)
        return
    spinner = SpinnerColumn("line" if console.options.ascii_only else "dots")
    with Bar(spinner, BarColumn(), _Words(), console=console, transient=True) as bar:
        task = bar.add_task(first, total=total or None, words=str)

        def show(done: float, total: float, words: Callable[[], str]) -> None:
            bar.update(task, completed=done, total=total, words=words)

        yield show


def _lines(command: str) -> Show:
    start, due = time.monotonic(), _FIRST_LINE_SECONDS

    def show(done: float, total: float, words: Callable[[], str]) -> None:
        nonlocal due
        now = time.monotonic() - start
        if now >= due and (text := words()):
            due = now + min(max(now / 2, 1.0), _MOST_SECONDS)
            with contextlib.suppress(OSError):  # a log that is full must not end the work
                print(f"{command}: {text}", file=sys.stderr, flush=True)

    return show


def time_left(seconds: float) -> str:
    """In words: "59 s left"; from 100 s on "0:01:40 left", in hours, minutes and seconds."""
    if (whole := max(0, round(seconds))) < 100:
        return f"{whole} s left"
    minutes, rest = divmod(whole, 60)
    return "{}:{:02}:{:02} left".format(*divmod(minutes, 60), rest)
