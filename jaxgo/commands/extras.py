"""What `jaxgo evaluate` does beside its figures: mistakes, comparisons, annotated records and pictures."""

import argparse
import dataclasses
import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from jaxgo.base import files
from jaxgo.cli import UsageError
from jaxgo.commands import compared, mistakes, outputs
from jaxgo.commands.asked import Asked
from jaxgo.commands.playing import How
from jaxgo.commands.progress import progress_on_stderr
from jaxgo.commands.report import Report


@dataclasses.dataclass(frozen=True, eq=False)
class Extras:
    """What is asked for, checked; and where it goes."""

    num_games: int
    most_mistakes: int
    """So many of each game are told of; 0 for none."""
    judge: mistakes.Judge
    points: tuple[int, ...]
    """Moves to compare."""
    records: dict[Asked, pathlib.Path]
    """Where annotated records go; empty for nowhere."""
    pictures: dict[Asked, pathlib.Path]
    """Where pictures go."""

    @classmethod
    def of(cls, args: argparse.Namespace, asked: Sequence[Asked]) -> "Extras":
        """What the command line asks for.

        Raises:
          UsageError: it cannot be done.
        """
        if args.judge and not args.mistakes:
            raise UsageError("--judge is for --mistakes N")
        if args.compare and args.playouts < compared.LEAST_PLAYOUTS:
            raise UsageError(f"--playouts must be at least {compared.LEAST_PLAYOUTS} for --compare, not {args.playouts}")
        names = [each.name for each in asked]
        pictures: Sequence[pathlib.Path] = ()
        if args.plot is not None:
            from jaxgo.commands import plots

            pictures = plots.places_of(args.plot, names)
        return cls(
            num_games=len(asked),
            most_mistakes=args.mistakes or 0,
            judge=mistakes.judge_named(args.judge or mistakes.PLAYOUTS),
            points=tuple(compared.points_to_compare(asked[0], args.compare)) if args.compare else (),
            records=dict(zip(asked, outputs.places("--sgf", args.sgf, names, (".sgf",)) if args.sgf is not None else ())),
            pictures=dict(zip(asked, pictures)),
        )

    def of_game(self, asked: Asked, how: How) -> dict[str, Any]:
        """What a game's report has beside its rows, with progress on stderr.

        Raises:
          KeyboardInterrupt: it was interrupted.
        """
        out: dict[str, Any] = {}
        if self.most_mistakes:
            with progress_on_stderr(0) as progress:
                out["mistakes"] = self.judge(asked, how, self.most_mistakes, progress)
        if self.points:
            with progress_on_stderr(len(self.points) * how.playouts) as progress:
                out["compared"] = compared.compared_moves(asked, self.points, how, progress)
        return out

    def write(self, asked: Asked, report: Report) -> bool:
        """Writes a game's files, and says so; whether all could be written."""
        whole = True
        if asked in self.records:
            from jaxgo.commands.annotations import annotated_record

            record = annotated_record(asked, report)
            whole &= written(self.records[asked], lambda path: files.write_output(path, record))
        if asked in self.pictures and report.rows:
            from jaxgo.commands.plots import save_plot

            whole &= written(self.pictures[asked], lambda path: save_plot(report, path))
        return whole


def written(path: pathlib.Path, write: Callable[[pathlib.Path], object]) -> bool:
    """Writes a file and says so; whether it could be written."""
    try:
        write(path)
    except OSError as error:
        print(f"jaxgo: error: {path} cannot be written: {error.strerror or error}", file=sys.stderr)
        return False
    print(f"jaxgo: wrote {path}", file=sys.stderr)
    return True
