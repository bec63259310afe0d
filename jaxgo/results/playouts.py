"""What `jaxgo.playouts` and `jaxgo.simulate` return: every playout's result."""

import dataclasses
import functools
from typing import Generic

import jax
import jax.numpy as jnp
import numpy as np

from jaxgo.base.arrays import Array
from jaxgo.board.bitboard import stones_array
from jaxgo.board.geometry import Geometry, geometry
from jaxgo.playing.wire import Records, captured_of, moves_of


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=["margin", "length", "truncated", "black", "white", "events"],
    meta_fields=["size"],
)
@dataclasses.dataclass(frozen=True, eq=False)
class Playouts(Generic[Array]):
    """Finished playouts; `B` positions, `n` playouts of each. numpy arrays, or jax arrays from `simulate`.

    Attributes:
      margin: int16 [B, n]: Black's area minus White's, before komi.
      length: int16 [B, n]: plies played, the final passes included; 0 from a position that is over.
      truncated: bool [B, n]: ended by the cap `max_plies`, or by `jaxgo.Mercy`, and scored as it stood.
      black: W words of uint32 [B, n]: Black's stones at the end. Row y of the board lies in word y % W from bit
        y // W * (N + 1) on, its first column lowest (see `jaxgo.board.geometry`); `board` has them as an array.
      white: W words of uint32 [B, n]: White's stones at the end.
      events: int16 [B, n, max_plies]: `moves`, with 2**14 added where the ply captured. None unless the moves were asked for.
      size: N.
    """

    margin: Array
    length: Array
    truncated: Array
    black: tuple[Array, ...]
    white: tuple[Array, ...]
    events: Array | None
    size: int

    @property
    def moves(self) -> Array | None:
        """int16 [B, n, max_plies]: the points played, N * N for a pass, -1 after the end. None unless asked for."""
        return None if self.events is None else moves_of(self.events)

    @property
    def captured(self) -> Array | None:
        """bool [B, n, max_plies]: whether the ply captured something. None unless the moves were asked for."""
        return None if self.events is None else captured_of(self.events)

    @property
    def board(self) -> Array:
        """int8 [B, n, N, N]: the final boards, 1 Black, -1 White, 0 empty; row 0 is the top."""
        g = geometry(self.size)
        if isinstance(self.margin, np.ndarray):
            return _unpack_boards(g, self.black) - _unpack_boards(g, self.white)
        return stones_array(g, self.black, self.white)


def _unpack_boards(g: Geometry, board: tuple[np.ndarray, ...]) -> np.ndarray:
    words = np.stack(board, axis=-1)[..., g.word_of_point]
    flat = ((words >> g.bit_of_point.astype(np.uint32)) & np.uint32(1)).astype(np.int8)
    return flat.reshape(*flat.shape[:-1], g.size, g.size)


def playouts_of(g: Geometry, records: Records, batch: int) -> Playouts[jax.Array]:
    """The records of [B * n] playouts as `Playouts`."""
    made = Playouts(
        records.margin.astype(jnp.int16), records.length.astype(jnp.int16), records.truncated, records.black, records.white,
        records.events, size=g.size,
    )  # fmt: skip
    return jax.tree.map(lambda x: x.reshape(batch, -1, *x.shape[1:]), made)
