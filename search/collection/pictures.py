"""Boards and curves as SVG, to stand in a page: their colours are the page's (`page.STYLE`)."""

import html
from collections.abc import Mapping, Sequence

import numpy as np

from jaxgo.board.coordinates import COLUMNS, point, star_points

#: Points of a picture's own units from line to line of a board.
_STEP = 20
#: Ownership nearer to nobody's is not shown.
_LEAST_OWNERSHIP = 0.15


def board(
    letters: str, size: int, *, ownership: Sequence[float] | None = None, labels: Mapping[str, str] | None = None,
    marked: str | None = None, title: str = "", plain: bool = False,
) -> str:  # fmt: skip
    """A board.

    Args:
      letters: N * N of X, O and ., row by row from the top.
      size: N.
      ownership: N * N numbers, 1 Black's, -1 White's; squares of a size that tells how sure that is.
      labels: short texts on empty points, by the points' names.
      marked: the name of a point that is ringed.
      title: for who points at the picture, or cannot see it.
      plain: whether to leave out the coordinates.
    """
    edge = _STEP if plain else 1.7 * _STEP
    side = (size - 1) * _STEP + edge + _STEP
    places = [edge + _STEP * i for i in range(size)]
    out = [f'<svg class="board" viewBox="0 0 {side:g} {side:g}" role="img"><title>{html.escape(title)}</title>']
    out.append(f'<rect class="wood" width="{side:g}" height="{side:g}" rx="4"/><path class="grid" d="')
    out += [f"M{places[0]:g} {y:g}H{places[-1]:g}M{y:g} {places[0]:g}V{places[-1]:g}" for y in places]
    out.append('"/>')
    out += [_circle("star", places[x], places[y], 2.5) for x, y in star_points(size)]
    if not plain:
        for i, at in enumerate(places):
            out.append(f'<text class="name" x="{at:g}" y="{edge * 0.45:g}">{COLUMNS[i]}</text>')
            out.append(f'<text class="name" x="{edge * 0.4:g}" y="{at + 3:g}">{size - i}</text>')
    for number, letter in enumerate(letters):
        y, x = divmod(number, size)
        if letter in "XO":
            out.append(_circle("black" if letter == "X" else "white", places[x], places[y], 0.47 * _STEP))
    for number, owner in enumerate(ownership or ()):
        if abs(owner) >= _LEAST_OWNERSHIP:
            y, x = divmod(number, size)
            half = 0.2 * _STEP * abs(owner)
            kind = "blacks" if owner > 0 else "whites"
            out.append(f'<rect class="{kind}" x="{places[x] - half:.1f}" y="{places[y] - half:.1f}" width="{2 * half:.1f}" '
                       f'height="{2 * half:.1f}"/>')  # fmt: skip
    for name, text in (labels or {}).items():
        if (place := point(name, size)) < size * size:
            across, down = places[place % size], places[place // size]
            out.append(_circle("label", across, down, 0.42 * _STEP))
            out.append(f'<text class="label" x="{across:g}" y="{down + 4:g}">{html.escape(text)}</text>')
    if marked is not None and (place := point(marked, size)) < size * size:
        out.append(_circle("mark", places[place % size], places[place // size], 0.36 * _STEP))
    return "".join([*out, "</svg>"])


def curve(
    plies: np.ndarray, rates: np.ndarray, *, marked: tuple[int, int] | None = None, title: str = "", small: bool = False
) -> str:  # fmt: skip
    """Black's win rate over the plies of a game.

    Args:
      plies: integers [n], rising.
      rates: [n] in [0, 1].
      marked: the plies from and to which to shade.
      title: for who points at the picture, or cannot see it.
      small: whether it stands in a line of text.
    """
    width, height, left = (120, 24, 0) if small else (520, 150, 44)
    last = max(int(plies[-1]), 1) if len(plies) else 1
    x = left + (width - left) * np.asarray(plies) / last
    y = height * (1 - np.asarray(rates))
    kind = "curve small" if small else "curve"
    bottom = height if small else height + 18
    out = [f'<svg class="{kind}" viewBox="0 -8 {width + 2} {bottom + 10}" role="img"><title>{html.escape(title)}</title>']
    if marked is not None:
        a, b = (left + (width - left) * ply / last for ply in marked)
        out.append(f'<rect class="marked" x="{a - 1:.1f}" y="0" width="{b - a + 2:.1f}" height="{height}"/>')
    for share in (0.5,) if small else (0, 0.25, 0.5, 0.75, 1):
        out.append(f'<path class="rule" d="M{left} {height * (1 - share):g}H{width}"/>')
        if not small:
            out.append(f'<text class="axis" x="{left - 6}" y="{height * (1 - share) + 4:g}">{100 * share:g} %</text>')
    if not small:
        out.append(f'<text class="axis end" x="{width}" y="{height + 15}">{last} moves</text>')
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
    return "".join([*out, f'<polyline class="line" points="{line}"/></svg>'])


def _circle(kind: str, x: float, y: float, radius: float) -> str:
    return f'<circle class="{kind}" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>'
