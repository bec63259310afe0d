"""Which stones live, as ownership tells: dead where the points are the other's, in seki where the mover dies."""

import numpy as np

import jaxgo
from jaxgo.results.statuses import ALIVE, DEAD, SEKI, held, settled, statuses

STONES = np.asarray(
    jaxgo.Position.from_ascii("""
    X X . O
    . . . O
    O . . X
    . . . .
""").to_array()
)[0]


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

    def owners_of(boards: np.ndarray) -> np.ndarray:
        asked.append(len(boards))
        whole = [_owners(0.9, -0.8, 0.4, 0.4 if board[2, 0] else -0.4) for board in boards]
        return np.array([whole, whole])

    without = STONES.copy()
    without[2] = 0
    (first, second), owners = settled(np.stack([STONES, without]), owners_of)
    assert [(chain[0], status) for chain, status in first] == [(0, ALIVE), (3, ALIVE), (8, DEAD), (11, DEAD)]
    assert [(chain[0], status) for chain, status in second] == [(0, ALIVE), (3, ALIVE)]
    assert asked == [2, 1, 1] and owners.shape == (2, 2, 4, 4)


def test_chains_that_are_decided_by_little() -> None:
    """Neighbours that keep as much as they lose are in seki as far as they are short of liberties; dead is what mostly loses."""
    for x, o, expected in ((0.2, -0.2, (ALIVE, SEKI)), (0.2, -0.9, (ALIVE, ALIVE)), (-0.2, -0.9, (ALIVE, ALIVE)),
                           (-0.4, -0.9, (DEAD, ALIVE)), (-0.9, 0.2, (DEAD, ALIVE))):  # fmt: skip
        owners = _owners(x, o, -0.9, 0.9)
        found = {chain[0]: status for chain, status in statuses(STONES, owners, owners)}
        assert found == dict(zip((0, 3, 8, 11), (*expected, ALIVE, ALIVE))), (x, o)
