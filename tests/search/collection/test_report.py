"""`jaxgo report`: swings, openings and curves, of tables whose figures are known."""

import collections
import dataclasses
import html.parser
import json
import os
import pathlib
import re

import pyarrow
import pyarrow.parquet
import pytest

from jaxgo.base import files
from jaxgo.cli import main
from search.collection import pictures
from search.collection.digest import Opening, curves, digest, winner
from search.collection.inputs import Reject
from search.collection.page import MOST_OPENINGS, moves_in_words, page, summary
from search.collection.settings import Settings
from search.collection.store import Store
from search.collection.tables import schema

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "collections.md"
SETTINGS = Settings(playouts=100, seed=1)
BLACK_FIRST = {True: "black", False: "white"}


def _row(game: str, ply: int, win_rate: float, **others: object) -> dict:
    board = "".join("XO"[i % 2] if i < ply else "." for i in range(25))
    return {
        "game": game, "variation": 0, "ply": ply, "move": f"{'ABCDE'[(ply - 1) % 5]}{5 - (ply - 1) // 5}" if ply else None,
        "black": "Ann", "white": "<Bo>", "result": "B+3.5", "size": 5, "to_play": BLACK_FIRST[ply % 2 == 0], "over": False,
        "board": board, "ko": None, "passes": 0, "komi": 6.5, "playouts": 100, "win_rate": win_rate, "win_rate_error": 0.03,
        "margin": 1.0, "margin_stdev": 5.0, "length": 30.0, "ownership": [0.5] * 25,
        "moves": [{"move": "E1", "playouts": 10, "win_rate": 0.75, "win_rate_error": 0.1, "line": None}], **others,
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """A collection of two parts, between which a game is cut."""
    rows = [
        *(_row("a.sgf", ply, rate) for ply, rate in enumerate((0.5, 0.55, 0.2, 0.6))),
        *(_row("b.sgf", ply, rate, result="W+R") for ply, rate in enumerate((0.5, 0.4, 0.9, 0.05))),
        _row("b.sgf", 4, 1.0, over=True, result="W+R"), _row("b.sgf", 3, 0.0, variation=1, result="W+R"),
    ]  # fmt: skip
    out = tmp_path / "results"
    with Store(str(out), SETTINGS) as store:
        for number, part in enumerate((rows[:3], rows[3:7], rows[7:])):
            sink = pyarrow.BufferOutputStream()
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(part, schema=schema(5)), sink)
            store.add(number, 5, sink.getvalue().to_pybytes())
        store.end([Reject("c.sgf", -1, 0, "no <game> & no more")], SETTINGS, None)
    return out


def test_swings_are_what_players_lost(folder: pathlib.Path) -> None:
    found = digest(str(folder))
    told = [(swing.game, swing.from_ply, swing.ply, swing.player, round(swing.loss, 3)) for swing in found.swings]
    assert told == [
        ("b.sgf", 2, 3, "black", 0.85), ("b.sgf", 1, 2, "white", 0.5), ("b.sgf", 0, 1, "black", 0.1),
    ], "what the other player gained is no loss of the mover: a.sgf has none, and what is over does not count"  # fmt: skip
    assert [(swing.file.name, swing.row) for swing in found.swings] == [("000001.parquet", row) for row in (3, 2, 1)]
    assert (found.games, found.positions, found.complete, found.num_rejects) == (2, 10, False, 1)
    assert dict(found.results) == {"black": 1, "white": 1}


def test_openings_are_counted_by_result(folder: pathlib.Path) -> None:
    (opening,) = digest(str(folder), opening=2).openings
    assert (opening.games, opening.score, round(opening.win_rate, 3)) == (2, 0.5, 0.55)
    assert digest(str(folder), opening=30).openings[0].ply == 4, "the ply nearest to what was asked for"
    assert sum(opening.games for opening in digest(str(folder), opening=3).openings) == 2, "variations are no games"
    assert Opening(5, 2, "." * 25, collections.Counter(black=1, white=1, draw=2)).score == 0.5, "draws count half"


