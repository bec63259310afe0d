"""The random players that jaxgo is compared with: the eye rule on pgx's board, the uniform choice, the lengths of the playouts.

The eye rule is checked against the referee. The lengths are checked against the published mean of the same playouts, 111.04 plies
at 9x9 with a standard deviation of about 12; both peers stop at 162 plies, and differ a little besides (see their modules).
"""

import importlib.util
import math

import numpy as np
import pytest

from bench.worker import Worker, environment
from tests import chi_square, referee

needs_pgx = pytest.mark.skipif(not importlib.util.find_spec("pgx"), reason="pgx is not installed")
needs_openspiel = pytest.mark.skipif(not importlib.util.find_spec("pyspiel"), reason="OpenSpiel is not installed")

PUBLISHED_MEAN, ABOUT_THE_DEVIATION = 111.04, 12.0


@pytest.fixture(scope="module")
def worker():
    """A process with the settings that the peers are measured with."""
    with Worker(environment=environment(platform="cpu")) as started:
        yield started


@needs_pgx
@pytest.mark.parametrize("size", [5, 9, 19])
def test_own_eyes_are_those_of_the_referee(worker: Worker, size: int) -> None:
    # Few empty points and mostly own stones: eyes and almost-eyes are everywhere, in corners and on edges, too.
    stones = np.random.default_rng(size).choice([1, -1, 0], p=[0.72, 0.08, 0.2], size=(200, size, size)).astype(np.int8)
    eyes = np.asarray(worker.call("bench.pgx_work:own_eyes", stones=stones)).reshape(200, -1)
    games = [referee.Game(size, board.ravel().tolist()) for board in stones]
    points = range(size**2)
    expected = np.array([[game.is_eye(p, referee.BLACK) for p in points] for game in games])
    assert expected.sum() > 200
    np.testing.assert_array_equal(eyes, expected)


def test_the_choice_is_uniform_among_the_true_entries(worker: Worker) -> None:
    num_draws = 20_000
    mask = np.zeros((num_draws, 82), bool)
    mask[:, [0, 3, 40, 41, 81]] = True
    drawn = worker.call("tests.bench.test_random_play:draw", mask=mask)
    counts = np.bincount(drawn, minlength=82)
    assert counts[~mask[0]].sum() == 0
    assert chi_square.uniform_p_value(counts[mask[0]]) > chi_square.ALPHA


def draw(mask: np.ndarray) -> np.ndarray:
    """One draw per row; called in the worker."""
    import jax

    from bench.choice_work import choose_uniformly

    return np.asarray(choose_uniformly(jax.random.key(0), mask))


@needs_pgx
@pytest.mark.parametrize("play", ["LockstepPlayouts", "RefilledPlayouts"])
def test_playouts_with_pgx_are_as_long_as_the_published_ones(worker: Worker, play: str) -> None:
    worker.prepare(play, f"bench.pgx_work:{play}", size=9, batch=32)
    if play == "RefilledPlayouts":
        worker.measure(play, 64)  # all games began together: the first ends come late, and tell nothing of the length
    sample = worker.measure(play, 320)
    assert sample.amount >= 320
    # The end of the game by repetition, and a number of ends that jumps by the batch, on top of four standard errors.
    assert abs(sample.plies - PUBLISHED_MEAN) < 4 * ABOUT_THE_DEVIATION / math.sqrt(320) + 3


@needs_openspiel
def test_openspiel_plays_as_many_rollouts_as_asked_for(worker: Worker) -> None:
    worker.prepare("openspiel", "bench.openspiel_work:Rollouts", size=9, komi=7.5)
    few, many = (worker.measure("openspiel", count) for count in (20, 400))
    assert (few.amount, many.amount) == (20, 400)
    # Were the loop not played, twenty times the work would not take more time. No exact factor: the machine may be busy.
    assert many.cpu > 3 * few.cpu
    assert 81 < many.plies <= 162
