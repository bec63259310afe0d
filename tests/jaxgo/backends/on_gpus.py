"""What `test_gpus.py` has a process with a GPU do: each function asserts that results there are those of the CPU beside it."""

import functools
import sys

import jax
import numpy as np

import jaxgo
import search
from jaxgo.backends import choice
from jaxgo.playing.policies.in_order import InOrder
from jaxgo.playing.policies.policy import Policy, PolicyForm
from tests.positions import assert_same, three_positions

#: Playouts of each of three positions, by the board's size.
PLAYOUTS = {5: 100_000, 9: 40_000, 13: 8_000, 19: 2_000, 25: 500}


def devices() -> tuple[list[jax.Device], list[jax.Device]]:
    """(the GPU, the CPU)"""
    assert jax.default_backend() == "gpu"
    return jax.devices()[:1], jax.local_devices(backend="cpu")


def policies(size: int) -> dict[str, Policy | None]:
    """Each, alone and in order, with tables such as they may have."""
    found = {
        "uniform": None, "capture": jaxgo.Capture(0.7), "mercy": jaxgo.Mercy(10), "patterns": jaxgo.Patterns(),
        "nakade": jaxgo.Nakade(0.7), "no self-atari": jaxgo.NoSelfAtari(0.8),
        "save": jaxgo.Patterns(match=False, capture=False), "match": jaxgo.Patterns(save=False, capture=False),
        "replies": jaxgo.LastGoodReply(jaxgo.Replies(size)).typical(),
        "advisor": jaxgo.Advisor(0.5, jaxgo.AdvisorTable(size), suggestions=3).typical(),
    }  # fmt: skip
    found["all"] = InOrder([
        jaxgo.Mercy(20), found["replies"], jaxgo.NoSelfAtari(0.7), found["advisor"], jaxgo.Nakade(0.5), jaxgo.Patterns(0.8),
        jaxgo.Capture(0.5),
    ])  # fmt: skip
    return found


def playouts(name: str, size: int) -> None:
    """Those by a policy, move by move; the kernel plays them."""
    gpu, cpu = devices()
    policy, position = policies(size)[name], three_positions(size)
    asked = dict(num_playouts=PLAYOUTS[size], seed=size, moves=True, policy=policy)
    found = jaxgo.playouts(position, **asked, devices=gpu)
    assert choice.backend_of(gpu[0]).has_kernel(size, None if policy is None else PolicyForm.of(policy))
    assert_same(found, jaxgo.playouts(position, **asked, devices=cpu))


def evaluations(size: int) -> None:
    """All sums, of a call of one chunk and one of many."""
    gpu, cpu = devices()
    for count in (10, 5 * PLAYOUTS[size]):
        found, expected = (jaxgo.evaluate(three_positions(size), count, seed=2, devices=where) for where in (gpu, cpu))
        jax.tree.map(np.testing.assert_array_equal, found.sums, expected.sums)


def simulation(size: int) -> None:
    """As a part of a user's program, with and without moves, and over a batch."""
    position = three_positions(size)
    for moves in (False, True):
        expected = jaxgo.playouts(position, 50, seed=3, moves=moves, devices=devices()[1])
        play = functools.partial(jaxgo.simulate, num_playouts=50, seed=3, moves=moves)
        assert_same(jax.device_get(jax.jit(play)(position)), expected)
        assert_same(jax.device_get(jax.jit(jax.vmap(play))(position)), jax.device_get(jax.vmap(play)(position)))


def searches(size: int) -> None:
    """The tree of a search of few playouts is that of the CPU, node by node, as far as statistics and the line tell."""
    told = []
    for where in devices():
        for rule in (search.Rave(), search.UCB1(), search.Rave(credit="weighted_v1")):
            tree = search.Search(jaxgo.Position.empty(size), rule=rule, visits=3_000, seed=4, devices=where[0])
            tree.run(visits=3_000)
            found = tree.statistics()
            told.append((tree.visits, tree.variation(), found.visits.tolist(), found.win_rate.astype(str).tolist()))
            tree.close()
    half = len(told) // 2
    assert told[:half] == told[half:]


def learning(size: int) -> None:
    """Tables and statistics of moves."""
    gpu, cpu = devices()
    position, made = three_positions(size), []
    for where in (gpu, cpu):
        with jax.default_device(where[0]):
            played = jaxgo.playouts(position, 500, seed=1, moves=True, devices=where)
            made.append(jax.device_get([
                jaxgo.AdvisorTable(size).update(played, position), jaxgo.Replies(size).update(played, position),
                jaxgo.statistics_of(position, played).weight,
            ]))  # fmt: skip
    jax.tree.map(np.testing.assert_array_equal, *made)


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    globals()[what](*(int(x) if x.isdigit() else x for x in arguments))
    print("same")
