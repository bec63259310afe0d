"""A native engine's playouts: its command is run, and prints how many playouts it made and in how many seconds.

Start-up is not held against it: the seconds are the engine's own. As a check, and because its clock may be the wall's while other
work shares the core, the CPU seconds of its process, start-up included, are taken where they are less.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bench import children
from bench.differences import FIELDS
from bench.measure import NotMeasured, Work
from bench.native import PLAYOUTS

EXPECTED = "the last line must be PLAYOUTS SECONDS (two numbers, words between them do not matter) or JSON with these keys"
#: So much longer than its process lived an engine may say it took: clocks differ a little.
_CLOCKS_DIFFER = 1.05
#: Playouts up to which an engine's clock may say that they took no time.
_MOST_FOR_CLOCK = 100_000
_NUMBER = re.compile(r"(?<![\w.])\d[\d,_']*(?:\.\d+)?(?:[eE][+-]?\d+)?")


class Told(NamedTuple):
    """What an engine has printed."""

    playouts: int
    """Finished, at least 1."""
    seconds: float
    """That they took by its clock, which may be too coarse for a few and say 0."""
    plies: float | None
    """Mean plies per playout."""
    black_wins: float | None
    """Share of the playouts that Black won."""
    differs: Mapping[str, str] | None
    """By fields of `Differences`."""


class Playouts:
    """An engine behind a command."""

    def __init__(self, words: Sequence[str], limit: float):
        """Keeps the command.

        Args:
          words: the program and its arguments, with `{playouts}` where the number of playouts is wanted.
          limit: seconds that a run may take.
        """
        self._words, self._limit = list(words), limit

    def run(self, count: int) -> Work:
        """Runs the command, for so many playouts if it wants to be told; for more where they were too few for its clock.

        Raises:
          NotMeasured: it fails, or prints something else than is expected.
        """
        told, ran = self._run(count)
        while told.seconds == 0 and count < _MOST_FOR_CLOCK and any(PLAYOUTS in word for word in self._words):
            count *= 10
            told, ran = self._run(count)
        _checked("seconds", told.seconds, "a number above 0", lambda x: x > 0)
        if told.seconds > ran.wall * _CLOCKS_DIFFER:
            what = f"it says that its playouts took {told.seconds:g} s, but it ended after {ran.wall:.3g} s"
            raise NotMeasured(f"{what}: seconds are expected, of this run")
        return Work(told.playouts, told.plies, told.black_wins, told.seconds, cpu_seconds(told.seconds, ran), told.differs)

    def _run(self, count: int) -> tuple[Told, children.Ran]:
        ran = children.run([word.replace(PLAYOUTS, str(count)) for word in self._words], self._limit)
        return read(ran.output), ran


def cpu_seconds(told: float, ran: children.Ran) -> float:
    """CPU seconds of what took so many seconds by the engine's own clock: these, or those of its process where they are less.

    A process that took more CPU seconds than seconds had several cores; what it took then counts.
    """
    if ran.cpu is None:
        return told
    return ran.cpu if ran.cpu > ran.wall * _CLOCKS_DIFFER else min(told, ran.cpu)


def read(output: str) -> Told:
    """What an engine's output tells.

    Raises:
      NotMeasured: it cannot be read; the text says what is expected.
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if not lines:
        raise NotMeasured(f"it printed nothing: {EXPECTED}")
    document = _json(output) or _json(lines[-1])
    if document is not None:
        told = {key: document.get(key) for key in ("playouts", "seconds", "mean_plies", "black_win_rate")}
        differs = document.get("differs")
        differs = {"remark": differs} if isinstance(differs, str) else differs
        if differs is not None and not (
            isinstance(differs, dict) and all(key in FIELDS and isinstance(text, str) for key, text in differs.items())
        ):
            raise NotMeasured(f'its "differs" must be a text, or texts by {", ".join(FIELDS)}; it is {json.dumps(differs)}')
    else:
        numbers = [float(re.sub("[,_']", "", number)) for number in _NUMBER.findall(lines[-1])]
        if len(numbers) != 2:
            raise NotMeasured(f"its last line, {_short(lines[-1])}, cannot be read: {EXPECTED}")
        told, differs = dict(zip(("playouts", "seconds"), numbers)), None
    playouts = _checked("playouts", told["playouts"], "a whole number from 1 on", lambda x: x >= 1 and x == int(x))
    seconds = _checked("seconds", told["seconds"], "a number from 0 on", lambda x: x >= 0)
    plies = told.get("mean_plies")
    if plies is not None:
        plies = _checked("mean_plies", plies, "a number from 0 on", lambda x: x >= 0)
    wins = told.get("black_win_rate")
    if wins is not None:
        wins = _checked("black_win_rate", wins, "a number from 0 to 1", lambda x: 0 <= x <= 1)
    return Told(int(playouts), seconds, plies, wins, differs)


def _json(text: str) -> dict | None:
    """The object that the text is, or None."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _checked(name: str, value: Any, allowed: str, is_allowed) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and math.isfinite(value) and is_allowed(value)):
        raise NotMeasured(f'its "{name}" must be {allowed}; it is {json.dumps(value)}')
    return float(value)


def _short(line: str) -> str:
    return repr(line if len(line) <= 80 else f"{line[:77]}...")
