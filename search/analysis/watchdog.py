"""Says when the scheduler's thread hangs."""

import time
from collections.abc import Callable

from search.analysis import complaints

#: Seconds that one pass may take, and between two looks.
STUCK, LOOKS = 60.0, 1.0


class Watchdog:
    """Barks once for each pass that takes too long.

    Args:
      since: when the pass under way began, on the clock; None between two.
      over: whether there is nothing to watch any more.
      clock, sleep: the time, and how to wait, seconds.
    """

    def __init__(
        self, since: Callable[[], float | None], over: Callable[[], bool], clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ):  # fmt: skip
        self._since, self._over, self._clock, self._sleep = since, over, clock, sleep

    def watch(self) -> None:
        """Watches until it is over; in a thread of its own."""
        barked = None
        while not self._over():
            self._sleep(LOOKS)
            since = self._since()
            if since not in (None, barked) and self._clock() - since > STUCK:
                complaints.say(f"the scheduler has been at one thing for {STUCK:.0f} seconds; this is a fault of the program")
                barked = since
