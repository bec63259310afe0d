"""What must hold of every tree after every step: counts add up, results lie in their bounds; and the tree is reproducible."""

import jax
import pytest

from jaxgo import Position
from search import UCB1, Knowledge, Limits, Rave, Search, earnings, rounds
from search.nodes import READY
from search.round_size import YOUNG
from search.tree import Tree
from search.tree_needs import memory_for
from tests.positions import from_games, middle_game
from tests.referee import Game, parse
from tests.search.trees import assert_same_trees, nodes_by_path, told
from tests.wide import mostly_wide

LEAVES, PLAYOUTS = 16, 4
RULES = {
    "ucb1": UCB1(),
    "ucb1 greedy": UCB1(exploration=0.1, first_play=0.5),
    "rave": Rave(),
    "rave hand loose": Rave(schedule="hand", strict=False),
    "rave loose": Rave(strict=False, bias=0.4),
    "grave": Rave(reference_visits=60),
    "grave loose": Rave(reference_visits=200, strict=False),
    "v1": Rave(credit="weighted_v1"),
    "v2": Rave(credit="weighted_v2", schedule="hand"),
    "mctr": Rave(credit="mctr_simple"),
}


def make(size: int, plies: int, rule, *, seed: int = 0, **options) -> Search:
    """A search from a middle game, with little memory."""
    options = {"memory": 1 << 22, "leaves": LEAVES, "playouts_per_leaf": PLAYOUTS} | options
    return Search(from_games(middle_game(size, plies, seed)), rule=rule, seed=seed, **options)


def assert_sound(tree: Tree, rule, full: bool = False) -> None:
    """All invariants of a tree without rounds under way."""
    for path, node in nodes_by_path(tree).items():
        x, (moves, children) = tree[node], tree.children(node)
        visits, wins, below = tree.visits(node), tree.wins(node), tree[children]
        assert x["state"] == READY and x["pending"] == 0, path

        # A node's visits are its own first ones and those that went on; an end of the game has only its own.
        own = x["visits"] - visits.sum()
        assert own >= PLAYOUTS and own % PLAYOUTS == 0, path
        assert (0 <= wins).all() and (wins <= 2 * visits).all() and 0 <= x["wins"] <= 2 * x["visits"], path
        assert abs(x["leads"]) <= tree.size**2 * x["visits"] and 0 <= x["squares"] <= tree.size**4 * x["visits"], path
        assert (x["passes"] < 2) == tree.open(node).any(), path

        # The children know where they hang, and are moves that may be tried.
        assert (below["parent"] == node).all() and (below["depth"] == x["depth"] + 1).all(), path
        assert tree.open(node)[moves].all() and (below["visits"] > 0).all(), path

        # Points never earn more than there were playouts (an own play may earn twice by the second weights); a pass earns none.
        earned = tree.rave(node)
        assert (0 <= earned).all() and (earned[:, 1] <= 2 * earned[:, 0] + 1e-3).all() and not earned[:, :, -1].any(), path
        if rule.credit == "weighted_v2":
            assert earned[:, 0].sum() <= x["visits"] * 1.5 * tree.size**2, path
        else:
            assert (earned[:, 0] <= x["visits"] * (1 + 1e-6)).all(), path
        if rule.credit == "amaf" and not full:
            # Who goes to a child by a point was the first there. (A full tree may lack room for that.)
            assert (earned[0, 0, :-1] >= visits[:-1]).all() and (earned[0, 1, :-1] >= wins[:-1]).all(), path
        if rule.credit == "mctr_simple":
            # A playout adds one in all, unless the player has only passes.
            assert earned[:, 0].sum() <= x["visits"] * (1 + 1e-6), path


CASES = [(size, plies, name) for size, plies in ((3, 2), (5, 3), (9, 30)) for name in RULES]
FEW = [(size, plies, name) for size, plies, name in CASES if size == 5 or name == "v1"]


