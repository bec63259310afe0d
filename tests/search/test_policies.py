"""Searches whose playouts ask a policy: the tree's, the flat bots', and those behind both protocols."""

import pathlib

import numpy as np
import pytest

import jaxgo
from jaxgo import Position
from search import Limits, Search, make_player
from search.gtp.options import EngineOptions
from search.gtp.protocol import Failure
from search.gtp.table import Table
from search.rounds import FIRST_LEAVES
from tests.search.gtp.client import Client
from tests.wide import wide

PLAYOUTS, SEED = 4, 11
POLICY = jaxgo.Capture(1.0)
CORNER = """
    . . . . .
    . . X O .
    . . X O .
    . . . X O
    . . . . .
"""


@pytest.mark.wide
def test_a_trees_playouts_are_the_engines():
    """The root's first ones, leaf by leaf, are those of `jaxgo.evaluate` by the same policy, and others than without."""
    position = Position.from_ascii(CORNER)
    search = Search(position, leaves=FIRST_LEAVES, playouts_per_leaf=PLAYOUTS, seed=SEED, policy=POLICY)
    search.launch(visits=10_000)
    while not search.finish():
        pass
    root = search.tree[search.tree.root]
    streams = np.arange(FIRST_LEAVES)
    leaves = position[np.zeros(FIRST_LEAVES, int)]
    by_policy, uniform = (
        jaxgo.evaluate(leaves, PLAYOUTS, seed=SEED, streams=streams, policy=policy) for policy in (POLICY, None)
    )
    assert root["leads"] == (by_policy.margin_mean * PLAYOUTS).sum() != (uniform.margin_mean * PLAYOUTS).sum()
    search.close()


@pytest.mark.parametrize("bot", ["rave", *wide("mc")])
def test_gtp_plays_by_it(bot):
    """The engine's move is the player's who asks the policy."""
    options = {"seed": SEED, "policy": POLICY} | ({"leaves": FIRST_LEAVES, "playouts_per_leaf": PLAYOUTS} if bot == "rave" else {})
    client = Client(5, bot=bot, visits=200, **options)
    client.ok("genmove b")
    player = make_player(bot, **options)
    expected = player.genmove(Position.empty(5), None, Limits(visits=200))
    assert client.engine.thinker.last.choice.win_rate == expected.win_rate
    assert client.engine.thinker.last.choice.move == expected.move
    player.search.close()
    client.ok("quit")


def test_gtp_refuses_boards_that_it_is_not_for(tmp_path: pathlib.Path):
    """The board stays what it is."""
    table = Table(EngineOptions(size=5, policy=jaxgo.Advisor(0.5, jaxgo.AdvisorTable(5))))
    why = "policy has an advisor's table for boards of size 5, but the board is of size 9"
    with pytest.raises(Failure, match=f"^unacceptable size: {why}$"):
        table.clear(9)
    record = tmp_path / "game.sgf"
    record.write_text("(;GM[1]SZ[9];B[ee])")
    with pytest.raises(Failure, match=f"^cannot load file: {why}$"):
        table.load(str(record), None)
    assert table.size == 5
