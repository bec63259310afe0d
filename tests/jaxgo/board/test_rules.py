"""The rules of Go: a diagram for every sentence of them."""

import numpy as np
import pytest

import jaxgo
from tests import referee
from tests.positions import from_games
from tests.referee import NO_KO, Game
from tests.wide import wide


def legality(text: str, **state) -> tuple[jaxgo.Position, dict[str, int], np.ndarray]:
    """The position of a diagram, its named points, and bool [P + 1] which moves are legal; the referee agrees."""
    game, named = referee.parse(text, **state)
    position = from_games(game)
    legal = np.asarray(position.legal())[0]
    assert np.flatnonzero(legal[:-1]).tolist() == game.legal_points()
    return position, named, legal


def same_board(position: jaxgo.Position, text: str) -> None:
    """Asserts that a batch of one has the stones of a diagram."""
    game, _ = referee.parse(text)
    assert np.asarray(position.to_array()).reshape(-1).tolist() == game.stones, repr(position)


def test_suicide_of_one_stone_is_illegal():
    text = """
        . X . . .
        X a X . .
        . X . O .
        . . O b O
        . . . O .
    """
    _, points, black = legality(text, to_play=1)
    assert black[points["a"]] and not black[points["b"]]
    _, points, white = legality(text, to_play=-1)
    assert white[points["b"]] and not white[points["a"]]


def test_suicide_of_several_stones_is_illegal():
    text = """
        a O X . .
        O O X . .
        X X . O O
        . . O O X
        . O X X b
    """
    position, points, white = legality(text, to_play=-1)
    assert not white[points["a"]]
    assert white[points["b"]], "White captures three stones there"
    _, _, black = legality(text, to_play=1)
    assert black[points["a"]], "Black captures three stones there"
    assert not black[points["b"]]
    with pytest.raises(ValueError, match="it is suicide"):
        position.play(points["a"])


def test_capturing_is_no_suicide():
    position, points, white = legality(
        """
        a X O . .
        X O . . .
        O . . . .
        . . . . .
        . . . . .
        """,
        to_play=-1,
    )
    assert white[points["a"]]
    after = position.play(points["a"])
    same_board(
        after,
        """
        O . O . .
        . O . . .
        O . . . .
        . . . . .
        . . . . .
        """,
    )
    assert np.asarray(after.ko).tolist() == [NO_KO], "two stones were captured: no ko"


def spirals(size: int) -> np.ndarray:
    """int8 [N, N]: a White chain wound from the corner to the centre, a Black one between its arms, both in atari at (1, 0)."""
    stones = np.ones((size, size), dtype=np.int8)
    y, x, dy, dx = 0, 0, 0, 1
    stones[0, 0] = -1
    for _ in range(2 * size):
        while True:
            ahead, beyond = (y + dy, x + dx), (y + 2 * dy, x + 2 * dx)
            inside = all(0 <= c < size for c in ahead)
            if not inside or (all(0 <= c < size for c in beyond) and stones[beyond] == -1):
                break
            y, x = ahead
            stones[y, x] = -1
        dy, dx = dx, -dy
    stones[1, 0] = 0
    return stones


@pytest.mark.parametrize("size", [5, 9, *(pytest.param(size, marks=pytest.mark.slow) for size in (13, 19)), *wide(25)])
@pytest.mark.parametrize("to_play", [1, -1])
def test_the_longest_chains_are_captured_by_their_last_liberty(size, to_play):
    stones = spirals(size)
    game = Game(size, stones.reshape(-1), to_play=to_play)
    assert len(game.chains()) == 2 and len(game.chain(0)[0]) > 0.4 * size * size
    position = jaxgo.Position.from_array(stones, to_play=to_play)
    assert np.flatnonzero(np.asarray(position.legal())[0]).tolist() == [size, size * size]
    after = position.play(size)
    expected = np.where(stones == to_play, stones, 0)
    expected[1, 0] = to_play
    np.testing.assert_array_equal(after.to_array()[0], expected)
    assert np.asarray(after.score()).tolist() == [to_play * size * size]


KO = """
    . X O . .
    X O a O .
    . X O . .
    . . . . .
    . . . . b
"""