@pytest.mark.parametrize("size, plies, name", mostly_wide(CASES, FEW))
def test_invariants(size, plies, name):
    search = make(size, plies, RULES[name], seed=size, komi=float(size), in_flight=1 + size % 2)
    for visits in (1, 70, 300, 301, 700):
        reached = search.run(visits=visits)
        assert visits <= reached < visits + PLAYOUTS
        assert search.visits == reached
        assert_sound(search.tree, RULES[name])
    if name == "mctr":
        assert search.tree.rave(search.tree.root)[0, 0].sum() == pytest.approx(reached, rel=1e-6)
    search.advance(search.best())
    assert_sound(search.tree, RULES[name])
    search.run(visits=search.visits + 100)
    assert_sound(search.tree, RULES[name])
    assert search.retreat()
    search.run(visits=search.visits + 100)
    assert_sound(search.tree, RULES[name], full=True)  # what was played below is not in the root's RAVE statistics
    search.close()


@pytest.mark.parametrize("name", RULES)
def test_invariants_of_a_full_tree(name):
    search = make(5, 3, RULES[name], memory=memory_for(5, RULES[name], 0))
    search.run(visits=1500)
    search.close()
    assert search.tree.bytes_used > memory_for(5, RULES[name], 0) - 1500
    assert search.visits == 1500
    assert_sound(search.tree, RULES[name], full=True)


@pytest.mark.parametrize("rule", [UCB1(), Rave(), Rave(schedule="hand")], ids=["ucb1", "rave", "hand"])
@pytest.mark.parametrize("colour", [1, -1])
def test_a_winning_capture_is_found(rule, colour):
    """The perspective: who takes the only liberty of both captures all; the other move is to pass and be captured."""
    game, named = parse("""
        X X X
        X X a
        O O O
    """)
    search = Search(
        from_games(Game(3, game.stones, to_play=colour)), rule=rule, leaves=LEAVES, playouts_per_leaf=PLAYOUTS, komi=0.5,
        memory=1 << 22,
    )  # fmt: skip
    search.run(visits=1000)
    search.close()
    known = search.statistics()
    assert search.best() == named["a"]
    assert known.win_rate[named["a"]] > known.win_rate[game.pass_move]
    assert known.visits[named["a"]] > known.visits[game.pass_move]


def tree_after(*steps: int, size: int = 5, rule=None, **options) -> dict:
    """All that the tree says after some calls of `run`."""
    search = make(size, 3, Rave() if rule is None else rule, seed=7, **options)
    for visits in steps:
        search.run(visits=visits)
    search.close()
    return told(search.tree)


@pytest.mark.parametrize("rule", [UCB1(), Rave(), Rave(credit="weighted_v1")], ids=["ucb1", "rave", "v1"])
@pytest.mark.parametrize("in_flight", [1, 2, 3])
def test_the_tree_depends_on_seed_and_visits_alone(rule, in_flight):
    """Whenever rounds come back: the same calls give the same tree."""
    assert tree_after(500, 900, rule=rule, in_flight=in_flight) == tree_after(500, 900, rule=rule, in_flight=in_flight)


def test_as_many_rounds_as_may_be_are_under_way():
    """Once the tree is large enough for all of them; somebody who asks for a number gets that."""
    for asked, expected in ((None, 64), (5, 5)):
        search = Search(Position.empty(5), leaves=2, playouts_per_leaf=2, in_flight=asked)
        search.run(visits=4_000)
        while search.launch(10_000):
            pass
        assert search.under_way == expected
        search.close()


@pytest.mark.parametrize("share", [0.05, 0.4])
def test_a_share_of_the_playouts_is_under_way(share):
    """At most, once that is more than the fewest leaves of the first rounds."""
    search = Search(Position.empty(5), leaves=64, playouts_per_leaf=2, share=share)
    for visits in range(1_000, 4_001, 1_000):
        search.run(visits=visits)
        while search.launch(10_000):
            pass
        pending = search.tree[search.tree.root]["pending"]
        assert share * visits / 4 < pending <= max(share * search.visits, 3 * YOUNG.leaves * 2)
        search.abandon()
    search.close()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"share": 1.5}, "share must be a number from 0 to 1, not 1.5"), ({"share": True}, "share must be a number from 0 to 1"),
        ({"virtual_losses": 9}, "virtual_losses must be between 1 and 8, not 9"), ({"virtual_losses": 0}, "between 1 and 8, not 0"),
    ],
)  # fmt: skip
def test_what_may_be_under_way_is_checked(asked, told):
    with pytest.raises(ValueError, match=told):
        Search(Position.empty(5), **asked)


