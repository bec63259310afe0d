"""The conversation: takes line after line, and ponders in between.

It ends with `quit`, at the end of the input, or with a signal; whatever has arrived until then is answered. After a signal, or a
line `# interrupt`, moves are chosen from what has been played out so far. A client that reads no more ends it at once.
"""

import contextlib
import datetime
import gc
import os
import signal
import threading
from collections.abc import Callable

from jaxgo.base.signals import handled
from search.gtp.engine import Engine
from search.gtp.lines import TOO_LONG, Lines
from search.gtp.options import EngineOptions
from search.gtp.output import Output
from search.log import Log


def serve(options: EngineOptions, input_descriptor: int, output_descriptor: int, log: Callable[[str, str], None]) -> int | None:
    """Answers a client until the conversation ends.

    Args:
      options: of the engine.
      input_descriptor, output_descriptor: of the files to read and write.
      log: called with ">>" and each line, and "<<" and each text of the answers.

    Returns:
      The number of the signal that ended it, or None.

    Raises:
      BrokenPipeError: nobody reads the answers any more.
    """
    with contextlib.suppress(OSError, AttributeError):  # what a client has left so would look like the end of the input
        for descriptor in (input_descriptor, output_descriptor):
            os.set_blocking(descriptor, True)
    lines, output = Lines(input_descriptor, lambda line: log(">>", line)), Output(output_descriptor, lambda text: log("<<", text))
    ending = threading.Event()
    ended_by: list[int] = []

    def end(number, _) -> None:
        if ended_by:  # asked twice: no more patience
            raise KeyboardInterrupt
        ended_by.append(number)
        ending.set()
        lines.end()

    engine = Engine(
        options, output, interrupted=lambda: lines.waiting or output.gone,
        hurried=lambda: ending.is_set() or lines.interrupted or output.gone, compiled=_keep_for_good,
    )  # fmt: skip
    with handled(end, signal.SIGINT, signal.SIGTERM), contextlib.closing(engine):
        if options.size is not None:
            engine.prepare()
        while not engine.over:
            if engine.may_ponder and not lines.waiting:
                engine.ponder()
            line = lines.next()
            if line is None:
                break
            if output.gone:
                raise BrokenPipeError
            if line.too_long:
                engine.refuse(line.text, TOO_LONG)
            else:
                engine.obey(line.text, line.received)
    return ended_by[0] if ended_by else None


def _keep_for_good() -> None:
    """Spares the garbage collector what compilers leave behind: to look through it takes half a second, on the clock."""
    gc.collect()
    gc.freeze()


def with_times(log: Log) -> Callable[[str, str], None]:
    """What notes the conversation in a log, with the time of each part."""

    def note(direction: str, text: str) -> None:
        now = datetime.datetime.now().isoformat(timespec="milliseconds")
        log(*(f"{now} {direction} {line}" for line in text.rstrip("\n").split("\n")))

    return note
