"""Last good replies: what is learned and forgotten, playout by playout, and what is answered."""

import re

import jax
import numpy as np
import pytest

import jaxgo
from tests import chi_square, referee, scalar_policies
from tests.positions import from_games, middle_game
from tests.referee import Game

#: Playouts that the referee replays; on 9x9 they pass through some 11,000 positions.
PLAYOUTS = 100


@pytest.mark.parametrize("forgetting", [True, False])
def test_the_last_reply_that_won_is_learned(forgetting):
    """Batch after batch, from both starting colours, with draws: as one playout after the other would leave them."""
    starts = [Game(5), middle_game(5, 9, seed=1)]
    position, table = from_games(*starts), jaxgo.Replies(5, forgetting)
    for seed, komi in ((1, 3.0), (2, 0.5)):
        played = jaxgo.playouts(position, 60, seed=seed, moves=True)
        replies = scalar_policies.replied(table, starts, played, komi)
        table = table.update(played if seed == 1 else jax.tree.map(jax.numpy.asarray, played), position, komi=komi)
        np.testing.assert_array_equal(table.replies, replies)
    known = (replies[:, :25] >= 0).mean()
    assert known > 0.5 and (known < 1) == forgetting


def test_every_move_is_the_reply_or_uniform():
    """In 10^4 positions, asked always: the reply where it can be played, else uniform among all candidates."""
    position = jaxgo.Position.empty(9)
    table = jaxgo.Replies(9).update(jaxgo.playouts(position, PLAYOUTS, seed=5, moves=True), position)
    played = jaxgo.playouts(position, PLAYOUTS, seed=3, moves=True, policy=jaxgo.LastGoodReply(table))
    made = scalar_policies.choices(Game(9), played, 0, PLAYOUTS, scalar_policies.last_good_reply(table))
    assert len(made) > 10_000
    assert 0.05 < np.mean([choice.num_candidates == 1 for choice in made]) < 0.9
    assert chi_square.ranks_p_value(scalar_policies.by_number(made), 60) > chi_square.ALPHA


def test_a_reply_that_cannot_be_played_is_passed_over():
    """White answers a Black move on the second line at b; where that is an eye of his own, his move is uniform."""
    text = """
        . X . O b
        X X . O O
        . . . . .
        . a . . .
        . . . . .
    """
    game, named = referee.parse(text)
    replies = np.full((2, 26), -1, np.int32)
    replies[1, :25] = named["b"]
    policy = jaxgo.LastGoodReply(jaxgo.Replies(5, replies=replies))
    played = jaxgo.playouts(from_games(game), 600, seed=3, moves=True, policy=policy)
    assert (played.moves[0, :, 1] != named["b"]).all()
    replies[1, :25] = named["a"]
    played = jaxgo.playouts(from_games(game), 600, seed=3, moves=True, policy=jaxgo.LastGoodReply(jaxgo.Replies(5, replies=replies)))
    free = (played.moves[0, :, 0] != named["a"]) & (played.moves[0, :, 0] < 25)
    assert (played.moves[0, free, 1] == named["a"]).all() and free.sum() > 500


def test_playouts_of_one_ply_teach_nothing():
    """There is nothing that anybody replied to."""
    position = jaxgo.Position.empty(5)
    replies = jaxgo.Replies(5).update(jaxgo.playouts(position, 20, moves=True), position)
    for played in (jaxgo.playouts(position, 20, moves=True, max_plies=1), jaxgo.simulate(position, 3, moves=True, max_plies=1)):
        np.testing.assert_array_equal(replies.update(played, position).replies, replies.replies)


def test_copies_that_jax_makes_play_and_do_not_learn():
    position = jaxgo.Position.empty(5)
    played = jaxgo.playouts(position, 200, moves=True)
    policy = jaxgo.LastGoodReply(jaxgo.Replies(5).update(played, position))
    copy = jax.tree.map(np.asarray, policy)
    np.testing.assert_array_equal(*(jaxgo.playouts(position, 50, moves=True, policy=one).moves for one in (policy, copy)))
    for one in (copy, jaxgo.LastGoodReply()):
        with pytest.raises(ValueError, match="policy must have been made with replies to learn"):
            one.learnt(played, position)


def test_replies_can_be_saved(tmp_path):
    position = jaxgo.Position.empty(5)
    table = jaxgo.Replies(np.int64(5), forgetting=False).update(jaxgo.playouts(position, 100, moves=True), position)
    table.save(tmp_path / "replies.npz")
    again = jaxgo.Replies.load(tmp_path / "replies.npz")
    np.testing.assert_array_equal(again.replies, table.replies, strict=True)
    assert repr(again) == repr(table) and "Replies(5, forgetting=False): " in repr(again)
    jaxgo.AdvisorTable(5).save(tmp_path / "table.npz")
    jaxgo.Replies._of((9, True), (table.replies,)).save(tmp_path / "mixed.npz")
    jax.tree.map(lambda replies: replies + np.int32(9), table).save(tmp_path / "beyond.npz")
    for other in ("table.npz", "mixed.npz", "beyond.npz"):
        with pytest.raises(ValueError, match="path must be a file that Replies.save has written"):
            jaxgo.Replies.load(tmp_path / other)


def test_bad_arguments_are_refused():
    table, position = jaxgo.Replies(5), jaxgo.Position.empty(5)
    assert repr(table) == "Replies(5, forgetting=True): 0 replies"
    wrong = [
        (lambda: jaxgo.Replies(26), "size must be between 2 and 25, not 26"),
        (lambda: jaxgo.Replies(9, 1), "forgetting must be True or False, not 1"),
        (lambda: jaxgo.LastGoodReply(0.5), "replies must be jaxgo.Replies, not float"),
        (lambda: jaxgo.LastGoodReply(table, 1.5), "p must be between 0 and 1, not 1.5"),
        (lambda: jaxgo.playouts(jaxgo.Position.empty(9), 1, policy=jaxgo.LastGoodReply(table)), "replies for boards of size 5, but"),
        (lambda: table.update(jaxgo.playouts(position, 600), position), "playouts must have moves: ask for them with moves=True"),
    ]
    for call, text in wrong:
        with pytest.raises((TypeError, ValueError), match=re.escape(text)):
            call()


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (dict(size=1), ValueError, "size must be between 2 and 25, not 1"),
        (dict(forgetting="no"), TypeError, "forgetting must be True or False, not 'no'"),
        (dict(replies=np.full((2, 25), -1)), ValueError, r"replies must be one integer or have shape \(2, 26\), not \(2, 25\)"),
        (dict(replies=np.full((2, 26), 25)), ValueError, "replies must be between -1 and 24, not 25"),
        (dict(replies=np.full((2, 26), -2)), ValueError, "replies must be between -1 and 24, not -2"),
        (dict(replies=np.zeros((2, 26))), TypeError, "replies must hold integers, not float64"),
        (dict(replies=np.zeros((2, 26), np.int32)), ValueError, "replies must hold none, -1, to a pass"),
    ],
)
def test_replies_that_are_none_are_refused(wrong, error, text):
    with pytest.raises(error, match=text):
        jaxgo.Replies(**{"size": 5} | wrong)


def test_replies_may_be_given_and_are_a_pytree():
    given = np.full((2, 26), -1)
    given[0, 3] = 7
    replies = jaxgo.Replies(5, False, replies=given)
    assert replies.replies.dtype == np.int32 and "1 replies" in repr(replies)
    turned = jax.tree.map(lambda x: x + 1, replies)
    assert (turned.size, turned.forgetting) == (5, False) and (turned.replies == given + 1).all()
