"""`jaxgo report`: what a collection shows, as tables and as a page with boards."""

import argparse
import json
import pathlib
import sys

from jaxgo.base import files
from jaxgo.cli import EXIT_DONE, EXIT_FAILED, UsageError
from search.commands import options

SUMMARY = "what a collection shows: swings, openings and win-rate curves, as tables and as a page with boards"

_DESCRIPTION = """\
Shows what `jaxgo collection` has written, also while it still runs: the biggest swings of win rates, openings by result, and with
--html a page with boards and the course of each game, one file that opens without a network.
"""

_EPILOG = """\
examples:
  jaxgo report results                               tables
  jaxgo report results --html report.html            and a page
  jaxgo report results --opening 10 --most 50 --json  everything of these tables, for a program

A swing is what a player's win rate loses from one position to the next of a line; where not every move was evaluated, over some
moves. The move that a variation begins with is not among them: tables do not say which position it was played in.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to its parser."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("folder", type=options.folder, metavar="DIR", help="folder of the results")
    most = "rows of a table, at most (default: %(default)s)"
    parser.add_argument("--most", type=options.count(1, 1000), default=20, metavar="N", help=most)
    opening = "openings are told apart after so many moves (default: %(default)s)"
    parser.add_argument("--opening", type=options.count(1), default=6, metavar="K", help=opening)
    parser.add_argument("--html", metavar="FILE", help="also write the page")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the tables")


def run(args: argparse.Namespace) -> int:
    """Does what the command line asks for."""
    if args.html == "":  # mostly a shell's variable that was not set
        raise UsageError("--html must name a file, not ''")
    try:
        from search.collection.digest import digest
        from search.collection.page import page
    except ImportError as error:
        raise UsageError(f"tables need pyarrow: pip install 'jaxgo[cluster]' ({error})") from error
    from search.collection.store import Unusable

    try:
        found = digest(args.folder, most=args.most, opening=args.opening)
        html = page(found) if args.html is not None else ""
    except Unusable as error:
        raise UsageError(str(error)) from error
    except (OSError, ValueError) as error:
        again = "if it is damaged, delete it, and the same `jaxgo collection` makes it again"
        raise UsageError(f"a table cannot be read: {error}; {again}") from error
    if args.json:
        print(json.dumps(_document(found), allow_nan=False))
    else:
        _print(found)
    if args.html is not None:
        try:
            files.write_output(pathlib.Path(args.html), html.encode())
        except OSError as error:
            print(f"jaxgo: error: --html {args.html}: the file cannot be written: {error.strerror}", file=sys.stderr)
            return EXIT_FAILED
        print(f"jaxgo report: wrote {args.html}", file=sys.stderr)
    return EXIT_DONE


def _document(found) -> dict:
    """Ready for JSON."""
    return {
        "folder": found.folder, "settings": found.settings, "complete": found.complete, "games": found.games,
        "positions": found.positions, "sizes": found.sizes, "results": found.results,
        "swings": [
            {"game": x.game, "variation": x.variation, "from_ply": x.from_ply, "ply": x.ply, "move": x.move, "player": x.player,
             "before": x.before, "after": x.after, "loss": x.loss, "error": x.error}
            for x in found.swings
        ],
        "openings": [
            {"size": x.size, "ply": x.ply, "board": x.board, "games": x.games, "results": x.results, "score": x.score,
             "win_rate": x.win_rate}
            for x in found.openings
        ],
        "num_rejects": found.num_rejects,
        "rejects": [vars(x) for x in found.rejects],
    }  # fmt: skip


def _print(found) -> None:
    """The tables, to stdout."""
    from rich import box

    from jaxgo.commands import tables
    from search.collection.page import moves_in_words, summary

    console = tables.make_console()
    console.print("\n".join([found.folder, *summary(found), ""]), soft_wrap=True)
    if found.swings:
        rows = [
            [x.game + (f", variation {x.variation}" if x.variation else ""), moves_in_words(x),
             f"{100 * x.before:.1f} %", f"{100 * x.after:.1f} %", f"{100 * x.loss:.1f} +- {100 * x.error:.1f}"]
            for x in found.swings
        ]  # fmt: skip
        headings = ["game", "biggest swings", "Black before", "after", "lost"]
        tables.print_table(console, headings, rows, left=(0, 1), box=box.SIMPLE_HEAD, collapse_padding=True)
    if found.openings:
        rows = [
            [_lines(x), f"{x.games:,}", "" if x.score is None else f"{100 * x.score:.0f} %", f"{100 * x.win_rate:.1f} %"]
            for x in found.openings
        ]
        headings = [f"openings after {found.openings[0].ply} moves", "games", "Black won", "win rate there"]
        tables.print_table(console, headings, rows, left=(0,), box=box.SIMPLE_HEAD, collapse_padding=True)
    if found.rejects:
        rows = [[x.game, x.words] for x in found.rejects]
        headings = ["not read, or not to the end", "why"]
        tables.print_table(console, headings, rows, left=(0, 1), box=box.SIMPLE_HEAD, collapse_padding=True)


def _lines(opening) -> str:
    """An opening's stones by their points, for a table."""
    from jaxgo.board.coordinates import coordinate

    named = [
        " ".join(coordinate(i, opening.size) for i, x in enumerate(opening.board) if x == letter) for letter in "XO"
    ]  # fmt: skip
    return f"{opening.size}x{opening.size} Black {named[0] or '-'}, White {named[1] or '-'}"
