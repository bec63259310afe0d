"""What a collection shows: its biggest swings, its openings by result, the course of its games.

Tables are read part by part, and of most positions a few columns, so that a million of them take little memory.
"""

import collections
import contextlib
import dataclasses
import heapq
import math
import pathlib
from collections.abc import Iterator

import numpy as np
import pyarrow.dataset
import pyarrow.parquet

from jaxgo.board.symmetries import transform_points
from search.collection.inputs import REJECTS, Reject
from search.collection.store import manifest_of, part_files
from search.collection.tables import as_text, facts_in

_COLUMNS = ["game", "variation", "ply", "move", "result", "size", "to_play", "over", "win_rate", "win_rate_error"]
#: Games that are named.
MOST_GAMES = 200
#: What a game's result may be, by its first letter.
_WINNERS = {"B": "black", "W": "white", "0": "draw", "D": "draw", "J": "draw"}


@dataclasses.dataclass(frozen=True, order=True)
class Swing:
    """Two positions of a game one after the other, between which a player's win rate fell."""

    loss: float
    """By so much."""
    game: str
    variation: int
    ply: int
    """Of the second."""
    from_ply: int
    """Of the first."""
    player: str
    """Who lost so much: "black" or "white"."""
    move: str | None
    """That led to the second position."""
    before: float
    """Black's win rate in the first."""
    after: float
    """In the second."""
    error: float
    """Standard error of the difference."""
    size: int
    file: pathlib.Path
    """Of the first position."""
    row: int
    """In it."""

    @property
    def moves(self) -> int:
        """How many moves lie between."""
        return self.ply - self.from_ply


@dataclasses.dataclass
class Opening:
    """Games that came to one position after some moves, turned and mirrored ones counted as one."""

    size: int
    ply: int
    board: str
    """As the first game had it."""
    results: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    """Games by who won: "black", "white", "draw", or "?" where the record does not say."""
    win_rates: float = 0.0
    """Sum of Black's win rates there."""

    @property
    def games(self) -> int:
        return self.results.total()

    @property
    def win_rate(self) -> float:
        """Black's mean win rate, of playouts or searches."""
        return self.win_rates / self.games

    @property
    def score(self) -> float | None:
        """Black's share of the games with a result, draws count half; None without any."""
        known = self.games - self.results["?"]
        return (self.results["black"] + self.results["draw"] / 2) / known if known else None


@dataclasses.dataclass(frozen=True)
class Digest:
    """All that is shown."""

    folder: str
    settings: dict
    complete: bool
    positions: int
    games: int
    sizes: dict[int, int]
    """Positions of each board size."""
    results: collections.Counter
    """Games by who won, as in `Opening`."""
    swings: list[Swing]
    """The biggest first."""
    openings: list[Opening]
    """The most frequent first."""
    first_games: list[str]
    """The names of the first games."""
    num_rejects: int
    rejects: list[Reject]
    """The first of them."""


def digest(folder: str, *, most: int = 20, opening: int = 6) -> Digest:
    """Reads a collection, complete or not.

    Args:
      folder: its folder.
      most: swings, openings and rejects to tell of, at most.
      opening: after how many moves openings are told apart; where no game has a position there, after as near to that as one has.

    Raises:
      store.Unusable: it holds no collection.
      OSError, ValueError: a table cannot be read.
    """
    manifest = manifest_of(folder)
    files = [path for _, path in part_files(folder)]
    ply = _ply_of_openings(files, opening)
    sizes: collections.Counter[int] = collections.Counter()
    results: collections.Counter[str] = collections.Counter()
    names: list[str] = []
    swings: list[Swing] = []
    openings: dict[tuple[int, bytes], Opening] = {}
    games, last = 0, None
    for path, rows in _read(files):
        sizes[rows["size"][0]] += len(rows["game"])
        new = [i for i, (game, variation) in enumerate(zip(rows["game"], rows["variation"]))
               if (rows["game"][i - 1] if i else last and last["game"]) != game and variation == 0]  # fmt: skip
        games += len(new)
        names += [rows["game"][i] for i in new][: max(0, MOST_GAMES - len(names))]
        results.update(winner(rows["result"][i]) for i in new)
        for swing in _swings(path, rows, last):
            (heapq.heappush if len(swings) < most else heapq.heappushpop)(swings, swing)
        _count_openings(path, rows, ply, openings)
        last = {name: values[-1] for name, values in rows.items()} | {"file": path, "row": len(rows["game"]) - 1}
    rejects = _rejects(folder, files)
    return Digest(
        folder=as_text(folder), settings=manifest["settings"], complete=_is_complete(manifest, files),
        positions=sizes.total(), games=games, sizes=dict(sizes), results=results, swings=sorted(swings, reverse=True),
        openings=sorted(openings.values(), key=lambda x: (-x.games, x.size, x.board))[:most], first_games=names,
        num_rejects=len(rejects), rejects=rejects[:most],
    )  # fmt: skip


def _is_complete(manifest: dict, files: list[pathlib.Path]) -> bool:
    """Whether all was done, and nothing of it is gone."""
    complete = manifest.get("complete")
    return isinstance(complete, dict) and complete.get("parts") == len(files)


