"""The search builds the tree of an independent scalar search, node by node, whatever its rounds.

Both see the same playouts and break ties by the same numbers; legality, captures, repetitions, results, credits and values are
worked out twice.
"""

import dataclasses

import numpy as np
import pytest

import jaxgo
from search import UCB1, Knowledge, Rave, Search
from search.descent import Ties
from search.game import hash_numbers
from search.nodes import READY
from search.rounds import UNDER_WAY_SHARE
from search.tree import Tree
from tests.positions import from_games, middle_game
from tests.referee import Game, parse
from tests.search.scalar_tree import ScalarTree
from tests.search.trees import nodes_by_path
from tests.wide import mostly_wide, wide

SEED = 5
#: Those that were asked for: most trees here begin at the same root.
HASHES: dict[tuple[int, tuple[int, ...]], int] = {}


def feed(game: Game, leaf: int, count: int) -> list[list[int]]:
    """The playouts that the engine plays from the leaf of this number."""
    played = jaxgo.playouts(from_games(game), count, seed=SEED, streams=[leaf], moves=True)
    return [[int(move) for move in line if move >= 0] for line in played.moves[0]]


def hash_of(game: Game) -> int:
    """The hash of a position's stones."""
    stones = game.size, tuple(game.stones)
    if stones not in HASHES:
        HASHES[stones] = int(hash_numbers(from_games(game).hash())[0])
    return HASHES[stones]


def grow_both(
    game: Game, rule, visits: int, *, komi: float = 7.5, playouts: int = 1, leaves: int = 1, in_flight: int = 1, history=(),
    share: float = UNDER_WAY_SHARE, losses: int | None = None,
) -> tuple[Search, ScalarTree]:
    """The search and its reference after so many visits."""
    hashes = np.concatenate([np.asarray(from_games(old).hash()) for old in history]) if history else None
    search = Search(
        from_games(game), rule=rule, komi=komi, leaves=leaves, playouts_per_leaf=playouts, seed=SEED, in_flight=in_flight,
        history=hashes, share=share, virtual_losses=losses,
    )  # fmt: skip
    search.run(visits=visits)
    search.close()
    scalar = ScalarTree(
        game, rule, komi=komi, playouts_per_leaf=playouts, feed=feed, ties=Ties(SEED, game.num_points + 1), hash_of=hash_of,
        leaves=leaves, in_flight=in_flight, share=share, losses=losses, history=[tuple(old.stones) for old in history],
    )  # fmt: skip
    scalar.run(visits)
    return search, scalar


def assert_same_tree(tree: Tree, scalar: ScalarTree) -> None:
    """Every node of one is in the other, with the same statistics; weighted credits but for rounding."""
    expected, paths = scalar.nodes(), nodes_by_path(tree)
    assert paths.keys() == expected.keys()
    assert tree.count == len(expected)
    rounding = 0 if scalar.rule.credit in (None, "amaf") else 1e-5
    for path, node in expected.items():
        x = tree[paths[path]]
        assert x["state"] == READY and x["pending"] == 0
        assert np.flatnonzero(tree.open(paths[path])).tolist() == node.candidates, path
        sums = [x[name] for name in ("visits", "wins", "leads", "squares")]
        assert sums == [node.visits, node.wins, node.lead, node.squares], path
        visits, wins = (np.zeros(tree.moves, int) for _ in range(2))
        for move, child in node.children.items():
            visits[move], wins[move] = child.visits, 2 * child.visits - child.wins
        np.testing.assert_array_equal(tree.visits(paths[path]), visits, f"visits of {path}")
        np.testing.assert_array_equal(tree.wins(paths[path]), wins, f"wins of {path}")
        numbers = np.zeros((2, 2, tree.moves))
        for what, earned in enumerate((node.rave_visits, node.rave_wins)):
            for (player, point), value in earned.items():
                numbers[player, what, point] = value
        rave = tree.rave(paths[path])
        np.testing.assert_allclose(rave, numbers[: len(rave)], rtol=rounding, atol=rounding / 10, err_msg=str(path))


