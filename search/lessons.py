"""Lessons: what a bot's playout policies learn from a position before it thinks about it.

As Akimot's advisor did, policies that know nothing at first (`jaxgo.Advisor` without a table, `jaxgo.LastGoodReply` without
replies) learn from the results of playouts, batch by batch. A bot teaches them by playouts of each position that it is to move
in, which ask what has been learned until then; what they know goes with them from move to move. So its moves depend on the
positions that it was asked about before, and on nothing else; where a clock limits a move, a lesson takes a part of its time at
most, but for its first batch, and they depend on that too.
"""

import time

import jax
import numpy as np

import jaxgo
from jaxgo import Position
from jaxgo.playing.policies.in_order import Policies, begun, each_of, from_here
from jaxgo.running.request import Seed, seed_words

#: Batches of a lesson, between which the policies learn, and playouts of each.
BATCHES, PLAYOUTS = 4, 512
#: The part of a move's time that a lesson may take before another batch.
SHARE = 0.15
#: The seed of lessons is that of the bot and this, so that its search plays other playouts.
SEED = 0x1E550


class Lessons:
    """What the policies of a bot learn.

    Args:
      policies: as they were given; those that learn have no table.
      komi, seed, devices: of the bot.
      stream: the random stream of the first lesson; each further one has the next.
    """

    def __init__(self, policies: Policies, *, komi: float = 7.5, seed: Seed = 0, devices=None, stream: int = 0):
        low, high = seed_words(seed)
        self._seed = ((high << 32 | low) ^ SEED) % 2**63
        self._given, self._komi, self._devices = each_of(policies), komi, devices
        self._first = self._stream = stream
        self._known: Policies = self._given
        self._size, self._position = 0, b""
        self.seconds = 0.0
        """Seconds that lessons have taken, on the clock."""

    def hold(self, position: Position, seconds: float | None = None) -> Policies:
        """The policies after a lesson on a position; on the one that the last lesson was on, there is none.

        Args:
          position: one that is not over.
          seconds: for the move, lesson and all; None without a clock.
        """
        start, position = time.monotonic(), jax.device_get(position)
        if position.size != self._size:
            self._size, self._known = position.size, begun(self._given, position.size)
            self._stream, self._position = self._first, b""
        told = b"".join(x.tobytes() for x in jax.tree.leaves(position))
        if told != self._position:
            until = None if seconds is None else start + SHARE * seconds
            self._known, self._position = self._taught(self._known, position, self._stream, until), told
            self._stream += 1
        self.seconds += time.monotonic() - start
        return self._known

    def compile(self, size: int) -> None:
        """Compiles what a lesson needs, so that no clock runs meanwhile."""
        self._taught(begun(self._given, size), Position.empty(size), self._first)

    def _taught(self, known: Policies, position: Position, stream: int, until: float | None = None) -> Policies:
        """The policies after a lesson on a position that is not over, in which no batch but the first begins after `until`."""
        policies = each_of(known)
        for batch in range(BATCHES):
            if batch and until is not None and time.monotonic() >= until:
                break
            played = jaxgo.playouts(
                position, PLAYOUTS, moves=True, policy=from_here(policies, position), seed=self._seed, streams=np.array([stream]),
                first_playout=batch * PLAYOUTS, devices=self._devices,
            )  # fmt: skip
            each = zip(self._given, policies)
            policies = [now.learnt(played, position, komi=self._komi) if given.learns else now for given, now in each]
        return policies


def lessons_of(policies: Policies, **how) -> Lessons | None:
    """The lessons of a bot with these policies, whose arguments are those of `Lessons`; None if none of them learns."""
    return Lessons(policies, **how) if any_learns(policies) else None


def seconds_of(lessons: Lessons | None) -> float:
    """Seconds that the lessons of a bot have taken; 0 where it has none."""
    return 0.0 if lessons is None else lessons.seconds


def any_learns(policies: Policies) -> bool:
    """Whether any of the policies that a bot was given is to learn."""
    return any(policy.learns for policy in each_of(policies))
