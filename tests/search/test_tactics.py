"""Tactics: every bot that should find a move finds it."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxgo
from jaxgo.board.coordinates import coordinate
from search import Limits, Search, make_player
from search.selection import UCB1, Rave
from tests.search.tactics import PROBLEMS, SEKI
from tests.search.trees import nodes_by_path
from tests.wide import wide

TREES = ("rave", "grave", "uct", "rave-v1", "rave-v2", "rave-mctr")
FLAT = ("amaf", "wamaf", "wamaf2", "mctr", "mctr-capture", "mc", "ucb")
#: Statistics of one ply do not see that the ko has to be won twice.
BLIND_TO_KO = ("mctr", "mc", "ucb")
LIMITS = Limits(visits=4000)


def player(bot: str, komi: float, **options):
    return make_player(bot, komi=komi, leaves=16, playouts_per_leaf=8, seed=1, **options)


#: Bots whose programs take longer to compile than the problems to solve.
SELDOM = ("wamaf2", "mctr-capture", "mc", "rave-v1", "grave")
#: Bots of the default suite here: one that grows a tree by each of two rules, and a flat one.
OFTEN = ("rave", "uct", "amaf")
SOLVABLE = [
    pytest.param(bot, problem, id=f"{bot}-{problem.name}", marks=[] if bot in OFTEN else pytest.mark.slow if bot in SELDOM else pytest.mark.wide)
    for problem in PROBLEMS
    for bot in TREES + FLAT
    if not ("ko" in problem.name and bot in BLIND_TO_KO)
]


@pytest.mark.parametrize(("bot", "problem"), SOLVABLE)
def test_finds_the_move(bot, problem):
    choice = player(bot, problem.komi).genmove(problem.position, None, LIMITS)
    assert coordinate(choice.move, problem.position.size) in problem.answers


@pytest.mark.parametrize("bot", ["rave", "uct", "amaf"])
def test_fills_no_own_eye(bot):
    """Only eyes are left to Black: he passes."""
    position = jaxgo.Position.from_ascii(". X . X . \n X X X X X \n X X X X X \n X X X X X \n X X . X X")
    assert player(bot, 0.5).genmove(position, None, LIMITS).move == 25


@pytest.mark.parametrize("bot", ["rave", *wide("grave", "uct")])
@pytest.mark.parametrize(("colour", "komi"), [(1, -3.5), (-1, 3.5)])
def test_leaves_a_winning_seki_alone(bot, colour, komi):
    position = jaxgo.Position.from_ascii(SEKI, to_play=colour)
    assert player(bot, komi).genmove(position, None, LIMITS).move == 49


@pytest.mark.parametrize("bot", ["rave", "grave", "uct"])
@pytest.mark.parametrize("colour", [1, -1])
def test_keeps_a_drawn_seki(bot, colour):
    """The other player has passed, and a pass draws; whoever plays in the seki loses it."""
    rows = ["X X O O", "X . O O", "X X . O", "X X O O"]
    turned = [row.translate(str.maketrans("XO", "OX")) for row in rows]
    position = jaxgo.Position.from_ascii("\n".join(rows if colour < 0 else turned), to_play=-colour).play(np.array([16]))
    assert int(position.score()[0]) == 0 and int(position.to_play[0]) == colour
    assert player(bot, 0.0).genmove(position, None, LIMITS).move == 16


WON = """
    . X X O .
    X X X O O
    X X X O O
    X X X O O
    . X X O .
"""


@pytest.mark.parametrize("bot", ["rave", "uct", "amaf"])
@pytest.mark.parametrize(("passes", "komi"), [(1, 4.5), (1, 5.0), (0, 4.5), (1, 20.5), (0, 20.5)])
def test_passes_in_a_finished_game(bot, passes, komi):
    """Black 15, White 10: won, drawn, and lost alike, there is nothing left to do."""
    position = jaxgo.Position.from_ascii(WON, passes=passes)
    assert player(bot, komi).genmove(position, None, LIMITS).move == 25


#: White's three stones in the corner are dead. As it stands Black is one point ahead; with them taken, eleven.
DEAD = """
    . X X O .
    X X X O O
    . . X X O
    O O . X O
    O . X X O