def after(game: Game, move: int) -> Game:
    """The position after a move."""
    out = game.copy()
    out.play(move)
    return out


CLOSE = """
    . X .
    X X O
    . O .
"""
"""A board of 3x3 on which few plies are left, with captures, recaptures and repetitions among them."""

RULES = {
    "ucb1": UCB1(),
    "ucb1 greedy": UCB1(exploration=0.05, first_play=0.6),
    "rave": Rave(bias=0.1),
    "rave hand": Rave(schedule="hand", k=50.0, first_play=0.9),
    "rave loose": Rave(strict=False, bias=0.3),
    "rave hand loose": Rave(strict=False, schedule="hand"),
    "grave": Rave(bias=0.1, reference_visits=20),
    "grave loose": Rave(reference_visits=10, strict=False, schedule="hand"),
    "v1": Rave(bias=0.1, credit="weighted_v1"),
    "v2": Rave(credit="weighted_v2", schedule="hand"),
    "mctr": Rave(bias=0.1, credit="mctr_simple"),
    "ucb1 with knowledge": UCB1(knowledge=Knowledge()),
    "rave with knowledge": Rave(bias=0.1, knowledge=Knowledge(even=0, likely=90)),
    "grave with knowledge": Rave(bias=0.1, reference_visits=20, schedule="hand", knowledge=Knowledge()),
    "v2 with knowledge": Rave(credit="weighted_v2", knowledge=Knowledge()),
}


@pytest.mark.parametrize("name", mostly_wide(RULES, {"ucb1", "rave", "grave loose", "v1", "mctr", "rave with knowledge"}))
@pytest.mark.parametrize("leaves, in_flight", [(16, 3), *wide((1, 1), (1, 6))])
def test_rounds_of_leaves(name, leaves, in_flight):
    """Descents one after the other, each leaving its losses behind, for every rule; results in the order of the rounds."""
    options = {"komi": 0.5, "playouts": 4, "leaves": leaves, "in_flight": in_flight}
    search, scalar = grow_both(middle_game(5, 6, seed=3), RULES[name], 4 * 50, **options)
    assert_same_tree(search.tree, scalar)
    assert max(len(path) for path in scalar.nodes()) > 1


@pytest.mark.parametrize("name", ["ucb1", "rave", "rave with knowledge"])
@pytest.mark.parametrize(("share", "losses"), [(0.5, 1), *wide((0.05, 4), (1.0, 3))])
def test_shares_and_virtual_losses(name, share, losses):
    """However many playouts may be under way, and whatever they count meanwhile."""
    options = {"komi": 0.5, "playouts": 4, "leaves": 8, "in_flight": 6, "share": share, "losses": losses}
    search, scalar = grow_both(middle_game(5, 6, seed=3), RULES[name], 4 * 80, **options)
    assert_same_tree(search.tree, scalar)


@pytest.mark.parametrize("name", ["rave", *wide("ucb1", "rave loose", "v2")])
def test_rounds_with_ends_and_repetitions(name):
    """Several leaves of a round may be the same end of the game, or repeat the same position."""
    how = {"playouts": 4, "leaves": 16, "in_flight": 2, "share": 0.2, "losses": 4}
    search, scalar = grow_both(parse(CLOSE)[0], RULES[name], 4 * 150, komi=-9, **how)
    assert_same_tree(search.tree, scalar)
    assert scalar.ended > 20 and scalar.struck > 0


@pytest.mark.parametrize("name", ["rave", "mctr", *wide("ucb1 greedy", "rave hand loose", "grave", "v1")])
def test_games_that_end_in_the_tree(name):
    """On 3x3 few plies fill the board: the tree holds ends of the game, draws among their results, and they are visited again."""
    search, scalar = grow_both(parse(CLOSE)[0], RULES[name], 150, komi=-9)
    assert_same_tree(search.tree, scalar)
    assert scalar.ended > 20
    assert any(node.wins % 2 for node in scalar.nodes().values()), "no draws"


