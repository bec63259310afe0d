"""Games for collections, and what tables must say of them."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pyarrow
import pyarrow.parquet

import jaxgo
from jaxgo.board.coordinates import point
from search.collection.store import part_files

#: The same in all tests, so that few programs are compiled.
SIZE, PLAYOUTS, BATCH = 5, 64, 16
#: 200 games that GNU Go 3.8 of several levels played against itself from random openings.
GNU_GO = pathlib.Path(__file__).parents[3] / "games" / "gnugo-9x9-200.sgf"
COMMON = ("--playouts", str(PLAYOUTS), "--batch", str(BATCH), "--seed", "3")


def random_games(count: int, size: int = SIZE, seed: int = 0, longest: int = 40) -> list[str]:
    """SGF records of random games."""
    played = jaxgo.playouts(jaxgo.Position.empty(size), count, seed=seed, moves=True, max_plies=longest)
    return [as_sgf(moves[moves >= 0].tolist(), size) for moves in np.asarray(played.moves)[0]]


def as_sgf(moves: list[int], size: int, properties: str = "KM[6.5]RE[B+2]") -> str:
    """The record of a game that Black begins."""
    named = ["" if move == size * size else "".join("abcdefghi"[i] for i in (move % size, move // size)) for move in moves]
    return f"(;SZ[{size}]{properties}" + "".join(f";{'BW'[i % 2]}[{name}]" for i, name in enumerate(named)) + ")"


def run(*arguments: object, **options) -> subprocess.CompletedProcess:
    """Runs `jaxgo` in a process of its own."""
    command = [sys.executable, "-m", "jaxgo", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **{"timeout": 500, **options})


def parts(folder: pathlib.Path) -> dict[str, bytes]:
    """The bytes of all tables of a collection."""
    return {str(path.relative_to(folder)): path.read_bytes() for _, path in part_files(folder)}


def table(folder: pathlib.Path, size: int = SIZE) -> pyarrow.Table:
    """All positions of one board size."""
    files = [path for _, path in part_files(folder) if path.parent.name == f"{size}x{size}"]
    return pyarrow.concat_tables([pyarrow.parquet.read_table(path) for path in files])


def position_of(row: dict) -> jaxgo.Position:
    """The position of a table's row."""
    size = row["size"]
    return jaxgo.Position.from_ascii(
        "\n".join(row["board"][size * y : size * (y + 1)] for y in range(size)), to_play=1 if row["to_play"] == "black" else -1,
        ko=-1 if row["ko"] is None else point(row["ko"], size), passes=row["passes"],
    )  # fmt: skip


def check_against_evaluate(rows: list[dict], playouts: int, seed: int) -> None:
    """That rows say what `jaxgo.evaluate` says of their positions, one by one, bit for bit."""
    for row in rows:
        found = jaxgo.evaluate(position_of(row), playouts, komi=row["komi"], seed=seed, statistics=["ownership"])
        expected = found.win_rate[0], found.win_rate_error[0], found.margin_mean[0], found.margin_std[0], found.length_mean[0]
        told = tuple(row[name] for name in ("win_rate", "win_rate_error", "margin", "margin_stdev", "length"))
        assert told == tuple(map(float, expected)), (row["game"], row["ply"])
        assert row["playouts"] == playouts
        assert np.array_equal(row["ownership"], found.ownership[0].ravel())


def document(done: subprocess.CompletedProcess) -> dict:
    """What `--json` has printed."""
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def in_a_sandbox(script: str, *arguments: object) -> subprocess.CompletedProcess | None:
    """Runs a shell script that may mount things, seen by itself alone; None where that is not permitted."""
    command = ["unshare", "--user", "--map-root-user", "--mount"] if os.geteuid() else ["unshare", "--mount"]
    try:
        if subprocess.run([*command, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False).returncode:
            return None
    except FileNotFoundError:
        return None
    return subprocess.run(
        [*command, "sh", "-ec", script, "sh", sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False,
        timeout=500,
    )  # fmt: skip
