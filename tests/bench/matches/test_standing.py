"""What the games of a match say."""

import pytest
from scipy import stats

from bench.matches.standing import elo, standing, wilson


def a_game(won: float, black: bool, *, ending: str = "score", game: str = "a", seconds: float = 1.0, moves: int = 5) -> dict:
    """What is known of a game of ten moves."""
    time = [{"seconds": seconds, "longest": seconds / 2, "moves": moves}] * 2
    return {"number": 1, "remark": "", "won": won, "first_is_black": black, "moves": 10, "seconds": 1.0, "ending": ending, "game": game, "time": time,
            "referee": "own", "result": "B+1.5", "board": "B+1.5"}  # fmt: skip


@pytest.mark.parametrize(("wins", "games"), [(0, 10), (5, 10), (127, 200), (200, 200)])
def test_the_wilson_interval_is_scipys(wins, games):
    expected = stats.binomtest(wins, games).proportion_ci(0.95, method="wilson")
    assert wilson(wins / games, games) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_draws_count_half():
    found = standing([a_game(1.0, True), a_game(0.5, False), a_game(0.0, True)])
    assert (found["wins"], found["draws"], found["losses"]) == (1, 1, 1)
    assert found["score"] == 0.5
    assert found["score_as_black"] == 0.5


def test_differences_of_ratings():
    assert elo(0.5) == 0
    assert elo(10 / 11) == pytest.approx(400)
    assert elo(1 / 11) == pytest.approx(-400)
    assert elo(0.0) is elo(1.0) is None
    found = standing([a_game(1.0, True)] * 20)
    assert found["elo"] is None and found["elo_interval"][0] == pytest.approx(elo(wilson(1.0, 20)[0]))


def test_what_was_not_lost_on_the_board_is_counted_apart():
    games = [
        a_game(0.0, True, ending="illegal move"), a_game(0.0, False, ending="time"), a_game(1.0, True, ending="time"),
        a_game(1.0, True, ending="failure"), a_game(1.0, False, ending="resignation"), a_game(0.5, True, ending="too long"),
    ]  # fmt: skip
    found = standing(games)
    names = ("resignations", "losses_on_time", "illegal_moves", "failures")
    assert [found["first"][name] for name in names] == [0, 1, 1, 0]
    assert [found["second"][name] for name in names] == [1, 1, 0, 1]
    assert found["too_long"] == 1
    assert found["first"]["remark"] is found["second"]["remark"] is None
    games[2] |= {"number": 3, "remark": "no answer to 'genmove b' in 2 s"}
    assert standing(games)["second"]["remark"] == "game 3: no answer to 'genmove b' in 2 s"


def test_games_that_dead_stones_decided_are_counted():
    lost = a_game(0.0, True) | {"result": "W+30.5"}
    resigned = a_game(0.0, True, ending="resignation") | {"result": "W+R", "referee": None}
    assert standing([a_game(1.0, True), lost, resigned])["dead_stones_decided"] == 1


def test_a_referee_that_has_failed_is_told_of():
    """Its word may be another than that of our own rules, by which such games are scored."""
    games = [a_game(1.0, True), a_game(1.0, True) | {"number": 7, "remark": "the referee has failed: it ended"}]
    found = standing(games)
    assert (found["referee_failed"], found["referee_remark"]) == (1, "game 7: the referee has failed: it ended")
    assert (found["first"]["remark"], found["second"]["remark"]) == (None, None)
    assert standing(games[:1])["referee_failed"] == 0 and standing(games[:1])["referee_remark"] is None


def test_time_is_of_all_moves():
    found = standing([a_game(1.0, True, seconds=4.0, moves=2), a_game(1.0, False, seconds=1.0, moves=3)])
    assert found["first"]["seconds_per_move"] == 1.0
    assert found["second"]["longest_move"] == 2.0
    assert standing([a_game(0.0, True, seconds=0.0, moves=0)])["first"]["seconds_per_move"] is None


def test_equal_games_are_found():
    assert standing([a_game(1.0, True), a_game(0.0, False), a_game(1.0, True, game="b")])["different"] == 2


def test_a_referee_may_fail_in_a_game_that_is_too_long():
    """Then nobody has lost by anything but the board."""
    found = standing([a_game(0.0, True, ending="too long") | {"number": 4, "remark": "the referee has failed: it ended"}])
    assert (found["referee_failed"], found["referee_remark"]) == (1, "game 4: the referee has failed: it ended")
    assert found["first"]["remark"] is None


def test_the_score_as_black_is_of_the_games_with_black():
    assert standing([a_game(1.0, True), a_game(0.5, True), a_game(0.0, False)])["score_as_black"] == 0.75
    assert standing([a_game(1.0, False)])["score_as_black"] is None
