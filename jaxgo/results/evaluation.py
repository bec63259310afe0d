"""What `jaxgo.evaluate` returns: rates, means and their errors, from exact sums."""

import dataclasses

import numpy as np

from jaxgo.results.sums import Sums


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluation:
    """Statistics of playouts from `B` positions of size `N`; numpy arrays, float64 unless said otherwise.

    Where no playout of a position was finished (after an interruption), its rates and means are NaN.
    """

    num_playouts: np.ndarray
    """int64 [B]: playouts finished."""
    complete: bool
    """Whether all playouts asked for were finished."""
    komi: float
    """Points that White gets."""
    win_rate: np.ndarray
    """[B] in [0, 1]: Black's wins, draws counted half, per playout."""
    win_rate_error: np.ndarray
    """[B]: standard error of `win_rate`."""
    margin_mean: np.ndarray
    """[B] points: mean of Black's area minus White's, before komi."""
    margin_std: np.ndarray
    """[B] points: standard deviation of the margin over playouts."""
    margin_histogram: np.ndarray
    """int64 [B, 2 P + 1]: playouts of each margin; index margin + P."""
    ownership: np.ndarray
    """[B, N, N] in [-1, 1]: mean owner of each point at the end, area counted: 1 always Black's, -1 always White's."""
    length_mean: np.ndarray
    """[B] plies, final passes included."""
    truncated: np.ndarray
    """[B] in [0, 1]: share of the playouts that the cap ended."""
    amaf_visits: np.ndarray
    """int64 [B, 2, N, N]: playouts in which Black (index 0) or White (1) was the first of both to play at the point."""
    amaf_wins: np.ndarray
    """[B, 2, N, N]: wins of that colour in those playouts, draws counted half."""

    def __len__(self) -> int:
        return len(self.num_playouts)

    def __getitem__(self, index) -> "Evaluation":
        """Some positions of the batch: a slice or an array keeps the batch axis, an integer drops it."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return Evaluation(**{k: v[index] if isinstance(v, np.ndarray) else v for k, v in values.items()})

    def plus(self, other: "Evaluation") -> "Evaluation":
        """The evaluation of these playouts and others of the same positions with the same komi, as if made in one call.

        Raises:
          ValueError: the positions' number or size, or the komi, is another.
        """
        mine, others = ((x.komi, x.ownership.shape) for x in (self, other))
        if mine != others:
            raise ValueError(f"evaluations of one (komi, shape) can be added, not of {mine} and {others}")
        sums = Sums(*(a + b for a, b in zip(self._sums(), other._sums())))
        finished = self.num_playouts + other.num_playouts
        found = summarise(self.ownership.shape[-1], sums, finished, finished, self.komi)
        return dataclasses.replace(found, complete=self.complete and other.complete)

    def _sums(self) -> Sums:
        """The sums behind the rates: they are whole numbers, so that they can be had back exactly."""
        size, batch = self.ownership.shape[-1], len(self)

        def total(mean: np.ndarray) -> np.ndarray:
            return np.rint(np.nan_to_num(mean) * self.num_playouts.reshape(-1, *[1] * (mean.ndim - 1))).astype(np.int64)

        visits, halves = (x.reshape(batch, 2, size * size) for x in (self.amaf_visits, np.rint(2 * self.amaf_wins).astype(np.int64)))
        owned = total(self.ownership).reshape(batch, size * size)
        black_result = np.stack([halves[:, 0], 2 * visits[:, 1] - halves[:, 1]], axis=1)
        return Sums(
            self.margin_histogram, owned, np.zeros_like(owned), total(self.length_mean), total(self.truncated), visits, black_result
        )


class Interrupted(KeyboardInterrupt):
    """`jaxgo.evaluate` was interrupted; `partial` is the `Evaluation` of the playouts finished until then."""

    def __init__(self, partial: Evaluation):
        super().__init__(f"interrupted after {int(partial.num_playouts.sum())} playouts")
        self.partial = partial


def summarise(size: int, sums: Sums, finished: np.ndarray, asked: int, komi: float) -> Evaluation:
    """Rates and means from the sums (int64) of `finished` [B] playouts."""
    points, batch = size * size, len(finished)
    n = np.where(finished > 0, finished, np.nan)
    margins = np.arange(-points, points + 1)
    value = np.where(margins > komi, 1.0, np.where(margins == komi, 0.5, 0.0))
    win_rate = sums.margins @ value / n
    square = sums.margins @ value**2 / n
    mean = sums.margins @ margins / n
    variance = np.maximum(sums.margins @ margins**2 / n - mean**2, 0.0)
    wins = np.stack([sums.first_black_result[:, 0], 2 * sums.first[:, 1] - sums.first_black_result[:, 1]], axis=1) / 2
    return Evaluation(
        num_playouts=finished.copy(),
        complete=bool((finished == asked).all()),
        komi=komi,
        win_rate=win_rate,
        win_rate_error=np.sqrt(np.maximum(square - win_rate**2, 0.0) / n),
        margin_mean=mean,
        margin_std=np.sqrt(variance),
        margin_histogram=sums.margins,
        ownership=((sums.black - sums.white) / n[:, None]).reshape(batch, size, size),
        length_mean=sums.length / n,
        truncated=sums.truncated / n,
        amaf_visits=sums.first.reshape(batch, 2, size, size),
        amaf_wins=wins.reshape(batch, 2, size, size),
    )
