"""Lessons: what the policies of bots learn from each position, and who may have such policies."""

import types

import jax
import numpy as np
import pytest

import jaxgo
from jaxgo import Position
from jaxgo.playing.policies.in_order import from_here
from jaxgo.running import jobs
from search import Game, Limits, Search, make_player
from search import lessons as lessons_module
from search.flat import FlatSearch
from search.gtp.options import EngineOptions
from search.gtp.table import Table
from search.lessons import BATCHES, PLAYOUTS, SEED, Lessons, lessons_of
from search.selfplay import Limited, play_game
from search.shared import SharedLeaves
from tests.wide import wide

START = Position.empty(5)
KOMI = 0.5


def expected(table, position, stream, policies):
    """The table, and the policies with it, after a lesson."""
    for batch in range(BATCHES):
        played = jaxgo.playouts(
            position, PLAYOUTS, moves=True, policy=policies(table), seed=7 ^ SEED, streams=[stream], first_playout=batch * PLAYOUTS
        )
        table = table.update(played, position, komi=KOMI)
    return table


def leaves_of(policies):
    return jax.tree.leaves(policies)


@pytest.mark.wide
@pytest.mark.parametrize(
    ("learner", "empty", "policies"),
    [
        (jaxgo.Advisor(0.3, exploration=0.5), jaxgo.AdvisorTable(5), lambda table: jaxgo.Advisor(0.3, table, exploration=0.5)),
        (jaxgo.LastGoodReply(p=0.7), jaxgo.Replies(5), lambda table: jaxgo.LastGoodReply(table, 0.7)),
    ],
)  # fmt: skip
def test_policies_learn_batch_by_batch_and_move_by_move(learner, empty, policies):
    """From playouts that ask them, as a user would teach them; what has a table stays as it is, and the same position teaches once."""
    fixed, second = jaxgo.Capture(0.5), START.play([12])
    table = jaxgo.AdvisorTable(5).update(jaxgo.playouts(START, 50, moves=True), START)
    given = [jaxgo.Advisor(0.1, table), learner, fixed]
    lessons = Lessons(given, komi=KOMI, seed=7)

    def together(table):
        return [given[0], policies(table), fixed]

    for stream, position in enumerate((START, second)):
        empty = expected(empty, position, stream, together)
        for _ in range(2):
            now = lessons.hold(position)
            assert [type(policy) for policy in now] == [type(policy) for policy in given]
            for a, b in zip(leaves_of(now), leaves_of(together(empty)), strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.wide
def test_another_size_begins_anew():
    lessons, nine = Lessons(jaxgo.Advisor(0.5), seed=7), Position.empty(9)
    first = leaves_of(lessons.hold(START))
    assert lessons.hold(nine)[0].size == 9
    for a, b in zip(leaves_of(lessons.hold(START)), first, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_lesson_compiles_nothing_after_compile():
    lessons = Lessons([jaxgo.Advisor(0.5), jaxgo.LastGoodReply()])
    lessons.compile(5)
    compiled, before = len(jobs._compiled), lessons.seconds
    lessons.hold(START)
    lessons.hold(jaxgo.Position.from_ascii(". X . . .\n" * 5, to_play=-1))
    assert len(jobs._compiled) == compiled and lessons.seconds > before == 0.0


def test_only_what_learns_takes_lessons():
    assert lessons_of(None) is lessons_of(jaxgo.Capture(0.5)) is lessons_of(jaxgo.Advisor(0.5, jaxgo.AdvisorTable(5))) is None
    assert lessons_of([jaxgo.Capture(0.5), jaxgo.Advisor(0.5)]) is not None


def game(bot, policy, seed=3):
    how = {"leaves": 16, "playouts_per_leaf": 8} if bot == "uct" else {}  # by default a policy has rounds of its own
    players = [make_player(bot, komi=KOMI, seed=seed + i, policy=policy, **how) for i in range(2)]
    return play_game(*(Limited(player, Limits(visits=300)) for player in players), Game(START, KOMI)).game.moves


@pytest.mark.parametrize("bot", ["amaf", *wide("uct")])
def test_a_bot_plays_by_what_it_has_learned(bot):
    """Games can be repeated; where it is never asked, what has been learned changes none."""
    learning, uniform = (game(bot, policy) for policy in (jaxgo.Advisor(0.9), None))
    assert learning == game(bot, jaxgo.Advisor(0.9)) != uniform
    assert game(bot, jaxgo.Advisor(0.0)) == uniform


@pytest.mark.wide
def test_a_search_goes_on_by_another_policy():
    """Its tree stays; its next playouts are those of a search that had the policy from then on."""
    table = jaxgo.AdvisorTable(5).update(jaxgo.playouts(START, 200, moves=True), START)
    first, second = jaxgo.Advisor(0.9, jaxgo.AdvisorTable(5)), jaxgo.Advisor(0.9, table)
    found = []
    for policies in ((first, second), (first, first), (first, second)):
        search = Search(START, komi=KOMI, leaves=8, seed=5, policy=policies[0])
        search.run(visits=400)
        assert search.visits >= 400
        search.play_by(policies[1])
        search.run(visits=2000)
        found.append(search.tree.wins(search.tree.root).tolist())
        search.close()
    assert found[0] == found[2] != found[1]


@pytest.mark.parametrize("seed", [np.int64(5), np.uint64(5), jax.random.key(5)])
def test_any_seed_will_do(seed):
    lessons = make_player("uct", policy=jaxgo.Advisor(0.5), seed=seed)._lessons
    of_five = make_player("uct", policy=jaxgo.Advisor(0.5), seed=5)._lessons
    assert isinstance(lessons._seed, int) and 0 <= lessons._seed < 2**63
    assert (lessons._seed == of_five._seed) == isinstance(seed, np.integer)


def test_lessons_are_by_the_bots_komi_and_from_its_stream_on():
    lessons = make_player("uct", policy=jaxgo.Advisor(0.5), komi=0.5, stream=9)._lessons
    assert (lessons._komi, lessons._stream) == (0.5, 9)


def test_who_may_not_learn_is_told():
    device = SharedLeaves(5)
    with pytest.raises(ValueError, match="policy has one that learns, which searches that share a device cannot have"):
        make_player("uct", policy=jaxgo.Advisor(0.5), device=device)
    search = Search(START, device=device)
    with pytest.raises(ValueError, match="policy of a search that plays on a device together with others cannot change"):
        search.play_by(jaxgo.Capture(0.5))
    search.close()
    device.close()
    for learner, why in ((jaxgo.Advisor(0.5), "an advisor without a table"), (jaxgo.LastGoodReply(), "has no replies")):
        for ask in (jaxgo.evaluate, jaxgo.playouts):
            with pytest.raises(ValueError, match=f"{why} .* only bots that play games teach it"):
                ask(START, 10, policy=learner)
        with pytest.raises(ValueError, match=why):
            Search(START, policy=[jaxgo.Capture(0.5), learner])


def test_the_clock_runs_in_lessons(monkeypatch):
    """Where time is the limit, the search gets what is left."""
    player, asked, told = make_player("rave", policy=jaxgo.Advisor(0.5), leaves=8), [], []
    hold = player._lessons.hold
    monkeypatch.setattr(player._lessons, "hold", lambda position, seconds=None: told.append(seconds) or hold(position, seconds))

    def run(self, *, seconds, **_):
        asked.append(seconds)

    monkeypatch.setattr(Search, "run", run)
    monkeypatch.setattr(type(player), "choice", lambda self: None)
    player.genmove(START, None, Limits(seconds=50.0))
    assert asked == [50.0 - player._lessons.seconds] and asked[0] < 50.0
    player.genmove(START, None, Limits(seconds=50.0))
    assert asked[1] == pytest.approx(50.0, abs=0.05)  # the position is known: there is no lesson
    assert told == [50.0, 50.0], "of which lessons have a part"
    player.search.close()


def test_the_clock_runs_in_lessons_of_flat_bots(monkeypatch):
    player, asked = make_player("amaf", policy=jaxgo.LastGoodReply(), komi=KOMI), []
    monkeypatch.setattr(FlatSearch, "run_in_steps", lambda self, visits, seconds, *_: asked.append(seconds) or iter(()))
    player.genmove(START, None, Limits(seconds=50.0))
    assert asked == [50.0 - player._lessons.seconds] and asked[0] < 50.0


@pytest.mark.parametrize("learner", [None, jaxgo.LastGoodReply(p=0.5)])
def test_mercy_is_of_the_position_that_is_searched(monkeypatch, learner):
    """Also where the tree is kept from an earlier move, and beside a policy that learns, in whose lessons too."""
    position = Position.from_ascii("OOOO.\nXXXX.\n.....\n..O..\n.....")
    asked, in_lessons = [], []

    def learnt(position, count, *, policy, **_):
        in_lessons.append(repr(policy[-1]))
        return jaxgo.Playouts

    monkeypatch.setattr(lessons_module.jaxgo, "playouts", learnt)
    monkeypatch.setattr(jaxgo.LastGoodReply, "learnt", lambda self, *_, **__: self)
    player = make_player("rave", policy=[*([learner] if learner else []), jaxgo.Mercy(3)], leaves=8, playouts_per_leaf=8, komi=KOMI)
    monkeypatch.setattr(Search, "play_by", lambda self, policy: asked.append(repr(policy[-1])))
    player.prepare(position, None)
    assert asked[-1] == "Mercy(stones=4)", "White is a stone ahead"
    monkeypatch.setattr(player, "_follow", lambda *_: True)
    player.prepare(position.play(4), None)
    assert asked[-1] == "Mercy(stones=7)", "Black has taken four"
    assert in_lessons == ([f"Mercy(stones={stones})" for stones in (4, 7) for _ in range(BATCHES)] if learner else [])
    fixed = player.fixed_policy(position)
    assert fixed is None if learner else repr(fixed[-1]) == "Mercy(stones=4)"
    assert repr(from_here([jaxgo.Capture()], position)) == "[Capture(q=1.0)]"
    player.search.close()


@pytest.mark.parametrize(("seconds", "batches"), [(None, BATCHES), (1000.0, BATCHES), (20.0, 3), (1.0, 1)])
def test_a_lesson_takes_a_part_of_a_moves_time(monkeypatch, seconds, batches):
    """At most, but for its first batch; here each takes a second."""
    now, taught = [100.0], []

    def learnt(position, count, **_):
        now[0] += 1.0
        taught.append(count)

    monkeypatch.setattr(lessons_module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(lessons_module.jaxgo, "playouts", learnt)
    monkeypatch.setattr(jaxgo.LastGoodReply, "learnt", lambda self, *_, **__: self)
    lessons = Lessons(jaxgo.LastGoodReply())
    lessons.hold(START, seconds)
    assert taught == [PLAYOUTS] * batches and lessons.seconds == batches


def test_boards_of_any_size_suit_a_gtp_engine_that_learns():
    table = Table(EngineOptions(size=5, policy=[jaxgo.Advisor(0.5), jaxgo.Capture(0.5)]))
    table.clear(9)
    assert table.size == 9


def test_lessons_are_of_playouts_of_their_own(monkeypatch):
    """Each batch has the next ones, each lesson the next stream, and none are the search's; another board begins anew."""
    asked, play = [], jaxgo.playouts

    def noted(*args, **how):
        asked.append((how["seed"], int(how["streams"][0]), how["first_playout"]))
        return play(*args, **how)

    monkeypatch.setattr(jaxgo, "playouts", noted)
    monkeypatch.setattr(lessons_module, "BATCHES", 2)
    monkeypatch.setattr(lessons_module, "PLAYOUTS", 16)
    taught = Lessons(jaxgo.LastGoodReply(), seed=3, stream=5)
    for position in (Position.empty(3), Position.empty(3), Position.empty(3).play(4), Position.empty(2)):
        taught.hold(position)
    assert [(stream, first) for _, stream, first in asked] == [(5, 0), (5, 16), (6, 0), (6, 16), (5, 0), (5, 16)]
    assert len({seed for seed, *_ in asked}) == 1 and asked[0][0] != 3


def test_the_time_of_all_lessons_is_counted(monkeypatch):
    now = iter(range(100))
    taught = Lessons(jaxgo.LastGoodReply())
    monkeypatch.setattr(lessons_module, "time", types.SimpleNamespace(monotonic=lambda: next(now)))
    monkeypatch.setattr(taught, "_taught", lambda known, *_: known)
    for seconds in (1, 2):
        taught.hold(Position.empty(2))
        assert taught.seconds == seconds
