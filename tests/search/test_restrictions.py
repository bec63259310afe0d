"""Moves to avoid and to keep to: what programs say of them is one thing in both protocols."""

import numpy as np
import pytest

from jaxgo import Position
from search import Limits, Search, make_player
from search.analysis.query import read_query
from search.gtp.reports import Request
from search.restrictions import Restriction, Restrictions
from tests.search.trees import nodes_by_path

#: As (avoid or allow, player, moves, depth).
SAID = [
    ("avoid", "B", "C3,pass", 3), ("avoid", "w", "A1", 1), ("avoid", "b", "C3", 1), ("allow", "W", "E5,D4", 7),
    ("allow", "W", "", 2),
]  # fmt: skip


def test_nothing_said_restricts_nothing():
    assert Restrictions.of([], 5) is None


def test_what_is_said_of_a_move_twice_holds_as_long_as_the_longer():
    found = Restrictions.of([Restriction(True, 1, (3, 25), 2), Restriction(True, 1, (3,), 5), Restriction(False, -1, (7,), 4)], 5)
    assert {tuple(at): found.avoid_until[tuple(at)] for at in np.argwhere(found.avoid_until).tolist()} == {(0, 3): 5, (0, 25): 2}
    assert found.allow_until.tolist() == [0, 4]
    assert np.argwhere(found.allowed).tolist() == [[1, 7]]
    assert found.avoids and not Restrictions.of([Restriction(False, 1, (7,), 1)], 5).avoids


@pytest.mark.parametrize("said", [SAID, SAID[:1], SAID[3:]])
def test_both_protocols_mean_the_same(said):
    words = [word for kind, colour, moves, depth in said for word in (kind, colour, moves or ",", str(depth))]
    fields = {"avoidMoves": [], "allowMoves": []}
    for kind, colour, moves, depth in said:
        entry = {"player": colour, "moves": moves.split(",") if moves else [], "untilDepth": depth}
        fields[f"{kind}Moves"].append(entry)
    asked = {"id": "a", "moves": [], "rules": "chinese", "boardXSize": 5, "boardYSize": 5, **fields}
    one, other = Request.parse(tuple(words), 5).restrictions, read_query(asked)[0].restrictions
    for name, array in vars(one).items():
        np.testing.assert_array_equal(array, getattr(other, name))


def test_the_longest_of_what_is_allowed_holds():
    said = [Restriction(False, -1, (7,), 4), Restriction(False, -1, (8,), 2)]
    found = Restrictions.of(said, 5)
    assert found.allow_until.tolist() == [0, 4] and np.argwhere(found.allowed).tolist() == [[1, 7], [1, 8]]


@pytest.mark.parametrize("avoid", [True, False])
def test_they_hold_from_every_root(avoid):
    """From one that the tree has known as another's child, too."""
    moves = (12,) if avoid else tuple({*range(26)} - {12})
    limits = Restrictions.of([Restriction(avoid, colour, moves, 1) for colour in (1, -1)], 5)
    moved_on = Search(Position.empty(5), leaves=16, playouts_per_leaf=4, seed=1, restrictions=limits)
    moved_on.run(visits=2_000)
    assert moved_on.tree.child(moved_on.tree.root, 18) >= 0
    moved_on.advance(18)
    moved_on.run(visits=1_000)
    assert moved_on.statistics().visits[12] == 0 and moved_on.best() != 12
    assert moved_on.visits == 1_000 and not moved_on.retreat()
    moved_on.close()


@pytest.mark.parametrize(("said", "message"), [
    (Restriction(True, 1, (10,), 1), "points must be between 0 and 9, not 10"), (Restriction(True, 0, (1,), 1), "colour must be one of 1, -1, not 0"),
    (Restriction(False, 1, (-1,), 1), "points must be between 0 and 9, not -1"), (Restriction(True, 1, (1,), 0), "until must be between 1 and"),
    (Restriction(2, 1, (1,), 1), "avoid must be True or False, not 2"), (Restriction(True, 1, 3, 1), "points must be a sequence of moves, not 3"),
    (3, "said must hold search.restrictions.Restriction objects, not 3"),
])  # fmt: skip
def test_restrictions_that_are_none(said, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Restrictions.of([said], 3)
    with pytest.raises(TypeError, match="said must be search.restrictions.Restriction objects, not 3"):
        Restrictions.of(3, 5)
    with pytest.raises(ValueError, match="size must be between 2 and 25, not 99"):
        Restrictions.of([], 99)


@pytest.mark.parametrize("bot", ["rave", "amaf"])
def test_those_for_other_boards_are_refused(bot):
    """They would be of other points, and beyond the board."""
    for size in (3, 19):
        restrictions = Restrictions.of([Restriction(True, 1, (4,), 1)], size)
        with pytest.raises(ValueError, match="restrictions must be for a board of 5x5, with 26 moves, not of the shapes"):
            make_player(bot, restrictions=restrictions).genmove(Position.empty(5), None, Limits(visits=10))
    with pytest.raises(TypeError, match="restrictions must be a search.restrictions.Restrictions, not 'no'"):
        make_player(bot, restrictions="no").genmove(Position.empty(5), None, Limits(visits=10))


@pytest.mark.parametrize("bot", ["rave", "uct", "amaf"])
@pytest.mark.parametrize("said", [Restriction(True, 1, (25,), 1), Restriction(False, 1, (1, 20), 1)], ids=["avoid", "allow"])
def test_a_pass_that_may_not_be_is_not_played(bot, said):
    """Also where it would win at once."""
    position = Position.from_ascii(". . . . .\n. X . . .\n. . . . .\n. . . . .\n. . . . .", passes=1)
    choice = make_player(bot, komi=0.5, seed=1).genmove(position, None, Limits(visits=200))
    assert choice.move == 25 and not choice.playouts
    choice = make_player(bot, komi=0.5, seed=1, restrictions=Restrictions.of([said], 5)).genmove(position, None, Limits(visits=200))
    assert choice.move < 25 and choice.playouts and (said.avoid or choice.move in (1, 20))


@pytest.mark.parametrize("avoid", [True, False])
def test_what_is_said_of_one_colour_binds_no_other(avoid):
    """White's next move, and neither Black's before nor his after it."""
    said = Restriction(avoid, -1, (12,) if avoid else (3, 7), 3)
    search = Search(Position.empty(5), leaves=16, playouts_per_leaf=4, seed=1, restrictions=Restrictions.of([said], 5))
    search.run(visits=4_000)
    tried = [{path[depth] for path in nodes_by_path(search.tree) if len(path) == depth + 1} for depth in range(3)]
    assert 12 in tried[0] and 12 not in tried[1] and len(tried[2]) > 2
    assert tried[1] and (avoid or tried[1] <= {3, 7})
    search.close()


def test_who_may_do_nothing_else_passes_at_the_root():
    """Bots without a tree ask this."""
    everything = np.ones(10, np.bool_)
    for said in (Restriction(True, 1, tuple(range(10)), 1), Restriction(False, 1, (), 1)):
        limits = Restrictions.of([said], 3)
        assert np.flatnonzero(limits.at_root(everything, everything, True)).tolist() == [9]
        assert limits.at_root(everything, everything, False).all() and limits.leave_pass(True)