"""


@pytest.mark.parametrize("bot", ["rave", "uct", "amaf"])
def test_never_passes_into_a_loss(bot):
    position = jaxgo.Position.from_ascii(DEAD, passes=1)
    score = int(position.score()[0])
    choice = player(bot, score + 0.5).genmove(position, None, LIMITS)
    assert choice.move != 25


@pytest.mark.parametrize("bot", ["rave", "uct", "amaf"])
def test_captures_dead_stones_before_passing_when_asked(bot):
    """The score as it stands wins after White's pass; with cleanup the dead stones are taken first."""
    position = jaxgo.Position.from_ascii(DEAD, passes=1)
    komi = int(position.score()[0]) - 0.5
    assert player(bot, komi).genmove(position, None, LIMITS).move == 25
    assert player(bot, komi, cleanup=True).genmove(position, None, LIMITS).move != 25


@pytest.mark.parametrize("bot", ["rave", *wide("amaf", "uct", "wamaf")])
def test_the_best_move_forbidden_by_superko(bot):
    """The decisive ko, with the position after it already in the game's history."""
    problem = next(p for p in PROBLEMS if "ko" in p.name)
    position = problem.position
    answer = 3 * 7 + 4
    after = position.play(jnp.array([answer])).hash()
    choice = player(bot, problem.komi).genmove(position, np.asarray(after), LIMITS)
    assert choice.move != answer
    assert choice.visits[answer] == 0


@pytest.mark.parametrize("bot", ["rave", *wide("mc", "uct", "ucb", "amaf")])
@pytest.mark.parametrize("visits", [1, 8, 64])
def test_superko_holds_for_moves_that_nothing_has_tried(bot, visits):
    """All moves but the last lead back to an earlier position; so few playouts that most moves get none."""
    position = jaxgo.Position.empty(3)
    after = np.concatenate([np.asarray(position.play(jnp.array([move])).hash()) for move in range(8)])
    assert player(bot, 0.5).genmove(position, after, Limits(visits=visits)).move == 8


@pytest.mark.parametrize("rule", [Rave(), UCB1(), Rave(reference_visits=200)], ids=["rave", "uct", "grave"])
@pytest.mark.parametrize(("size", "komi", "best"), [(3, 8.5, {4}), (4, 1.5, {5, 6, 9, 10})])
def test_the_first_move_on_small_boards(rule, size, komi, best):
    """3x3: the centre wins by 9. 4x4: one of the four central points."""
    search = Search(jaxgo.Position.empty(size), rule=rule, komi=komi, leaves=16, playouts_per_leaf=4, seed=2)
    search.run(visits=20_000)
    assert search.best() in best


@pytest.mark.parametrize("rule", [Rave(bias=0.3), UCB1()], ids=["rave", "uct"])
def test_no_line_of_the_tree_repeats_a_position(rule):
    """Positional superko along every path; on 2x2 and 3x3 lines would repeat soon."""
    struck = 0
    for size in (2, 3):
        search = Search(jaxgo.Position.empty(size), rule=rule, komi=0.5, leaves=16, playouts_per_leaf=4)
        search.run(visits=12_000)
        tree = search.tree
        for path, node in nodes_by_path(tree).items():
            hashes = [int(tree[tree.root]["hash"])]
            while node != tree.root:
                if tree[node]["move"] < size * size:
                    hashes.append(int(tree[node]["hash"]))
                node = int(tree[node]["parent"])
            assert len(set(hashes)) == len(hashes), path
        nodes = np.array(list(nodes_by_path(tree).values()))
        useful = np.asarray(search.positions_of(nodes).useful())
        struck += sum((may & ~tree.open(node)[:-1]).sum() for may, node in zip(useful, nodes))
    assert struck > 10, "superko never came up"
