"""Last good reply: the answer to the opponent's last move that was last seen to win.

Peter Drake, "The last-good-reply policy for Monte-Carlo Go" (2009); with forgetting: Hendrik Baier and Peter Drake, "The power of
forgetting: improving the last-good-reply policy in Monte Carlo Go" (2010).
"""

import os
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxgo.base import checks, saved
from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.dynamics import is_traced
from jaxgo.board.geometry import Geometry
from jaxgo.board.position import Position
from jaxgo.playing.asking import Preference
from jaxgo.playing.lanes import Lanes, Wants
from jaxgo.playing.policies.policy import Policy, chance_of, probability_of

if TYPE_CHECKING:
    from jaxgo.results.playouts import Playouts

#: The form of saved replies.
FORMAT = 1
#: Where there is no reply.
NO_REPLY = -1


class Replies:
    """Replies to moves: none, or what is given. Immutable; a pytree.

    Args:
      size: N, from 2 to 25.
      forgetting: whether a reply is dropped when it is played by the loser (Baier and Drake), or kept (Drake).
      replies: the attribute, an array of numpy.

    Attributes:
      replies: int32 [2, P + 1]: the point that Black (0) or White (1) answers a move at each point with, -1 for none; there is
        never one to a pass, P.
      size: N.
      forgetting: as given.

    Raises:
      TypeError, ValueError: an argument is not what it must be.
    """

    replies: Any
    size: int
    forgetting: bool

    def __init__(self, size: int, forgetting: bool = True, *, replies: Any = None):
        size = checks.size(size)
        points = size**2
        replies = checks.integers("replies", NO_REPLY if replies is None else replies, (2, points + 1), NO_REPLY, points - 1)
        if (replies[:, -1] != NO_REPLY).any():
            raise ValueError(f"replies must hold none, {NO_REPLY}, to a pass")
        self.size, self.forgetting, self.replies = size, checks.boolean("forgetting", forgetting), replies

    @classmethod
    def _of(cls, facts: tuple[int, bool], arrays: tuple[Any]) -> "Replies":
        """Replies of an array that may be anything, as those of pytrees may."""
        replies = object.__new__(cls)
        (replies.size, replies.forgetting), (replies.replies,) = facts, arrays
        return replies

    def update(self, playouts: "Playouts", position: Position, *, komi: ArrayLike = 7.5) -> "Replies":
        """The replies after playouts, one after the other in the order of positions and numbers, worked out on the device.

        In each playout every move of the winner becomes his reply to the move before it; and if there is forgetting, every reply
        that the loser has played is dropped. A draw changes nothing.

        Args:
          playouts: with moves, of `jaxgo.playouts(..., moves=True)` or `jaxgo.simulate`; B n max_plies below 2**31.
          position: the B positions that they are from.
          komi: points that White gets; a finite number, or B of them.

        Raises:
          TypeError, ValueError: playouts without moves, too many, or of another size or number of positions.
        """
        from jaxgo.results import learning

        return self._of((self.size, self.forgetting), (learning.replies(self, playouts, position, komi),))

    def save(self, path: str | os.PathLike) -> None:
        """Writes the replies to a file, in numpy's npz format; `Replies.load` reads it."""
        facts = saved.facts("jaxgo_replies", FORMAT, size=self.size, forgetting=self.forgetting)
        saved.write(path, {**facts, "replies": np.asarray(self.replies)})

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Replies":
        """Reads what `save` has written.

        Raises:
          ValueError: the file holds no replies, or those of a newer format.
          OSError: the file cannot be read.
        """
        facts, arrays = saved.read(path, "jaxgo_replies", FORMAT, "Replies.save")
        with saved.blamed_on(path, "Replies.save"):
            return cls(facts["size"], facts["forgetting"], replies=arrays["replies"])

    def __repr__(self) -> str:
        number = "" if is_traced(self.replies) else f": {(np.asarray(self.replies) != NO_REPLY).sum():,} replies"
        return f"Replies({self.size}, forgetting={self.forgetting}){number}"


jax.tree_util.register_pytree_node(Replies, lambda x: ((x.replies,), (x.size, x.forgetting)), Replies._of)


