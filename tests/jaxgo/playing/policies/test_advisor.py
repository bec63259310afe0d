"""Akimot's advisor: what it learns, what it advises, and that it judges life and death better for it."""

import re

import jax
import numpy as np
import pytest

import jaxgo
from bench import life_and_death
from jaxgo.running import jobs
from tests import chi_square, scalar_policies
from tests.positions import from_games, middle_game
from tests.referee import Game
from tests.wide import mostly_wide, wide

#: Playouts that the referee replays; on 9x9 they pass through some 11,000 positions.
PLAYOUTS = 100


@pytest.mark.parametrize("context", ["previous", "point"])
def test_it_learns_from_all_plies_of_both_colours(context):
    """Batch after batch, from both starting colours, with draws; what numpy holds as what jax holds."""
    starts = [Game(5), middle_game(5, 9, seed=1)]
    position, table = from_games(*starts), jaxgo.AdvisorTable(5, context)
    for seed, komi in ((1, 3.0), (2, 0.5)):
        played = jaxgo.playouts(position, 60, seed=seed, moves=True)
        visits, results = scalar_policies.taught(table, starts, played, komi)
        table = table.update(played if seed == 1 else jax.tree.map(jax.numpy.asarray, played), position, komi=komi)
        np.testing.assert_array_equal(table.visits, visits)
        np.testing.assert_array_equal(table.results, results)
    assert (visits > 0).any() and (results % 2 == 1).any()
    seen = visits > 0
    np.testing.assert_array_equal(table.value[seen], results[seen] / 2 / visits[seen])
    assert np.isnan(table.value[~seen]).all()


@pytest.mark.parametrize(("context", "suggestions", "learned"), [("previous", 7, 300), *wide(("point", 3, 40))])
def test_every_move_is_uniform_among_the_most_urgent(context, suggestions, learned):
    """In 10^4 positions, asked always: the sets are the scalar version's, and the choice in them is uniform."""
    position = jaxgo.Position.empty(9)
    taught = jaxgo.playouts(position, 300, seed=5, moves=True)
    taught = jax.tree.map(lambda x: x[:, :learned], taught)
    table = jaxgo.AdvisorTable(9, context).update(taught, position)
    policy = jaxgo.Advisor(1.0, table, exploration=0.3, suggestions=suggestions)
    played = jaxgo.playouts(position, PLAYOUTS, seed=3, moves=True, policy=policy)
    sets = scalar_policies.advice(table, 0.3, suggestions)
    made = scalar_policies.choices(Game(9), played, 0, PLAYOUTS, sets)
    assert len(made) > 10_000
    assert chi_square.ranks_p_value(scalar_policies.by_number(made), 20) > chi_square.ALPHA


def test_the_levels_of_urgency():
    """Moves never tried come first, together; equals share a level; below the last suggestion and without visits there is none."""
    visits, results = np.zeros((2, 1, 9), np.int32), np.zeros((2, 1, 9), np.int32)
    visits[0, 0, :7] = 10
    results[0, 0, :7] = [20, 10, 10, 5, 4, 0, 20]

    def table() -> jaxgo.AdvisorTable:
        return jaxgo.AdvisorTable(3, "point", visits=visits, results=results)

    assert table().levels(0.0, 4).tolist() == [[[3, 2, 2, 1, 0, 0, 3, 4, 4]], [[0] * 9]]
    visits[0, 0, 5] = 1  # what was hardly tried is urgent, given exploration enough: sqrt(ln 61) = 2.03 against 1 + 0.64
    assert table().levels(0.5, 2).tolist()[0] == [[1, 0, 0, 0, 0, 0, 1, 2, 2]]
    assert table().levels(1.0, 2).tolist()[0] == [[0, 0, 0, 0, 0, 1, 0, 2, 2]]
    visits[0, 0, 7:], results[0, 0, 7:] = 10, 0
    urgency = table().urgency(0.5)[0, 0]
    assert urgency[0] == pytest.approx(1.0 + 0.5 * np.sqrt(np.log(81) / 10))
    assert urgency[5] == pytest.approx(0.5 * np.sqrt(np.log(81)))


