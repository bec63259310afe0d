"""Players: limits, reuse of the tree, and clear errors."""

import concurrent.futures
import contextlib
import signal
import threading
import time
import types

import jax.numpy as jnp
import numpy as np
import pytest

import jaxgo
from search import UCB1, FlatPlayer, Game, Knowledge, Limits, Rave, Search, TreePlayer, make_player
from search import search as tree_search
from search.bots import SUMMARIES
from search.choice import passing_wins
from search.flat import next_step
from search.game import hash_numbers
from search.in_steps import alone
from search.players import OfSearches
from search.restrictions import Restriction, Restrictions
from search.selfplay import Limited, play_game
from search.shared import SharedLeaves
from tests import referee
from tests.wide import mostly_wide


@pytest.mark.parametrize("bot", mostly_wide(SUMMARIES, {"rave", "uct", "mc", "wamaf", "mctr"}))
def test_every_bot_plays_a_legal_game_to_its_end(bot):
    """The referee finds every move legal; both ends pass, and superko is kept (`Game.play` would refuse)."""
    players = [make_player(bot, komi=0.5, leaves=16, playouts_per_leaf=8, seed=s) for s in (1, 2)]
    played = play_game(*(Limited(p, Limits(visits=300)) for p in players), Game(jaxgo.Position.empty(5), 0.5))
    board = referee.Game(5)
    for colour, point in played.game.moves:
        assert board.to_play == colour
        assert point == 25 or board.why_illegal(point) is None
        board.play(point)
    assert played.game.over
    assert played.game.score() == board.margin() - 0.5


