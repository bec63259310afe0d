"""What holds for every playout policy: one that is never asked changes nothing, and no way of playing leaves a trace."""

import functools
import re

import jax
import numpy as np
import pytest

import jaxgo
from jaxgo.playing.policies.in_order import InOrder, asks, each_of
from jaxgo.playing.policies.policy import Policy
from jaxgo.running import jobs
from tests import scalar_policies
from tests.positions import FEW, OTHER_SIZES, assert_same, fields, three_positions
from tests.referee import Game

#: Of 5x5, and so the same chunks as those of other tests.
COUNT = 600


def policies(p: float) -> dict[str, object]:
    """One of each kind for 5x5, asked with a probability, and all in order."""
    advice, replies = learned()
    each = {
        "advisor": jaxgo.Advisor(p, advice), "last good reply": jaxgo.LastGoodReply(replies, p), "capture": jaxgo.Capture(p),
        "nakade": jaxgo.Nakade(p), "no self-atari": jaxgo.NoSelfAtari(p), "patterns": jaxgo.Patterns(p),
    }  # fmt: skip
    return each | {"in order": [*each.values(), jaxgo.Uniform()]}


@functools.cache
def learned() -> tuple[jaxgo.AdvisorTable, jaxgo.Replies]:
    position = jaxgo.Position.empty(5)
    played = jaxgo.playouts(position, 100, moves=True)
    return jaxgo.AdvisorTable(5).update(played, position), jaxgo.Replies(5).update(played, position)


NAMES = ("advisor", "last good reply", "capture", "nakade", "no self-atari", "patterns", "in order")