def test_arguments_of_a_search_are_checked():
    for asked in ("device", "restrictions"):
        with pytest.raises(TypeError, match=f"{asked} must be a search.*, not 3"):
            Search(Position.empty(5), **{asked: 3})
    search = Search(Position.empty(5))
    for asked in ("progress", "stop"):
        with pytest.raises(TypeError, match=f"{asked} must be a function or None, not 3"):
            search.run(visits=1, **{asked: 3})
    for position, error, text in (
        (None, TypeError, "position must be a jaxgo.Position, not NoneType"), (Position.empty(5, 2), ValueError, "not a batch of 2"),
        (Position.empty(9), ValueError, "position must be of size 5, not 9"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            search.line_to(position)
    search.close()


@pytest.mark.parametrize("in_flight", [1, 2, 16])
def test_the_tree_does_not_depend_on_workers(in_flight):
    """One thread or two on one device, or as many as there are cores."""
    device = jax.devices()[0]
    expected = tree_after(700, devices=[device], in_flight=in_flight)
    for devices in ([device] * 2, None):
        assert tree_after(700, devices=devices, in_flight=in_flight) == expected


@pytest.mark.parametrize(("rounds", "losses"), [(1, 1), (3, 3)])
def test_rounds_that_are_dropped_leave_no_trace(rounds, losses):
    """The tree is then the one that has never launched them, to the last bit, and goes on as that."""
    some, other = (make(5, 3, Rave(), leaves=4, virtual_losses=losses) for _ in range(2))
    for search in (some, other):
        search.run(visits=1_000)
    for _ in range(rounds):
        assert some.launch(10_000)
    some.abandon()
    assert told(some.tree) == told(other.tree)
    for search in (some, other):
        search.run(visits=2_000)
        search.close()
    assert told(some.tree) == told(other.tree)


def test_what_there_is_no_memory_for_changes_nothing(monkeypatch):
    """A move that the tree does not know begins another tree."""
    with Search(Position.empty(5), leaves=4, playouts_per_leaf=4) as search:
        search.run(visits=50)
        unknown = next(move for move in range(25) if search.tree.child(search.tree.root, move) == -1)
        tree, position, history = search.tree, search.position, search.history

        def no_memory():
            raise MemoryError

        with monkeypatch.context() as patched:
            patched.setattr(search, "_new_tree", no_memory)
            with pytest.raises(MemoryError):
                search.advance(unknown)
        assert search.tree is tree and search.position is position and search.history is history
        assert search.run(visits=100) == 100
        search.advance(unknown)
        assert len(search.history) == 1


def test_before_the_first_results_nothing_is_told_of_moves():
    """Whatever lies in the memory that was taken."""
    with Search(Position.empty(5)) as search:
        search.tree.memory.open[:1], search.tree.memory.nodes["margin"][:1] = 0xFFFFFFFF, 25
        found = search.statistics()
        assert not found.playable.any() and found.root_visits == 0


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    "where", ["choose_and_ask", "note_new", "earn_all", "take_results", "take_round_back", "begin", "rows", "drop"],
)  # fmt: skip
def test_an_interruption_at_any_moment_leaves_a_sound_tree(monkeypatch, where, when):
    """Ctrl-C comes before or after one of the steps, each of which is done as a whole; where no results were being added, the search
    goes on as if nothing had been."""
    adds = where in ("note_new", "earn_all", "take_results", "rows")
    rule = {"note_new": Rave(knowledge=Knowledge()), "earn_all": Rave(credit="weighted_v1")}.get(where, Rave())
    search, undisturbed = make(5, 3, rule, leaves=4), make(5, 3, rule, leaves=4)
    for each in (search, undisturbed):
        each.run(visits=1_000)
    owner = next(each for each in (rounds, rounds.priors, earnings, search._device) if hasattr(each, where))
    done, left = getattr(owner, where), [3]

    def interrupted(*arguments):
        left[0] -= 1
        if when == "before" and not left[0]:
            raise KeyboardInterrupt
        found = done(*arguments)
        if when == "after" and not left[0]:
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patch:
        patch.setattr(owner, where, interrupted)
        with pytest.raises(KeyboardInterrupt):
            while True:
                for _ in range(3):
                    search.launch(2_000)
                search.finish() if adds else search.abandon()
    search.abandon()
    assert_sound(search.tree, search.rule)
    assert search.visits == search.statistics().root_visits
    for each in (search, undisturbed):
        assert each.run(visits=2_000) >= 2_000
        assert_sound(each.tree, each.rule)
    # A round that has just been taken back looks as if it had been added: its random numbers are not used again.
    if not adds and (where, when) != ("take_round_back", "after"):
        assert_same_trees(search.tree, undisturbed.tree)
    for each in (search, undisturbed):
        each.close()


def test_a_device_that_fails_at_a_round_leaves_a_sound_tree(monkeypatch):
    search = make(5, 3, Rave(), leaves=4)
    search.run(visits=500)

    def failing(call):
        raise RuntimeError("the device has failed")

    with monkeypatch.context() as patch:
        patch.setattr(search._device, "rows", failing)
        with pytest.raises(RuntimeError, match="the device has failed"):
            search.run(visits=1_000)
    search.run(visits=1_000)
    assert_sound(search.tree, search.rule)
    search.close()
    with pytest.raises(RuntimeError, match="closed"):
        search.run(visits=2_000)
    assert search.visits == 1_000 and search.under_way == 0


def test_a_round_that_the_device_does_not_take_is_none(monkeypatch):
    """Whoever asked for it may go on."""
    with make(5, 3, Rave(), leaves=4) as search:
        search.run(visits=500)
        before = told(search.tree)

        def failing(columns):
            raise MemoryError

        with monkeypatch.context() as patch:
            patch.setattr(search._device, "begin", failing)
            with pytest.raises(MemoryError):
                search.launch(1_000)
        assert search.under_way == 0 and told(search.tree) == before
        assert search.run(visits=1_000) == 1_000


def test_who_must_stop_at_once_has_something_to_tell():
    """The first moves are awaited; where the game is over there are none."""
    for limits in ({"visits": 10**6, "stop": lambda: True}, {"seconds": 0}):
        search = make(5, 3, Rave())
        search.run(**limits)
        assert search.has_tried and search.tree.visits(search.tree.root)[search.best()] > 0
        for _ in range(2):
            search.advance(25)
        assert 0 < search.run(**limits) < 10**5
        with pytest.raises(ValueError, match="the game is over"):
            search.best()
        search.close()


def test_the_root_knows_where_the_ko_is():
    """Black may not take back at once; a search that has no history knows it of the position alone."""
    position = Position.from_ascii("""
        . X O . .
        X . X O .
        . X O . .
        . . . . .
        . . . . .
    """, to_play=-1).play(6)  # fmt: skip
    with Search(position, leaves=LEAVES, playouts_per_leaf=PLAYOUTS) as search:
        search.run(visits=400)
        found = search.statistics()
        assert not found.playable[7] and not found.visits[7] and found.playable[3]
        assert search.line_to(position) == ()


def test_as_many_visits_as_counts_stand():
    search = make(5, 3, Rave())
    asked = iter(range(100))
    assert 0 < search.run(visits=10**12, stop=lambda: next(asked) > 20) < 10**6
    search.close()
    assert Limits(visits=10**12).visits == 10**12
    for wrong in (2**50 + 1, -1):
        with pytest.raises(ValueError, match="visits must be between"):
            search.run(visits=wrong)


def test_other_seeds_give_other_trees():
    """The comparisons above would see it; and so would a search with another number of rounds under way."""
    one = make(5, 3, Rave(), seed=7)
    one.run(visits=300)
    one.close()
    other = Search(one.position, rule=Rave(), leaves=LEAVES, playouts_per_leaf=PLAYOUTS, seed=8)
    other.run(visits=300)
    other.close()
    assert told(one.tree) != told(other.tree)
    assert tree_after(500, in_flight=1) != tree_after(500, in_flight=3)


def test_streams_of_a_round_that_counts_are_not_drawn_again():
    """Ctrl-C has come after a round's results were added, and before it was forgotten."""
    search = Search(Position.empty(5), leaves=8, playouts_per_leaf=8, seed=1)
    rounds = search._rounds
    search.run(visits=400)
    begun, visits = rounds._streams, search.visits
    assert search.launch(10_000) and rounds._streams > begun
    after = rounds._streams
    while not rounds.done:
        rounds.wait(None)
    oldest = rounds._under_way[0]
    rounds._take(search.tree, oldest, rounds._device.rows(oldest.call))
    search.abandon()
    assert search.visits > visits and rounds._streams == after
    assert search.launch(10_000)
    search.abandon()
    assert rounds._streams == after, "what was never played is drawn again"
    search.close()
