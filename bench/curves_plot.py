"""The picture of `jaxgo bench curves`. Needs matplotlib, the extra `plot`."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench import picture

_COLUMNS = 3


def draw(made: Mapping[str, Any], path: str) -> None:
    """Writes the picture of a report.

    Args:
      made: of `bench.curves.measure`.
      path: ends in .png, .svg or .pdf.
    """
    from matplotlib.figure import Figure

    curves = [curve for curve in made["curves"] if any(entry["curve"] == curve["name"] for entry in made["results"])]
    rows = -(-len(curves) // _COLUMNS)
    figure = Figure(figsize=(4.7 * _COLUMNS, 4.1 * rows), dpi=150, layout="constrained", facecolor="white")
    panels = list(figure.subplots(rows, _COLUMNS, squeeze=False).flat)
    for axes, curve in zip(panels, curves):
        _panel(axes, curve, [entry for entry in made["results"] if entry["curve"] == curve["name"]])
    for axes in panels[len(curves) :]:
        axes.set_axis_off()
    machine = made["hardware"]
    title = f"jaxgo {made['jaxgo']}, {machine['cpu']}, {machine['cores_usable']} cores, jax {made['software']['jax']}"
    figure.suptitle(f"{title}; {machine['load_at_start']}", fontsize=10.5)
    picture.save(figure, made, path)


def _panel(axes, curve: Mapping, entries: Sequence[Mapping[str, Any]]) -> None:
    lines = list(dict.fromkeys(entry["line"] for entry in entries))
    for line, (colour, marker) in zip(lines, picture.LINES):
        points = [entry for entry in entries if entry["line"] == line]
        rates = [point["per_second"] for point in points]
        medians = [rate["median"] for rate in rates]
        errors = [[rate["median"] - rate["min"] for rate in rates], [rate["max"] - rate["median"] for rate in rates]]
        places = [point["x"] for point in points]
        axes.errorbar(places, medians, yerr=errors, color=colour, marker=marker, ms=5, lw=1.3, capsize=2.5, label=line)
    rates = [entry["per_second"] for entry in entries]
    if max(rate["max"] for rate in rates) > 10 * min(rate["min"] for rate in rates):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    places = sorted({entry["x"] for entry in entries})
    if curve["name"] == "board":
        axes.set_xticks([place for place in places if place % 2 or len(places) < 12])
    else:
        axes.set_xscale("log")
        axes.set_xticks(places, [f"{place:,}" for place in places], fontsize=8.5)
        axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda rate, _: f"{rate / 1e6:g} M" if rate >= 1e6 else f"{rate / 1e3:g} k")
    axes.set_xlabel(curve["axis"], fontsize=9.5)
    axes.set_ylabel(f"playouts per {'CPU second, one core' if curve['one_core'] else 'second, whole machine'}", fontsize=9.5)
    board = "all boards" if curve["name"] == "board" else f"{entries[0]['size']}x{entries[0]['size']}"
    axes.set_title(f"by {curve['name']}, {board}", fontsize=10.5)
    picture.plain(axes, "y")
    if len(lines) > 1:
        axes.legend(frameon=False, fontsize=8.5)
