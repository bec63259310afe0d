"""What limits a move where nobody says."""

import time

import pytest

from jaxgo import BLACK, Position
from search import round_size
from search.game import Game
from search.gtp import thinker as thinker_module
from search.gtp.options import DEFAULT_VISITS, EngineOptions
from search.gtp.thinker import FIRST_OVERHEAD, Thinker
from search.restrictions import Restriction, Restrictions
from search.round_size import RoundSize
from tests.wide import wide


@pytest.mark.parametrize(("options", "times"), [*wide(({}, 2), ({"playouts_per_leaf": 16}, 1)), ({"bot": "amaf"}, 1)])
def test_devices_that_want_more_playouts_of_a_leaf_look_at_as_many_leaves(monkeypatch, options, times):
    """Unless it is the user who wants them."""
    monkeypatch.setattr(round_size, "suited", lambda *args, **how: RoundSize(64, 16))
    thinker, game = Thinker(EngineOptions(resign=0, **options)), Game(Position.empty(3), 7.5)
    choice = thinker.genmove(game, BLACK, 7.5, None)
    assert 0 <= choice.playouts - times * DEFAULT_VISITS < DEFAULT_VISITS // 4
    thinker.forget()


def test_the_trees_of_the_game_and_under_restrictions_share_the_memory(monkeypatch):
    """And each game in which moves were chosen is followed by one with other random numbers."""
    made = []
    real = thinker_module.make_player
    monkeypatch.setattr(thinker_module, "make_player", lambda bot, **how: made.append(how) or real(bot, **how))
    thinker, limits = Thinker(EngineOptions(seed=5, memory=1 << 24)), Restrictions.of([Restriction(True, 1, (0,), 1)], 5)
    thinker.player(0.5), thinker.player(0.5, restrictions=limits)
    assert sum(how["memory"] for how in made) <= 1 << 24 and made[1]["memory"] == 1 << 22
    for used, seed in ((False, 5), (True, 6), (False, 6), (True, 7)):
        thinker._used = used
        thinker.new_game()
        thinker.player(0.5)
        assert made[-1]["seed"] == seed


def test_the_shorter_of_a_limit_and_the_clock_holds():
    thinker = Thinker(EngineOptions(seconds=2.0))
    for budget, seconds in ((None, 2.0), (5.0, 2.0), (1.0, 1.0), (-1.0, 0.001)):
        assert thinker._limits(None, budget).seconds == seconds


def test_another_game_is_thought_about_without_the_last_ones_delays():
    """Perhaps on a machine that is quiet now."""
    thinker, game = Thinker(EngineOptions(bot="mc", visits=8, resign=0)), Game(Position.empty(3), 7.5)
    thinker._overheads.extend([9.0, 9.0])
    thinker.new_game()
    thinker.genmove(game, BLACK, 7.5, time.monotonic() + 60)
    assert thinker.overhead == FIRST_OVERHEAD


def test_nothing_is_pondered_once_the_game_is_over_and_the_tree_stays_the_moves(monkeypatch):
    """One that captures dead stones before it passes, too."""
    thinker, game, asked = Thinker(EngineOptions()), Game(Position.empty(3), 7.5), []
    monkeypatch.setattr(thinker_module.TreePlayer, "prepare", lambda *_: asked.append("prepare") or pytest.fail("searched"))
    thinker._cleanup = True
    player = thinker.player(7.5, cleanup=True)
    for _ in range(2):
        game.play(9)
    thinker.ponder(game, 7.5, lambda: True)
    assert thinker.player(7.5, cleanup=True) is player and not asked
