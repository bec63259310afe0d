"""The results that were published from 2007 to 2009, measured again, each beside its figure of then.

    python -m bench.published OUT [--only NAME,...] [--games N]

OUT is a folder: the matches that were played are kept there (`jaxgo match --output`), so that what was interrupted goes on, with
a document for each part, such as `williams.json`, and `williams.png`, a picture of the table of weighted AMAF. Parts, in order:

    dailey     Don Dailey's conformance figures of the reference bot's playouts (2008): a million for each komi
    williams   Michael Williams' table (2008): weighted against plain AMAF, from 15 to 16,000 playouts a move
    house      Jason House's bots of one ply (2007): 1plyShuffle, 1plyUCT and 1plyMC, at equal playouts and at equal time
    teresa     the tree search Teresa against Karl, who has no tree
    gelly      RAVE against UCT at 3,000 playouts a move, and both against GNU Go
    mogo       the same as Gelly and Silver had it (2007): by MoGo's playouts, one of each descent

An interval holds the true score in 95 % of cases; where the published figure has one, it is its binomial one.
"""

import argparse
import dataclasses
import math
import pathlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich import box

from bench import documents, hardware, picture, report
from bench.matches.engine import find_gnugo
from bench.matches.kept import kept_match, make_folder
from bench.matches.standing import wilson
from jaxgo.commands.tables import make_console, print_table

#: Dailey, 10^6 playouts of the empty 9x9 board for each komi: Black's score; the standard error of a score is 0.0005.
DAILEY_SCORES = {0.0: 0.5245, 5.5: 0.4457, 6.0: 0.4467, 6.5: 0.4471, 7.0: 0.4334, 7.5: 0.4213}
DAILEY_ERROR = 0.0005
#: The mean length, both last passes included, of all of them, and the standard error of the mean of a million.
DAILEY_LENGTH, DAILEY_LENGTH_ERROR = 111.04, 0.016
#: Williams, 200 games a row: playouts a move, and the share that weighted AMAF won of plain AMAF.
WILLIAMS = {
    15: 0.54, 30: 0.54, 60: 0.545, 125: 0.53, 250: 0.54, 500: 0.555, 1000: 0.575, 2000: 0.63, 4000: 0.635, 8000: 0.635,
    16000: 0.71,
}  # fmt: skip
WILLIAMS_GAMES = 200


@dataclasses.dataclass(frozen=True)
class Row:
    """A match and what was published of it."""

    part: str
    name: str
    first: str
    second: str
    visits: int | None
    """Playouts of a move, where they are the limit."""
    games: int
    published: float | None = None
    """The first's score; None where nobody told one."""
    published_games: int | None = None
    said: str = ""
    """What was told in words."""
    seconds: float | None = None
    """Of a move on one core, where time is the limit."""


def rows() -> Iterator[Row]:
    """All matches, in order."""
    for visits, score in WILLIAMS.items():
        games = 1000 if visits <= 2000 else 200
        yield Row("williams", f"{visits:,} playouts", "wamaf", "amaf", visits, games, score, WILLIAMS_GAMES)
    shuffle, uct, uniform = ("1plyShuffle", "mctr"), ("1plyUCT", "ucb"), ("1plyMC", "mc")
    for (first, a), (second, b) in ((shuffle, uct), (shuffle, uniform), (uct, uniform)):
        yield Row("house", f"{first} against {second}, 2,000 playouts", a, b, 2000, 400)
        told, of_games = (1.0, 10) if (a, b) == ("mctr", "ucb") else (None, None)
        yield Row("house", f"{first} against {second}, 0.1 s", a, b, None, 40, told, of_games, seconds=0.1)
    yield Row("teresa", "Teresa against Karl, 1,000 playouts", "uct", "mc", 1000, 200)
    yield Row("gelly", "RAVE against UCT, 3,000 playouts", "rave", "uct", 3000, 200)
    if gnugo := find_gnugo():
        engine = f"gtp:{gnugo} --mode gtp --level 10 --chinese-rules"
        yield Row("gelly", "UCT against GNU Go, 3,000 playouts", "uct", engine, 3000, 200)
        yield Row("gelly", "RAVE against GNU Go, 3,000 playouts", "rave", engine, 3000, 200)
        mogo = "policy=patterns,playouts_per_leaf=1"
        yield Row("mogo", "UCT against GNU Go", f"uct:{mogo}", engine, 3000, 200, 0.24)
        yield Row("mogo", "RAVE against GNU Go", f"rave:{mogo}", engine, 3000, 200, 0.55, said="50 to 60 %")
        yield Row("mogo", "RAVE with a prior against GNU Go", f"rave:{mogo},knowledge=True", engine, 3000, 200, 0.69)


#: The parts, and what their tables are called.
PARTS = {
    "dailey": "Dailey's playouts, empty 9x9 board", "williams": "Williams: weighted AMAF against AMAF",
    "house": "House: bots of one ply", "teresa": "Teresa", "gelly": "Gelly: RAVE and UCT",
    "mogo": "Gelly and Silver: 3,000 playouts of MoGo's",
}  # fmt: skip


def dailey() -> list[dict[str, Any]]:
    """Black's scores and the mean length beside Dailey's, each with the difference in standard errors of both."""
    import jaxgo

    out, lengths = [], []
    for seed, (komi, score) in enumerate(DAILEY_SCORES.items()):
        found = jaxgo.evaluate(jaxgo.Position.empty(9), 10**6, komi=komi, seed=seed)
        lengths.append(float(found.length_mean[0]))
        ours = float(found.win_rate[0]), float(found.win_rate_error[0])
        out.append(_beside(f"Black's score, komi {komi:g}", *ours, score, DAILEY_ERROR))
    error = DAILEY_LENGTH_ERROR / math.sqrt(len(lengths))
    return [*out, _beside("mean length", sum(lengths) / len(lengths), error, DAILEY_LENGTH, error)]


