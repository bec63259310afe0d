"""Playouts with all their results."""

from typing import Any, Unpack

import jax
import numpy as np

from jaxgo.board.position import Position
from jaxgo.results.playouts import Playouts, playouts_of
from jaxgo.running.jobs import Output, results
from jaxgo.running.request import Options, Request, takes_options


def _each(g, records, columns, bounds, valid) -> Playouts[jax.Array]:
    return playouts_of(g, records, valid.shape[0])


@takes_options
def playouts(position: Position, num_playouts: int, *, moves: bool = False, **options: Unpack[Options]) -> Playouts[np.ndarray]:
    """Plays `num_playouts` random playouts from each position and returns every result.

    The playout is Don Dailey's reference bot's (2008): a move is drawn uniformly from the legal moves that fill no own eye; a
    player passes when there is none; two passes end it. See `jaxgo.board.rules` for the rules of Go and the eyes.

    Each playout is a function of (seed, stream, number) alone, the stream being the position's: what else is in the batch, how
    it is split, and which devices play it does not matter. See `jaxgo.playing.draws` for how the random numbers are made.

    Args:
      position: B positions; one that is over gives playouts of length 0.
      num_playouts: playouts of each position, 1 to 2**31 - 1.
      moves: whether to record the moves too.
      **options: those of all jobs.

    Returns:
      `Playouts` of numpy arrays.

    Raises:
      TypeError, ValueError: an argument is not what it must be; before any work is done.
    """
    if not isinstance(moves, bool):
        raise TypeError(f"moves must be True or False, not {moves!r}")
    request = Request.of(position, num_playouts, **options)
    output = Output(f"playouts(moves={moves})", first_plays=False, moves=moves, reduce=_each, of_playouts=True)
    out: Any = None
    for chunk, part in results(request, output):
        if moves:
            part = jax.tree.map(lambda x: x[:, :, : request.max_plies] if x.ndim == 3 else x, part)
        if out is None:
            out = jax.tree.map(lambda x: np.empty((request.batch, num_playouts, *x.shape[2:]), x.dtype), part)
        here = np.s_[chunk.start : chunk.start + chunk.size, chunk.first : chunk.first + chunk.count]
        for target, source in zip(jax.tree.leaves(out), jax.tree.leaves(part)):
            target[here] = source[: chunk.size, : chunk.count]
    return out
