"""How large a search's rounds are, and how many are under way, where nobody says: what suits the devices.

On CPUs a round is small, as the lanes of `jaxgo.running.ring` never wait for its longest game. The kernel for GPUs plays whole
rounds, so a round has to be long for its lanes: `jaxgo bench kernel` counts what share of their time they play. And while the
devices play a round, the host has to choose the next, and to take the one before: so the faster they are, the more playouts each
leaf gets.

A small tree has small rounds, as few playouts may be under way: on CPUs of a few leaves. Elsewhere such a round would take as
long as one in which every lane has a playout, for it takes as long as its longest game. So it has about that many, unless the
search shares a device, whose calls are filled by others.

A search that is known to be of few playouts has the rounds of CPUs everywhere: a GPU's would be a few dozen leaves of it.

These are numbers of a board's size and a kind of device, not measured as the search begins: the tree depends on them.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax

from jaxgo.base import checks
from jaxgo.running.leaves import MOST_LEAVES, MOST_OF_A_LEAF, MOST_PLAYOUTS


class RoundSize(NamedTuple):
    """Leaves of a round, at most, and playouts of each."""

    leaves: int
    playouts: int


class Young(NamedTuple):
    """The rounds of a small tree."""

    leaves: int
    """Of a round, at least."""
    rounds: int
    """That share what may be under way. Further ones come once all of them may be large, so that it is not grown in many tiny
    ones."""


#: On CPUs; and by a policy, whose playouts take several times as long, so that the host has time for twice as many leaves.
ON_CPUS, ON_CPUS_BY_POLICY = RoundSize(256, 8), RoundSize(256, 4)
#: Playouts of a round on CPUs, at most: three rounds' records and moves lie in memory, 3 GB where they are longest.
MOST_ON_CPUS = 1 << 18
#: On other devices by weighted credits, of which the host's cores look at every playout's moves: these are what bounds them.
BY_HISTORIES = RoundSize(1024, 128)
#: Playouts of a round on another device, at most, and how they fall with the points of boards larger than 9x9: sixteen for each
#: lane that an H100 runs at a time (at 19x19 half of those that it is given; above 22x22 eight). Lanes wait for a twelfth of the
#: time at 9x9, a twentieth at 19x19.
ROUND, ROUND_FALL = 1 << 21, 0.94
#: Playouts a second of an H100 at 9x9, and how they fall with the points of larger boards; those by a policy are so many times as
#: slow. The host is to be able to feed that.
RATE, FALL, BY_POLICY = 2.4e8, 1.85, 4
#: Seconds of the host for a leaf of many playouts, and more for each point (measured beside that H100).
HOST, HOST_OF_A_POINT = 3.2e-6, 1.8e-8
#: Rounds under way at a time: the devices hold three, and do not wait for the host while others are in line. Elsewhere than on
#: CPUs rounds are large, and GPUs hold two.
IN_FLIGHT, IN_FLIGHT_ELSEWHERE = 8, 4
#: Rounds of small trees: on CPUs; elsewhere one is played while the host deals with another, each of one playout for every lane.
YOUNG, YOUNG_ROUNDS_ELSEWHERE, OF_LANES = Young(4, 3), 2, 16
#: On boards up to 13x13 there are more, until they are so many playouts or so many rounds: the host, which shares the cores with
#: the devices, would otherwise now and then be late. On larger ones these would be too much of a second.
UNDER_WAY, MOST_IN_FLIGHT, UP_TO = 24576, 64, 13
#: Up to so many playouts are few: of an H100's rounds at 9x9 they would be 128 leaves.
FEW = 1 << 17


#: Who plays, as of `jaxgo.backends.choice.workers_of`; None where searches share a device, whose calls are filled by many rounds,
#: and where rounds are as on CPUs for another reason.
Workers = Sequence[jax.Device] | None


def for_visits(visits: int | None, workers: Workers) -> Workers:
    """The workers whose rounds suit a search of so many playouts, if that is known."""
    return None if visits is not None and visits <= FEW and not _on_cpus(workers) else workers


def suited(
    size: int, workers: Workers, leaves: int | None = None, playouts: int | None = None, *, histories: bool = False,
    policy: bool = False,
) -> RoundSize:  # fmt: skip
    """The size of a search's rounds: what is given, and else what suits the devices.

    Args:
      size: of the board.
      workers: who plays.
      leaves, playouts: what is given.
      histories: whether the playouts' moves are told.
      policy: whether playouts ask one.

    Raises:
      TypeError, ValueError: something given is no integer or out of range, alone or together.
    """
    if leaves is not None:
        leaves = checks.integer("leaves", leaves, 1, MOST_LEAVES)
    if playouts is not None:
        playouts = checks.integer("playouts_per_leaf", playouts, 1, MOST_OF_A_LEAF)
    on_cpus = ON_CPUS_BY_POLICY if policy else ON_CPUS
    fixed = on_cpus if _on_cpus(workers) else BY_HISTORIES if histories else None
    most = MOST_PLAYOUTS if workers is None or not _on_cpus(workers) else MOST_ON_CPUS
    if playouts is None:
        wanted = fixed.playouts if fixed else _playouts_for(size, _number_of(workers), policy)
        playouts = max(1, min(wanted, most // (leaves or 1)))
    if leaves is None:
        leaves = min(fixed.leaves, most // playouts) if fixed else _leaves_for(size, _number_of(workers), playouts)
    checks.integer("leaves times playouts_per_leaf", leaves * playouts, 1, most)
    return RoundSize(leaves, playouts)


def rounds_in_flight(size: int, rounds: RoundSize, workers: Workers) -> int:
    """Rounds of at most so many playouts that are under way at a time, at most, on a board of a size."""
    if not _on_cpus(workers):
        return IN_FLIGHT_ELSEWHERE
    return min(MOST_IN_FLIGHT, max(IN_FLIGHT, UNDER_WAY // (rounds.leaves * rounds.playouts))) if size <= UP_TO else IN_FLIGHT


def of_young_trees(size: int, rounds: RoundSize, workers: Workers) -> Young:
    """The rounds of a small tree on a board of a size, where those of a large one are of so many leaves and playouts."""
    if _on_cpus(workers):
        return YOUNG
    leaves = _room(size, _number_of(workers)) // (OF_LANES * rounds.playouts)
    return Young(max(YOUNG.leaves, min(rounds.leaves, leaves)), YOUNG_ROUNDS_ELSEWHERE)


def _on_cpus(workers: Workers) -> bool:
    return workers is None or workers[0].platform == "cpu"


def _number_of(workers: Workers) -> int:
    """Of the devices."""
    return len(set(workers or ()))


def _playouts_for(size: int, devices: int, policy: bool) -> int:
    """Playouts of a leaf with which the host keeps up with devices."""
    points = size * size
    rate = devices * RATE * (81 / points) ** FALL / (BY_POLICY if policy else 1)
    wanted = 2 ** round(math.log2(rate * (HOST + HOST_OF_A_POINT * points)))
    return min(MOST_OF_A_LEAF, max(ON_CPUS.playouts, wanted))


def _leaves_for(size: int, devices: int, playouts: int) -> int:
    """Leaves of a round that is long for the lanes of devices."""
    return max(1, min(MOST_LEAVES, min(_room(size, devices), MOST_PLAYOUTS) // playouts))


def _room(size: int, devices: int) -> int:
    """Playouts of such a round."""
    return devices * 2 ** round(math.log2(ROUND * min(1, 81 / size**2) ** ROUND_FALL))