def test_a_new_table_is_not_compiled_for():
    position = jaxgo.Position.empty(5)
    table = jaxgo.AdvisorTable(5)
    played = jaxgo.playouts(position, 100, moves=True, policy=jaxgo.Advisor(0.5, table))
    compiled = len(jobs._compiled)
    for _ in range(2):
        table = table.update(played, position)
        played = jaxgo.playouts(position, 100, moves=True, policy=jaxgo.Advisor(0.9, table, exploration=0.0))
    assert len(jobs._compiled) == compiled


@pytest.mark.parametrize("others", [*wide([jaxgo.Capture(1e-6)], [jaxgo.Patterns(1e-6)]), [jaxgo.NoSelfAtari(1e-6), jaxgo.Capture(1e-6)]])
@pytest.mark.parametrize("first", [True, False])
def test_what_is_suicide_is_passed_over_whoever_knows_it(others, first):
    """Policies that look for captures know some suicides beforehand: the next best suggestion is played all the same."""
    position = jaxgo.Position.from_ascii(". X . . .\nX X . . .\n. . . . .\n. . . . .\n. . . . .", to_play=jaxgo.WHITE)
    visits, results = np.full((2, 1, 25), 10, np.int32), np.zeros((2, 1, 25), np.int32)
    results[1, 0, [0, 24]] = 20, 18  # White's best is suicide, the next best is not
    advisor = jaxgo.Advisor(1.0, jaxgo.AdvisorTable(5, "point", visits=visits, results=results))
    played = jaxgo.playouts(position, 200, moves=True, max_plies=1, policy=[advisor, *others] if first else [*others, advisor])
    assert (played.moves[0, :, 0] == 24).all()


def test_beside_captures_it_suggests_what_it_does_alone():
    position = jaxgo.Position.empty(5)
    table = jaxgo.AdvisorTable(5, "point").update(jaxgo.playouts(position, 200, moves=True), position)
    played = jaxgo.playouts(position, 100, seed=3, moves=True, policy=[jaxgo.Advisor(1.0, table, exploration=0.0), jaxgo.Capture()])
    advice = scalar_policies.advice(table, 0.0, 7)
    made = scalar_policies.choices(
        Game(5), played, 0, 100, lambda game, moves: [*advice(game, moves), *scalar_policies.captures(game)]
    )
    assert len(made) > 2_000
    assert chi_square.ranks_p_value(scalar_policies.by_number(made), 20) > chi_square.ALPHA


@pytest.mark.parametrize("context", ["point", "previous"])
@pytest.mark.parametrize("other", [jaxgo.Capture(0.0), jaxgo.Nakade(0.0), jaxgo.Patterns(0.0), jaxgo.LastGoodReply(jaxgo.Replies(5), 0.0)])
def test_each_colour_has_its_own_suggestions_whoever_else_looks_at_the_last_move(context, other):
    """What is never asked leaves no trace."""
    position, contexts = jaxgo.Position.empty(5), 1 if context == "point" else 26
    visits = np.full((2, contexts, 25), 10, np.int32)
    results = visits.copy()
    results[0, :, :5], results[1, :, 20:] = 20, 20  # Black wants the top row, White the bottom row
    advisor = jaxgo.Advisor(1.0, jaxgo.AdvisorTable(5, context, visits=visits, results=results), exploration=0.0, suggestions=1)
    alone, beside = (jaxgo.playouts(position, 100, moves=True, policy=policy).moves for policy in (advisor, [advisor, other]))
    np.testing.assert_array_equal(alone, beside)
    assert (beside[0, :, 0] < 5).all() and (beside[0, :, 1] >= 20).all()


