"""Games between two players who do as they are told: how they end, and what their records say."""

import numpy as np
import pytest
from sgfmill import sgf

from jaxgo import Position
from search.choice import Choice
from search.game import Game
from search.in_steps import alone
from search.selfplay import FAILURE, ILLEGAL, RESIGNATION, TIME, TOO_LONG, Forfeit, as_sgf, play_game, play_game_in_steps, seed_of

#: On 2x2, with passes (4): from the fifth move on the same six moves again and again.
ROUND_AND_ROUND = [0, 1, 2, 3, *([0, 4, 2, 1, 4, 3] * 3)]


class Told:
    """Plays what it is told: move by move of the game, or an exception of it."""

    def __init__(self, said, knows_superko: bool = True):
        self.said, self.knows_superko = said, knows_superko

    def move_in_steps(self, game: Game):
        what = self.said[len(game.moves)]
        if isinstance(what, Exception):
            raise what
        return what if isinstance(what, Choice) else choice(what, game.size)
        yield


def choice(point: int, size: int, resign: bool = False, rate: float = 0.25) -> Choice:
    nothing = np.zeros(size * size + 1)
    return Choice(point, resign, rate, nothing, nothing, 80, [point], None)


def played(said, size: int = 2, opening=(), knows_superko: bool = True, **options):
    game = Game(Position.empty(size), 0.5)
    for point in opening:
        game.play(point)
    return play_game(*[Told(said, knows_superko)] * 2, game, **options)


def comments(record: bytes) -> list[str]:
    """Of the game, and of each move."""
    return [node.get("C") if node.has_property("C") else "" for node in sgf.Sgf_game.from_bytes(record).get_main_sequence()]


def test_who_resigns_loses():
    for moves in (0, 1):
        found = played([*range(moves), choice(3, 2, resign=True)])
        assert (found.ending, found.winner, found.result) == (RESIGNATION, *((-1, "W+R") if moves == 0 else (1, "B+R")))
        assert len(found.choices) == len(found.game.moves) + 1 == moves + 1


def test_a_game_without_end_is_scored_as_it_stands():
    """After three times as many moves as there are points, where nobody says another number."""
    found = played(ROUND_AND_ROUND, knows_superko=False)
    assert (found.ending, len(found.game.moves), found.remark) == (TOO_LONG, 12, "")
    assert found.result == f"{'B' if found.winner == 1 else 'W'}+{abs(found.game.score()):g}"
    assert played([0, 1, 2], max_moves=2).ending == TOO_LONG
    found = played(ROUND_AND_ROUND)  # by players who know superko
    assert (found.ending, found.remark) == (ILLEGAL, "B2: B2 repeats an earlier position (positional superko)")
    assert len(found.choices) == len(found.game.moves) == 7


def test_records_tell_every_move():
    """Those of an opening, each player's view, and on the last move why somebody lost."""
    said = [None, None, 8, 5, 8]
    found = played(said, 3, opening=(4, 0))
    assert (found.ending, found.result, found.opening, len(found.choices), len(found.seconds)) == (ILLEGAL, "W+F", 2, 2, 3)
    told = comments(as_sgf(found, "one", "other"))
    assert told[:3] == ["", "opening", "opening"]
    assert told[3].startswith("Black wins 25.0 % of 80 playouts; C1; ")
    assert told[4].startswith("White wins 25.0 % of 80 playouts; C2; ")
    assert told[4].endswith(" s\nillegal move: C1: the point is occupied")


def test_a_move_may_take_all_of_its_time_and_no_more():
    ticks = iter([0.0, 2.0, 10.0, 12.5])
    movers = [Told([0, 1])] * 2
    found = alone(play_game_in_steps(*movers, Game(Position.empty(2), 0.5), seconds=2.0, clock=lambda: next(ticks)))
    assert (found.ending, found.result, found.remark, found.seconds) == (TIME, "B+T", "a move took 2.50 s", [2.0, 2.5])
    assert (len(found.choices), len(found.game.moves)) == (1, 1)


def test_a_record_says_nothing_of_playouts_where_there_were_none():
    found = played([choice(9, 3, rate=float("nan"))] * 2, 3)
    assert all(told == f"{seconds:.2f} s" for told, seconds in zip(comments(as_sgf(found, "one", "other"))[1:], found.seconds, strict=True))


@pytest.mark.parametrize("ending", [TIME, FAILURE])
def test_a_record_without_moves_says_why_on_the_game(ending):
    found = played([Forfeit(ending, "it sleeps")])
    assert (found.winner, len(found.choices), len(found.seconds)) == (-1, 0, 1)
    assert comments(as_sgf(found, "one", "other")) == [f"{ending}: it sleeps"]


def test_seeds_of_players_fit_signed_numbers_of_64_bits():
    """As other programs take them."""
    seeds = {seed_of(seed, number, player) for seed in range(3) for number in range(20) for player in range(2)}
    assert len(seeds) == 120 and 0 <= min(seeds) and 1 << 60 < max(seeds) < 1 << 63
