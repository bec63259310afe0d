"""Positions of many games evaluated by playouts, in one batch.

All positions have stream 0, so that what one gets depends on itself, the seed and the number of playouts: it is what
`jaxgo.evaluate(position, playouts, komi=komi, seed=seed)` says, bit for bit, whatever else is in the batch.
"""

import jax
import numpy as np

import jaxgo
from jaxgo import BLACK, Evaluation, Position
from jaxgo.backends.choice import backend_of, workers_of
from jaxgo.playing.policies.named import policies_of
from jaxgo.playing.policies.policy import Policy
from search.collection.findings import Findings, standard_error
from search.collection.settings import Settings

#: What is asked of `jaxgo.evaluate`.
STATISTICS = ("ownership", "amaf")
#: Playouts for each lane that make a call worth its beginning and its end.
PER_LANE = 16


class Playouts:
    """Evaluates positions by playouts.

    Args:
      settings: of the collection.
      devices: as in `jaxgo.evaluate`.
    """

    def __init__(self, settings: Settings, devices=None):
        self._settings, self._devices = settings, devices
        self._workers, self._policy = workers_of(devices), policies_named(settings.policy)
        self._rooms: set[tuple[int, int]] = set()

    def positions_of_call(self, size: int) -> int:
        """How many positions fill the devices: what a call is made for, in whole parts."""
        part = self._settings.positions_of_part(size)
        lanes = backend_of(self._workers[0]).most_lanes(size) * len(self._workers)
        return part * max(1, -(-PER_LANE * lanes // (part * self._settings.playouts)))

    def evaluate(self, position: Position, komi: np.ndarray, histories, progress=None) -> Findings:
        """Findings of B positions.

        Args:
          position: on the host.
          komi: float64 [B].
          histories: not needed.
          progress: called with (done, total) playouts.
        """
        settings, batch = self._settings, position.batch
        missing = self._room(position.size, batch) - batch

        def tell(done: int, total: int) -> None:
            if progress is not None:
                progress(done * batch // (batch + missing), batch * settings.playouts)

        padded = jax.tree.map(lambda x: np.concatenate([x, np.repeat(x[:1], missing, axis=0)]), position)
        padded.passes[batch:] = 2
        found = jaxgo.evaluate(
            padded, settings.playouts, komi=np.pad(komi, (0, missing)), statistics=STATISTICS, seed=settings.seed, streams=0,
            policy=self._policy, devices=self._devices, progress=tell,
        )[:batch]  # fmt: skip
        return _findings(position, found, settings.best)

    def _room(self, size: int, batch: int) -> int:
        """Positions that a call is made for: few numbers, as each takes a compilation.

        What a batch lacks is filled up with games that are over, whose playouts cost next to nothing.
        """
        fitting = [room for of_size, room in self._rooms if of_size == size and room >= batch]
        room = min(fitting, default=self.positions_of_call(size) if batch > self.positions_of_call(size) // 2 else 0)
        if room < batch:
            room = 1 << (batch - 1).bit_length()
        self._rooms.add((size, room))
        return room


def policies_named(text: str | None) -> list[Policy] | None:
    """The policies that `Settings.policy` names.

    Raises:
      ValueError: it names none, or one with a table, which is a file of one machine and for one board size.
    """
    if text is None:
        return None
    if "advisor" in text or "replies" in text:
        raise ValueError("what an advisor or replies have learned is a file of one machine, and for one board size; a collection "
                         "takes the others")  # fmt: skip
    return policies_of(text)


def _findings(position: Position, found: Evaluation, best: int) -> Findings:
    num_moves, moves, playouts, rates = best_moves(position, found, best)
    return Findings(
        playouts=found.num_playouts, win_rate=found.win_rate, win_rate_error=found.win_rate_error, margin=found.margin_mean,
        margin_stdev=found.margin_std, length=found.length_mean, ownership=found.ownership.reshape(len(found), -1),
        num_moves=num_moves, moves=moves, move_playouts=playouts, move_win_rate=rates,
        move_error=standard_error(rates, playouts), lines=[None] * len(moves),
    )  # fmt: skip


def best_moves(position: Position, found: Evaluation, best: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(how many of each position [B], the moves, playouts through each, Black's win rates in them [M]), by AMAF statistics.

    These are the player's moves whose AMAF win rate, less a standard error, is highest, of those that are legal and fill no eye
    of his own and that he was first to play in some playout.

    Args:
      position: B positions on the host.
      found: their evaluation, with "amaf".
      best: how many moves of each at most.
    """
    batch = np.arange(position.batch)
    black = np.asarray(position.to_play) == BLACK
    colour = np.where(black, 0, 1)
    visits = found.amaf_visits.reshape(len(batch), 2, -1)[batch, colour]
    wins = found.amaf_wins.reshape(len(batch), 2, -1)[batch, colour]
    rates = wins / np.maximum(visits, 1)
    known = np.asarray(position.useful()) & (visits > 0)
    worth = np.where(known, rates - standard_error(rates, visits), -np.inf)
    order = np.argsort(-worth, axis=1, kind="stable")[:, :best]
    told = np.take_along_axis(known, order, axis=1)
    rows = np.broadcast_to(batch[:, None], order.shape)[told]
    moves = order[told]
    of_mover = rates[rows, moves]
    return told.sum(axis=1), moves, visits[rows, moves], np.where(black[rows], of_mover, 1 - of_mover)
