"""What helpers work out ahead is what the search's own thread would: the tree is the same, to the last bit."""

import pytest

from search import Rave, Search, earnings, rounds, search
from search.tree_needs import memory_for
from tests.positions import from_games, middle_game
from tests.referee import Game, parse
from tests.search.test_histories import LEAVES, PLAYOUTS
from tests.search.trees import assert_same_trees, nodes_by_path
from tests.wide import mostly_wide, wide

RULES = {
    "v1": Rave(credit="weighted_v1"), "v2": Rave(credit="weighted_v2", schedule="hand"), "mctr": Rave(credit="mctr_simple"),
}  # fmt: skip
#: Few plies are left, with captures, repetitions and ends of the game among them.
CLOSE = """
    X O .
    . O O
    X X .
"""


@pytest.fixture
def helped(monkeypatch):
    """Three helpers, also for rounds as small as those here; notes how many of them each round had."""
    pieces = []

    class Noted(earnings.Ahead):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            pieces.append(len(self))

    monkeypatch.setattr(earnings, "FEWEST", 1)
    monkeypatch.setattr(rounds, "Ahead", Noted)
    monkeypatch.setattr(search, "usable_cores", lambda: list(range(6)))
    return pieces


def grown(game: Game, rule: Rave, visits: int, **options) -> Search:
    """A search after some visits."""
    options = {"leaves": LEAVES, "playouts_per_leaf": PLAYOUTS, "seed": 2} | options
    out = Search(from_games(game), rule=rule, **options)
    out.run(visits=visits)
    return out


@pytest.mark.parametrize("name", mostly_wide(RULES, {"v1"}))
@pytest.mark.parametrize(("game", "visits", "komi"), [
    (parse(CLOSE)[0], 600, -9), *wide((middle_game(5, 4, seed=1), 1_200, 0.5), (middle_game(9, 20, seed=1), 1_200, 7.5)),
], ids=["ends and repetitions", "5x5", "9x9"])  # fmt: skip
def test_helpers_leave_no_trace(monkeypatch, helped, name, game, visits, komi):
    with_help = grown(game, RULES[name], visits, komi=komi)
    assert max(helped) == 3
    with monkeypatch.context() as patch:
        patch.setattr(search, "usable_cores", lambda: [0, 1])
        patch.setattr(earnings, "PIECE", 3)
        alone = grown(game, RULES[name], visits, komi=komi)
    assert_same_trees(with_help.tree, alone.tree)
    assert max(len(path) for path in nodes_by_path(alone.tree)) > 2
    for each in (with_help, alone):
        each.close()


@pytest.mark.parametrize("name", RULES)
def test_the_same_in_a_full_tree(monkeypatch, helped, name):
    """Leaves are taken back while helpers read the tree for the next round."""
    memory = memory_for(5, RULES[name], 0)
    with_help = grown(Game(5), RULES[name], 4_000, memory=memory)
    assert max(helped) == 3
    monkeypatch.setattr(earnings, "FEWEST", 1 << 20)
    alone = grown(Game(5), RULES[name], 4_000, memory=memory)
    assert max(helped[len(helped) // 2 :]) == 0
    assert_same_trees(with_help.tree, alone.tree)
    for each in (with_help, alone):
        each.close()


def test_where_there_is_no_room_for_it_the_search_does_it_alone(monkeypatch, helped):
    monkeypatch.setattr(earnings, "MOST_BYTES", 1)
    grown(Game(5), RULES["v1"], 400).close()
    assert helped and not any(helped)


def test_a_line_of_the_tree_may_be_longer_than_there_was_room_for(monkeypatch):
    """More is made when it is needed."""
    trees = []
    for line in (rounds.LINE, 1):
        monkeypatch.setattr(rounds, "LINE", line)
        with grown(Game(5), RULES["v1"], 600) as some:
            trees.append(some.tree)
    assert max(len(path) for path in nodes_by_path(trees[0])) > 3
    assert_same_trees(*trees)


def test_others_have_no_helpers(helped):
    """First plays are counted on the device."""
    grown(Game(5), Rave(), 400).close()
    assert not helped


def test_a_round_that_fails_fails_at_its_turn(monkeypatch, helped):
    """Not while the one before it is added to the tree."""
    some = grown(Game(5), RULES["v1"], 400)
    for _ in range(2):
        assert some.launch(10_000)
    first, second = (round.call for round in some._rounds._under_way)
    for call in (first, second):
        while not some._device.wait(call, 1):
            pass
    done = some._device.rows

    def rows(call):
        if call is second:
            raise RuntimeError("the device has failed")
        return done(call)

    monkeypatch.setattr(some._device, "rows", rows)
    before = some.tree.count
    some.finish()
    assert some.tree.count >= before and some.under_way == 1
    with pytest.raises(RuntimeError, match="the device has failed"):
        some.finish()
    assert some.under_way == 0
    some.close()