@pytest.mark.parametrize(("visits", "of_moves"), [(8, 0), (16, 8), (40, 32), (100, 32), (160, 32), (200, 72)])
def test_few_playouts_are_not_all_the_roots_own(visits, of_moves):
    """Else the search would not know what to play; of many the first 16 leaves are."""
    search = Search(jaxgo.Position.empty(5), leaves=16, playouts_per_leaf=8)
    search.run(visits=visits)
    found = search.statistics()
    assert found.visits.sum() == of_moves and found.root_visits == -(-visits // 8) * 8
    assert not of_moves or found.visits[search.best()] > 0
    search.close()


def test_the_same_seed_plays_the_same_game():
    def moves(seed):
        players = [make_player("rave", komi=0.5, leaves=16, playouts_per_leaf=8, seed=seed) for _ in range(2)]
        return play_game(*(Limited(p, Limits(visits=300)) for p in players), Game(jaxgo.Position.empty(5), 0.5)).game.moves

    assert moves(7) == moves(7)
    assert moves(7) != moves(8)


def test_flat_bots_take_the_streams_of_a_seed_one_after_the_other():
    """Each search has the next, so that what a player plays can be named, and asked for in a batch with others."""
    player, position = FlatPlayer("amaf", komi=0.5, seed=3, stream=7), jaxgo.Position.empty(5)
    found = [player.genmove(position, None, Limits(visits=300)).statistics for _ in range(2)]
    together = jaxgo.move_statistics(position[np.zeros(2, int)], 300, komi=0.5, seed=3, streams=[7, 8])
    for expected, statistics in zip(together.each(), found, strict=True):
        np.testing.assert_array_equal(statistics.value, expected.value)
        np.testing.assert_array_equal(statistics.weight, expected.weight)
    assert (found[0].value != found[1].value).any()


def test_searches_of_one_seed_differ_by_their_streams():
    def wins(stream):
        search = Search(jaxgo.Position.empty(5), komi=0.5, leaves=16, playouts_per_leaf=8, seed=3, stream=stream)
        search.run(visits=300)
        return search.tree.wins(search.tree.root).tolist()

    assert wins(0) == wins(0) != wins(1000)


def test_the_tree_follows_the_game():
    """After a move and its reply the player goes on with what it knows; after another game it begins anew."""
    player = TreePlayer(Rave(), komi=0.5, leaves=16, playouts_per_leaf=8)
    game = Game(jaxgo.Position.empty(5), 0.5)
    first = player.genmove(game.position, game.history, Limits(visits=3000))
    reply = player.search.variation(first.move)[1]
    tree = player.search.tree
    expected = tree.visits(tree.child(tree.root, first.move))[reply]
    game.play(first.move)
    game.play(reply)
    search = player.prepare(game.position, game.history)
    assert search.visits == expected > 0
    assert search.tree is tree and tree.path(tree.root) == []
    assert len(search.history) == 2
    other = Game(jaxgo.Position.empty(5).play(3), 0.5)
    assert player.prepare(other.position, other.history).visits == 0


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("known", [True, False])
def test_ctrl_c_while_a_move_is_played_leaves_a_search_whole(monkeypatch, known):
    """It has moved on or it has not; then it goes on from there, and back."""
    search = Search(jaxgo.Position.empty(5), komi=0.5, leaves=16, playouts_per_leaf=8, seed=1)
    search.run(visits=1000 if known else 0)
    begin = search._rounds.begin

    def interrupted(*arguments) -> None:
        signal.raise_signal(signal.SIGINT)  # to the main thread, which waits
        time.sleep(0.05)
        begin(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(search._rounds, "begin", interrupted)
        with pytest.raises(KeyboardInterrupt):
            search.advance(12)
    assert int(search.position.to_play[0]) == -1 and bool(search.tree[search.tree.root]["depth"]) == known
    search.run(visits=search.visits + 1000)
    assert not search.statistics().visits[12], "the stone is there"
    with monkeypatch.context() as patched:
        patched.setattr(search._rounds, "begin", interrupted)
        if known:
            with pytest.raises(KeyboardInterrupt):
                search.retreat()
    assert int(search.position.to_play[0]) == (1 if known else -1) and not search.retreat()
    search.close()


def test_a_tree_one_move_deep_begins_anew_with_every_move():
    """What it knows of the new root are playouts, and of its moves nothing: they would count for what is asked of the next move."""
    player, game = make_player("ucb", komi=0.5, leaves=16, playouts_per_leaf=8), Game(jaxgo.Position.empty(5), 0.5)
    game.play(player.genmove(game.position, game.history, Limits(visits=20_000)).move)
    assert player.prepare(game.position, game.history).visits == 0
    choice = player.genmove(game.position, game.history, Limits(visits=2000))
    assert choice.playouts == 2000 and choice.visits.sum() == 2000 - 16 * 8 and choice.visits[choice.move] == choice.visits.max()


def test_the_tree_comes_back_when_moves_are_taken_back():
    """Two moves are taken back and another reply is played: what was thought of it before the first move is still known."""
    player = TreePlayer(Rave(), komi=0.5, leaves=16, playouts_per_leaf=8)
    game = Game(jaxgo.Position.empty(5), 0.5)
    first = player.genmove(game.position, game.history, Limits(visits=3000)).move
    game.play(first)
    tree = player.search.tree
    known = tree.visits(tree.child(tree.root, first))
    replies = np.argsort(-known)[:2]
    game.play(int(replies[0]))
    assert player.prepare(game.position, game.history).visits == known[replies[0]]
    game.play(player.genmove(game.position, game.history, Limits(visits=4000)).move)
    for _ in range(2):
        game.undo()
    game.play(int(replies[1]))
    assert player.prepare(game.position, game.history).visits == known[replies[1]] > 0
    for _ in range(2):
        game.undo()
    assert player.prepare(game.position, game.history).visits == 3000 + 4000 - known[replies[0]]
    assert player.search.tree is tree
    other = Game(jaxgo.Position.empty(5).play(3), 0.5)
    assert player.prepare(other.position, other.history).visits == 0
    assert not player.search.retreat()


def test_nothing_begins_after_a_time_limit(monkeypatch):
    """By a clock that goes on whenever it is looked at: from when it has run out only what is under way is awaited, or given up."""
    now, begun = [0.0], []

    def monotonic() -> float:
        now[0] += 0.01
        return now[0]

    with contextlib.closing(Search(jaxgo.Position.empty(5), leaves=16, playouts_per_leaf=8)) as search:
        search.run(visits=2_000)  # compiled, and a move to tell of
        monkeypatch.setattr(tree_search, "time", types.SimpleNamespace(monotonic=monotonic))
        launch = search._rounds.launch
        monkeypatch.setattr(search._rounds, "launch", lambda most: begun.append(now[0]) or launch(most))
        before = now[0]
        search.run(seconds=2.0)
        assert len(begun) > 10 and max(begun) < before + 2.0 + 0.05 and now[0] < before + 2.5
        assert not search.under_way


def test_a_time_limit_is_kept():
    player = make_player("rave", komi=0.5, leaves=16, playouts_per_leaf=8)
    player.compile(5)
    position = jaxgo.Position.empty(5)
    player.genmove(position, None, Limits(visits=100))
    start = time.monotonic()
    player.search.run(seconds=0.3)
    assert time.monotonic() - start >= 0.3
    invariant = player.search.visits - player.search.tree.visits(player.search.tree.root).sum()
    assert invariant > 0
    assert invariant % 8 == 0


def test_a_number_of_workers_is_that_many():
    """One is one core, though a lone CPU as a device is all of its cores."""
    for number in (1, 3):
        search = Search(jaxgo.Position.empty(5), devices=number)
        assert search.num_workers == number
        search.close()


def test_numbers_may_be_of_any_whole_type():
    """And are then what they say."""
    expected = None
    for kind in (int, np.uint8, np.int64, jnp.int32, np.array):
        knowledge = Knowledge(even=kind(7), likely=kind(100))
        search = Search(jaxgo.Position.empty(5), rule=Rave(knowledge=knowledge, bias=np.float32(0.5)), leaves=kind(8),
                        playouts_per_leaf=kind(8), virtual_losses=kind(2), memory=jnp.int32(1 << 24), visits=None)  # fmt: skip
        search.run(visits=200)
        visits = search.tree.visits(search.tree.root).tolist()
        expected = visits if expected is None else expected
        assert visits == expected
        search.close()


def test_no_clock_runs_while_a_first_search_compiles(monkeypatch):
    """The first of its kind; by visits nothing need be known beforehand."""
    compiled, asked, now = [], [], [100.0]

    def compile(self):
        compiled.append(self.num_leaves)
        now[0] += 50.0
        tree_search._compiled.add(self._kind)

    monkeypatch.setattr(tree_search, "_compiled", {None})
    monkeypatch.setattr(Search, "compile", compile)
    monkeypatch.setattr(tree_search.time, "monotonic", lambda: now[0])
    plain, knows = Rave(), Rave(knowledge=Knowledge())
    for leaves, rule, run, expected in ((16, plain, {"visits": 1}, []), (16, plain, {"seconds": 9.0}, [16]),
                                        (16, plain, {"seconds": 9.0}, [16]), (24, plain, {"seconds": 9.0}, [16, 24]),
                                        (16, knows, {"seconds": 9.0}, [16, 24, 16])):  # fmt: skip
        with Search(jaxgo.Position.empty(5), rule=rule, leaves=leaves, playouts_per_leaf=8) as search:
            monkeypatch.setattr(search, "_stopping", lambda deadline, stop: asked.append(deadline) or True)
            search.run(**run)
        assert asked.pop() == (now[0] + 9.0 if "seconds" in run else None) and not asked
        assert compiled == expected


@pytest.mark.parametrize("limits", [{"visits": 100}, {"seconds": 0.1}])
def test_when_the_game_is_over_there_is_nothing_to_search(monkeypatch, limits):
    """Whatever the limit is, and though nothing has been compiled yet."""
    monkeypatch.setattr(tree_search, "_compiled", {None})
    with Search(jaxgo.Position.empty(3), komi=0.5, leaves=4) as search:
        for _ in range(2):
            search.advance(9)
        search.run(**limits)
        with pytest.raises(ValueError, match="the game is over"):
            search.best()


def test_a_search_stops_on_request():
    search = Search(jaxgo.Position.empty(5), leaves=16, playouts_per_leaf=8)
    search.run(visits=100)
    stop = threading.Event()
    thread = threading.Thread(target=lambda: search.run(seconds=60, stop=stop.is_set))
    thread.start()
    time.sleep(0.2)
    stop.set()
    thread.join(timeout=10)
    assert not thread.is_alive()
    assert 0 <= search.best() <= 25
    tree = search.tree
    assert tree.wins(tree.root).sum() <= 2 * tree.visits(tree.root).sum()
    before = search.visits
    search.run(visits=before + 500)
    assert search.visits >= before + 500


@pytest.mark.parametrize("bot", ["rave", "mc", "ucb"])
def test_a_request_made_before_the_thinking_begins_counts(bot):
    """What must be played out to choose a move at all is played out."""
    player = make_player(bot, komi=0.5, leaves=16, playouts_per_leaf=8)
    choice = player.genmove(jaxgo.Position.empty(5), None, Limits(seconds=300), stop=lambda: True)
    assert 0 <= choice.move < 25
    assert 0 < choice.playouts <= 10_000


def test_flat_bots_look_at_the_clock_often():
    """Steps grow while they are short, and shrink to what all workers make at once."""
    assert next_step(256, 0.001, 256, 200_000) == 2048
    assert next_step(100_000, 0.001, 256, 200_000) == 200_000
    assert next_step(2048, 0.02, 256, 200_000) == 2048
    assert next_step(2048, 1.0, 256, 200_000) == 256
    assert next_step(256, 1.0, 256, 200_000) == 256


def test_resigns_below_its_threshold():
    """White is dead everywhere: he resigns, and would go on without a threshold."""
    position = jaxgo.Position.from_ascii("X X X X . \n X . X X X \n X X X X . \n . O O X X \n . . . X .", to_play=-1)
    for bot in ("rave", "amaf"):
        assert make_player(bot, komi=0.5, leaves=16, playouts_per_leaf=8, resign=0.4).genmove(position, None, Limits(300)).resign
        assert not make_player(bot, komi=0.5, leaves=16, playouts_per_leaf=8).genmove(position, None, Limits(300)).resign


def test_passing_wins_only_after_a_pass_and_when_ahead():
    rows = "X X . \n X X X \n X X X"
    for passes, komi, to_play, expected in ((1, 8.5, 1, True), (0, 8.5, 1, False), (1, 9, 1, False), (1, 9, -1, False), (1, 9.5, -1, True)):
        assert passing_wins(jaxgo.Position.from_ascii(rows, to_play=to_play, passes=passes), komi) == expected


def test_the_bandit_looks_one_move_ahead():
    """UCB1 over the root's moves: the tree is one move deep."""
    search = Search(jaxgo.Position.empty(5), rule=UCB1(), komi=0.5, leaves=16, playouts_per_leaf=8, depth=1)
    search.run(visits=4000)
    found, tree = search.statistics(), search.tree
    np.testing.assert_array_equal(found.visits, tree.visits(tree.root))
    np.testing.assert_allclose(found.win_rate[:25], tree.wins(tree.root)[:25] / (2 * found.visits[:25]))
    assert tree.count == 26
    assert found.visits[:25].max() > 3 * found.visits[:25].min()


@pytest.mark.parametrize("bot", ["rave", "uct"])
def test_what_has_not_been_tried_is_chosen_by_what_is_expected(bot):
    """All of a playout's descent ends at the root: knowledge tells what to play, or for RAVE what the playout won by."""
    chosen = []
    for knowledge in (True, False):
        player = make_player(bot, komi=0.5, knowledge=knowledge)
        chosen.append(player.genmove(jaxgo.Position.from_ascii(". O X . . \n O X . X . \n . O X . . \n . . . . . \n . . . . ."), None, Limits(1)))
    assert all(choice.playouts == 8 and not choice.visits.any() for choice in chosen)
    assert chosen[0].move in (0, 7), "captures, or saves what is in atari"
    if bot == "rave":
        rates = chosen[1].statistics.rave_win_rate
        assert rates[chosen[1].move] == np.nanmax(rates[:-1])
    else:
        assert chosen[1].move == 0, "the first point, as nothing is known"


def test_a_flat_bot_knows_nothing_of_moves_that_were_never_played():
    """Its choice says so, resigns for no such reason, and is any of the useful ones."""
    restrictions = Restrictions.of([Restriction(False, 1, tuple(range(5)), 1)], 5)
    moves = set()
    for seed in range(20):
        player = make_player("mc", komi=0.5, seed=seed, resign=0.9, restrictions=restrictions)
        chosen = player.genmove(jaxgo.Position.empty(5), None, Limits(visits=1))
        if not chosen.visits[:5].any():
            assert np.isnan(chosen.win_rate) and np.isnan(chosen.values).all() and not chosen.resign
            moves.add(chosen.move)
    assert len(moves) > 1 and moves <= set(range(5))


def test_bad_input_says_what_is_wrong():
    position = jaxgo.Position.empty(5)
    for bot, options, error, message in (
        ("rave", {"knowledge": True, "rule": Rave()}, ValueError, "knowledge must not be given with a rule"),
        ("rave", {"speed": 3}, TypeError, "speed is no option of a bot with a tree; they are cleanup, depth, device"),
        ("amaf", {"speed": 3}, TypeError, "speed"),
        ("amaf", {"resign": "often"}, ValueError, "resign must be a number from 0 to 1, not 'often'"),
        ("uct", {"resign": float("nan")}, ValueError, "resign must be a number from 0 to 1, not nan"),
        ("rave", {"komi": "x"}, TypeError, "komi must be a number, not 'x'"),
        ("uct", {"seed": -1}, ValueError, "seed must be between 0 and"),
        ("uct", {"rule": "rave"}, TypeError, "rule must be a search.Rave or a search.UCB1, not 'rave'"),
        ("uct", {"knowledge": "no"}, TypeError, "knowledge must be True or False, not 'no'"),
        ("uct", {"early": "no"}, TypeError, "early must be True or False, not 'no'"),
        ("uct", {"leaves": 0}, ValueError, "leaves must be between 1 and 65536, not 0"),
        ("uct", {"playouts_per_leaf": 0}, ValueError, "playouts_per_leaf must be between 1 and 16000, not 0"),
        ("uct", {"memory": "1G"}, TypeError, "memory must be an integer, not '1G'"),
        ("uct", {"devices": "x"}, TypeError, "devices must be jax devices, .* not 'x'"),
        ("uct", {"stream": -1}, ValueError, "stream must be between 0 and"),
        ("uct", {"share": "x"}, ValueError, "share must be a number from 0 to 1, not 'x'"),
        ("uct", {"in_flight": 0}, ValueError, "in_flight must be between 1 and"),
        ("uct", {"cleanup": "x"}, TypeError, "cleanup must be True or False, not 'x'"),
        ("uct", {"depth": 0}, ValueError, "depth must be between 1 and"),
        ("uct", {"virtual_losses": 0}, ValueError, "virtual_losses must be between 1 and"),
        ("uct", {"visits": -1}, ValueError, "visits must be between 0 and"),
        ("uct", {"updates": "both"}, ValueError, "updates must be one of None, 'reductions', 'histories', not 'both'"),
        ("uct", {"device": 3}, TypeError, "device must be a search.shared.SharedLeaves, not 3"),
        ("uct", {"restrictions": 3}, TypeError, "restrictions must be a search.restrictions.Restrictions, not 3"),
    ):
        with pytest.raises(error, match=message):
            make_player(bot, **options)
    assert make_player("amaf", rule=Rave(), depth=1, device=None, visits=5).rule == "amaf", "flat bots ignore what is for trees"
    assert type(Limits(seconds=np.float32(0.5)).seconds) is float
    with pytest.raises(TypeError, match="cleanup must be True or False, not 'no'"):
        Search(position, cleanup="no")
    with pytest.raises(TypeError, match="strict must be True or False, not 'yes'"):
        Rave(strict="yes")
    for seconds in (True, -1, float("nan"), "1"):
        with pytest.raises(ValueError, match="seconds must be a finite number of at least 0, not"):
            Search(position).run(seconds=seconds)
    with pytest.raises(ValueError, match=r"earlier must be hashes of positions .*, uint32 \[n, 2\] or uint64 \[n\], not int64 \[2\]"):
        Game(position, earlier=np.array([1, 2]))
    with Search(position, komi=0.5) as search, pytest.raises(TypeError, match="visits must be an integer, not None"):
        search.launch(None)
    for visits, error in ((-5, ValueError), ("x", TypeError)):
        with pytest.raises(error, match="visits must be"):
            FlatPlayer("amaf", komi=0.5).prepare(position, None).run(visits=visits)
    with pytest.raises(ValueError, match="bot must be one of .*rave.* not 'raves'"):
        make_player("raves")
    with pytest.raises(ValueError, match="limits must give visits or seconds"):
        Limits()
    with pytest.raises(ValueError, match="visits must be between 1 and"):
        Limits(visits=-3)
    with pytest.raises(ValueError, match="seconds must be a positive finite number, not -1"):
        Limits(seconds=-1)
    over = jaxgo.Position.from_array(np.zeros((5, 5), np.int8), passes=2)
    with pytest.raises(ValueError, match="rule must be one of .*amaf.* not 'bogus'"):
        FlatPlayer("bogus")
    for player in (TreePlayer(Rave()), FlatPlayer("amaf")):
        with pytest.raises(TypeError, match=r"limits must be search.Limits\(visits=...\), .* not 1000"):
            player.genmove(position, None, 1000)
        with pytest.raises(ValueError, match="position must not be over"):
            player.genmove(over, None, Limits(10))
        with pytest.raises(ValueError, match="one position, not a batch of 2"):
            player.genmove(jaxgo.Position.empty(5, 2), None, Limits(10))
        with pytest.raises(ValueError, match=r"history must be hashes of positions .* not int64"):
            player.genmove(position, np.zeros((3, 3), np.int64), Limits(10))
        for given in ([position], position):
            with pytest.raises(TypeError, match=r"history must be hashes of positions .*, uint32 \[n, 2\] or uint64 \[n\], not Position"):
                player.genmove(position, given, Limits(10))
        with pytest.raises(TypeError, match="position must be a jaxgo.Position, not NoneType"):
            player.genmove(None, None, Limits(10))
        for name in ("progress", "stop"):
            with pytest.raises(TypeError, match=f"{name} must be a function or None, not 3"):
                player.genmove(position, None, Limits(10), **{name: 3})
    for player in (TreePlayer(Rave()), FlatPlayer("amaf")):
        with pytest.raises(ValueError, match="the player has not searched yet"):
            player.choice()


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), True, "1"])
def test_seconds_that_are_none(seconds):
    with pytest.raises(ValueError, match="seconds must be a positive finite number, not "):
        Limits(seconds=seconds)


