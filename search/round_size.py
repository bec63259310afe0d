"""How large a search's rounds are, and how many are under way, where nobody says: what suits the devices.

On CPUs a round is small, as the lanes of `jaxgo.running.ring` never wait for its longest game. The kernel for GPUs plays whole
rounds, so a round has to be long for its lanes: `jaxgo bench kernel` counts what share of their time they play. And while the
devices play a round, the host has to choose the next, and to take the one before: so the faster they are, the more playouts each
leaf gets.

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


#: On CPUs.
ON_CPUS = RoundSize(256, 8)
#: Playouts of a round on CPUs, at most: three rounds' records and moves lie in memory, 3 GB where they are longest.
MOST_ON_CPUS = 1 << 18
#: On other devices by weighted credits, of which the host looks at every playout's moves: it is what bounds them.
BY_HISTORIES = RoundSize(256, 32)
#: Playouts of a round on another device, at most, and how they fall with the points of boards larger than 9x9: sixteen for each
#: lane of an H100, of which lanes wait for a twelfth of the time at 9x9, a twentieth at 19x19.
ROUND, ROUND_FALL = 1 << 21, 0.94
#: Playouts a second of an H100 at 9x9, and how they fall with the points of larger boards; those by a policy are so many times as
#: slow. The host is to be able to feed that.
RATE, FALL, BY_POLICY = 2.4e8, 1.85, 4
#: Seconds of the host for a leaf of many playouts, and more for each point (measured beside that H100).
HOST, HOST_OF_A_POINT = 3.2e-6, 1.8e-8
#: Rounds under way at a time: the devices hold three, and do not wait for the host while others are in line. Elsewhere than on
#: CPUs rounds are large, and GPUs hold two.
IN_FLIGHT, IN_FLIGHT_ELSEWHERE = 8, 4
#: On boards up to 13x13 there are more, until they are so many playouts or so many rounds: the host, which shares the cores with
#: the devices, would otherwise now and then be late. On larger ones these would be too much of a second.
UNDER_WAY, MOST_IN_FLIGHT, UP_TO = 24576, 64, 13


#: Who plays, as of `jaxgo.backends.choice.workers_of`; None where searches share a device, whose calls are filled by many rounds.
Workers = Sequence[jax.Device] | None


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
        checks.integer("leaves", leaves, 1, MOST_LEAVES)
    if playouts is not None:
        checks.integer("playouts_per_leaf", playouts, 1, MOST_OF_A_LEAF)
    fixed = ON_CPUS if _on_cpus(workers) else BY_HISTORIES if histories else None
    if playouts is None:
        wanted = fixed.playouts if fixed else _playouts_for(size, len(set(workers)), policy)
        playouts = max(1, min(wanted, MOST_PLAYOUTS // (leaves or 1)))
    if leaves is None:
        leaves = fixed.leaves if fixed else _leaves_for(size, len(set(workers)), playouts)
    most = MOST_PLAYOUTS if workers is None or not _on_cpus(workers) else MOST_ON_CPUS
    checks.integer("leaves times playouts_per_leaf", leaves * playouts, 1, most)
    return RoundSize(leaves, playouts)


def rounds_in_flight(size: int, rounds: RoundSize, workers: Workers) -> int:
    """Rounds of at most so many playouts that are under way at a time, at most, on a board of a size."""
    if not _on_cpus(workers):
        return IN_FLIGHT_ELSEWHERE
    return min(MOST_IN_FLIGHT, max(IN_FLIGHT, UNDER_WAY // (rounds.leaves * rounds.playouts))) if size <= UP_TO else IN_FLIGHT


def _on_cpus(workers: Workers) -> bool:
    return workers is None or workers[0].platform == "cpu"


def _playouts_for(size: int, devices: int, policy: bool) -> int:
    """Playouts of a leaf with which the host keeps up with devices."""
    points = size * size
    rate = devices * RATE * (81 / points) ** FALL / (BY_POLICY if policy else 1)
    wanted = 2 ** round(math.log2(rate * (HOST + HOST_OF_A_POINT * points)))
    return min(MOST_OF_A_LEAF, max(ON_CPUS.playouts, wanted))


def _leaves_for(size: int, devices: int, playouts: int) -> int:
    """Leaves of a round that is long for the lanes of devices."""
    room = devices * 2 ** round(math.log2(ROUND * min(1, 81 / size**2) ** ROUND_FALL))
    return max(1, min(MOST_LEAVES, min(room, MOST_PLAYOUTS) // playouts))
