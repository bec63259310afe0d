"""Moves on the host: what they do, and what is wrong with them, is what the device and the referee say."""

import random

import jax
import numpy as np
import pytest

import jaxgo
from jaxgo.board import dynamics, host_moves
from search.replay import turned
from tests.positions import SIZES
from tests.referee import Game
from tests.wide import mostly_wide


def tries(size: int, number: int) -> list[tuple[host_moves.Place, int, int]]:
    """Moves to try, at any point and of either colour, in games that go on with those that are legal."""
    draw, out = random.Random(size), []
    place = empty = host_moves.place_of(jaxgo.Position.empty(size))
    while len(out) < number:
        colour = place.to_play if draw.random() < 0.8 else -place.to_play
        point = place.ko if place.ko >= 0 and draw.random() < 0.5 else draw.randrange(size * size + 1)
        out.append((place, colour, point))
        place, _ = host_moves.play(size, place, colour, point)
        if draw.random() < 0.3 / size**2:
            place = empty
    return out


@pytest.mark.parametrize("size", mostly_wide(SIZES, {2, 5, 9, 19}))
def test_moves_are_the_devices(size: int) -> None:
    """Stones, ko, passes, hash and fault of each of 4,000 tries, kos and suicides among them."""
    places, colours, points = zip(*tries(size, 4_000))
    after, faults = zip(*(host_moves.play(size, *each) for each in zip(places, colours, points)))
    before = turned(host_moves.positions_of(size, places), np.array(colours, np.int8))
    where = np.ones(len(places), np.bool_)
    expected, wrong = jax.device_get(dynamics.run(dynamics.tried, before, np.array(points, np.int32), where))
    np.testing.assert_array_equal(faults, wrong)
    legal = wrong == 0
    found = host_moves.positions_of(size, list(after))
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a[legal], b[legal])
    np.testing.assert_array_equal(host_moves.hashes_of(list(after))[legal], np.asarray(expected.hash())[legal])
    assert all(now is place for now, place, fault in zip(after, places, faults) if fault)
    assert [host_moves.place_of(found[i : i + 1]) for i in range(40)] == list(after[:40])
    seen = {dynamics.FAULTS[fault - 1] for fault in faults if fault}
    assert seen >= {"the point is occupied", *(["it is suicide"] if size < 9 else [])}
    assert size not in (3, 5) or "the ko forbids it" in seen


@pytest.mark.parametrize("size", [3, 5, 9])
def test_games_are_the_referees(size: int) -> None:
    """Of random legal moves, to the end of 30 games."""
    for seed in range(30):
        draw, game, place = random.Random(seed), Game(size), host_moves.place_of(jaxgo.Position.empty(size))
        for _ in range(3 * size * size):
            if game.is_over:
                break
            legal = [point for point in range(size * size + 1) if not host_moves.play(size, place, place.to_play, point)[1]]
            assert legal == [*game.legal_points(), game.pass_move]
            point = draw.choice(legal)
            place, _ = host_moves.play(size, place, place.to_play, point)
            game.play(point)
            stones = np.asarray(host_moves.positions_of(size, [place]).to_array())
            assert stones.ravel().tolist() == game.stones and (place.ko, place.passes) == (game.ko, game.passes)
