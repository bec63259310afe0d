"""What was published from 2007 to 2009, measured again: the document, the tables and the picture. Nothing is played."""

import dataclasses
import json

import pytest

from bench import published


@pytest.fixture
def canned(monkeypatch):
    """Every match is won as often as was published, or always; `jaxgo match` is asked for what the rows say."""
    asked = []

    def play(row, folder, games):
        asked.append(row)
        score = 1.0 if row.published is None else row.published
        match = {"score": score, "interval": published.wilson(score, row.games), "games": games or row.games}
        known = row.published is not None and row.published_games
        interval = published.wilson(row.published, row.published_games) if known else None
        return dataclasses.asdict(row) | {"match": match, "published_interval": interval}

    monkeypatch.setattr(published, "play", play)
    return asked


def test_all_rows_in_tables_a_document_and_a_picture(canned, tmp_path, capsys):
    assert published.main([str(tmp_path), "--only", "williams,house,gelly,house"]) == 0
    printed = capsys.readouterr().out
    assert {row.part for row in canned} == {"williams", "house", "gelly"}
    of_williams = [row for row in canned if row.part == "williams"]
    assert [row.visits for row in of_williams] == [15, 30, 60, 125, 250, 500, 1000, 2000, 4000, 8000, 16000]
    assert all(row.games >= (1000 if row.visits <= 2000 else 200) for row in of_williams)
    # Williams' own statement: a standard error of 3.5 %, so some 7 % to each side.
    assert {(row.visits, row.seconds) for row in canned if row.part == "house"} == {(2000, None), (None, 0.1)}
    assert "71.0 % (64.4 to 76.8)" in " ".join(printed.split()) and "1plyShuffle" in printed
    for part in ("williams", "house", "gelly"):
        document = json.loads((tmp_path / f"{part}.json").read_text())
        assert [entry["name"] for entry in document["results"]] == [row.name for row in canned if row.part == part]
        assert document["benchmark"] == part and document["jaxgo"]
    assert (tmp_path / "williams.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("arguments", [["--only", "tromp"], ["--games", "0"]])
def test_bad_usage(arguments, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        published.main([str(tmp_path), *arguments])
    assert ended.value.code == 2 and arguments[1] in capsys.readouterr().err


def test_a_folder_that_is_none_is_refused(tmp_path, capsys):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as ended:
        published.main([str(tmp_path / "file"), "--only", "house"])
    assert ended.value.code == 2 and "OUT must be a folder" in capsys.readouterr().err


def test_differences_are_told_in_standard_errors_of_both():
    assert published._beside("", 0.503, 0.3, 0.003, 0.4)["errors_apart"] == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [{"visits": 10}, {"visits": None, "seconds": 0.01}])
def test_a_match_is_played_and_goes_on(limit, tmp_path):
    """By `jaxgo match`, which keeps the games."""
    row = published.Row("house", "a quick one", "mctr", "mc", games=4, **limit)
    made = published.play(row, tmp_path, 2)
    assert made["match"]["games"] == 2
    assert published.play(row, tmp_path, None)["match"]["games"] == 4


@pytest.mark.slow
def test_daileys_figures_are_met():
    """Six scores and a length: none is further than four standard errors away."""
    assert all(abs(figure["errors_apart"]) < 4 for figure in published.dailey())
