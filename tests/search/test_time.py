"""How a player uses its time: a move is chosen early when it cannot change any more, and late when it is hard to choose."""

import time
import types

import numpy as np
import pytest

from jaxgo import Position
from search import Limits, Rave, players
from search.gtp.clock import LAG, Clock, System
from search.players import EARLIEST, HURRY, TreePlayer
from tests.search.gtp.client import Client


@pytest.mark.parametrize(
    ("passed", "first", "second", "expected"),
    [
        (5.0, 900, 100, False),  # as many playouts again could turn it round
        (7.0, 900, 100, True),
        (6.0, 900, 400, False),
        (9.9, 510, 490, True),
        (9.9, 505, 495, False),
        (EARLIEST * 10 - 0.1, 1_000, 0, False),
        (10.0, 500, 500, False),
    ],
)
def test_a_move_that_cannot_be_caught_is_chosen(monkeypatch, passed, first, second, expected):
    """A search that has made 1,000 playouts so far has 10 s; the rest of them is thought to be played somewhat faster."""
    now = [50.0]
    monkeypatch.setattr(players.time, "monotonic", lambda: now[0])
    visits = np.array([0, second, first, 0])
    search = types.SimpleNamespace(visits=5_000, tree=types.SimpleNamespace(ready=True, root=0, visits=lambda _: visits))
    ended = players._or_decided(search, 10.0, None)
    now[0] = 100.0
    assert not ended()  # when the search begins: what it has to compile before is not its time
    search.visits, now[0] = 6_000, 100.0 + passed
    assert ended() == expected == (passed >= 1.0 and first - second > HURRY * 1_000 / passed * (10 - passed))
    assert players._or_decided(search, 10.0, lambda: True)()


def test_a_clear_move_does_not_take_all_of_the_time():
    """On an empty board all but the middle loses."""
    player = TreePlayer(Rave(), early=True, leaves=16, playouts_per_leaf=4, komi=20.5)
    player.compile(5)
    position, limits = Position.empty(5), Limits(seconds=3)
    player.genmove(position, None, Limits(visits=2_000))
    start = time.monotonic()
    choice = player.genmove(position, None, limits)
    assert time.monotonic() - start < limits.seconds
    assert choice.move == 12
    player.search.close()


def test_a_player_is_torn_between_the_most_visited_move_and_a_better_one():
    player = TreePlayer(Rave())
    assert not player.torn
    for visits, rates, expected in (
        ([900, 300, 0], [0.5, 0.6, np.nan], True),
        ([900, 300, 0], [0.5, 0.4, np.nan], False),
        ([900, 100, 0], [0.5, 0.6, np.nan], False),
    ):
        found = types.SimpleNamespace(visits=np.array(visits), win_rate=np.array(rates))
        player.search = types.SimpleNamespace(tree=types.SimpleNamespace(ready=True), statistics=lambda found=found: found)
        assert player.torn == expected


@pytest.mark.parametrize("torn", [True, False])
def test_a_hard_move_has_more_of_the_clock(monkeypatch, torn):
    """The tree is searched on until then."""
    client, given = Client(4, visits=10**9), []
    client.ok("time_settings 100 0 0")
    engine = client.engine
    budget = engine.clock.budget(1, 16, 0, engine.thinker.overhead)
    think = TreePlayer.genmove

    def noted(player, position, history, limits, *rest):
        given.append(limits.seconds)
        return think(player, position, history, Limits(seconds=0.01), *rest)

    monkeypatch.setattr(TreePlayer, "genmove", noted)
    monkeypatch.setattr(TreePlayer, "torn", torn)
    monkeypatch.setattr(TreePlayer, "prepare", TreePlayer.prepare)
    real = time.monotonic
    # The first search ends at the deadline.
    monkeypatch.setattr("search.gtp.thinker.time", types.SimpleNamespace(monotonic=lambda: real() + (budget if given else 0.0)))
    client.ok("genmove b")
    more = engine.clock.more(1, budget)
    assert 0 < more <= budget / 2
    assert len(given) == 1 + torn
    if torn:
        assert given[1] == pytest.approx(more, abs=0.5 * more)


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (System("none"), 0.0),
        (System("absolute", 100.0), 2.0),
        (System("absolute", 22.0), 0.4),
        (System("absolute", 10.0), 0.0),
        (System("byoyomi", 0.0, 5.0, 3), 0.0),
        (System("fischer", 100.0, increment=5.0), 2.0),
        (System("fischer-capped", 100.0, increment=5.0, most_move=5.0), 1.0 - LAG),
    ],
)
def test_more_comes_of_main_time_alone(system, expected):
    """Of a budget of 4 s half as much again, as long as the move takes no more than a fifth of the main time in all."""
    assert Clock(system).more(1, 4.0) == pytest.approx(expected)