def _beside(name: str, ours: float, error: float, theirs: float, their_error: float) -> dict:
    found = {"name": name, "ours": ours, "error": error, "published": theirs, "published_error": their_error}
    return found | {"errors_apart": (ours - theirs) / math.hypot(error, their_error)}


def play(row: Row, folder: pathlib.Path, games: int | None) -> dict:
    """Plays a row's match, or what is missing of it, by `jaxgo match`; what is known of it."""
    place = folder / "".join(c if c.isalnum() else "-" for c in f"{row.part}-{row.name}")
    games = min(row.games, games or row.games)
    limit = ("--visits", str(row.visits)) if row.seconds is None else ("--seconds", str(row.seconds))
    made = kept_match(place, row.first, row.second, games, *limit, "--opening", "0", "--no-knowledge")
    interval = None
    if row.published is not None and row.published_games:
        interval = wilson(row.published, row.published_games)
    return dataclasses.asdict(row) | {"match": made, "published_interval": interval}


def measured(part: str, folder: pathlib.Path, games: int | None) -> Iterator[dict]:
    """What is found of a part, a line of its table after the other."""
    if part == "dailey":
        yield from dailey()
    for row in rows():
        if row.part == part:
            print(f"python -m bench.published: {part}: {row.name}", file=sys.stderr)
            yield play(row, folder, games)


def draw(made: Mapping[str, Any], path: str | pathlib.Path) -> None:
    """Draws the table of weighted AMAF beside Williams'."""
    from matplotlib.figure import Figure

    own = made["results"]
    figure = Figure(figsize=(7, 4.4), dpi=130, layout="constrained")
    axes = figure.subplots()
    # A little to one side, so that bars do not meet.
    kinds: list[tuple[str, str, str, float, Callable[[dict], float], Callable[[dict], Sequence[float]]]] = [
        ("Williams, 200 games a row", picture.VERMILION, "s", 0.96, lambda x: x["published"], lambda x: x["published_interval"]),
        ("jaxgo", picture.BLUE, "o", 1.04, lambda x: x["match"]["score"], lambda x: x["match"]["interval"]),
    ]
    for label, colour, marker, aside, score, interval in kinds:
        scores, intervals = [100 * score(x) for x in own], [interval(x) for x in own]
        below = [s - 100 * low for s, (low, _) in zip(scores, intervals)]
        bars = [below, [100 * high - s for s, (_, high) in zip(scores, intervals)]]
        axes.errorbar([aside * x["visits"] for x in own], scores, bars, color=colour, marker=marker, capsize=3, label=label)
    axes.axhline(50, color="gray", linestyle="--", lw=0.9)
    axes.set(xscale="log", xlabel="playouts a move", ylabel="weighted AMAF's score against AMAF, % (bars: 95 %)")
    marked = [x["visits"] for x in own[::2]]
    axes.set_xticks(marked, [f"{visits:,}" for visits in marked])
    axes.minorticks_off()
    axes.set_title("9x9, komi 7.5")
    picture.plain(axes)
    axes.legend()
    picture.save(figure, made, path)


#: How parts are drawn that have a picture.
PICTURES = {"williams": draw}


def table(made: Mapping[str, Any]) -> tuple[str, Sequence[str], list[tuple[str, ...]]]:
    """A part's table for people: its title, columns and rows."""
    part, found = made["benchmark"], made["results"]
    if part == "dailey":
        return PARTS[part], ("", "jaxgo", "published", "standard errors apart"), [_of_figure(x) for x in found]
    return PARTS[part], ("", "jaxgo", "games", "published", ""), [_of_match(x) for x in found]


def _of_figure(x: dict) -> tuple[str, ...]:
    return x["name"], f"{x['ours']:.4f} ± {x['error']:.4f}", f"{x['published']:.4f}", f"{x['errors_apart']:+.1f}"


def _of_match(x: dict) -> tuple[str, ...]:
    score, (low, high) = x["match"]["score"], x["match"]["interval"]
    theirs = "-" if x["published"] is None else f"{100 * x['published']:.1f} %"
    if x["published_interval"]:
        theirs += " ({:.1f} to {:.1f})".format(*(100 * y for y in x["published_interval"]))
    ours = f"{100 * score:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
    return x["name"], ours, f"{x['match']['games']:,}", theirs, x["said"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures what is asked for; the exit status."""
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m bench.published", description=__doc__, formatter_class=as_written)
    parser.add_argument("out", type=pathlib.Path, metavar="OUT", help="the folder")
    parser.add_argument("--only", default=",".join(PARTS), metavar="NAME,...", help="of the parts above (default: all)")
    parser.add_argument("--games", type=int, metavar="N", help="of each match at most (default: as many as the interval needs)")
    asked = parser.parse_args(arguments)
    parts = list(dict.fromkeys(asked.only.split(",")))
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"--only {asked.only}: there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    if asked.games is not None and asked.games < 1:
        parser.error(f"--games must be at least 1, not {asked.games}")
    make_folder(parser, asked.out)
    for part in PICTURES.keys() & set(parts):
        picture.check(parser, asked.out / f"{part}.png")
    machine, software, console = hardware.describe(), hardware.versions(), make_console()
    for part in parts:
        made = report.begin(part, machine, {"games": asked.games}) | {"software": software, "results": []}
        for found in measured(part, asked.out, asked.games):
            made["results"].append(found)
            documents.write(asked.out / f"{part}.json", made)
        if part in PICTURES:
            PICTURES[part](made, asked.out / f"{part}.png")
        title, columns, lines = table(made)
        console.print(title)
        print_table(console, columns, lines, box=box.HEAVY_HEAD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