def test_no_rule_is_the_bots_own():
    assert make_player("uct", rule=None).rule == UCB1() and make_player("ucb", rule=None).options["depth"] == 1
    assert make_player("rave", rule=None, knowledge=True).rule.knowledge is not None


@pytest.mark.parametrize("visits", [1, 8, 40])
def test_what_is_expected_begins_with_the_move(visits):
    """Also where it has had no playouts yet."""
    choice = TreePlayer(Rave(), leaves=16, playouts_per_leaf=8).genmove(jaxgo.Position.empty(5), None, Limits(visits))
    assert choice.variation[0] == choice.move


def test_a_search_is_for_one_thread_at_a_time():
    with Search(jaxgo.Position.empty(5), leaves=16) as search, concurrent.futures.ThreadPoolExecutor(1) as other:
        refused = []

        def progress(visits: int) -> None:
            if not refused:
                refused.append(other.submit(search.run, visits=visits + 1).exception())

        search.run(visits=2_000, progress=progress)
        assert isinstance(refused[0], RuntimeError) and "this search is running in another thread" in str(refused[0])
        assert other.submit(search.run, visits=3_000).result() >= 3_000, "one after the other"


def test_nodes_and_moves_that_are_none():
    with Search(jaxgo.Position.empty(5), leaves=16) as search:
        search.run(visits=500)
        for move, error in ((26, ValueError), (-1, ValueError), (1.5, TypeError), ("x", TypeError)):
            with pytest.raises(error, match="move must be"):
                search.knows(move)
        for nodes in ([-1], [1 << 20], [len(search.tree.memory.nodes) - 1]):
            with pytest.raises(ValueError, match="nodes must be"):
                search.positions_of(np.array(nodes))


