"""What pictures of reports have in common. Needs matplotlib, the extra `plot`."""

import argparse
import pathlib
from collections.abc import Mapping
from typing import Any

#: Okabe and Ito's colours, which people with colour blindness tell apart.
BLUE, VERMILION, GREEN, PURPLE, ORANGE = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"
#: Colours of lines in order, each with a marker of its own.
LINES = ((BLUE, "o"), (VERMILION, "s"), (GREEN, "^"), (PURPLE, "D"), (ORANGE, "v"))


def plain(axes, axis: str = "both") -> None:
    """Draws a grid for the axis ("x", "y" or "both") behind what is shown, and no frame above and to the right."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=axis, which="both", color="#e6e6e6", lw=0.7)
    axes.set_axisbelow(True)


def title_of(made: Mapping[str, Any]) -> str:
    """What the file of a report's picture says of itself: what was measured, and when."""
    return f"{made['benchmark']}, {made['date']}"


def path(text: str) -> str:
    """An `argparse` type: the file of a picture, which can be written."""
    from jaxgo.cli import UsageError
    from jaxgo.commands import plots

    try:
        (found,) = plots.places_of(text, [""], "the picture")
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return str(found)


def check(parser: argparse.ArgumentParser, place: pathlib.Path) -> None:
    """Ends a command with a usage error where the picture that it is to draw in the end could not be written."""
    try:
        path(str(place))
    except argparse.ArgumentTypeError as error:
        parser.error(str(error))


def save(figure, made: Mapping[str, Any], path) -> None:
    """Writes a report's picture; `path` ends in .png, .svg or .pdf."""
    figure.savefig(path, metadata={"Title": title_of(made)})
