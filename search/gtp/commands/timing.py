"""Commands that set the clock."""

from typing import Any

from search.gtp import arguments
from search.gtp.clock import FOR_EVER, KINDS, Clock, System
from search.gtp.protocol import SYNTAX_ERROR, Failure


def time_settings(engine, main: str, period: str, stones: str) -> None:
    """Main time, and overtime of so many stones in each period (Canadian); no stones in a period of some length: no limit."""
    seconds, overtime, count = _seconds(main), _seconds(period), arguments.whole(stones)
    if count:
        system = System("canadian", seconds, overtime, count)
    else:
        system = System("none") if overtime else System("absolute", seconds)
    _set(engine, system)


def kgs_time_settings(engine, kind: str, *times: str) -> None:
    """none, absolute, byoyomi or canadian, with their times."""
    if kind.lower() not in ("none", "absolute", "byoyomi", "canadian"):
        raise Failure(SYNTAX_ERROR)
    kata_time_settings(engine, kind, *times)


def kata_time_settings(engine, kind: str, *times: str) -> None:
    """The same, and fischer and fischer-capped."""
    kind = kind.lower().replace("byo-yomi", "byoyomi")
    if kind not in KINDS or len(times) != _NUM_TIMES[kind]:
        raise Failure(SYNTAX_ERROR)
    if kind == "none":
        system = System("none")
    elif kind == "absolute":
        system = System("absolute", _seconds(times[0]))
    elif kind.startswith("fischer"):
        numbers = [_seconds(text) for text in times[:2]]
        # Negative limits are none.
        caps = [value if value >= 0 else float("inf") for value in map(arguments.number, times[2:])]
        most: dict[str, Any] = dict(zip(("most_main", "most_move"), caps))
        system = System(kind, numbers[0], increment=numbers[1], **most)
    else:
        main, period = (_seconds(text) for text in times[:2])
        count = arguments.whole(times[2])
        system = System(kind, main, period, count) if count else System("absolute", main)
    _set(engine, system)


def kata_list_time_settings(engine) -> str:
    """What kata-time_settings knows."""
    return " ".join(KINDS)


def time_left(engine, colour: str, seconds: str, stones: str) -> None:
    """What a player has left: main time where `stones` is 0, else time of the overtime period."""
    # Some clients report a little less than nothing.
    engine.clock.report(arguments.colour(colour), min(max(arguments.number(seconds), 0.0), FOR_EVER), arguments.whole(stones))
    engine.prepare()  # for clients that tell of the clock by this alone


def _seconds(text: str) -> float:
    return min(arguments.number(text, 0), FOR_EVER)


def _set(engine, system: System) -> None:
    engine.clock = Clock(system)
    engine.prepare()


#: How many numbers follow each kind.
_NUM_TIMES = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3, "fischer": 2, "fischer-capped": 4}

COMMANDS = {
    "time_settings": time_settings, "kgs-time_settings": kgs_time_settings, "kata-time_settings": kata_time_settings,
    "kata-list_time_settings": kata_list_time_settings, "time_left": time_left,
}  # fmt: skip
