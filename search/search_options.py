"""What a search's options may be, each taken by itself: who makes searches later, as a bot does, looks at them at once.

What they may be together, and on a board of a size, `search.search.Search` sees when it is made.
"""

from collections.abc import Callable
from typing import Any

from jaxgo.backends.choice import workers_of
from jaxgo.base import checks
from jaxgo.base.constants import INT32_MAX, MIN_SIZE
from jaxgo.running.leaves import MOST_OF_A_LEAF
from jaxgo.running.request import check_seed
from search.choice import MOST_VISITS
from search.restrictions import check_restrictions
from search.round_size import MOST_IN_FLIGHT, suited
from search.selection import UCB1, Rave
from search.shared import check_device

#: How the RAVE statistics are updated.
UPDATES = ("reductions", "histories")
#: Bytes that a tree may be given.
MOST_MEMORY = 1 << 50


def _as_given(check: Callable[[Any], object]) -> Callable[[Any], Any]:
    """A check that gives back what it was given."""

    def checked(given):
        check(given)
        return given

    return checked


def _integer(name: str, least: int, most: int, *, or_none: bool = False) -> Callable[[Any], int | None]:
    return lambda given: None if given is None and or_none else checks.integer(name, given, least, most)


def _check_rule(rule) -> None:
    if rule is not None and not isinstance(rule, (Rave, UCB1)):
        raise TypeError(f"rule must be a search.Rave or a search.UCB1, not {rule!r}")


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "rule": _as_given(_check_rule),
    "komi": checks.komi,
    "seed": check_seed,
    "devices": _as_given(workers_of),
    "memory": _integer("memory", 1, MOST_MEMORY),
    "stream": _integer("stream", 0, INT32_MAX),
    "leaves": _as_given(lambda given: suited(MIN_SIZE, None, given)),
    "playouts_per_leaf": _as_given(lambda given: suited(MIN_SIZE, None, None, given)),
    "cleanup": lambda given: checks.boolean("cleanup", given),
    "share": lambda given: checks.number("share", given, 0, 1),
    "updates": _as_given(lambda given: checks.one_of("updates", given, (None, *UPDATES))),
    "restrictions": _as_given(check_restrictions),
    "device": _as_given(check_device),
    "in_flight": _integer("in_flight", 1, MOST_IN_FLIGHT, or_none=True),
    "depth": _integer("depth", 1, INT32_MAX, or_none=True),
    "virtual_losses": _integer("virtual_losses", 1, MOST_OF_A_LEAF, or_none=True),
    "visits": _integer("visits", 0, MOST_VISITS, or_none=True),
}


def checked(name: str, given: Any) -> Any:
    """An option as a search takes it, of those that can be looked at without a position.

    Raises:
      TypeError, ValueError: it is not what it must be.
    """
    return _CHECKS[name](given)


def check_all(options: dict[str, Any]) -> None:
    """TypeError or ValueError unless all of the options are what they must be, as far as that is known without a position."""
    for name, given in options.items():
        if name in _CHECKS:
            checked(name, given)