def test_a_pass_that_wins_is_not_played_where_it_may_not_be():
    """By who is to avoid it, or to play elsewhere; the other's restrictions are none for him."""
    won = jaxgo.Position.from_ascii("X X . \n X X X \n X X X", passes=1)
    for avoid, colour, points, expected in ((True, 1, (9,), False), (False, 1, (2,), False), (True, -1, (9,), True), (True, 1, (2,), True)):
        assert passing_wins(won, 8.5, Restrictions.of([Restriction(avoid, colour, points, 1)], 3)) == expected
    open_board = jaxgo.Position.from_array(np.diag([0, 0, 1, 0, 0]).astype(np.int8), passes=1)
    moves = []
    for limits in (None, Restrictions.of([Restriction(True, 1, (25,), 1)], 5)):
        player = make_player("rave", komi=0.5, leaves=16, playouts_per_leaf=8, restrictions=limits)
        moves.append(player.genmove(open_board, None, Limits(visits=200)).move)
    assert moves[0] == 25 and moves[1] < 25


def test_limits_say_what_they_are():
    assert str(Limits(visits=2_000)) == "2,000 playouts a move"
    assert str(Limits(seconds=0.5)) == "0.5 s a move"
    assert str(Limits(visits=10, seconds=2)) == "10 playouts or 2 s a move"
    with pytest.raises(ValueError, match="visits must be between 1 and"):
        Limits(visits=0)