def curves(folder: str, games: list[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """(plies [n], Black's win rates [n]) of the main lines of some games, as long as they were in play."""
    files = [str(path) for _, path in part_files(folder)]
    if not files or not games:
        return {}
    field = pyarrow.dataset.field
    # Tables of different board sizes have no common schema, but for these columns.
    types = {"game": "string", "variation": "int32", "ply": "int32", "win_rate": "double", "over": "bool"}
    columns = pyarrow.schema(list(types.items()))
    found = pyarrow.dataset.dataset(files, schema=columns).to_table(
        filter=field("game").isin(games) & (field("variation") == 0) & ~field("over"), columns=["game", "ply", "win_rate"]
    )
    found = found.sort_by([("game", "ascending"), ("ply", "ascending")])
    names, plies, rates = (found[name].to_numpy() for name in found.column_names)
    starts: np.ndarray | list[int] = np.flatnonzero(np.concatenate([[True], names[1:] != names[:-1]])) if len(names) else []
    ends = [*starts[1:], len(names)]
    return {names[a]: (plies[a:b], rates[a:b]) for a, b in zip(starts, ends)}


def row_of(path: pathlib.Path, row: int) -> dict:
    """All that is known of one position."""
    return _table(path).slice(row, 1).to_pylist()[0]


def winner(result: str | None) -> str:
    """Who has won by a record's result: "black", "white", "draw", or "?"."""
    return _WINNERS.get((result or "").strip()[:1].upper(), "?")


def _table(path: pathlib.Path, columns: list[str] | None = None) -> pyarrow.Table:
    """Some columns of a file, all by default; ValueError says which file cannot be read."""
    try:
        return pyarrow.parquet.read_table(path, columns=columns)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path}: {error}") from error


def _read(files: list[pathlib.Path]) -> Iterator[tuple[pathlib.Path, dict[str, list]]]:
    """(file, its columns) of the tables with any rows."""
    for path in files:
        table = _table(path, _COLUMNS)
        if len(table):
            yield path, table.to_pydict()


def _ply_of_openings(files: list[pathlib.Path], wanted: int) -> int:
    """The ply nearest to what is wanted at which there are positions."""
    seen: set[int] = set()
    for path in files:
        seen.update(_table(path, ["ply"])["ply"].unique().to_pylist())
        if wanted in seen:  # as in the first table, mostly
            break
    seen.discard(0)
    return min(seen, key=lambda ply: (abs(ply - wanted), ply), default=wanted)


def _swings(path: pathlib.Path, rows: dict[str, list], last: dict | None) -> Iterator[Swing]:
    """The swings of a table, in which each position follows on that before it; `last` is what the table before ended with."""
    count = len(rows["game"])
    rows = rows | {"file": [path] * count, "row": list(range(count))}
    if last is not None:
        rows = {name: [last[name], *values] for name, values in rows.items()}
    lines = list(zip(rows["game"], rows["variation"], rows["size"]))
    plies, rates, errors, over = (rows[name] for name in ("ply", "win_rate", "win_rate_error", "over"))
    for i in range(1, len(lines)):
        if lines[i] != lines[i - 1] or over[i] or over[i - 1] or plies[i] <= plies[i - 1]:
            continue
        change = rates[i] - rates[i - 1]
        # One move can cost only the player who made it.
        player = rows["to_play"][i - 1] if plies[i] == plies[i - 1] + 1 else "black" if change < 0 else "white"
        loss = -change if player == "black" else change
        if loss > 0:
            game, variation, size = lines[i]
            yield Swing(
                loss, game, variation, plies[i], plies[i - 1], player, rows["move"][i], rates[i - 1], rates[i],
                math.hypot(errors[i], errors[i - 1]), size, rows["file"][i - 1], rows["row"][i - 1],
            )  # fmt: skip


def _count_openings(path: pathlib.Path, rows: dict[str, list], ply: int, openings: dict) -> None:
    """Adds the games of a table that have a position after `ply` moves."""
    here = [i for i, (p, variation) in enumerate(zip(rows["ply"], rows["variation"])) if p == ply and variation == 0]
    if not here:
        return
    boards = _table(path, ["board"])["board"]
    for i in here:
        board, size = boards[i].as_py(), rows["size"][i]
        letters = np.frombuffer(board.encode(), np.uint8)
        key = size, min(transform_points(letters, size, k).tobytes() for k in range(8))
        opening = openings.setdefault(key, Opening(size, ply, board))
        opening.results[winner(rows["result"][i])] += 1
        opening.win_rates += rows["win_rate"][i]


def _rejects(folder: str, files: list[pathlib.Path]) -> list[Reject]:
    """What the last run knew when it ended, and what parts that were made since say."""
    path = pathlib.Path(folder) / REJECTS
    known = [Reject(**row) for row in _table(path).to_pylist()] if path.exists() else []
    for file in files:
        with contextlib.suppress(ValueError):  # a table that somebody else has put there
            known += [Reject(**{name: as_text(value) for name, value in vars(x).items()}) for x in facts_in(file).rejects]
    found = dict.fromkeys(known)
    return sorted(found, key=lambda x: (x.game, x.variation, x.ply, x.reason))