def test_an_empty_table_has_no_advice():
    """The next policy is asked then: here none, and so the playouts are uniform."""
    position = jaxgo.Position.empty(5)
    uniform = jaxgo.playouts(position, 100, moves=True)
    played = jaxgo.playouts(position, 100, moves=True, policy=jaxgo.Advisor(1.0, jaxgo.AdvisorTable(5)))
    np.testing.assert_array_equal(played.moves, uniform.moves)


@pytest.mark.parametrize("diagram", mostly_wide(life_and_death.DIAGRAMS, life_and_death.DIAGRAMS[:1]), ids=lambda diagram: diagram.name)
def test_it_learns_life_and_death(diagram):
    """After ten rounds its evaluation is nearer the truth than that of uniform playouts: in each diagram at most a third of the
    error is left, many standard errors (0.0047 at most, of the difference of two evaluations of 20,000 playouts)."""
    uniform, *_, advised = life_and_death.evaluations(diagram)
    before, after = (abs(evaluation.win_rate[0] - diagram.truth) for evaluation in (uniform, advised))
    error = np.hypot(uniform.win_rate_error[0], advised.win_rate_error[0])
    assert error < 0.0047
    assert before > 0.3 and after < before / 3 and before - after > 10 * error


# Tactics, saving, errors.


def test_tactical_moves_are_entered():
    """Captures and saves of positions from games, in their contexts, as often as each position says so."""
    games = [middle_game(5, plies, seed) for plies in range(8, 40) for seed in range(2)]
    last = np.arange(len(games), dtype=np.int32) % 27 - 1
    for context in ("previous", "point"):
        table = jaxgo.AdvisorTable(5, context).enter_tactics(from_games(*games), last_moves=last, visits=3)
        visits = np.zeros_like(table.visits)
        for game, move in zip(games, last.tolist()):
            for point in scalar_policies.tactics(game):
                visits[int(game.to_play < 0), (25 if move < 0 else move) if context == "previous" else 0, point] += 3
        np.testing.assert_array_equal(table.visits, visits)
        np.testing.assert_array_equal(table.results, 2 * visits)
    assert visits.sum() > 100 and (visits[0] > 0).any() and (visits[1] > 0).any()


def test_counts_beyond_what_a_table_holds_are_refused():
    """They would come round to negative ones, by which a move that always wins is the worst."""
    position = jaxgo.Position.from_ascii("X O . . .\n" + ". . . . .\n" * 4, to_play=-1)
    table = jaxgo.AdvisorTable(5, "point").enter_tactics(position, visits=1 << 20)
    many = jaxgo.Position.concatenate([position] * 1024)
    with pytest.raises(ValueError, match="as many playouts as it can count"):
        table.enter_tactics(many, visits=1 << 20)
    full = np.full((2, 1, 25), 2**31 - 2, np.int32)
    full = jaxgo.AdvisorTable(5, "point", visits=full, results=full)
    with pytest.raises(ValueError, match="as many playouts as it can count"):
        full.update(jaxgo.playouts(position, 40, moves=True), position)


@pytest.mark.parametrize("size", [np.uint8(9), np.int8(13), np.int64(5)])
def test_a_size_may_be_any_integer(size, tmp_path):
    """Of few bits too: it is not computed with."""
    table, plain = jaxgo.AdvisorTable(size), jaxgo.AdvisorTable(int(size))
    assert jaxgo.Advisor(0.5, table).planes.shape == jaxgo.Advisor(0.5, plain).planes.shape
    assert jax.tree.structure(table) == jax.tree.structure(plain)
    table.save(tmp_path / "table")
    assert type(jaxgo.AdvisorTable.load(tmp_path / "table").size) is int


