"""A board as a picture: wood, grid, star points, coordinates, stones and the last move. Needs matplotlib, the extra `plot`."""

import numpy as np

from jaxgo.board.coordinates import COLUMNS, star_points

WOOD = "#e3b778"
LINE = "#6b4f2a"
BLACK, WHITE = "#1a1a1a", "#fafafa"
MARK = "#d0342c"
GREY = "#7a7a7a"

_EDGE = 0.72  # of wood beyond the outer lines


def draw_board(axes, stones: np.ndarray, last_point: int | None = None) -> None:
    """Draws a position; point (y, x) stands at x, y.

    Args:
      axes: of matplotlib.
      stones: int8 [N, N]: 1 Black, -1 White, row 0 at the top.
      last_point: the point of the last move, which is marked; None, or P, for none.
    """
    from matplotlib.patches import Circle, Rectangle

    size = len(stones)
    wood = size - 1 + 2 * _EDGE
    axes.add_patch(Rectangle((-_EDGE, -_EDGE), wood, wood, facecolor=WOOD, edgecolor=LINE, lw=1.2))
    for i in range(size):
        axes.plot((0, size - 1), (i, i), color=LINE, lw=0.8, zorder=1)
        axes.plot((i, i), (0, size - 1), color=LINE, lw=0.8, zorder=1)
    for x, y in star_points(size):
        axes.add_patch(Circle((x, y), 0.09, color=LINE, zorder=1))
    for y, x in np.argwhere(stones):
        face = BLACK if stones[y, x] > 0 else WHITE
        axes.add_patch(Circle((x + 0.03, y + 0.04), 0.465, color="#00000038", lw=0, zorder=2))
        axes.add_patch(Circle((x, y), 0.465, facecolor=face, edgecolor="#2b2b2b", lw=0.7, zorder=3))
    if last_point is not None and last_point < size * size:
        axes.add_patch(Circle((last_point % size, last_point // size), 0.3, fill=False, edgecolor=MARK, lw=1.8, zorder=5))
    axes.set_xticks(range(size), COLUMNS[:size])
    axes.set_yticks(range(size), [str(size - y) for y in range(size)])
    axes.tick_params(length=0, labelsize=9 if size < 15 else 7.5, colors="#444444", labeltop=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    low, high = -_EDGE - 0.02, size - 1 + _EDGE + 0.02
    axes.set(xlim=(low, high), ylim=(high, low), aspect="equal")


def draw_owners(axes, stones: np.ndarray, ownership: np.ndarray) -> None:
    """A square on each point in its owner's colour, as large as the ownership is certain.

    Args:
      axes: where the board is drawn.
      stones: int8 [N, N].
      ownership: float64 [N, N], 1 Black's, -1 White's.
    """
    from matplotlib.patches import Rectangle

    for (y, x), owner in np.ndenumerate(ownership):
        side = 0.62 * np.sqrt(abs(owner))
        # A stone's own colour would not show on it; only what contradicts the stone is drawn there.
        if side > 0.05 and stones[y, x] * owner <= 0:
            face, rim = (BLACK + "e6", "#00000000") if owner > 0 else (WHITE + "e6", "#00000055")
            corner = (x - side / 2, y - side / 2)
            axes.add_patch(Rectangle(corner, side, side, facecolor=face, edgecolor=rim, lw=0.5, zorder=4))


def position_title(move: int, last_move: str, to_play: int, over: bool = False) -> str:
    """What is above a board: "after move 20 (W F8), Black to play"."""
    mover = "game over" if over else f"{'Black' if to_play > 0 else 'White'} to play"
    return f"after move {move}{f' ({last_move})' if last_move else ''}, {mover}"