def test_a_game_that_goes_on_after_two_passes(tmp_path: pathlib.Path) -> None:
    """What it was worth while it was over is no swing."""
    rows = [_row("c", 0, 0.5), _row("c", 1, 0.5, passes=1), _row("c", 2, 1.0, over=True, passes=2), _row("c", 3, 0.4)]
    with Store(str(tmp_path), SETTINGS) as store:
        sink = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema(5)), sink)
        store.add(0, 5, sink.getvalue().to_pybytes())
    assert digest(str(tmp_path)).swings == []


def test_turned_openings_are_one(tmp_path: pathlib.Path) -> None:
    boards = {"a": "X" + "." * 24, "b": "....X" + "." * 20, "c": "." * 24 + "X", "d": "." * 12 + "X" + "." * 12}
    with Store(str(tmp_path), SETTINGS) as store:
        sink = pyarrow.BufferOutputStream()
        rows = [_row(name, 1, 0.5, board=board) for name, board in boards.items()]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema(5)), sink)
        store.add(0, 5, sink.getvalue().to_pybytes())
    assert [opening.games for opening in digest(str(tmp_path)).openings] == [3, 1]


def test_curves_are_of_main_lines_in_play(folder: pathlib.Path) -> None:
    found = curves(str(folder), ["a.sgf", "b.sgf", "none.sgf"])
    told = {name: rates.tolist() for name, (_, rates) in found.items()}
    assert told == {"a.sgf": [0.5, 0.55, 0.2, 0.6], "b.sgf": [0.5, 0.4, 0.9, 0.05]}


def test_results_of_records() -> None:
    told = {"B+3.5": "black", "w+R": "white", "0": "draw", "Draw": "draw", "Jigo": "draw", "Void": "?", None: "?"}
    assert {result: winner(result) for result in told} == told