def test_tables_can_be_saved(tmp_path):
    position = jaxgo.Position.empty(5)
    table = jaxgo.AdvisorTable(5).update(jaxgo.playouts(position, 100, moves=True), position)
    table.save(tmp_path / "table.npz")
    again = jaxgo.AdvisorTable.load(tmp_path / "table.npz")
    assert (again.size, again.context) == (5, "previous")
    np.testing.assert_array_equal(again.visits, table.visits, strict=True)
    np.testing.assert_array_equal(again.results, table.results, strict=True)
    assert repr(again) == repr(table) and "AdvisorTable(5, 'previous'): " in repr(again)
    leaves = jax.tree.leaves(again)
    assert [x.shape for x in leaves] == [(2, 26, 25)] * 2
    with pytest.raises(ValueError, match="path must be a file that AdvisorTable.save has written"):
        (tmp_path / "other").write_bytes(b"nothing")
        jaxgo.AdvisorTable.load(tmp_path / "other")
    jaxgo.AdvisorTable._of((9, "previous"), (table.visits, table.results)).save(tmp_path / "mixed.npz")
    with pytest.raises(ValueError, match="path must be a file that AdvisorTable.save has written"):
        jaxgo.AdvisorTable.load(tmp_path / "mixed.npz")


@pytest.mark.parametrize("size", [2, 3])
def test_small_boards_have_as_many_suggestions_as_points(size):
    table = jaxgo.AdvisorTable(size)
    assert jaxgo.Advisor(0.5, table).begins is None and jaxgo.Advisor(0.5).begun(size).size == size
    jaxgo.playouts(jaxgo.Position.empty(size), 4, policy=jaxgo.Advisor(0.5, table))


def test_copies_that_jax_makes_play_and_do_not_learn():
    """But for those without a table, which begin as they were told to."""
    position = jaxgo.Position.empty(5)
    played = jaxgo.playouts(position, 200, moves=True)
    advisor = jaxgo.Advisor(0.5, jaxgo.AdvisorTable(5).update(played, position))
    copy = jax.tree.map(np.asarray, advisor)
    np.testing.assert_array_equal(*(jaxgo.playouts(position, 50, moves=True, policy=one).moves for one in (advisor, copy)))
    for one in (copy, jaxgo.Advisor(0.5)):
        with pytest.raises(ValueError, match=re.escape("policy must have been made with a table to learn: jaxgo.Advisor(p, table)")):
            one.learnt(played, position)
    begun, again = jaxgo.Advisor(0.5, exploration=0.7, suggestions=3), jax.device_put(jaxgo.Advisor(0.5, exploration=0.7, suggestions=3))
    for found, expected in zip(*(jax.tree.leaves(one.begun(5).learnt(played, position)) for one in (again, begun))):
        np.testing.assert_array_equal(found, expected)


