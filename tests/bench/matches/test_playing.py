"""A game of a match: whose colours, seeds, times and words are whose."""

import dataclasses
import functools
import types

import pytest
from sgfmill import sgf

from bench.matches import playing
from bench.matches.contestants import Conditions, Draws
from bench.matches.playing import Match, play
from bench.matches.referee import OWN, Verdict
from search.choice import passing
from search.game import Game
from search.in_steps import alone
from search.selfplay import SCORE, TIME, TOO_LONG, play_game_in_steps


@dataclasses.dataclass(frozen=True)
class Passing:
    """A contestant who passes."""

    name: str
    what = "a pass a move"
    knows_superko = True

    def random(self, draws: Draws, size: int) -> dict[str, int]:
        return {"seed": 10 * draws.number + draws.side} | ({"stream": 7} if draws.side else {})

    def memory(self, size: int) -> int:
        return 0

    def mover(self, conditions: Conditions, draws: Draws) -> "Passing":
        return self

    def move_in_steps(self, game: Game):
        yield from ()
        return passing(game.size**2)


def match(opening: int = 2, seconds: float | None = None, grace: float = 1.0, referee: str = OWN) -> Match:
    return Match((Passing("one"), Passing("two")), Conditions(5, 0.5, seconds, grace, 1), 3, opening, referee)


@pytest.mark.parametrize(("number", "black", "white", "seeds"), [
    (1, "one", "two", "Black's seed 10, White's seed 11 from stream 7"), (2, "two", "one", "Black's seed 21 from stream 7, White's seed 20"),
])  # fmt: skip
def test_a_record_says_who_had_which_colour_and_seed(number, black, white, seeds):
    known, record = play(match(), number)
    root = sgf.Sgf_game.from_bytes(record).get_root()
    assert (root.get("PB"), root.get("PW"), known["first_is_black"]) == (black, white, number == 1)
    assert f"game {number} of `jaxgo match`, seed 3: {seeds}\n" in root.get("GC")
    assert known["won"] == (1.0 if known["result"].startswith("B") == (number == 1) else 0.0) and known["ending"] == SCORE


def test_both_games_of_a_pair_have_one_opening_as_long_as_it_is():
    openings = [play(match(), number)[0]["opening"] for number in (1, 2, 3, 4)]
    assert openings[0] == openings[1] != openings[2] == openings[3] and {len(each) for each in openings} == {2}
    known, _ = play(match(opening=100), 1)
    assert len(known["opening"]) == known["moves"] - 2, "the board was full before"


@pytest.mark.parametrize(("opening", "first_is_black", "first"), [(2, True, 0), (2, False, 1), (3, True, 1), (3, False, 0)])
def test_times_are_those_of_each_contestant(opening, first_is_black, first):
    """White moves first behind an odd opening."""
    told = playing._time(types.SimpleNamespace(opening=opening, seconds=[1.0, 2.0, 4.0]), first_is_black)
    expected = [{"seconds": 5.0, "longest": 4.0, "moves": 2}, {"seconds": 2.0, "longest": 2.0, "moves": 1}]
    assert told == [expected[first], expected[1 - first]]


def test_a_move_may_take_the_seconds_and_the_grace():
    """By the clock of the game, each look at which is 0.6 s after the one before."""
    for grace, ending in ((0.5, SCORE), (0.25, TIME)):
        clock = functools.partial(next, (0.6 * i for i in range(1000)))
        known, _ = alone(playing.play_in_steps(match(seconds=0.25, grace=grace), 1, clock))
        assert known["ending"] == ending


def test_the_referee_scores_games_that_are_too_long(monkeypatch):
    monkeypatch.setattr(playing, "play_game_in_steps", functools.partial(play_game_in_steps, max_moves=3))
    monkeypatch.setattr(playing, "judge", lambda game, referee, conditions: Verdict(-12.5, referee, "a remark"))
    known, record = play(match(referee="gtp:x"), 1)
    told = (known["ending"], known["result"], known["won"], known["referee"], known["remark"])
    assert told == (TOO_LONG, "W+12.5", 0.0, "gtp:x", "a remark")
    assert sgf.Sgf_game.from_bytes(record).get_root().get("RE") == "W+12.5"
