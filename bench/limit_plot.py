"""The picture of `jaxgo bench limit`. Needs matplotlib, the extra `plot`."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench import picture
from bench.picture import BLUE, GREEN, ORANGE

_GREY = "#BBBBBB"
_WIDTH = 0.28


def draw(made: Mapping[str, Any], path: str) -> None:
    """Writes the picture of a report.

    Args:
      made: of `bench.limit.measure`.
      path: ends in .png, .svg or .pdf.
    """
    from matplotlib.figure import Figure

    measured = [entry for entry in made["results"] if "ceiling" in entry]
    simulated = [entry for entry in made["results"] if entry["gpu"]]
    panels = [(_shares, measured), (_rates, measured)] * bool(measured) + [(_warps, simulated)] * bool(simulated)
    figure = Figure(figsize=(4.6 * max(1, len(panels)), 4.8), dpi=150, layout="constrained", facecolor="white")
    for axes, (panel, entries) in zip(figure.subplots(1, max(1, len(panels)), squeeze=False)[0], panels):
        panel(axes, entries)
        axes.set_xticks(range(len(entries)), [f"{entry['size']}x{entry['size']}" for entry in entries])
        axes.set_xlabel("board", fontsize=9.5)
        picture.plain(axes, "y")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False, fontsize=8.5)
    machine = made["hardware"]
    title = f"jaxgo {made['jaxgo']}, one core of {machine['cpu']}, jax {made['software']['jax']}; {machine['load_at_start']}"
    figure.suptitle(title, fontsize=10)
    picture.save(figure, made, path)


def _shares(axes, entries: Sequence[Mapping[str, Any]]) -> None:
    """Shares of the ceiling."""
    _bars(axes, entries, -_WIDTH, "in_order_share", _GREY, "..", "the same on registers, each waiting for what it needs")
    _bars(axes, entries, 0, "ticks_share", BLUE, "", "ticks alone")
    _bars(axes, entries, _WIDTH, "playouts_share", ORANGE, "//", "playouts (the ticks that they need)")
    axes.axhline(100, color="black", lw=1, ls=":")
    text = "the same on registers, independent of each other"
    axes.annotate(text, (-0.5, 100), (0, 4), textcoords="offset points", fontsize=8.5)
    axes.set(ylim=(0, 112), xlim=(-0.55, len(entries) - 0.45), ylabel="operations on vectors, % of the ceiling")
    axes.set_title("Measured: share of the ceiling", fontsize=10.5)


def _rates(axes, entries: Sequence[Mapping[str, Any]]) -> None:
    """Playouts a second."""
    axes.set_yscale("log")
    for name, colour, marker, below, label in (
        ("could_be", _GREY, "s", False, "at the ceiling: nothing but the needed operations"),
        ("playouts", ORANGE, "o", True, "measured"),
    ):
        places, spreads = range(len(entries)), [entry[name] for entry in entries]
        heights, errors = _with_errors(spreads)
        axes.errorbar(places, heights, yerr=errors, color=colour, marker=marker, ms=7, lw=1.2, capsize=2.5, label=label)
        for place, height in zip(places, heights):
            aside = {"xytext": (-7, -4) if below else (7, 4), "ha": "right" if below else "left", "fontsize": 8}
            aside["va"] = "top" if below else "bottom"
            axes.annotate(_short(height), (place, height), textcoords="offset points", **aside)
    least = min(entry["playouts"]["min"] for entry in entries)
    most = max(entry["could_be"]["max"] for entry in entries)
    axes.set(ylim=(least / 2, most * 2), xlim=(-0.55, len(entries) - 0.45), ylabel="playouts per CPU second, one core")
    axes.yaxis.set_major_formatter(lambda rate, _: _short(rate))
    axes.set_title("Measured: playouts", fontsize=10.5)


def _warps(axes, entries: Sequence[Mapping[str, Any]]) -> None:
    """What a GPU's instructions would be for."""
    bottom = [0.0] * len(entries)
    for name, colour, hatch, label in (
        ("share", GREEN, "", "ticks that playouts need"),
        ("waiting", _GREY, "..", "ticks in which lanes wait"),
        ("changing", ORANGE, "//", "from one playout to the next"),
    ):
        heights = [100 * entry["gpu"][name] for entry in entries]
        axes.bar(range(len(entries)), heights, 0.5, bottom, color=colour, hatch=hatch, edgecolor="white", label=label)
        bottom = [low + height for low, height in zip(bottom, heights)]
    axes.set(ylim=(0, 112), xlim=(-0.55, len(entries) - 0.45), ylabel="machine instructions of a warp, %")
    axes.set_title("Simulated, not measured: an NVIDIA GPU's kernel", fontsize=10.5)


def _bars(axes, entries: Sequence[Mapping[str, Any]], aside: float, name: str, colour: str, hatch: str, label: str) -> None:
    """Shares in percent: medians over the runs, and from the least to the greatest."""
    if not all(name in entry for entry in entries):
        return
    spreads = [{key: 100 * value for key, value in entry[name].items()} for entry in entries]
    heights, errors = _with_errors(spreads)
    places = [place + aside for place in range(len(entries))]
    axes.bar(places, heights, _WIDTH, color=colour, hatch=hatch, edgecolor="white", label=label)
    axes.errorbar(places, heights, yerr=errors, fmt="none", ecolor="black", elinewidth=1, capsize=2.5)
    for place, one in zip(places, spreads):
        text = f"{one['median']:.0f} %"
        axes.annotate(text, (place, one["max"]), (0, 3), textcoords="offset points", ha="center", fontsize=8)


def _with_errors(spreads: Sequence[Mapping[str, float]]) -> tuple[list[float], list[list[float]]]:
    """(medians, how far below them the least is and how far above the greatest)."""
    medians = [one["median"] for one in spreads]
    return medians, [[one["median"] - one["min"] for one in spreads], [one["max"] - one["median"] for one in spreads]]


def _short(rate: float) -> str:
    """A rate with three digits."""
    return f"{rate / 1e6:.3g} M" if rate >= 1e6 else f"{rate / 1e3:.3g} k"
