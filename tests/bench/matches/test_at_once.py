"""A match's games side by side: the same as one by one, in batches of any size, and whatever has been played before."""

import argparse
import dataclasses
import re

import pytest

from bench.matches import at_once
from bench.matches.contestants import Conditions, read
from bench.matches.playing import Match, play
from bench.matches.referee import OWN
from search import Rave
from search.tree_needs import memory_for
from tests.wide import wide

GAMES = range(1, 5)


def match_of(first: str, second: str) -> Match:
    """A match at 4x4 of 16 playouts a move."""
    names = {"visits": 16, "seconds": None, "leaves": 16, "playouts_per_leaf": 8, "knowledge": None, "cleanup": False, "size": 4}
    args = argparse.Namespace(**names, komi=0.5)
    return Match((read(first, args), read(second, args)), Conditions(4, 0.5, None, 1.0, 1 << 24), 7, 2, OWN)


def without_times(game: dict, record: bytes) -> tuple[dict, bytes]:
    """What is known of a game and its record, but for the clock."""
    return {name: x for name, x in game.items() if name not in ("seconds", "time")}, re.sub(rb"[0-9.]+ s\b", b"", record)


def side_by_side(match: Match, numbers, most: int = 6, enough: int = 10**6) -> dict[int, tuple[dict, bytes]]:
    """Some games by their numbers, so many at a time, until so many are finished."""
    found = {}
    for game, record in at_once.play_all([(match, number) for number in numbers], lambda: len(found) >= enough, most):
        assert game["number"] not in found
        found[game["number"]] = without_times(game, record)
    return found


@pytest.fixture(scope="module", params=[
    *wide((("wamaf", "mc"),), (("ucb", "mc"),), (("rave:visits=40", "mc"),), (("rave:policy=capture:0.9", "mc"),)),
    ("amaf:visits=9", "amaf"),
])  # fmt: skip
def match(request) -> Match:
    return match_of(*request.param)


@pytest.fixture(scope="module")
def expected(match) -> dict[int, tuple[dict, bytes]]:
    """The games one by one."""
    return {number: without_times(*play(match, number)) for number in GAMES}


@pytest.mark.parametrize("most", [3, *wide(1, 6)])
def test_games_are_those_played_one_by_one(match, expected, most):
    """Move by move, with what the players said of each; all different."""
    found = side_by_side(match, GAMES, most)
    assert found == expected
    assert len({game["game"] for game, _ in found.values()}) == len(GAMES)


def test_a_match_that_was_stopped_goes_on_with_the_same_games(match, expected):
    """What was under way is dropped, as when the process is killed, and is played anew beside other games."""
    first = side_by_side(match, GAMES, enough=2)
    assert 2 <= len(first) < 4
    rest = side_by_side(match, [number for number in GAMES if number not in first], most=3)
    assert first.keys().isdisjoint(rest)
    assert first | rest == expected


def test_nothing_begins_once_it_is_to_stop(match):
    assert side_by_side(match, GAMES, enough=0) == {}


@pytest.mark.parametrize(
    ("contestant", "expected"),
    [
        ("wamaf", True), ("mctr-capture:visits=9", True), ("mc:seconds=1", False), ("mc:visits=9,seconds=1", False),
        ("ucb", True), ("ucb:seconds=1", False), ("rave", True), ("rave-v1", True), ("uct:seconds=1", False),
        ("rave:policy=replies:0.5", False), ("rave:policy=capture", True),
        ("rave:policy=capture+mercy:9", False), ("amaf:policy=mercy:9", False),
    ],  # fmt: skip
)
def test_whose_moves_are_chosen_in_batches(contestant, expected):
    """Where no clock runs, no policy learns, and none depends on where a search begins."""
    assert match_of(contestant, "mc").contestants[0].in_batches == expected


@pytest.mark.parametrize(
    ("first", "second", "cores", "expected"),
    [
        ("amaf", "mc", 64, True), ("rave", "mc", 3, True), ("rave", "mc", 4, False), ("rave:visits=10001", "mc", 3, False),
        ("rave:visits=10000", "mc", 3, True),
        ("amaf:visits=10001", "mc", 3, True), ("rave:seconds=1", "mc", 3, False),
    ],  # fmt: skip
)
def test_when_side_by_side_is_faster(monkeypatch, first, second, cores, expected):
    monkeypatch.setattr(at_once, "usable_cores", lambda: range(cores))
    assert at_once.places(match_of(first, second).contestants, 4, 1 << 40) == (at_once.MOST if expected else 0)


def test_as_many_games_as_there_is_memory_for(monkeypatch):
    """A tree has room for all that its playouts can make of it; bots without one need none."""
    monkeypatch.setattr(at_once, "usable_cores", lambda: range(2))
    contestants = match_of("rave:visits=1000", "mc").contestants
    of_game = memory_for(9, Rave(), 125 + 32)
    assert [at_once.places(contestants, 9, memory) for memory in (1, 5 * of_game, 10**15)] == [0, 5, at_once.MOST]
    assert at_once.places(match_of("amaf", "mc").contestants, 9, 1) == at_once.MOST


@pytest.mark.parametrize(("bot", "memory", "too_little"), [
    ("rave:visits=1000", 0, None), ("rave:visits=1000", -1, True), ("rave:visits=1000,seconds=1", -1, None), ("amaf", -1, None),
])  # fmt: skip
def test_a_match_whose_trees_may_forget_says_in_how_much_memory(bot, memory, too_little):
    """Games depend on it then."""
    match = match_of(bot, "mc")
    room = memory_for(4, Rave(), 125 + 32) + memory
    assert dataclasses.replace(match, conditions=dataclasses.replace(match.conditions, memory=room)).too_little_memory == (
        room if too_little else None
    )


def test_what_ends_late_is_little_where_games_are_kept():
    """Games that begin together end together: only a part of all are under way."""
    contestants = match_of("amaf", "mc").contestants
    assert [at_once.places(contestants, 9, 1, games) for games in (10, 200, 1000, 10**6)] == [64, 64, 125, at_once.MOST]