def test_who_never_resigns_does_not_where_nothing_was_won():
    """A threshold of 0 is below no rate, and a rate that is the threshold is not below it."""
    player = TreePlayer(Rave())
    for resign, rate, expected in ((0.0, 0.0, False), (0.25, 0.25, False), (0.25, 0.125, True)):
        player.resign = resign
        found = types.SimpleNamespace(win_rate=np.array([rate]), visits=np.array([1]), root_visits=1)
        player.search = types.SimpleNamespace(statistics=lambda found=found: found, best=lambda: 0, variation=lambda move: [move])
        assert player.choice().resign == expected


def test_a_board_of_another_size_has_another_search():
    """The one before has ended, with its threads."""
    player, had = TreePlayer(Rave(), leaves=16, playouts_per_leaf=8), []
    for size in (5, 4, 5):
        had.append(player.prepare(jaxgo.Position.empty(size), None))
        assert had[-1].position.size == size
    player.search.close()
    for search in had:
        with pytest.raises(RuntimeError, match="closed"):
            search.run(visits=8)


def test_a_bot_on_a_shared_device_chooses_in_steps_what_it_would_by_itself():
    """With the game's history, and by time as by visits."""
    game, limits = Game(jaxgo.Position.empty(5), 0.5), Limits(visits=300)
    for move in (3, 7):
        game.play(move)
    with contextlib.closing(SharedLeaves(5, 64, 8)) as device:
        own, shares = (TreePlayer(Rave(), komi=0.5, leaves=16, playouts_per_leaf=8, device=of) for of in (None, device))
        found = [alone(player.genmove_in_steps(game.position, game.history, limits)) for player in (own, shares)]
        np.testing.assert_array_equal(found[0].visits, found[1].visits)
        assert found[0].move == found[1].move and found[1].playouts == 304
        for player in (own, shares):
            np.testing.assert_array_equal(player.search.history, hash_numbers(game.history))
        assert alone(shares.genmove_in_steps(game.position, game.history, Limits(seconds=0.01))).playouts >= 304
        own.search.close()


