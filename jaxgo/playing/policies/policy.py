"""What a playout policy is."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxgo.board.bitboard import Board
from jaxgo.board.dynamics import is_traced
from jaxgo.board.geometry import Geometry
from jaxgo.board.position import Position
from jaxgo.playing.asking import Coin, Preference
from jaxgo.playing.draws import CHANCES
from jaxgo.playing.lanes import Lanes, Wants

if TYPE_CHECKING:
    from jaxgo.results.playouts import Playouts


class Policy:
    """A playout policy: a pytree of arrays, which compiled programs take as arguments.

    A subclass names its attributes in `ARRAYS` and `STATIC`: programs are compiled anew where the latter differ, and where the
    former have another shape. When a program is traced, `laid_out` is called once, `known` and `waits` before each tick,
    `preferences` in it and `after` after it.
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("chance",)
    """Attributes that are arrays, or pytrees of arrays; `chance` is one of `chance_of`."""
    STATIC: ClassVar[tuple[str, ...]] = ()
    """Attributes that are hashable values."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        jax.tree_util.register_pytree_node_class(cls)

    def tree_flatten(self) -> tuple[tuple, tuple]:
        """The arrays, and the static values."""
        return tuple(getattr(self, name) for name in self.ARRAYS), tuple(getattr(self, name) for name in self.STATIC)

    @classmethod
    def tree_unflatten(cls, static: tuple, arrays: Sequence) -> Self:
        """The policy of what `tree_flatten` gave, unchecked: jax puts all kinds of things into pytrees."""
        self = object.__new__(cls)
        for name, value in (*zip(cls.ARRAYS, arrays), *zip(cls.STATIC, static)):
            setattr(self, name, value)
        return self

    @property
    def wants(self) -> Wants:
        """What lanes must remember for it."""
        return Wants()

    def check(self, size: int) -> None:
        """Raises ValueError if it is not for boards of `size`."""

    @property
    def learns(self) -> bool:
        """Whether it was given nothing to know, so that a bot must teach it."""
        return False

    def begun(self, size: int) -> "Policy":
        """What a bot begins to teach on boards of `size`: the policy with an empty table, where it learns; else itself."""
        return self

    def from_here(self, position: Position) -> "Policy":
        """What a bot that thinks about a position has its playouts ask; of the same form. By default itself."""
        return self

    def learnt(self, playouts: "Playouts", position: Position, *, komi: ArrayLike = 7.5) -> "Policy":
        """The policy after it has learned from playouts, as `AdvisorTable.update` takes them; itself, where it learns nothing."""
        return self

    def typical(self) -> "Policy":
        """A policy of the same form, to try out what is compiled for it: its arrays are such as it may have, of numpy. By default
        its chance is a half, and all else 0; a class for which that would hide what it does gives others."""
        zeros = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), self)
        if "chance" in self.ARRAYS:
            zeros.chance = np.asarray(CHANCES // 2, np.int32)
        return zeros

    def laid_out(self, g: Geometry) -> "Policy":
        """The policy for boards laid out as `g` says; sets of points that it carries are in words of 32 bits before."""
        return self

    def known(self, g: Geometry, lanes: Lanes, looks: bool) -> Any:
        """What it must look up to have preferences, a pytree of arrays [L].

        In every other tick it `looks` up what is dear, too; lanes that need it must wait in the others.
        """
        return jnp.broadcast_to(self.chance, lanes.move.shape)

    def waits(self, known: Any) -> jax.Array | None:
        """int32 [L]: not 0 where a lane must not draw a move in this tick, as too little is known; None if that never happens."""
        return None

    ranks = False
    """Whether it names the best of the points that it is given, so that those which are refused must not be among them."""

    def preferences(self, g: Geometry, lanes: Lanes, points: Board, known: Any, coin: int = 0) -> list[Preference]:
        """What it prefers, the first above the second; elementwise, of the lanes and what it knows alone.

        Args:
          g: the boards' layout.
          lanes: the playouts.
          points: what the mover may draw, though some may be suicide; of what is preferred, these are meant.
          known: what `known` gave.
          coin: the number of its coin.
        """
        raise NotImplementedError

    def careful(self, known: Any, coin: int) -> Coin | None:
        """A coin that says whether self-ataris are passed over among what the policies after it prefer, beside those of the
        policies before it; None where it adds none."""
        return None

    def after(self, g: Geometry, lanes: Lanes, known: Any) -> Lanes:
        """The lanes after a tick in which it was asked, of which it may end some; elementwise."""
        return lanes

    @property
    def kind(self) -> str:
        """What it is called."""
        return type(self).__name__

    chance: Any
    """int32 scalar: how likely it is asked, of `CHANCES`."""

    def _named(self, **values) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in values.items())})"


class PolicyForm(NamedTuple):
    """All of a policy that programs are compiled for; hashable."""

    structure: jax.tree_util.PyTreeDef
    shapes: tuple[jax.ShapeDtypeStruct, ...]
    """Of its arrays."""

    @classmethod
    def of(cls, policy: Policy) -> "PolicyForm":
        """That of a policy."""
        arrays, structure = jax.tree.flatten(policy)
        return cls(structure, tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays))

    @property
    def wants(self) -> Wants:
        """What lanes must remember for it."""
        return self.with_arrays(self.shapes).wants

    @property
    def name(self) -> str:
        """What it is of, in words."""
        return self.with_arrays(self.shapes).kind

    def with_arrays(self, arrays: Sequence) -> Policy:
        """The policy with these arrays."""
        return jax.tree.unflatten(self.structure, arrays)


def chance_of(name: str, probability: float) -> np.ndarray:
    """int32 scalar: a probability as one of `CHANCES`, which holds it to 6e-8, and 0 and 1 exactly."""
    try:
        if isinstance(probability, (bool, np.bool_, str, bytes, list, tuple)):
            raise TypeError
        if np.ndim(probability) or np.iscomplexobj(probability):
            raise TypeError
        value = float(probability)
    except OverflowError:
        value = math.inf
    except TypeError:
        raise TypeError(f"{name} must be a number from 0 to 1, not {probability!r:.100}") from None
    if not (math.isfinite(value) and 0.0 <= value <= 1.0):
        raise ValueError(f"{name} must be between 0 and 1, not {value}")
    return np.asarray(round(value * CHANCES), np.int32)


def probability_of(chance) -> float:
    """The probability of a chance, as given to 6e-8; NaN where it is traced."""
    return math.nan if is_traced(chance) else round(float(chance) / CHANCES, 7)
