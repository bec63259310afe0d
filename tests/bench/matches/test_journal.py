"""A match in a folder survives whatever ends its process, and no game counts twice."""

import json
import os
import resource
import signal

import pytest

from bench.matches.journal import Journal
from jaxgo.cli import UsageError

CONDITIONS = {"first": "rave", "second": "uct", "seed": 3}


@pytest.fixture
def folder(tmp_path):
    """With two games in it."""
    with Journal(str(tmp_path / "match"), CONDITIONS) as journal:
        for number in (2, 1):
            journal.add({"number": number, "won": 1.0}, b"(;)")
    return tmp_path / "match"


def test_games_are_there_again(folder):
    with Journal(str(folder), CONDITIONS) as journal:
        assert journal.games == {number: {"number": number, "won": 1.0} for number in (1, 2)}
    assert sorted(path.name for path in folder.iterdir()) == ["0001.sgf", "0002.sgf", "games.jsonl", "match.json"]
    assert (folder / "0002.sgf").read_bytes() == b"(;)"


def test_a_line_that_was_being_written_does_not_count(folder):
    with (folder / "games.jsonl").open("ab") as file:
        file.write(b'{"number": 3, "wo')
    with Journal(str(folder), CONDITIONS) as journal:
        assert set(journal.games) == {1, 2}
        journal.add({"number": 3, "won": 0.0}, b"(;)")
    assert [json.loads(line)["number"] for line in (folder / "games.jsonl").read_text().splitlines()] == [2, 1, 3]


def test_no_game_is_cut_off_behind_an_odd_line(folder):
    """An editor may have put other whitespace into it; lines end with a newline alone."""
    path = folder / "games.jsonl"
    path.write_bytes(path.read_bytes().replace(b", ", b",\r ", 1))
    before = path.read_bytes()
    with Journal(str(folder), CONDITIONS) as journal:
        assert set(journal.games) == {1, 2}
    assert path.read_bytes() == before


def test_a_game_that_could_not_be_written_leaves_no_trace(folder, monkeypatch):
    """As on a full disk, in the middle of its line; what is on the disk is told of."""
    with Journal(str(folder), CONDITIONS) as journal:
        size = (folder / "games.jsonl").stat().st_size
        limit, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5, most))
        try:
            with pytest.raises(OSError, match="File too large: .*games.jsonl"):
                journal.add({"number": 3, "won": 0.0}, b"(;)")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
            signal.signal(signal.SIGXFSZ, ignored)
        assert set(journal.games) == {1, 2} and (folder / "games.jsonl").stat().st_size == size
        journal.add({"number": 3, "won": 0.5}, b"(;)")
    with Journal(str(folder), CONDITIONS) as journal:
        assert journal.games[3] == {"number": 3, "won": 0.5}


def test_a_match_that_was_killed_before_its_first_game_begins_again(tmp_path):
    (tmp_path / "games.jsonl").write_bytes(b"")
    with Journal(str(tmp_path), CONDITIONS) as journal:
        assert journal.games == {}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"seed": 4}, "holds a match with seed 3, not 4"), ({"size": 9}, "holds a match with size None, not 9"),
        ({"conditions": ["others"], "visits": 301}, "holds a match with visits None, not 301"),
    ],
)
def test_another_match_is_refused(folder, other, message):
    with pytest.raises(UsageError, match=message):
        Journal(str(folder), CONDITIONS | other)


def test_other_files_are_left_alone(tmp_path):
    (tmp_path / "0001.sgf").write_text("mine")
    with pytest.raises(UsageError, match=r"holds other files but no match\.json"):
        Journal(str(tmp_path), CONDITIONS)
    assert [path.name for path in tmp_path.iterdir()] == ["0001.sgf"]


def test_what_is_no_journal_is_refused(folder):
    (folder / "games.jsonl").write_text('{"number": 1}\nhello\n')
    with pytest.raises(UsageError, match=r"games\.jsonl, byte 14: this is no game's line"):
        Journal(str(folder), CONDITIONS)


def test_one_process_at_a_time(folder):
    with Journal(str(folder), CONDITIONS), pytest.raises(UsageError, match="in use by another match"):
        Journal(str(folder), CONDITIONS)
    Journal(str(folder), CONDITIONS).close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="cannot be used"):
        Journal(str(tmp_path), CONDITIONS)


def test_a_match_that_was_killed_while_its_conditions_were_written_begins_again(tmp_path):
    (tmp_path / "games.jsonl").write_bytes(b"")
    (tmp_path / ".match.json.part").write_bytes(b'{"first":')
    with Journal(str(tmp_path), CONDITIONS) as journal:
        assert journal.games == {}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.jsonl", "match.json"]