@pytest.mark.parametrize(("options", "passes"), [
    ({}, True), ({"cleanup": True}, False), ({"restrictions": Restrictions.of([Restriction(True, 1, (25,), 1)], 5)}, False),
], ids=["won", "cleanup", "avoided"])  # fmt: skip
def test_in_steps_a_pass_that_wins_is_played_where_it_may_be(options, passes):
    position = jaxgo.Position.from_array(np.diag([0, 0, 1, 0, 0]).astype(np.int8), passes=1)
    with contextlib.closing(SharedLeaves(5, 64, 8)) as device:
        player = TreePlayer(Rave(), komi=0.5, leaves=16, playouts_per_leaf=8, device=device, **options)
        choice = alone(player.genmove_in_steps(position, None, Limits(visits=200)))
    assert (choice.move == 25 and not choice.playouts) == passes


def test_searches_that_share_a_device_end_on_request():
    asked = iter(range(10**6))
    with contextlib.closing(SharedLeaves(5, 64, 8)) as device:
        search = Search(jaxgo.Position.empty(5), device=device, leaves=16)
        OfSearches(device).answers([(search, 50_000)], lambda: next(asked) > 20)
        assert search.visits < 50_000 and not search.under_way


def test_a_bot_on_a_shared_device_plays_by_the_policy_that_that_was_made_for():
    """Also by one that is for a position, and would be another one for the next."""
    policy = [jaxgo.Mercy(3)]
    with contextlib.closing(SharedLeaves(5, 64, 8, policy=policy)) as device:
        player = TreePlayer(Rave(), policy=policy, leaves=16, playouts_per_leaf=8, device=device)
        assert player.prepare(jaxgo.Position.empty(5).play(12), None).plays_on(device)
