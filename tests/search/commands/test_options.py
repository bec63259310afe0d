"""Arguments that the commands share."""

import argparse

import pytest

from search.commands import options
from search.commands.collection import _moves


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2G", 2 << 30),
        ("2g", 2 << 30),
        ("2GiB", 2 << 30),
        ("2 GB", 2 << 30),
        ("512M", 512 << 20),
        ("1.5G", 3 << 29),
        (".5T", 1 << 39),
        ("262144K", 256 << 20),
        ("200_000_000", 200_000_000),
        ("128M", 128 << 20),
    ],
)
def test_sizes_of_memory(text, expected):
    assert options.memory(text) == expected


@pytest.mark.parametrize("text", ["", "G", "two", "-2G", "2X", "1e9", "2GG", "nan", "1.2.3G"])
def test_what_is_no_size(text):
    with pytest.raises(argparse.ArgumentTypeError, match="must be a size such as 512M or 2G, not "):
        options.memory(text)


@pytest.mark.parametrize("text", ["0", "127M", "2000T", "9" * 400 + "G"])
def test_sizes_out_of_range(text):
    with pytest.raises(argparse.ArgumentTypeError, match="must be between 128M and 1024T, not "):
        options.memory(text)


def test_a_share_of_the_machine_is_the_default(monkeypatch, tmp_path):
    """Of the container, where that has less."""
    monkeypatch.setattr(options, "_LIMITS_OF_CONTAINERS", ())
    whole = 4 * options.default_memory()
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(options, "_LIMITS_OF_CONTAINERS", (str(limit), "/nonexistent/limit"))
    for text, expected in (("max\n", whole), (f"{1 << 60}\n", whole), (f"{1 << 30}\n", 1 << 30), ("1000", 4 * options.LEAST_MEMORY)):
        limit.write_text(text)
        assert options.default_memory() == pytest.approx(expected / 4, abs=4)
    parser = argparse.ArgumentParser()
    options.add_memory_argument(parser)
    assert parser.parse_args([]).memory is None and parser.parse_args(["--memory", "2G"]).memory == 2 << 30


@pytest.mark.parametrize(
    ("text", "bot", "expected"),
    [(None, "rave", "[NoSelfAtari(p=0.9), Nakade(p=1.0), Patterns(p=0.9, save=True, match=True, capture=True), Mercy(stones=25)]"), (None, "uct", "None"), (None, None, "None"),
     ("uniform", "rave", "None"), ("capture:0.5", "rave", "Capture(q=0.5)")],
)  # fmt: skip
def test_the_policy_is_the_bots_own_unless_another_is_asked_for(text, bot, expected):
    assert repr(options.policy_of_argument(text, 9, bot)) == expected


@pytest.mark.parametrize(
    ("given", "bot", "expected"),
    [(None, "rave", True), (None, "uct", None), (None, "amaf", None), (False, "rave", False), (True, "uct", True)],
)
def test_rave_has_prior_playouts_unless_it_is_told_otherwise(given, bot, expected):
    assert options.knowledge_of_argument(given, bot) is expected


def test_numbers_at_their_bounds():
    assert [options.fraction(text) for text in ("0", "1")] == [0.0, 1.0] and options.count(2, 25)("25") == 25
    assert options.count(1)("20_000") == 20_000
    for read, text in ((options.fraction, "1.01"), (options.fraction, "nan"), (options.count(2, 25), "1"), (options.count(2, 25), "26")):
        with pytest.raises(argparse.ArgumentTypeError, match="must be between"):
            read(text)
    for text in ("0", "-1", "inf", "nan"):
        with pytest.raises(argparse.ArgumentTypeError, match="must be a positive number of seconds"):
            options.seconds(text)


def test_moves_from_and_to():
    assert [_moves(text) for text in ("10:60", "5:5", "10:", ":60", ":")] == [(10, 60), (5, 5), (10, None), (0, 60), (0, None)]