def test_the_tables_are_printed(folder: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["report", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert "2 games, 10 positions (10 on 5x5); Black won 1, White 1." in printed
    assert "NOT COMPLETE" in printed
    assert re.search(r"b\.sgf +Black C5, move 3 +90\.0 % +5\.0 % +85\.0 \+- 4\.2", printed)
    assert re.search(r"5x5 Black A5 C5, White B5 D5 +1 +0 % +100\.0 %", printed)
    assert main(["report", str(folder), "--json", "--most", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [swing["move"] for swing in found["swings"]] == ["C5"] and found["rejects"][0]["game"] == "c.sgf"
    assert main(["report", str(folder / "5x5")]) == 2
    assert "holds no collection" in capsys.readouterr().err


def test_openings_are_told_apart_where_any_table_has_positions(tmp_path: pathlib.Path) -> None:
    """However many tables there are before it."""
    with Store(str(tmp_path / "out"), SETTINGS) as store:
        for number in range(20):
            rows = [_row(f"{number}", ply, 0.5) for ply in range(7 if number == 19 else 4)]
            sink = pyarrow.BufferOutputStream()
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema(5)), sink)
            store.add(number, 5, sink.getvalue().to_pybytes())
    found = digest(str(tmp_path / "out"), opening=6)
    assert [(opening.ply, opening.games) for opening in found.openings] == [(6, 1)]


def test_a_collection_of_which_something_is_gone_is_not_complete(folder: pathlib.Path) -> None:
    with Store(str(folder), SETTINGS) as store:
        store.end([], SETTINGS, {"positions": 10, "parts": 3, "rejects": 0})
    assert digest(str(folder)).complete
    (folder / "5x5" / "000001.parquet").unlink()
    assert not digest(str(folder)).complete


def test_a_page_that_cannot_be_written_leaves_the_one_before(folder: pathlib.Path, tmp_path, monkeypatch, capsys) -> None:
    page = tmp_path / "page.html"
    page.write_text("before")

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    assert main(["report", str(folder), "--html", str(page)]) == 1
    assert "page.html: the file cannot be written: No space left on device" in capsys.readouterr().err
    assert page.read_text() == "before"
    assert main(["report", str(folder), "--html", ""]) == 2
    assert "--html must name a file, not ''" in capsys.readouterr().err


def test_damaged_tables_are_told(folder: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    part = folder / "5x5" / "000001.parquet"
    part.write_bytes(part.read_bytes()[:300])
    assert main(["report", str(folder)]) == 2
    error = capsys.readouterr().err
    assert f"a table cannot be read: {part}: " in error
    assert "if it is damaged, delete it, and the same `jaxgo collection` makes it again" in error


def test_moves_named_by_other_tables_are_passed_on(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    """Whether they are points or not."""
    rows = [_row("a", 0, 0.5), _row("a", 1, 0.2, move="aa"), _row("a", 2, 0.9, move=None)]
    with Store(str(tmp_path / "out"), SETTINGS) as store:
        sink = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema(5)), sink)
        store.add(0, 5, sink.getvalue().to_pybytes())
    assert main(["report", str(tmp_path / "out"), "--html", str(tmp_path / "page.html")]) == 0
    printed = capsys.readouterr().out
    assert "Black aa, move 1" in printed and "White, move 2" in printed
    assert "Black aa, move 1" in (tmp_path / "page.html").read_text()


def test_rejects_of_a_run_that_has_not_ended(folder: pathlib.Path, finished_part: bytes) -> None:
    """Are those that its parts tell, beside those of the runs before; each once."""
    before = digest(str(folder)).rejects
    (folder / "5x5" / "000007.parquet").write_bytes(finished_part)
    found = digest(str(folder))
    assert [x for x in found.rejects if x in before] == before
    assert [(os.path.basename(x.game), x.ply) for x in found.rejects if x not in before] == [("late.sgf", 3)]
    assert found.num_rejects == len(found.rejects) == len(before) + 1


@pytest.fixture
def finished_part(tmp_path: pathlib.Path) -> bytes:
    """The file of a part with a game that ends early."""
    (tmp_path / "late.sgf").write_text("(;SZ[5]KM[0.5];B[aa];W[bb];B[aa])")
    assert main(["collection", str(tmp_path / "late.sgf"), "--out", str(tmp_path / "late"), "--playouts", "8"]) == 0
    (part,) = (tmp_path / "late" / "5x5").glob("*.parquet")
    return part.read_bytes()


def test_the_readmes_query_finds_the_same_blunders(folder: pathlib.Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    (query,) = re.findall(r"^```sql\n(.*?)^```", PAGE.read_text("utf-8"), re.S | re.M)
    found = duckdb.sql(query.replace("results/9x9", f"{folder}/5x5")).fetchall()
    swings = digest(str(folder)).swings
    assert [row for row in found if (row[3] or 0) > 0] == [(x.game, x.ply, x.move, round(100 * x.loss, 1)) for x in swings]


class _Page(html.parser.HTMLParser):
    """Which elements a page has; that they are closed as they were opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict]] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "!doctype"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_holds_all_that_it_shows(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert main(["report", str(folder), "--html", str(tmp_path / "r.html")]) == 0
    text = (tmp_path / "r.html").read_text("utf-8")
    page = _Page()
    page.feed(text)
    assert not page.open
    assert not any(name in ("src", "href") for _, attributes in page.seen for name in attributes) and "url(" not in text
    boards = [attributes for tag, attributes in page.seen if tag == "svg" and attributes["class"] == "board"]
    drawn = [attributes for tag, attributes in page.seen if tag == "svg" and attributes["class"].startswith("curve")]
    openings = len(digest(str(folder)).openings)
    assert len(boards) == 3 + openings and len(drawn) == 3 + 2
    assert "&lt;Bo&gt;" in text and "<Bo>" not in text and "no &lt;game&gt; &amp; no more" in text
    assert main(["report", str(folder), "--html", str(tmp_path / "none" / "r.html")]) == 1


def test_a_board_shows_its_stones_where_they_are() -> None:
    letters, ownership = "X...." "....." "....." "....." "....O", [0.0] * 24 + [-1.0]
    svg = pictures.board(letters, 5, labels={"B5": "1"}, marked="E5", ownership=ownership)
    circles = {kind: (float(x), float(y)) for kind, x, y in re.findall(r'<circle class="(\w+)" cx="([\d.]+)" cy="([\d.]+)"', svg)}
    left, top = circles["black"]
    assert circles["white"] == (left + 80, top + 80)
    assert circles["label"] == (left + 20, top) and circles["mark"] == (left + 80, top)
    assert svg.count('class="whites"') == 1 and 'class="blacks"' not in svg


def test_a_summary_counts_games_by_their_results(folder: pathlib.Path) -> None:
    found = digest(str(folder))
    told = summary(dataclasses.replace(found, results=collections.Counter({"black": 3000, "white": 2, "draw": 1, "?": 4}), games=1))
    assert told[0] == "1 game, 10 positions (10 on 5x5); Black won 3,000, White 2, 1 drawn, 4 without a result."
    assert told[1:] == [
        "100 playouts of each position, seed 1.", "1 could not be read, or not to the end.",
        "NOT COMPLETE: the same `jaxgo collection` command goes on.",
    ]  # fmt: skip
    none = dataclasses.replace(found, results=collections.Counter(), games=0, positions=0, sizes={}, num_rejects=0, complete=True)
    assert summary(none)[0] == "0 games, 0 positions (none); Black won 0, White 0." and len(summary(none)) == 2
    by_bot = dataclasses.replace(found, settings=found.settings | {"bot": "rave"})
    assert summary(by_bot)[1] == "100 playouts by rave of each position, seed 1."


def test_the_page_says_who_lost_what(folder: pathlib.Path) -> None:
    text = page(digest(str(folder)))
    assert text.count("Ann (Black) - &lt;Bo&gt; (White) W+R") == 3
    assert 'Black wins 90.0 % before and 5.0 % after: <span class="bad">Black loses 85.0</span> ± 4.2' in text
    assert 'Black wins 40.0 % before and 90.0 % after: <span class="bad">White loses 50.0</span>' in text
    assert "<p>1. E1 75.0 %</p>" in text
    assert re.search(r"<td>a\.sgf</td><td><svg.*?</svg></td><td>4</td><td>50\.0 %</td><td>60\.0 %</td>", text)


def test_the_page_shows_the_first_openings(folder: pathlib.Path) -> None:
    found = digest(str(folder))
    some = [Opening(5, 2, "." * 25, collections.Counter(black=1), 0.25) for _ in range(MOST_OPENINGS + 1)]
    text = page(dataclasses.replace(found, openings=some, swings=[]))
    assert text.count('<svg class="board"') == text.count("Black won 100 %; win rate there 25.0 %") == MOST_OPENINGS


def test_swings_over_some_moves_and_of_variations(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    """No one move is ringed where there are some; a game's curve is that of its main line."""
    rows = [_row("a", 0, 0.5), _row("a", 2, 0.2), _row("a", 3, 0.2, variation=1), _row("a", 4, 0.9, variation=1, move="C3")]
    with Store(str(tmp_path / "out"), SETTINGS) as store:
        sink = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema(5)), sink)
        store.add(0, 5, sink.getvalue().to_pybytes())
    variation, some = digest(str(tmp_path / "out")).swings
    assert (variation.variation, variation.moves, some.moves) == (1, 1, 2)
    assert [moves_in_words(swing) for swing in (variation, some)] == ["White C3, move 4", "Black, moves 1 to 2"]
    assert main(["report", str(tmp_path / "out"), "--html", str(tmp_path / "page.html")]) == 0
    assert re.search(r"a, variation 1 +White C3, move 4 ", capsys.readouterr().out)
    first, second = re.findall(r'<article class="swing">.*?</article>', (tmp_path / "page.html").read_text())
    assert "a, variation 1; " in first and 'class="curve' not in first and 'class="mark"' in first
    assert "variation" not in second and 'class="curve' in second and 'class="mark"' not in second