def test_bad_arguments_are_refused():
    table, position = jaxgo.AdvisorTable(5), jaxgo.Position.empty(5)
    played = jaxgo.playouts(position, 100, moves=True)
    wrong = [
        (lambda: jaxgo.AdvisorTable(26), "size must be between 2 and 25, not 26"),
        (lambda: jaxgo.AdvisorTable(9, "next"), "context must be one of 'point', 'previous', not 'next'"),
        (lambda: jaxgo.Advisor(2, table), "p must be between 0 and 1, not 2.0"),
        (lambda: jaxgo.Advisor(0.5, {}), "table must be a jaxgo.AdvisorTable, not dict"),
        (lambda: jaxgo.Advisor(0.5, table, exploration=None), "exploration must be a number from 0 to 1000000.0, not None"),
        (lambda: jaxgo.Advisor(np.True_, table), "p must be a number from 0 to 1, not"),
        (lambda: jaxgo.Capture(None), "q must be a number from 0 to 1, not None"),
        (lambda: jaxgo.Capture(object), "q must be a number from 0 to 1, not <class 'object'>"),
        (lambda: jaxgo.Nakade({}), "p must be a number from 0 to 1, not {}"),
        (lambda: jaxgo.NoSelfAtari(np.complex64(1j)), "p must be a number from 0 to 1, not np.complex64(1j)"),
        (lambda: jaxgo.Capture([0.5, 0.5]), "q must be a number from 0 to 1, not [0.5, 0.5]"),
        (lambda: jaxgo.Capture(10**400), "q must be between 0 and 1, not inf"),
        (lambda: jaxgo.Advisor(0.5, suggestions=626), "suggestions must be between 1 and 625, not 626"),
        (lambda: jaxgo.Advisor(0.5, table, exploration=-1), "exploration must be a number from 0 to 1000000.0, not -1"),
        (lambda: jaxgo.Advisor(0.5, table, exploration=1e308), "exploration must be a number from 0 to 1000000.0, not 1e+308"),
        (lambda: jax.jit(lambda t: jaxgo.Advisor(0.5, t).chance)(table), "table must have values: make the Advisor outside of jit"),
        (lambda: jaxgo.Capture([[1], [1, 2]]), "q must be a number from 0 to 1, not [[1], [1, 2]]"),
        (lambda: jaxgo.Advisor(0.5, table, suggestions=26), "suggestions must be between 1 and 25, not 26"),
        (lambda: jaxgo.playouts(jaxgo.Position.empty(9), 1, policy=jaxgo.Advisor(1, table)), "table for boards of size 5, but"),
        (lambda: table.update(None, position), "playouts must be of jaxgo.playouts or jaxgo.simulate, not NoneType"),
        (lambda: table.update(played, None), "position must be a jaxgo.Position, not NoneType"),
        (lambda: jaxgo.AdvisorTable(9).update(played, position), "playouts must be of size 9, as what learns from it, not 5"),
        (lambda: table.update(played, jaxgo.Position.empty(5, 2)), "as many positions as playouts, 1, not 2"),
        (lambda: table.update(jaxgo.playouts(position, 100), position), "playouts must have moves: ask for them with moves=True"),
        (lambda: table.update(played, position, komi=float("inf")), "komi must be finite"),
        (lambda: table.enter_tactics(position, last_moves=26), "last_moves must be between -1 and 25, not 26"),
    ]
    for call, text in wrong:
        with pytest.raises((TypeError, ValueError), match=re.escape(text)):
            call()


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (dict(size=26), ValueError, "size must be between 2 and 25, not 26"),
        (dict(context="next"), ValueError, "context must be one of 'point', 'previous', not 'next'"),
        (dict(results=None), TypeError, "visits and results must be given together, not visits alone"),
        (dict(visits=None), TypeError, "visits and results must be given together, not results alone"),
        (dict(visits=np.zeros(3, int)), ValueError, r"visits must be one integer or have shape \(2, 1, 25\), not \(3,\)"),
        (dict(results=np.zeros((2, 1, 25))), TypeError, "results must hold integers, not float64"),
        (dict(results=np.full((2, 1, 25), -1)), ValueError, "results must be between 0 and 2147483647, not -1"),
        (dict(results=np.full((2, 1, 25), 3)), ValueError, "results must be at most twice the visits"),
    ],
)
def test_counts_that_are_none_are_refused(wrong, error, text):
    counts = np.ones((2, 1, 25), int)
    with pytest.raises(error, match=text):
        jaxgo.AdvisorTable(**dict(size=5, context="point", visits=counts, results=2 * counts) | wrong)


def test_tactics_are_of_games_that_go_on_and_of_the_tables_size():
    table, text = jaxgo.AdvisorTable(5, "point"), "X O . . .\n" + ". . . . .\n" * 4
    assert table.enter_tactics(jaxgo.Position.from_ascii(text, to_play=-1)).visits.any()
    assert not table.enter_tactics(jaxgo.Position.from_ascii(text, to_play=-1, passes=2)).visits.any()
    for call, told in (
        (lambda: table.enter_tactics(jaxgo.Position.empty(9)), "position must be of size 5, as the table is, not 9"),
        (lambda: table.enter_tactics(jaxgo.Position.empty(5), visits=0), "visits must be between 1 and 1048576, not 0"),
        (lambda: table.enter_tactics(jaxgo.Position.empty(5), visits=(1 << 20) + 1), "visits must be between 1 and 1048576, not 1048577"),
    ):
        with pytest.raises(ValueError, match=re.escape(told)):
            call()