def test_simple_ko():
    position, points, _ = legality(KO, to_play=1)
    taken, ko = position.play(points["a"]), 1 * 5 + 1
    assert np.asarray(taken.ko).tolist() == [ko]
    assert not np.asarray(taken.legal())[0, ko]
    with pytest.raises(ValueError, match="the ko forbids it"):
        taken.play(ko)
    # After a move elsewhere by both, the ko may be taken back, and is then a ko the other way round.
    back = taken.play(points["b"]).play(3 * 5 + 4)
    assert np.asarray(back.ko).tolist() == [NO_KO]
    assert np.asarray(back.legal())[0, ko]
    assert np.asarray(back.play(ko).ko).tolist() == [points["a"]]


def test_a_pass_lifts_the_ko():
    position, points, _ = legality(KO, to_play=1)
    ko = 1 * 5 + 1
    passed = position.play(points["a"]).play(25)
    assert np.asarray(passed.ko).tolist() == [NO_KO]
    assert np.asarray(passed.to_play).tolist() == [1]
    assert np.asarray(passed.legal())[0, ko], "the point is only forbidden to White, and only at once"
    assert np.asarray(passed.play(points["b"]).legal())[0, ko]


def test_the_ko_point_of_from_array_binds_only_the_side_to_move():
    _, points, legal = legality(KO, to_play=1, ko=4)
    assert legal[points["a"]] and not legal[4]
    _, points, legal = legality(KO, to_play=1, ko=1 * 5 + 2)
    assert not legal[points["a"]]


def test_no_ko_when_the_capturing_stone_has_company_and_snapback():
    position, points, _ = legality(
        """
        a X O X .
        O O O X .
        X X X . .
        . . . . .
        . . . . .
        """,
        to_play=-1,
    )
    taken = position.play(points["a"])
    assert np.asarray(taken.ko).tolist() == [NO_KO]
    assert np.asarray(taken.legal())[0, 1]
    snapback = taken.play(1)
    same_board(
        snapback,
        """
        . X . X .
        . . . X .
        X X X . .
        . . . . .
        . . . . .
        """,
    )
    assert np.asarray(snapback.score()).tolist() == [25]


def test_no_ko_when_the_capturing_stone_has_another_liberty():
    position, points, _ = legality(
        """
        . X . . .
        X O a . .
        . X O . .
        . . . . .
        . . . . .
        """,
        to_play=1,
    )
    taken = position.play(points["a"])
    assert np.asarray(taken.ko).tolist() == [NO_KO]
    assert np.asarray(taken.to_array())[0, 1, 1] == 0


def test_one_move_may_capture_chains_on_all_four_sides():
    position, points, _ = legality(
        """
        . O X O .
        O O X O O
        X X a X X
        O O X O O
        . O X O .
        """,
        to_play=-1,
    )
    same_board(
        position.play(points["a"]),
        """
        . O . O .
        O O . O O
        . . O . .
        O O . O O
        . O . O .
        """,
    )


def test_two_passes_end_the_game():
    position = jaxgo.Position.empty(5)
    once = position.play(25)
    assert np.asarray(once.passes).tolist() == [1] and not np.asarray(once.is_over())[0]
    assert np.asarray(once.legal()).all()
    moved = once.play(0)
    assert np.asarray(moved.passes).tolist() == [0], "a move starts the count again"
    assert not np.asarray(moved.play(25).is_over())[0]
    ended = once.play(25)
    assert np.asarray(ended.passes).tolist() == [2] and np.asarray(ended.is_over())[0]
    assert not np.asarray(ended.legal()).any()
    for move in (0, 25):
        with pytest.raises(ValueError, match="the game is over"):
            ended.play(move)


def test_occupied_points_are_illegal():
    position = jaxgo.Position.empty(5).play(7)
    assert not np.asarray(position.legal())[0, 7]
    with pytest.raises(ValueError, match="the point is occupied"):
        position.play(7)


@pytest.mark.parametrize(
    "text, margin",
    [
        (". . .\n. . .\n. . .", 0),
        (". . .\n. X .\n. . .", 9),
        ("X . .\n. . .\n. . O", 0),
        (". X O\nX X .\n. X O", 6 - 2),
        ("O . O\nO O O\nO O O", -9),
        (". O .\nO X X\nX X .", 5 - 3),
    ],
    ids=["empty", "one stone owns all", "a region of both counts for none", "two eyes", "all White", "the corners"],
)
def test_area_score(text, margin):
    game, _ = referee.parse(text)
    assert game.margin() == margin
    assert np.asarray(from_games(game).score()).tolist() == [margin]
