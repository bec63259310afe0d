"""Several policies, one after the other, and what users may give where a policy is asked for."""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np

from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry
from jaxgo.board.position import Position
from jaxgo.playing.asking import Coin, Preference, drawn_from
from jaxgo.playing.lanes import Lanes, Wants
from jaxgo.playing.policies.no_self_atari import careful_among
from jaxgo.playing.policies.policy import Policy


class Uniform(Policy):
    """All moves uniform over the legal points that fill no own eye: what playouts play where no other policy has a move."""

    ARRAYS = ()

    def __repr__(self) -> str:
        return self._named()


class InOrder(Policy):
    """Policies of which the first that is asked and has a move decides.

    Args:
      policies: the policies; each tosses a coin of its own.
    """

    ARRAYS = ("policies",)

    def __init__(self, policies: Sequence[Policy]):
        self.policies = tuple(policies)

    @property
    def wants(self) -> Wants:
        """What any of them wants."""
        return Wants(*map(any, zip(*(policy.wants for policy in self.policies))))

    def check(self, size: int) -> None:
        """As of each."""
        for policy in self.policies:
            policy.check(size)

    @property
    def kind(self) -> str:
        """Those of each."""
        return ", ".join(policy.kind for policy in self.policies)

    def typical(self) -> "InOrder":
        """Of each."""
        return InOrder([policy.typical() for policy in self.policies])

    def laid_out(self, g: Geometry) -> "InOrder":
        """Each of them."""
        return InOrder([policy.laid_out(g) for policy in self.policies])

    def known(self, g: Geometry, lanes: Lanes, looks: bool) -> Any:
        """What each of them looks up."""
        return tuple(policy.known(g, lanes, looks) for policy in self.policies)

    def waits(self, known: Any) -> jax.Array | None:
        """Where any of them must wait."""
        each = [policy.waits(its) for policy, its in zip(self.policies, known)]
        waits = [x for x in each if x is not None]
        return functools.reduce(operator.or_, waits) if waits else None

    def preferences(self, g: Geometry, lanes: Lanes, points: Board, known: Any, coin: int = 0) -> list[Preference]:
        """Those of each in turn, of the points that none of them knows to be illegal."""
        careful: tuple[Coin, ...] = ()
        asked = []
        for number, (policy, its) in enumerate(zip(self.policies, known), coin):
            begins = policy.careful(its, number)
            if begins is None:
                of = functools.partial(policy.preferences, g, lanes, known=its, coin=number)
                asked.append((careful, _of_the_rest(of, lanes, careful) if policy.ranks and careful else of))
            else:
                careful += (begins,)
        found = [of(points) for _, of in asked]
        drawn = drawn_from(points, [x for each in found for x in each])
        if drawn is not points:  # those that know nothing of that may have chosen among all
            found = [each if any(x.possible for x in each) else of(drawn) for each, (_, of) in zip(found, asked)]
        named = [x._replace(careful=coins) for each, (coins, _) in zip(found, asked) for x in each]
        return [*named, careful_among(drawn, careful)] if careful else named

    def after(self, g: Geometry, lanes: Lanes, known: Any) -> Lanes:
        """By each in turn."""
        for policy, its in zip(self.policies, known):
            lanes = policy.after(g, lanes, its)
        return lanes

    def __repr__(self) -> str:
        return repr(list(self.policies))


def _of_the_rest(of: Callable[[Board], list[Preference]], lanes: Lanes, careful: Sequence[Coin]):
    """What is preferred of points without those that were refused as self-ataris, where a coin says so."""

    def of_points(points: Board) -> list[Preference]:
        memory = lanes.memory
        assert memory is not None
        says_yes = functools.reduce(operator.or_, (coin.says_yes(memory, lanes.key) for coin in careful))
        return of(bb.choose(says_yes, bb.without(points, memory.cramped), points))

    return of_points


Policies: TypeAlias = Policy | Sequence[Policy] | None
"""A playout policy, several in order, or None for uniform playouts."""


def begun(given: Policies, size: int) -> Policies:
    """The policies that a user has given to a bot as it begins on boards of a size: those that learn have learned nothing."""
    return given if given is None else [policy.begun(size) for policy in each_of(given)]


def each_of(given: Policies) -> list[Policy]:
    """The policies that a user has given, as a list.

    Raises:
      TypeError: they are none.
    """
    policies = [] if given is None else [given] if isinstance(given, Policy) else given
    if not isinstance(policies, Sequence) or not all(isinstance(policy, Policy) for policy in policies):
        raise TypeError(f"policy must be a playout policy such as jaxgo.Capture(0.9), a sequence of them or None, not {given!r}")
    return [one for policy in policies for one in (policy.policies if isinstance(policy, InOrder) else [policy])]


def asks(given: Policies) -> bool:
    """Whether playouts by the policies that a user has given ask any: not where there are none but `Uniform`.

    Raises:
      TypeError: they are none.
    """
    return not all(isinstance(policy, Uniform) for policy in each_of(given))


def from_here(given: Policies, position: Position) -> Policies:
    """What a bot that was given these has its playouts ask where it thinks about a position; where that is the same, what was
    given."""
    policies = each_of(given)
    here = [policy.from_here(position) for policy in policies]
    return given if all(a is b for a, b in zip(policies, here)) else here


def are_of_place(given: Policies) -> bool:
    """Whether `from_here` may give others than were given."""
    return any(type(policy).from_here is not Policy.from_here for policy in each_of(given))


def _check_arrays(policy: Policy) -> None:
    """TypeError unless a policy, which may be of a user's own class, has all that compiled programs take."""
    for name in type(policy).ARRAYS:
        missing = not hasattr(policy, name)
        if missing or not all(hasattr(x, "shape") and hasattr(x, "dtype") for x in jax.tree.leaves(getattr(policy, name))):
            found = "none" if missing else repr(getattr(policy, name))
            of = type(policy).__name__
            raise TypeError(f"policy's {name} must be an array, or a pytree of arrays, not {found:.100} of {of}")
    chance = policy.chance if "chance" in type(policy).ARRAYS else np.int32(0)
    if getattr(chance, "dtype", None) != np.int32 or chance.ndim:
        found = f"{chance.dtype} {list(chance.shape)}" if hasattr(chance, "shape") else f"{chance!r:.100}"
        where = "jaxgo.playing.policies.policy.chance_of makes one"
        raise TypeError(f"policy's chance must be an int32 scalar ({where}), not {found} of {type(policy).__name__}")


def policy_of(given: Policies, size: int) -> Policy | None:
    """The policy that a user has given for boards of a size, checked; None for uniform playouts.

    Raises:
      TypeError, ValueError: it is no policy, or not for this size.
    """
    policies = each_of(given)
    asked = [policy for policy in policies if not isinstance(policy, Uniform)]
    if asked != list(policies[: len(asked)]):
        raise ValueError(f"policy must have jaxgo.Uniform() at its end, as it always has a move, not {given!r}")
    for policy in asked:
        _check_arrays(policy)
        policy.check(size)
    if not asked:
        return None
    return asked[0] if len(asked) == 1 else InOrder(asked)
