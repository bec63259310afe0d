"""Sums of credits on the device: of any records they are the sums of the credits, and none can overflow."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgo
from jaxgo.base.constants import MAX_SIZE, MIN_SIZE, max_plies
from jaxgo.board.dynamics import legal_for_both, own_and_opp
from jaxgo.board.geometry import geometry
from jaxgo.playing.lanes import CAPTURE
from jaxgo.playing.wire import Records, Table, captured_of, columns_of, moves_of, table_of
from jaxgo.results import credit_sums, credits
from jaxgo.running import chunks, request
from tests.wide import wide

SIZE = 5
P = SIZE * SIZE


def test_no_sum_can_overflow():
    """Blocks' sums, and sums of their halves, fit 32 bits, at the longest playouts and the largest chunks that there can be."""
    longest = [max_plies(size) for size in range(MIN_SIZE, MAX_SIZE + 1)]
    for plies in longest:
        assert credit_sums.BLOCK * credit_sums.most_units(plies) < 2**32
    assert credit_sums.MOST_BLOCKS * (2**16 - 1) < 2**32
    assert request.MOST_LANES * chunks.PER_LANE_WITH_MOVES[-1] <= credit_sums.MOST_BLOCKS * credit_sums.BLOCK
    # Counts of first plays are shifted by 16 bits on the host; there 2**31 playouts of a position must fit 63.
    assert 2 * 2**31 * credit_sums.most_units(max(longest)) < 2**63


@pytest.mark.parametrize("length", [1, 2, 7, 8, 75, 243, 1875])
def test_no_playout_earns_a_point_more_than_the_bound(length):
    """Not even one in which the root player's plies are all at one point."""
    moves = np.full((1, length), -1, np.int16)
    moves[0, ::2], moves[0, 1::2] = 3, 4
    recorded = credits.Histories(moves, np.zeros(moves.shape, bool), np.ones((1, 2, P), bool))
    for rule in credits.RULES:
        earned = credits.credit(rule, recorded)
        assert max(earned.sum(), credits.square(earned).sum()) <= credit_sums.most_units(length), rule


def random_records(rng, batch: int, count: int, longest: int) -> Records:
    """Plies at random points of the first two rows, with random captures, margins and lengths: no games, but to be summed up."""
    n = batch * count
    length = rng.integers(0, longest + 1, n).astype(np.int32)
    points = rng.choice(np.r_[:10, P], (n, longest)) + CAPTURE * (rng.random((n, longest)) < 0.05)
    plies = np.where(np.arange(longest) < length[:, None], points, -1).astype(np.int16)
    margin = rng.integers(-2, 3, n).astype(np.int32)
    return Records((), (), (), (), *map(jnp.asarray, (margin, length, np.zeros(n, bool), plies)))


def expected(rule: str, records: Records, tab: Table, legal: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """int64 [B, P, 3], playout by playout and ply by ply; komi 0."""
    batch, count = valid.shape
    sums = np.zeros((batch, P, 3), np.int64)
    moves, breaks, margin = (np.asarray(x) for x in (moves_of(records.events), captured_of(records.events), records.margin))
    earned = credits.credit(rule, credits.Histories(moves, breaks, np.repeat(legal, count, axis=0)))
    for i, (b, j) in enumerate(np.ndindex(batch, count)):
        if valid[b, j]:
            result = np.sign(margin[i]) * (1 if tab.black[b] else -1) + 1
            for ply in np.flatnonzero(earned[i]):
                f = int(earned[i, ply])
                sums[b, moves[i, ply]] += (f, f * result, int(credits.square(np.int32(f))))
    return sums


@pytest.mark.parametrize(
    "rule, batch, count, positions, playouts, slab",
    [
        ("weighted_v1", 1, 300, 1, 300, 40), ("weighted_v1", 3, 64, 2, 50, 16), ("weighted_v1", 7, 4, 6, 3, 16),
        ("weighted_v2", 3, 64, 2, 50, 16), ("mctr_simple", 2, 150, 2, 141, 1024), ("mctr_simple", 3, 64, 2, 50, 16),
        ("amaf_first_twice", 3, 64, 2, 50, 16),
    ],
)  # fmt: skip
def test_sums_of_random_plies(monkeypatch, rule, batch, count, positions, playouts, slab):
    """However many playouts a slab has, and whatever of a chunk's room is used."""
    monkeypatch.setattr(credit_sums, "SLAB", slab)
    g, rng = geometry(SIZE), np.random.default_rng(batch)
    stones = rng.integers(-1, 2, (batch, SIZE, SIZE)) * (rng.random((batch, SIZE, SIZE)) < 0.2)
    position = jaxgo.Position.from_array(stones, to_play=rng.choice([-1, 1], batch))
    bounds = jnp.broadcast_to(np.array([1, 0], np.int32), (batch, 2))
    # In one program: many small ones would take longer to compile.
    columns, legal = jax.jit(
        lambda p: (columns_of(p, jnp.zeros(batch, jnp.int32)), legal_for_both(g, *own_and_opp(p), p.ko))
    )(position)
    legal = np.asarray(legal)
    valid = (np.arange(batch) < positions)[:, None] & (np.arange(count) < playouts)
    records = random_records(rng, batch, count, 30)
    reduce = jax.jit(lambda *x: credit_sums.CreditSums(rule)(g, *x))
    found = reduce(records, columns, bounds, jnp.asarray(valid))
    assert (found.dtype, found.shape) == (jnp.uint32, (batch, 2, credit_sums.KINDS, P))
    np.testing.assert_array_equal(credit_sums.units(np.asarray(found)), expected(rule, records, table_of(columns), legal, valid))


@pytest.mark.parametrize("rule", ["mctr_capture", *wide("amaf")])
def test_sums_do_not_depend_on_chunks_or_devices(monkeypatch, rule):
    """One worker with large chunks, and three with small ones."""
    position = jaxgo.Position.concatenate([jaxgo.Position.empty(SIZE).play(12), jaxgo.Position.empty(SIZE)])
    device = jax.local_devices()[0]
    # Of as many playouts as other tests ask for, and so by their program.
    whole = jaxgo.move_statistics(position, 3000, rule=rule, komi=3.0, devices=1)
    monkeypatch.setattr(chunks, "room", lambda *_: (1, 63))
    parts = jaxgo.move_statistics(position, 3000, rule=rule, komi=3.0, devices=[device] * 3)
    for name in ("weight", "value", "effective", "error"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name), name)


def test_too_many_playouts_of_a_position_are_refused(monkeypatch):
    monkeypatch.setattr(credit_sums, "MOST_BLOCKS", 1)
    rng = np.random.default_rng(0)
    columns = columns_of(jaxgo.Position.empty(SIZE), jnp.zeros(1, jnp.int32))
    arguments = random_records(rng, 1, 200, 8), columns, jnp.zeros((1, 2), jnp.int32), jnp.ones((1, 200), bool)
    with pytest.raises(ValueError, match="at most 128 playouts of a position, not 200"):
        credit_sums.CreditSums("weighted_v1")(geometry(SIZE), *arguments)
