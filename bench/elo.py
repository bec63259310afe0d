"""How much stronger bots become with more playouts: Elo by playouts a move, each doubling by a match of its own.

    python -m bench.elo OUT [--bots NAME,...] [--most N] [--games N]

OUT is a folder: the matches are kept there (`jaxgo match --output`), so that what was interrupted goes on, also to more playouts
or games, with `elo.json`, the document, and `elo.png`, the picture. A bot with twice as many playouts a move plays itself with so
many, at 100, 200, 400 and so on, 9x9, komi 7.5. A doubling's difference in Elo is that of its score, and its error half the width
of the score's 95 % Wilson interval in Elo; a rating is the sum of the differences up to it, with the errors added in quadrature.
Where one side won all games its score counts as half a game less, as no rating would say how much better that is.
"""

import argparse
import math
import pathlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rich import box

from bench import documents, hardware, picture, report
from bench.matches.kept import kept_match, make_folder
from bench.matches.standing import elo
from jaxgo.commands.tables import make_console, print_table
from search.bots import SUMMARIES

BOTS = ("rave", "uct", "wamaf")
#: Playouts of the first match's weaker player, and of the last one's stronger.
LEAST, MOST = 100, 102_400
#: Games of a match: so many where its stronger player has at most so many playouts a move.
GAMES = {1_600: 400, 12_800: 200, MOST: 60}
#: As many as there are colours.
MOST_BOTS = len(picture.LINES)
#: Of the table for people.
COLUMNS = ("bot", "playouts a move", "games", "score", "Elo", "in all")


class Rating(NamedTuple):
    """A bot with so many playouts a move, above itself with `LEAST`."""

    playouts: int
    elo: float
    error: float
    """95 %."""


def doublings(most: int) -> Iterator[int]:
    """The playouts of the weaker players."""
    playouts = LEAST
    while 2 * playouts <= most:
        yield playouts
        playouts *= 2


def games_of(playouts: int, most: int | None) -> int:
    """Games of the match in which the stronger player has so many playouts; at most so many where that is given."""
    games = next((games for limit, games in GAMES.items() if playouts <= limit), min(GAMES.values()))
    return min(games, most or games)


def difference(match: dict) -> tuple[float, float]:
    """(Elo by which the first is stronger, its error)."""
    least = 0.5 / match["games"]
    score, *bounds = (min(max(x, least), 1 - least) for x in (match["score"], *match["interval"]))
    low, high = (elo(bound) or 0.0 for bound in bounds)
    return elo(score) or 0.0, (high - low) / 2


def ratings(matches: Sequence[dict[str, Any]]) -> list[Rating]:
    """A bot's, by its matches in order."""
    found = [Rating(LEAST, 0.0, 0.0)]
    for match in matches:
        gain, error = difference(match["match"])
        last = found[-1]
        found.append(Rating(2 * match["playouts"], last.elo + gain, math.hypot(last.error, error)))
    return found


def draw(made: Mapping[str, Any], path: str | pathlib.Path) -> None:
    """Writes the picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.8), dpi=130, layout="constrained")
    axes = figure.subplots()
    for (bot, found), (colour, marker) in zip(made["ratings"].items(), picture.LINES):
        playouts, values, errors = zip(*found)
        axes.errorbar(playouts, values, errors, color=colour, marker=marker, ms=5, lw=1.4, capsize=3, label=bot)
    axes.set_xscale("log")
    places = sorted({playouts for found in made["ratings"].values() for playouts, *_ in found})
    axes.set_xticks(places, [f"{place:,}" for place in places], fontsize=8, rotation=40)
    axes.minorticks_off()
    axes.set(xlabel="playouts a move", ylabel=f"Elo above itself with {LEAST} playouts (bars: 95 %)")
    axes.set_title("9x9, komi 7.5, each doubling by a match of its own", fontsize=10.5)
    picture.plain(axes)
    axes.legend()
    picture.save(figure, made, path)


def rows(made: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Of the table for people, under `COLUMNS`."""
    for match in made["matches"]:
        (gain, error), of = difference(match["match"]), match["match"]
        score = "{:.1f} % ({:.1f} to {:.1f})".format(*(100 * x for x in (of["score"], *of["interval"])))
        rating = next(x for x in made["ratings"][match["bot"]] if x[0] == 2 * match["playouts"])
        against = f"{2 * match['playouts']:,} against {match['playouts']:,}"
        yield match["bot"], against, str(of["games"]), score, f"{gain:+.0f} ± {error:.0f}", f"{rating[1]:+.0f} ± {rating[2]:.0f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures what is asked for; the exit status."""
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m bench.elo", description=__doc__, formatter_class=as_written)
    parser.add_argument("out", type=pathlib.Path, metavar="OUT", help="the folder")
    parser.add_argument("--bots", default=",".join(BOTS), metavar="NAME,...", help=f"up to {MOST_BOTS} (default: %(default)s)")
    parser.add_argument("--most", type=int, default=MOST, metavar="N", help="playouts of a move, at most (default: %(default)s)")
    parser.add_argument("--games", type=int, metavar="N", help="of each match at most (default: 400, of large ones 200 or 60)")
    asked = parser.parse_args(arguments)
    bots = list(dict.fromkeys(asked.bots.split(",")))
    if unknown := [bot for bot in bots if bot not in SUMMARIES]:
        parser.error(f"--bots {asked.bots}: there is no bot {unknown[0]!r}; there are {', '.join(SUMMARIES)}")
    if len(bots) > MOST_BOTS:
        parser.error(f"--bots must be at most {MOST_BOTS}, not {len(bots)}")
    for name, least in (("most", 2 * LEAST), ("games", 2)):
        if (value := getattr(asked, name)) is not None and value < least:
            parser.error(f"--{name} must be at least {least}, not {value}")
    make_folder(parser, asked.out)
    picture.check(parser, asked.out / "elo.png")
    made = report.begin("elo", hardware.describe(), {"bots": bots, "most": asked.most, "games": asked.games})
    made |= {"software": hardware.versions(), "matches": [], "ratings": {}}
    # By playouts, so that what is there after a while is of all bots.
    for playouts in doublings(asked.most):
        for bot in bots:
            print(f"python -m bench.elo: {bot}, {2 * playouts:,} playouts against {playouts:,}", file=sys.stderr)
            players = (f"{bot}:visits={2 * playouts}", f"{bot}:visits={playouts}")
            match = kept_match(asked.out / f"{bot}-{playouts}", *players, games_of(2 * playouts, asked.games))
            made["matches"].append({"bot": bot, "playouts": playouts, "match": match})
            made["ratings"][bot] = ratings([x for x in made["matches"] if x["bot"] == bot])
            documents.write(asked.out / "elo.json", made)
    draw(made, asked.out / "elo.png")
    print_table(make_console(), COLUMNS, sorted(rows(made), key=lambda row: bots.index(row[0])), box=box.HEAVY_HEAD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
