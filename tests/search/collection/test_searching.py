"""Collections by tree searches: each position's is the search that it would have alone."""

import numpy as np
import pyarrow.parquet

import search
from jaxgo.cli import main
from search.collection.searching import LEAVES, PLAYOUTS_PER_LEAF, search_of
from search.collection.settings import Settings
from tests.search.collection.games import position_of, table

#: The last position is after a ko has been taken, the one before it that of a game where superko counts.
GAME = "(;SZ[5]KM[0.5];B[bb];W[cb];B[ac];W[dc];B[bd];W[cd];B[cc];W[bc];B[];W[])"


def test_rows_are_what_searches_alone_say(tmp_path) -> None:
    (tmp_path / "game.sgf").write_text(GAME)
    common = ["collection", str(tmp_path / "game.sgf"), "--bot", "rave", "--playouts", "3000", "--seed", "5"]
    for name, batch in (("out", "64"), ("parts", "4")):
        assert main([*common, "--out", str(tmp_path / name), "--batch", batch]) == 0
    rows = table(tmp_path / "out").to_pylist()
    assert table(tmp_path / "parts").to_pylist() == rows and len(rows) == 11
    settings = Settings(playouts=3000, bot="rave", seed=5)
    for ply in (0, 8, 9):
        row, position = rows[ply], position_of(rows[ply])
        history = np.array([np.asarray(position_of(earlier).hash())[0] for earlier in rows[:ply]]).reshape(-1, 2)
        alone = search_of(position, row["komi"], history.astype(np.uint32), settings)
        assert (alone.num_leaves, alone.playouts_per_leaf) == (LEAVES, PLAYOUTS_PER_LEAF)
        alone.run(visits=3000)
        found = alone.statistics()
        assert isinstance(alone, search.Search) and row["playouts"] == found.root_visits >= 3000
        rate = found.root_win_rate if found.black else 1 - found.root_win_rate
        margin = (found.root_lead if found.black else -found.root_lead) + row["komi"]
        assert (row["win_rate"], row["margin"], row["margin_stdev"]) == (rate, margin, found.root_lead_stdev)
        best = row["moves"][0]
        assert best["line"].split()[0] == best["move"] and best["playouts"] == found.visits[alone.best()]
        assert len(row["ownership"]) == 25 and max(map(abs, row["ownership"])) <= 1
        alone.close()
    over = rows[10]
    assert over["over"] and over["playouts"] == 1 and over["moves"] == [] and over["win_rate"] in (0.0, 1.0)
    settings = pyarrow.parquet.read_schema(tmp_path / "out" / "5x5" / "000000.parquet").metadata[b"jaxgo"]
    assert b'"bot": "rave"' in settings
