"""Whom playouts ask where nobody says: what suits the board."""

import numpy as np
import pytest

import jaxgo
from jaxgo import Position
from jaxgo.playing.policies.in_order import each_of
from search import Limits, make_player
from search.bots import STRONG, SUITED_POLICIES, SUMMARIES
from search.commands.options import policy_of_argument
from search.flat import OfPlayouts
from search.gtp.options import EngineOptions
from search.gtp.table import Table
from search.suited import Suited

UP_TO_9 = [jaxgo.NoSelfAtari(0.9), jaxgo.Nakade(), jaxgo.Patterns(0.9), jaxgo.Mercy(25)]
UP_TO_13, UP_TO_25 = ([jaxgo.Patterns(), jaxgo.Mercy(stones)] for stones in (40, 60))


@pytest.mark.parametrize(("size", "policy"), [(2, UP_TO_9), (9, UP_TO_9), (10, UP_TO_13), (13, UP_TO_13), (14, UP_TO_25), (25, UP_TO_25)])
def test_every_board_has_one(size, policy):
    assert repr(Suited().begun(size)) == repr(policy)


def test_the_last_is_for_the_largest_board():
    assert [size for _, size in SUITED_POLICIES] == sorted({size for _, size in SUITED_POLICIES})
    assert SUITED_POLICIES[-1][1] == jaxgo.MAX_SIZE


@pytest.mark.parametrize("bot", SUMMARIES)
def test_it_is_for_strong_bots_of_which_nobody_says_otherwise(bot):
    suited = policy_of_argument(None, 9, bot, learning=True)
    assert isinstance(suited, Suited) if bot in STRONG else suited is None
    assert repr(policy_of_argument(None, 13, bot)) == repr(UP_TO_13 if bot in STRONG else None)
    assert repr(policy_of_argument("capture:0.5", None, bot, learning=True)) == repr([jaxgo.Capture(0.5)])
    assert policy_of_argument(None) is None


def test_a_bot_plays_by_it():
    """As if told so, to the last playout."""
    chosen = []
    for policy in (Suited(), UP_TO_9):
        player = make_player("rave", policy=policy, leaves=8, playouts_per_leaf=8, seed=1)
        chosen.append(player.genmove(Position.empty(5), None, Limits(visits=400)))
        assert [repr(x) for x in each_of(player.fixed_policy(Position.empty(5)))] == [repr(x) for x in UP_TO_9]
        player.search.close()
    np.testing.assert_array_equal(chosen[0].visits, chosen[1].visits)
    np.testing.assert_array_equal(chosen[0].values, chosen[1].values)


@pytest.mark.parametrize("policy", [None, Suited(), jaxgo.Capture(0.5), [jaxgo.Capture(0.5), jaxgo.Nakade()]], ids=repr)
def test_bots_without_a_tree_ask_the_same_questions(policy):
    """Of several games, which can be answered together then, move after move."""
    kinds = set()
    for _ in range(2):
        player = make_player("amaf", policy=policy)
        for _ in range(2):
            steps = player.genmove_in_steps(Position.empty(5), None, Limits(visits=50))
            question = next(steps)
            while not isinstance(question.kind, OfPlayouts):
                question = steps.send(question.kind.answers([question.of], lambda: False)[0])
            kinds.add(question.kind)
    assert len(kinds) == 1


@pytest.mark.wide
def test_a_bot_without_a_tree_plays_by_it():
    chosen = [make_player("amaf", policy=policy, seed=1).genmove(Position.empty(5), None, Limits(400)) for policy in (Suited(), UP_TO_9)]
    np.testing.assert_array_equal(chosen[0].values, chosen[1].values)


@pytest.mark.wide
@pytest.mark.parametrize("size", [9, 13, 19])
def test_mercy_ends_what_is_decided(size):
    """It ends a fifth of the playouts or more; the others are the same without it, and of those that it ends one in 10,000 has another
    winner in the end, or none: here at most one of a thousand playouts."""
    *others, mercy = each_of(Suited().begun(size))
    assert isinstance(mercy, jaxgo.Mercy)
    whole, ended = (jaxgo.playouts(Position.empty(size), 1000, policy=policy, seed=1) for policy in (others, [*others, mercy]))
    early, margins = np.asarray(ended.truncated), [np.asarray(played.margin) for played in (whole, ended)]
    assert early.mean() >= 0.2 and not np.asarray(whole.truncated).any()
    np.testing.assert_array_equal(*(margin[~early] for margin in margins))
    assert np.not_equal(*(margin > 7.5 for margin in margins)).sum() <= 1


@pytest.mark.wide
@pytest.mark.parametrize("to_play", [1, -1])
def test_there_is_no_mercy_for_a_large_group_that_may_die(to_play):
    """White is 28 stones ahead, and lives or dies by who plays in the middle of three points."""
    position = Position.from_ascii("""
        O O O O O O O O O
        O O O O O O O O O
        O O O . . . O O O
        O O O O O O O O O
        O O O O O O O O O
        X X X X X X X X X
        . X . X . . . . .
        X X X . . . . . .
        . . . . . . . . .
    """, to_play=to_play)
    player = make_player("rave", policy=Suited(), knowledge=True, seed=1)
    chosen = player.genmove(position, None, Limits(visits=2000))
    player.search.close()
    assert chosen.move == jaxgo.point("E7", 9)
    assert chosen.win_rate > 0.95  # the mover's, whoever that is


def test_a_table_takes_any_board_with_it():
    table = Table(EngineOptions(size=5, policy=Suited()))
    for size in (2, 9, 25):
        table.clear(size)
        assert table.size == size
