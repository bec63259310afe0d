"""Which stones live, as ownership tells: dead where the points are the other's, in seki where the mover dies."""

import numpy as np

import jaxgo
from jaxgo.results.statuses import ALIVE, DEAD, SEKI, held, settled, statuses


def _board(text: str) -> np.ndarray:
    """int8 [N, N], of a diagram."""
    return np.asarray(jaxgo.Position.from_ascii(text).to_array())[0]


STONES = _board("""
    X X . O
    . . . O
    O . . X
    . . . .
""")


def _owners(x: float, o: float, dead_white: float, dead_black: float) -> np.ndarray:
    """Who owns the points of the four chains."""
    owners = np.zeros((4, 4))
    owners[0, :2], owners[:2, 3], owners[2, 0], owners[2, 3] = x, o, dead_white, dead_black
    return owners


def test_chains_whose_points_are_the_others_are_dead() -> None:
    owners = _owners(0.9, -0.8, 0.4, -0.4)
    found = {chain[0]: status for chain, status in statuses(STONES, owners, owners)}
    assert found == {0: ALIVE, 3: ALIVE, 8: DEAD, 11: DEAD}
    np.testing.assert_allclose(held(STONES, owners, owners)[0], [0.9, 0.8, -0.4, -0.4])


def test_chains_that_die_where_their_owner_moves_are_in_seki() -> None:
    black_first, white_first = _owners(-0.5, -0.9, -0.9, 0.9), _owners(0.5, -0.9, -0.9, 0.9)
    found = {chain[0]: status for chain, status in statuses(STONES, black_first, white_first)}
    assert found == {0: SEKI, 3: ALIVE, 8: ALIVE, 11: ALIVE}
    np.testing.assert_allclose(held(STONES, black_first, white_first)[:, 0], [-0.5, 0.5])


def test_an_empty_board_has_no_chains() -> None:
    empty = np.zeros((3, 3))
    assert statuses(empty, empty, empty) == [] and held(empty, empty, empty).shape == (2, 0)


def test_what_hung_on_dead_stones_is_judged_again() -> None:
    """Two boards: on one a chain dies only once another is off; the other is judged once."""
    asked = []

    def owners_of(boards: np.ndarray, to_play: np.ndarray) -> np.ndarray:
        asked.append(to_play.tolist())
        return np.array([_owners(0.9, -0.8, 0.4, 0.4 if board[2, 0] else -0.4) for board in boards])

    without = STONES.copy()
    without[2] = 0
    (first, second), owners = settled(np.stack([STONES, without]), owners_of)
    assert [(chain[0], status) for chain, status in first] == [(0, ALIVE), (3, ALIVE), (8, DEAD), (11, DEAD)]
    assert [(chain[0], status) for chain, status in second] == [(0, ALIVE), (3, ALIVE)]
    assert asked == [[1, 1], [-1, -1], *[[1], [-1]] * 2] and owners.shape == (2, 2, 4, 4)


def test_what_may_be_saved_or_taken_at_once_is_nobodys_yet() -> None:
    """Playouts that begin anywhere take the white stone in atari; White saves it, and Black takes it. The one in the corner can be
    taken, and not be saved; the third has two liberties."""
    stones = np.asarray(
        jaxgo.Position.from_ascii("""
        . X . . .
        X O . . .
        . X . . .
        . . . X .
        O . X X O
    """).to_array()
    )[0]
    urgent = set()

    def owners_of(boards: np.ndarray, to_play: np.ndarray) -> np.ndarray:
        for board, colour in zip(boards, to_play):
            urgent.update((-colour, point) for point in np.flatnonzero((board != stones) & (board == -colour)))
        saved = np.array([board[1, 2] == -1 for board in boards])
        return np.where(saved[:, None, None], -0.9, 0.9) * np.ones((5, 5))

    (found,), owners = settled(stones[None], owners_of)
    assert {chain[0]: status for chain, status in found}[6] == ALIVE
    assert (owners[0] == 0.9).all() and (owners[1] == -0.9).all()
    assert {x for x in urgent if x[1] in (7, 19)} == {(1, 7), (-1, 7), (1, 19)}


def test_neighbours_that_are_undecided_and_short_of_liberties_are_in_seki() -> None:
    stones = _board("""
    X .
    . O
    """)

    def found(of_black: float, of_white: float) -> list:
        owners = np.array([[of_black, 0.0], [0.0, -of_white]])
        return [status for _, status in statuses(stones, owners, owners)]

    assert found(0.4, 0.4) == [SEKI, SEKI] and found(0.4, 0.6) == [ALIVE, ALIVE]
    assert found(-0.2, 0.9) == [ALIVE, ALIVE] and found(-0.35, 0.9) == [DEAD, ALIVE]
    three_liberties, nobody = np.array([[1, 0, -1]] * 3, np.int8), np.zeros((3, 3))
    assert [status for _, status in statuses(three_liberties, nobody, nobody)] == [ALIVE, ALIVE]


def test_the_largest_chains_are_the_most_urgent() -> None:
    """Five chains of White's are in atari, the largest of them the last."""
    stones = _board("""
    O X . X O X . . .
    . . . X . . . . .
    . . . . . . . X .
    . . . . . . X O .
    X . . . . . . X .
    O . . . . . . . .
    X . . . X . . . .
    . X X X O X . . .
    X O O O . . . . .
    """)
    tried = set()

    def owners_of(boards: np.ndarray, to_play) -> np.ndarray:
        for board in boards:
            tried.update(np.flatnonzero((board != stones) & (board == 1)).tolist())
        return np.zeros((len(boards), 9, 9))

    settled(stones[None], owners_of)
    assert 8 * 9 + 4 in tried


def test_the_boards_that_are_given_stay() -> None:
    stones = _board("""
    X .
    . O
    """)[None]
    kept = stones.copy()
    settled(stones, lambda boards, to_play: np.full((len(boards), 2, 2), -0.9))
    np.testing.assert_array_equal(stones, kept)