class LastGoodReply(Policy):
    """Answers the last move, where it is asked, as the one who won a playout did last, if that is legal and fills no own eye.

    The replies stay as they are while playouts are played; they are learned between batches, by `Replies.update`.

    Args:
      replies: what has been learned. New ones are not compiled for. Bots (`search.make_player`) may have none: they begin without
        replies, with forgetting, and learn from playouts of each position that they are to move in.
      p: the probability that it is asked in a ply, 0 to 1.

    A copy that jax has made, by `jax.tree.map` for example, plays as this does, and learns nothing.
    """

    ARRAYS = ("chance", "replies")
    STATIC = ("size",)

    def __init__(self, replies: Replies | None = None, p: float = 1.0):
        if not isinstance(replies, (Replies, type(None))):
            raise TypeError(f"replies must be jaxgo.Replies, not {type(replies).__name__}; a probability is p=...")
        self.chance, self._replies = chance_of("p", p), replies
        self.size: Any = None
        self.replies = None
        if replies is not None:
            self.size, self.replies = replies.size, replies.replies

    _replies: Replies | None = None

    replies: Any
    """As in `Replies`."""

    @property
    def wants(self) -> Wants:
        """Who is to move, and the last move."""
        return Wants(last=True, colour=True)

    @property
    def learns(self) -> bool:
        """Where there are no replies."""
        return self.size is None

    def begun(self, size: int) -> "LastGoodReply":
        """Without any reply."""
        return self._with(Replies(size)) if self.learns else self

    def learnt(self, playouts: "Playouts", position: Position, *, komi: ArrayLike = 7.5) -> "LastGoodReply":
        """With the replies of then."""
        if self._replies is None:
            how = "jaxgo.LastGoodReply(replies), and be no copy of that"
            raise ValueError(f"policy must have been made with replies to learn: {how}")
        return self._with(self._replies.update(playouts, position, komi=komi))

    def _with(self, replies: Replies) -> "LastGoodReply":
        made = LastGoodReply(replies, 0.0)
        made.chance = self.chance
        return made

    def check(self, size: int) -> None:
        """That of the replies."""
        if self.learns:
            raise ValueError("policy has no replies (REPLIES.npz): only bots that play games teach it some")
        if size != self.size:
            raise ValueError(f"policy has replies for boards of size {self.size}, but the board is of size {size}")

    def typical(self) -> "LastGoodReply":
        """A reply to every second move, and none to a pass."""
        replies = np.full(self.replies.shape, NO_REPLY, np.int32)
        replies[:, :-1:2] = np.random.default_rng(self.size).permutation(self.size**2)[: replies[0, :-1:2].size]
        return self.tree_unflatten((self.size,), (chance_of("p", 0.5), replies))

    def laid_out(self, g: Geometry) -> "LastGoodReply":
        """With the bit index of the reply, or of the pass, to each last move by bit index, one colour after the other."""
        point_of_index = np.full(g.pass_index + 1, g.num_points, np.int32)
        point_of_index[g.index_of_point] = np.arange(g.num_points + 1, dtype=np.int32)
        index = jnp.asarray(g.index_of_point)[jnp.where(self.replies < np.int32(0), np.int32(g.num_points), self.replies)]
        return self.tree_unflatten((self.size,), (self.chance, index[:, point_of_index].reshape(-1)))

    def known(self, g: Geometry, lanes: Lanes, looks: bool) -> Any:
        """The chance, and the reply."""
        memory = lanes.memory
        assert memory is not None and memory.black is not None and memory.last is not None
        place = (np.int32(1) - memory.black) * np.int32(self.replies.shape[0] // 2) + memory.last
        return super().known(g, lanes, looks), self.replies.at[place].get(mode="promise_in_bounds")

    def preferences(self, g: Geometry, lanes: Lanes, points: Board, known: Any, coin: int = 0) -> list[Preference]:
        """The reply."""
        chance, reply = known
        return [Preference(bb.one_point(g, reply), chance, coin)]

    def __repr__(self) -> str:
        return self._named(size=self.size, p=probability_of(self.chance))