@pytest.mark.parametrize("playouts, name", [(6, "v1"), (6, "mctr"), (8, "rave"), *wide((6, "v2"), (8, "ucb1"), (8, "grave loose"))])
def test_more_playouts_of_each_leaf_than_are_added_up_at_a_time(playouts, name):
    """And, of six, some that are left over."""
    search, scalar = grow_both(Game(3, to_play=-1), RULES[name], playouts * 60, komi=9, playouts=playouts)
    assert_same_tree(search.tree, scalar)
    assert search.visits == playouts * 60


@pytest.mark.wide
@pytest.mark.parametrize("name", ["ucb1", "rave loose"])
def test_rounds_on_9x9(name):
    search, scalar = grow_both(middle_game(9, 50, seed=4), RULES[name], 4 * 40, komi=7.0, playouts=4, leaves=16)
    assert_same_tree(search.tree, scalar)


@pytest.mark.parametrize("name", ["ucb1", "rave"])
def test_moves_that_repeat_a_position_of_the_tree_are_struck(name):
    search, scalar = grow_both(parse(CLOSE)[0], RULES[name], 150, komi=-9)
    assert_same_tree(search.tree, scalar)
    assert scalar.struck > 0
    assert search.visits == 150


def test_moves_that_repeat_a_position_of_the_game_are_struck():
    game = parse(CLOSE)[0]
    one, other = game.candidates()
    search, scalar = grow_both(game, RULES["rave"], 40, komi=-9, history=[after(game, one)])
    assert_same_tree(search.tree, scalar)
    assert not search.tree.open(search.tree.root)[one] and search.tree.open(search.tree.root)[other]
    assert search.tree.visits(search.tree.root)[one] == 0


def test_who_can_only_repeat_positions_passes():
    """Even if he loses by it."""
    game = parse(CLOSE, passes=1)[0]
    moves = game.candidates()
    search, scalar = grow_both(game, RULES["rave"], 30, komi=20.5, history=[after(game, move) for move in moves])
    assert_same_tree(search.tree, scalar)
    assert scalar.struck == len(moves)
    np.testing.assert_array_equal(np.flatnonzero(search.tree.visits(search.tree.root)), [game.pass_move])


@pytest.mark.parametrize("to_play, komi, may_pass", [(1, -30.5, True), (1, 30.5, False), (-1, -30.5, False), (-1, 30.5, True)])
def test_a_pass_is_answered_by_a_pass_if_that_does_not_lose(to_play, komi, may_pass):
    game = Game(5, middle_game(5, 6, seed=8).stones, to_play=to_play, passes=1)
    search, scalar = grow_both(game, RULES["rave"], 4 * 40, komi=komi, playouts=4)
    assert_same_tree(search.tree, scalar)
    assert search.tree.open(search.tree.root)[-1] == may_pass


def test_drawn_ends_count_half():
    """At every visit to them: the root may pass into a draw."""
    game = parse(CLOSE, passes=1)[0]
    search, scalar = grow_both(game, RULES["ucb1"], 60, komi=game.margin())
    assert_same_tree(search.tree, scalar)
    assert search.tree.wins(search.tree.root)[-1] == search.tree.visits(search.tree.root)[-1] > 1


def test_reference_notices_a_wrong_tree():
    """The comparison itself: the trees of another rule differ."""
    search, scalar = grow_both(Game(3), RULES["rave"], 60, komi=0.5)
    assert_same_tree(search.tree, scalar)
    loose, _ = grow_both(Game(3), dataclasses.replace(RULES["rave"], strict=False), 60, komi=0.5)
    with pytest.raises(AssertionError):
        assert_same_tree(loose.tree, scalar)
