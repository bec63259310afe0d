"""Playouts with all their results."""

import dataclasses
from typing import Unpack

import jax
import numpy as np

from jaxgo.backends.choice import teams_of
from jaxgo.base import checks, memory, threads
from jaxgo.base.processor import usable_cores
from jaxgo.board.geometry import geometry
from jaxgo.board.position import Position
from jaxgo.results.playouts import Playouts, playouts_of
from jaxgo.running.chunks import Chunk
from jaxgo.running.jobs import Output, results
from jaxgo.running.request import Options, Request, takes_options


def _each(g, records, columns, bounds, valid) -> Playouts[jax.Array]:
    return playouts_of(g, records, valid.shape[0])


def _room(request: Request, moves: bool) -> Playouts[np.ndarray]:
    """Room for all playouts, which holds anything."""
    of = (request.batch, request.num_playouts)
    black, white = (tuple(np.empty(of, np.uint32) for _ in range(geometry(request.size).num_words)) for _ in range(2))
    events = memory.empty((*of, request.max_plies), np.int16) if moves else None
    return Playouts(np.empty(of, np.int16), np.empty(of, np.int16), np.empty(of, bool), black, white, events, request.size)


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
      MemoryError: there is no room for so many results; likewise.
    """
    checks.boolean("moves", moves)
    request = Request.of(position, num_playouts, options)
    output = Output(f"playouts(moves={moves})", first_plays=False, moves=moves, reduce=_each, of_playouts=True)
    out = _room(request, moves)
    # On a CPU each of its cores is a worker.
    at_a_time = 1 if request.workers[0].platform == "cpu" else max(1, len(usable_cores()) // len(teams_of(request.workers)))

    def take(chunk: Chunk, part: Playouts[np.ndarray], played: np.ndarray | None) -> None:
        if played is not None:
            part = dataclasses.replace(part, events=played[..., : request.max_plies])
        here = np.s_[chunk.start : chunk.start + chunk.size, chunk.first : chunk.first + chunk.count]
        there = np.s_[: chunk.size, : chunk.count]
        threads.copy([(x[here], y[there]) for x, y in zip(jax.tree.leaves(out), jax.tree.leaves(part))], at_a_time)

    for _ in results(request, output, take):
        pass
    return out
