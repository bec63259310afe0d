"""Elo by playouts a move: the sums and their errors, the document, the table and the picture."""

import json
import math

import pytest

from bench import elo
from bench.matches.standing import wilson


def match_of(score: float, games: int = 100) -> dict:
    return {"score": score, "interval": wilson(score, games), "games": games}


@pytest.fixture
def canned(monkeypatch):
    """Who has twice as many playouts wins three games of four, 190.8 Elo; nothing is played."""
    asked = []

    def play(folder, first, second, games, *options):
        asked.append((folder.name, first, second, games))
        return match_of(0.75, games)

    monkeypatch.setattr(elo, "kept_match", play)
    return asked


def test_doublings_add_up():
    found = elo.ratings([{"playouts": 100 << i, "match": match_of(0.75)} for i in range(3)])
    assert [x.playouts for x in found] == [100, 200, 400, 800]
    one = 400 * math.log10(3)
    assert [x.elo for x in found] == pytest.approx([0, one, 2 * one, 3 * one])
    low, high = (400 * math.log10(p / (1 - p)) for p in wilson(0.75, 100))
    assert [x.error for x in found] == pytest.approx([math.sqrt(i) * (high - low) / 2 for i in range(4)])


@pytest.mark.parametrize(("score", "sign"), [(1.0, 1), (0.0, -1)])
def test_a_match_that_one_side_won_altogether_counts_half_a_game_less(score, sign):
    gain, error = elo.difference(match_of(score, 50))
    assert gain == pytest.approx(sign * 400 * math.log10(99)) and 0 < error < math.inf


def test_a_document_a_table_and_a_picture(canned, tmp_path, capsys):
    assert elo.main([str(tmp_path), "--bots", "rave,wamaf", "--most", "800"]) == 0
    first = [(f"{bot}-100", f"{bot}:visits=200", f"{bot}:visits=100", 400) for bot in ("rave", "wamaf")]
    assert canned[:2] == first
    assert len(canned) == 6
    printed = " ".join(capsys.readouterr().out.split())
    assert "800 against 400" in printed and "75.0 %" in printed and "+573" in printed
    made = json.loads((tmp_path / "elo.json").read_text())
    assert made["benchmark"] == "elo" and [x[0] for x in made["ratings"]["wamaf"]] == [100, 200, 400, 800]
    assert (tmp_path / "elo.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_that_cannot_be_drawn_is_told_before_the_matches(canned, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as ended:
        elo.main([str(tmp_path)])
    assert ended.value.code == 2 and not canned
    assert "the picture needs matplotlib, which is not installed: pip install 'jaxgo[plot]'" in capsys.readouterr().err


def test_long_matches_have_fewer_games(canned, tmp_path):
    assert elo.main([str(tmp_path), "--bots", "uct"]) == 0
    assert [games for *_, games in canned] == [400] * 4 + [200] * 3 + [60] * 3
    canned.clear()
    assert elo.main([str(tmp_path), "--bots", "uct", "--games", "80"]) == 0
    assert [games for *_, games in canned] == [80] * 7 + [60] * 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--bots", "rave,best"], "there is no bot 'best'"), (["--most", "100"], "--most must be at least 200, not 100"),
     (["--games", "0"], "--games must be at least 2, not 0")],
)  # fmt: skip
def test_bad_usage(arguments, said, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        elo.main([str(tmp_path), *arguments])
    assert ended.value.code == 2 and said in capsys.readouterr().err


@pytest.mark.slow
def test_matches_are_played_and_go_on(tmp_path):
    """By `jaxgo match`: those that are there are not played again."""
    for games in ("2", "4"):
        assert elo.main([str(tmp_path), "--bots", "mc", "--most", "200", "--games", games]) == 0
    (match,) = json.loads((tmp_path / "elo.json").read_text())["matches"]
    assert match["match"]["games"] == 4
    assert len((tmp_path / "mc-100" / "games.jsonl").read_text().splitlines()) == 4
