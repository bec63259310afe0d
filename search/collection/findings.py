"""What is found of a position, whoever finds it: figures of Black, and the moves that look best."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class Findings:
    """Figures of B positions of N x N points, P = N * N; all rates and margins are Black's."""

    playouts: np.ndarray
    """int64 [B]."""
    win_rate: np.ndarray
    """float64 [B], draws count half."""
    win_rate_error: np.ndarray
    """float64 [B]: standard error. Of a search it is that of so many independent playouts, which those of a search are not."""
    margin: np.ndarray
    """float64 [B] points: mean area of Black minus White's, before komi."""
    margin_stdev: np.ndarray
    """float64 [B] points: standard deviation of one playout's margin."""
    length: np.ndarray
    """float64 [B]: mean plies of a playout; NaN where it was not counted."""
    ownership: np.ndarray
    """float64 [B, P] in [-1, 1]: 1 where Black always ends up with the point."""
    num_moves: np.ndarray
    """int [B]: moves that are told of."""
    moves: np.ndarray
    """int [M]: these moves of all positions, one position's after the other's, the best first; P is a pass."""
    move_playouts: np.ndarray
    """int64 [M]."""
    move_win_rate: np.ndarray
    """float64 [M]."""
    move_error: np.ndarray
    """float64 [M]: standard error of the same."""
    lines: list[str | None]
    """[M]: the moves that are expected from there on, such as "E5 C3"; None where nobody has looked."""

    def some(self, rows: slice) -> "Findings":
        """Those of some positions, one after the other."""
        ends = np.concatenate([[0], np.cumsum(self.num_moves)])
        start, end, _ = rows.indices(len(self.num_moves))
        moves = slice(ends[start], ends[end])
        return Findings(**{
            field.name: getattr(self, field.name)[moves if field.name.startswith("move") or field.name == "lines" else rows]
            for field in dataclasses.fields(self)
        })  # fmt: skip


def together(parts: list[Findings]) -> Findings:
    """Those of several batches as one."""
    values = {field.name: [getattr(part, field.name) for part in parts] for field in dataclasses.fields(Findings)}
    lines = [line for part in values.pop("lines") for line in part]
    return Findings(**{name: np.concatenate(arrays) for name, arrays in values.items()}, lines=lines)


def standard_error(rate: np.ndarray, playouts: np.ndarray) -> np.ndarray:
    """Of a rate of independent wins and losses."""
    return np.sqrt(rate * (1 - rate) / np.maximum(playouts, 1))