@pytest.fixture(scope="module")
def uniform() -> jaxgo.Playouts:
    return jaxgo.playouts(three_positions(5), COUNT, seed=1, moves=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_that_is_never_asked_leaves_no_trace(uniform, name):
    """Bit for bit; and asked with a probability above 0 by the same program, it leaves one."""
    assert_same(jaxgo.playouts(three_positions(5), COUNT, seed=1, moves=True, policy=policies(0.0)[name]), uniform)
    compiled = len(jobs._compiled)
    asked = jaxgo.playouts(three_positions(5), COUNT, seed=1, moves=True, policy=policies(0.5)[name])
    assert len(jobs._compiled) == compiled
    assert (asked.moves != uniform.moves).any(axis=-1).mean() > 0.25


def test_uniform_is_no_policy(uniform):
    """Its programs are those of playouts that ask nobody."""
    jaxgo.playouts(three_positions(5), COUNT, seed=1, moves=True)
    compiled = len(jobs._compiled)
    for policy in (jaxgo.Uniform(), [jaxgo.Uniform()], [], ()):
        assert_same(jaxgo.playouts(three_positions(5), COUNT, seed=1, moves=True, policy=policy), uniform)
    assert len(jobs._compiled) == compiled


@pytest.mark.wide
def test_playouts_depend_on_their_names_alone():
    """Not on lanes, chunks, the rest of the batch, or whether moves are recorded, by `simulate` as by `playouts`."""
    policy, positions = policies(0.5)["in order"], three_positions(5)
    whole = jaxgo.playouts(positions, COUNT, seed=1, moves=True, policy=policy)
    assert_same(jaxgo.playouts(positions, COUNT, seed=1, moves=True, policy=policy, lanes=7), whole)
    order = np.array([2, 0])
    part = jaxgo.playouts(positions[order], 500, seed=1, first_playout=30, streams=order, moves=True, policy=policy)
    assert_same(part, whole, lambda x: x[order, 30:530])
    simulated = jax.jit(lambda policy: jaxgo.simulate(positions, COUNT, 1, moves=True, policy=policy))
    for asked in (policy, policies(0.25)["in order"]):
        expected = whole if asked is policy else jaxgo.playouts(positions, COUNT, seed=1, moves=True, policy=asked)
        found = fields(jax.tree.map(np.asarray, simulated(asked)))
        for name, array in fields(expected).items():
            np.testing.assert_array_equal(found[name], array, name)
    assert simulated._cache_size() == 1


def test_evaluations_are_of_the_same_playouts():
    policy = policies(0.5)["in order"]
    evaluation = jaxgo.evaluate(three_positions(5), COUNT, seed=1, komi=0.5, policy=policy)
    played = jaxgo.playouts(three_positions(5), COUNT, seed=1, moves=True, policy=policy)
    np.testing.assert_array_equal(evaluation.win_rate, (played.margin > 0).mean(axis=1))
    np.testing.assert_array_equal(evaluation.length_mean, played.length.mean(axis=1))


def test_mercy_ends_what_is_decided(uniform):
    """The playouts of uniform moves, each up to the first ply that leaves a lead of 8 stones, and scored as it stands then."""
    policy, position = jaxgo.Mercy(8), three_positions(5)
    played = jaxgo.playouts(position, COUNT, seed=1, moves=True, policy=[policy, jaxgo.Capture(0.0)])
    stones = np.asarray(position.to_array()).reshape(3, -1).tolist()
    facts = zip(*(np.asarray(x).tolist() for x in (position.to_play, position.ko, position.passes)))
    games = [Game(5, board, to_play=to_play, ko=ko, passes=passes) for board, (to_play, ko, passes) in zip(stones, facts)]
    decided = 0
    for index, start in enumerate(games):
        for playout in range(100):
            game, length = start.copy(), int(uniform.length[index, playout])
            for ply, move in enumerate(uniform.moves[index, playout, :length].tolist()):
                game.play(move)
                if abs(sum(game.stones)) >= 8:
                    length, decided = ply + 1, decided + 1
                    break
            assert played.length[index, playout] == length
            np.testing.assert_array_equal(played.moves[index, playout, :length], uniform.moves[index, playout, :length])
            assert played.truncated[index, playout] == (not game.is_over)
            assert played.margin[index, playout] == game.margin()
    assert 50 < decided < 300
    with pytest.raises(ValueError, match="stones must be between 1 and 625, not 0"):
        jaxgo.Mercy(0)


@pytest.mark.slow
@pytest.mark.parametrize("size", OTHER_SIZES)
def test_boards_of_other_sizes(size):
    """Rows lie differently in the words, and on large boards words have 64 bits: each policy keeps to its scalar version there."""
    position = jaxgo.Position.empty(size)
    taught = jaxgo.playouts(position, FEW, seed=5, moves=True)
    table, replies = jaxgo.AdvisorTable(size).update(taught, position), jaxgo.Replies(size).update(taught, position)
    for policy, sets in (
        (jaxgo.Capture(), scalar_policies.captures),
        (jaxgo.Advisor(1.0, table, suggestions=3), scalar_policies.advice(table, 0.1, 3)),
        (jaxgo.LastGoodReply(replies), scalar_policies.last_good_reply(replies)),
        (jaxgo.Nakade(), scalar_policies.nakade),
        (jaxgo.NoSelfAtari(), scalar_policies.no_self_atari()),
        (jaxgo.Patterns(), scalar_policies.patterns()),
    ):
        played = jaxgo.playouts(position, FEW, seed=3, moves=True, policy=policy)
        assert scalar_policies.choices(Game(size), played, 0, 2, sets)


@pytest.mark.parametrize(
    ("policy", "error", "text"),
    [
        ("capture", TypeError, "policy must be a playout policy such as .*, not 'capture'"),
        (0.5, TypeError, "policy must be a playout policy such as .*, not 0.5"),
        ([jaxgo.Capture(), None], TypeError, r"not \[Capture\(q=1.0\), None\]"),
        ([jaxgo.Uniform(), jaxgo.Capture(0.25)], ValueError, r"Uniform\(\) at its end.*not \[Uniform\(\), Capture\(q=0.25\)\]"),
    ],
)  # fmt: skip
def test_what_is_no_policy_is_refused(policy, error, text):
    position = jaxgo.Position.empty(5)
    with pytest.raises(error, match=text):
        jaxgo.evaluate(position, 10, policy=policy)
    with pytest.raises(error, match=text):
        jaxgo.simulate(position, 10, policy=policy)


class Own(Policy):
    """A user's policy without what programs take."""


class OfNumbers(Own):
    """One whose chance is none of `chance_of`."""

    def __init__(self, chance):
        self.chance = chance


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (Own(), "policy's chance must be an array, or a pytree of arrays, not none of Own"),
        (Policy(), "policy's chance must be an array, or a pytree of arrays, not none of Policy"),
        (OfNumbers(1.0), "policy's chance must be an array, or a pytree of arrays, not 1.0 of OfNumbers"),
        (OfNumbers(1 << 24), "policy's chance must be an array, or a pytree of arrays, not 16777216 of OfNumbers"),
        (OfNumbers(np.float32(1.0)), "policy's chance must be an int32 scalar (jaxgo.playing.policies.policy.chance_of makes one), not float32 []"),
        (OfNumbers(np.ones(2, np.int32)), "not int32 [2] of OfNumbers"), (OfNumbers(None), "not None of OfNumbers"),
        (OfNumbers((np.int32(1),)), "of OfNumbers"),
    ],
)  # fmt: skip
def test_policies_of_ones_own_have_a_chance(policy, text):
    """However they are asked: each of these was taken differently."""
    for call in (jaxgo.simulate, jaxgo.playouts, jaxgo.evaluate):
        with pytest.raises(TypeError, match=re.escape(text)):
            call(jaxgo.Position.empty(5), 10, policy=policy)


@pytest.mark.parametrize(
    ("q", "error"), [("1", TypeError), (True, TypeError), (1.5, ValueError), (-0.1, ValueError), (float("nan"), ValueError)]
)
def test_probabilities_are_checked(q, error):
    with pytest.raises(error, match="q must be .* 1, not"):
        jaxgo.Capture(q)


def test_mercy_is_of_as_many_stones_more_as_one_is_ahead():
    even, ahead = jaxgo.Position.empty(2), jaxgo.Position.from_ascii("O O\nX .")
    assert jaxgo.Mercy(9).from_here(even).stones == 9 and jaxgo.Mercy(9).from_here(ahead).stones == 10
    assert jaxgo.Mercy(625).from_here(ahead).stones == 625


def test_whom_playouts_ask():
    """Policies in order are as the policies themselves; `Uniform` alone is none."""
    one, two, three = jaxgo.Capture(), jaxgo.Nakade(), jaxgo.Uniform()
    assert [*map(id, each_of([InOrder([one, two]), three]))] == [*map(id, (one, two, three))]
    assert [*map(asks, (None, [], three, one, [one, three], InOrder([three])))] == [False, False, False, True, True, False]
