"""The figures of the README and of `docs/` are those of the newest results."""

import functools
import json

import pytest

from bench import figures


def test_the_pages_say_what_was_measured():
    """`python -m bench.figures` writes them."""
    for path, text, wanted in figures.pages():
        assert text == wanted, f"{path} has other figures: python -m bench.figures"


def test_the_pictures_show_what_was_measured():
    """The same command draws them."""
    pytest.importorskip("matplotlib")
    for path, _, same in figures.pictures():
        assert same, f"{path} is not of the newest result: python -m bench.figures"


def test_a_page_without_places_stays_as_it_is(tmp_path):
    assert figures.written("# Title\n\n| a | b |\n", tmp_path) == "# Title\n\n| a | b |\n"


def test_figures_are_taken_from_the_newest_result(tmp_path):
    made = {
        "hardware": {"cpu": "Abacus", "cores_usable": 1, "load_at_start": "quiet (load 0.00)"},
        "software": {"python": "3.11", "jax": "0.10"}, "jaxgo": "1", "commit": "0123456789", "command": "jaxgo bench startup",
    }  # fmt: skip
    for day, seconds in (("02", 3.0), ("01", 4.0)):
        spread = {"median": seconds, "min": seconds, "max": seconds}
        entry = {"record": "game.sgf", "command": "evaluate game.sgf", "cold": spread, "warm": spread}
        result = made | {"date": f"2026-01-{day}T00:00:00", "results": [entry]}
        (tmp_path / f"2026-01-{day}-abacus-startup.json").write_text(json.dumps(result))
    page = "before\n<!-- figures: startup -->\nold\n<!-- end of figures -->\nafter\n"
    text = figures.written(page, tmp_path)
    assert text.startswith("before\n<!-- figures: startup -->\n") and text.endswith("<!-- end of figures -->\nafter\n")
    assert "3.00 s" in text and "4.00 s" not in text and "old" not in text
    assert "Abacus, 1 cores, quiet (load 0.00); Python 3.11, jax 0.10; jaxgo 1 at 0123456, 2026-01-02" in text
    assert ": `jaxgo bench startup`." in text
    assert figures.written(text, tmp_path) == text


def test_doublings_are_a_picture_and_a_table():
    match = {"score": 0.75, "interval": [0.6, 0.9], "games": 40}
    made = {
        "ratings": {"uct": [[100, 0.0, 0.0], [200, 190.8, 100.0]], "rave": [[100, 0.0, 0.0], [200, 190.8, 100.0]]},
        "matches": [{"bot": bot, "playouts": 100, "match": match} for bot in ("rave", "uct")],
    }  # fmt: skip
    lines = figures.doublings(made).splitlines()
    assert lines[0] == "![Elo by playouts a move](pictures/elo.png)" and lines[2].startswith("| bot | playouts a move |")
    assert [line.split(" | ")[:4] for line in lines[4:]] == [
        ["| uct", "200 against 100", "40", "75.0 % (60.0 to 90.0)"], ["| rave", "200 against 100", "40", "75.0 % (60.0 to 90.0)"],
    ]  # fmt: skip


def test_a_place_may_name_a_machine(tmp_path):
    """Else its figures are those of `MACHINE`, or of any other where it has none."""
    for day, machine, benchmark in (("01", figures.MACHINE, "search"), ("02", "abacus", "search"), ("02", "abacus", "peers")):
        (tmp_path / f"2026-01-{day}-{machine}-{benchmark}.json").write_text(json.dumps({"of": machine}))
    assert figures.newest("search", tmp_path)["of"] == figures.MACHINE
    assert figures.newest("search", tmp_path, "abacus")["of"] == figures.newest("peers", tmp_path)["of"] == "abacus"
    for words in ("search on epyc", "peers on epyc-2core"):
        with pytest.raises(figures.Missing, match=f"holds no result of {words}"):
            figures.written(f"<!-- figures: {words} -->\n<!-- end of figures -->", tmp_path)


def test_unknown_figures_and_missing_results_are_told(tmp_path):
    for name, words in (("speed", "there are no figures 'speed'"), ("peers", "holds no result of peers")):
        with pytest.raises(figures.Missing, match=words):
            figures.written(f"<!-- figures: {name} -->\n<!-- end of figures -->", tmp_path)


@pytest.mark.parametrize(("arguments", "status", "said"), [
    ([], 0, "README.md: written\n"), (["--check"], 1, "README.md: not the figures of the newest results\n"),
])  # fmt: skip
def test_pages_that_differ_are_written_or_only_told_of(tmp_path, monkeypatch, capsys, arguments, status, said):
    pytest.importorskip("matplotlib")
    page = tmp_path / figures.PAGES[0]
    page.write_text("old")
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "pages", lambda: [(page, page.read_text(), "new")])
    monkeypatch.setattr(figures, "pictures", functools.partial(list))
    assert figures.main(arguments) == status
    assert page.read_text() == ("old" if status else "new") and capsys.readouterr().err == said
    page.write_text("new")
    assert figures.main(arguments) == 0 and capsys.readouterr().err == ""
