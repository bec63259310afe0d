"""Credits of a playout's moves: by hand from their published definitions, and of random playouts against the referee."""

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgo
from jaxgo.results import credits
from tests.positions import from_games, middle_game
from tests.referee import BLACK, Game, parse
from tests.rounding import in_units

SIZE = 5
P = SIZE * SIZE
"""The pass."""
NAMESPACES = {"numpy": np, "jax": jnp}

on_device = jax.jit(credits.credit, static_argnums=0)
"""Of arrays of jax, as programs have it."""


def histories(lines, *, captures=(), illegal=(), xp=np, length: int = 12) -> credits.Histories:
    """Playouts from their moves, all legal and without captures except for (playout, ply) and (playout, colour, point)."""
    moves = np.full((len(lines), length), -1, np.int16)
    breaks, legal = np.zeros(moves.shape, bool), np.ones((len(lines), 2, P), bool)
    for i, line in enumerate(lines):
        moves[i, : len(line)] = line
    for place in captures:
        breaks[place] = True
    for place in illegal:
        legal[place] = False
    return credits.Histories(*map(xp.asarray, (moves, breaks, legal)))


def earned(rule: str, line, *, xp=np, **options) -> list[int]:
    """What each ply of one playout earns, in units, and nothing after its end."""
    credit = np.asarray((on_device if xp is jnp else credits.credit)(rule, histories([line], xp=xp, **options)))[0]
    assert not credit[len(line) :].any()
    return credit[: len(line)].tolist()


@pytest.fixture(params=NAMESPACES)
def xp(request):
    """numpy or jax.numpy."""
    return NAMESPACES[request.param]


# (rule, line, what its plies earn); L = 5 and L = 4 are Williams's own examples.
LINES = [
    ("first_move", [3, 4, 7, 8], [1, 0, 0, 0]),
    ("first_move", [P, 4, 7, 8], [0, 0, 0, 0]),
    ("amaf", [3, 4, 7, 8, 9], [1, 0, 1, 0, 1]),
    ("amaf", [3, 4, 3, 7, 4, 7, 0], [1, 0, 0, 0, 0, 0, 1]),
    ("amaf", [P, 4, 7, P, P], [0, 0, 1, 0, 0]),
    ("amaf_first_twice", [3, 4, 7, 8, 3], [2, 0, 1, 0, 0]),
    ("weighted_v1", [3, 4, 7, 8, 9], [1, 0, Fraction(3, 5), 0, Fraction(1, 5)]),
    ("weighted_v1", [3, 4, 7, 8], [1, 0, Fraction(1, 2), 0]),
    ("weighted_v1", [3, 4, 3, 8, 9], [1, 0, 0, 0, Fraction(1, 5)]),
    ("weighted_v1", [3, 4, 4, 8, 9], [1, 0, 0, 0, Fraction(1, 5)]),
    ("weighted_v1", [3, P, P, 8, 9], [1, 0, 0, 0, Fraction(1, 5)]),
    ("weighted_v1", [3, 4, P, P], [1, 0, 0, 0]),
    ("weighted_v1", [0], [1]),
    ("weighted_v2", [3, 4, 7, 8, 9], [1, 0, Fraction(2, 3), 0, Fraction(1, 3)]),
    ("weighted_v2", [3, 4, 7, 8], [1, 0, Fraction(3, 5), 0]),
    ("weighted_v2", [3, 4, 3, 8, 4], [1, 0, Fraction(2, 3), 0, Fraction(1, 3)]),
    ("weighted_v2", [3, P, P, 8, 9], [1, 0, 0, 0, Fraction(1, 3)]),
    ("weighted_v2", [P, P], [0, 0]),
    *((rule, [], []) for rule in credits.RULES),
]


@pytest.mark.parametrize("rule, line, expected", LINES, ids=str)
def test_weights_by_hand(xp, rule, line, expected):
    assert earned(rule, line, xp=xp) == [in_units(x) for x in expected]


# What ends House's prefix: (line, options, the plies of the root player in the prefix).
PREFIXES = {
    "nothing": ([3, 4, 7, 8, 9], {}, [0, 2, 4]),
    "a repeat by the other": ([3, 4, 7, 3, 9], {}, [0, 2]),
    "a repeat of his own": ([3, 4, 3, 8, 9], {}, [0]),
    "a capture of his own": ([3, 4, 7, 8, 9], {"captures": [(0, 2)]}, [0]),
    "a capture by the other": ([3, 4, 7, 8, 9], {"captures": [(0, 3)]}, [0, 2]),
    "a point illegal for him": ([3, 4, 7, 8, 9], {"illegal": [(0, 0, 7)]}, [0]),
    "a point illegal for the other": ([3, 4, 7, 8, 9], {"illegal": [(0, 1, 4)]}, [0]),
    "no point that is illegal for the wrong player": ([3, 4, 7, 8, 9], {"illegal": [(0, 1, 7), (0, 0, 8)]}, [0, 2, 4]),
    "no pass": ([3, P, 7, 8, P, P, 9, P, P], {}, [0, 2, 6]),
    "no first pass": ([P, 4, 7, 8, 9], {}, [2, 4]),
    "the first ply's capture": ([3, 4, 7, 8], {"captures": [(0, 0)]}, [0]),
    "the first ply, although illegal": ([3, 4, 7, 8], {"illegal": [(0, 0, 3)]}, [0]),
    "for good": ([3, 4, 7, 4, 9, 10, 11], {}, [0, 2]),
    "passes all": ([P, P], {}, []),
}


@pytest.mark.parametrize("case", PREFIXES)
@pytest.mark.parametrize("rule", ["mctr_simple", "mctr_capture", "mctr_whole"])
def test_prefixes_by_hand(xp, rule, case):
    """Each of k plies earns 1 / k, or 1 in the negative control; what breaks in capture mode is the caller's to say."""
    line, options, plies = PREFIXES[case]
    share = in_units(1 if rule == "mctr_whole" else Fraction(1, max(len(plies), 1)))
    assert earned(rule, line, xp=xp, **options) == [share * (ply in plies) for ply in range(len(line))]


def from_referee(game: Game, lines) -> credits.Histories:
    """Playouts with captures and legality as the referee sees them."""
    moves = np.full((len(lines), 3 * game.num_points), -1, np.int16)
    breaks = np.zeros(moves.shape, bool)
    for i, line in enumerate(lines):
        after = game.copy()
        moves[i, : len(line)] = line
        breaks[i, : len(line)] = [bool(after.play(move)) for move in line]
    legal = np.zeros((2, game.num_points), bool)
    legal[0, game.legal_points()] = True
    legal[1, Game(game.size, game.stones, to_play=-game.to_play).legal_points()] = True
    return credits.Histories(moves, breaks, np.repeat(legal[None], len(lines), axis=0))


KO = """
    c X O .
    X O k O
    d X O .
    e f g h
"""
KO_LINES = {
    "fhk": "f",  # retakes the ko, which was illegal at the root
    "fkg": "fkg",  # the other may fill it
    "fegc": "feg",  # c is suicide for the other
    "chdge": "chdge",  # c is no suicide for him
    "cdhge": "c",  # d captures
    "gh": "gh",
}


@pytest.mark.parametrize("line", KO_LINES)
def test_prefixes_of_a_ko(line):
    """Of the prefix, every second ply is the root player's."""
    game, named = parse(KO, to_play=BLACK)
    game.ko = named["k"]
    moves = [named[letter] for letter in line]
    credit = credits.credit("mctr_simple", from_referee(game, [moves]))[0]
    own = list(range(0, len(KO_LINES[line]), 2))
    share = in_units(Fraction(1, len(own)))
    np.testing.assert_array_equal(credit[: len(line)], [share * (ply in own) for ply in range(len(line))])


CAPTURES = """
    O X . .
    a b . .
    . . . X
    . c X O
"""


def test_prefixes_of_captures():
    """`a` captures; as the first ply it still earns, alone."""
    game, named = parse(CAPTURES)
    a, b, c = (named[letter] for letter in "abc")
    credit = credits.credit("mctr_simple", from_referee(game, [[a, b, c], [b, c, a, 6], [c, 6, b, a]]))
    np.testing.assert_array_equal(credit[:, :4] / credits.UNIT, [[1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0, 0.5, 0]])


@pytest.fixture(scope="module")
def random_playouts() -> tuple[Game, list[list[int]], np.ndarray, credits.Histories]:
    """Playouts from a middle game: the position, the lines, what captured, and the histories."""
    game = middle_game(SIZE, 8, seed=2)
    played = jaxgo.playouts(from_games(game), 64, seed=3, moves=True)
    lines = [[int(move) for move in line if move >= 0] for line in played.moves[0]]
    return game, lines, played.captured[0], from_referee(game, lines)


@pytest.mark.parametrize("rule", credits.RULES)
def test_jax_gives_what_numpy_gives(random_playouts, rule):
    recorded = random_playouts[3]
    plain = credits.credit(rule, recorded)
    device = on_device(rule, credits.Histories(*map(jnp.asarray, recorded)))
    assert (plain.dtype, device.dtype) == (np.int32, jnp.int32)
    np.testing.assert_array_equal(device, plain)
    assert plain.any()


@pytest.mark.parametrize("whole", [1, 2, 3, 7, 62, 63, 64, 243, 1083, 1875, 1876, 8191])
def test_shares_are_the_nearest_units(whole):
    """Of every part, as a fraction and on the device."""
    parts = np.arange(whole + 1, dtype=np.int32)
    wholes = np.full_like(parts, whole)
    found = credits.share(parts, wholes)
    assert found.tolist() == [in_units(Fraction(part, whole)) for part in range(whole + 1)]
    np.testing.assert_array_equal(jax.jit(credits.share)(parts, wholes), found)


@pytest.mark.parametrize("error", [-0.9, 0.9])
def test_shares_do_not_depend_on_the_division_of_floats(error):
    """A device may divide floats as it likes, within 1 of a quotient of up to 2**16."""
    class Parts(np.ndarray):
        """Takes the way of other namespaces than numpy; the quotient of floats is off."""

        def __array_namespace__(self, **_):
            return jnp

        def __truediv__(self, other):
            return np.maximum(np.asarray(super().__truediv__(other)) + error, 0)

    parts = np.arange(1084, dtype=np.int32)
    wholes = np.full_like(parts, 1083)
    found = credits.share(parts.view(Parts), wholes.view(Parts))
    np.testing.assert_array_equal(np.asarray(found), credits.share(parts, wholes))


def test_squares_are_the_nearest_units(xp):
    units = np.unique(np.r_[np.arange(0, 2 * credits.UNIT + 1, 37), 255, 256, credits.UNIT - 1, credits.UNIT, 2 * credits.UNIT])
    found = np.asarray(credits.square(xp.asarray(units.astype(np.int32))))
    assert found.tolist() == [in_units(Fraction(int(x), credits.UNIT) ** 2) for x in units]


def test_every_playout_adds_one_in_mctr(random_playouts):
    """Whatever the length of the prefix, within half a unit for each ply; the negative control adds more."""
    for rule in ("mctr_simple", "mctr_capture", "first_move"):
        credit = credits.credit(rule, random_playouts[3])
        assert (np.abs(credit.sum(axis=1) - credits.UNIT) <= (credit > 0).sum(axis=1) / 2).all()
    whole = credits.credit("mctr_whole", random_playouts[3]).sum(axis=1)
    assert (whole >= credits.UNIT).all() and len(set(whole)) > 3


def test_credits_of_random_playouts(random_playouts):
    """Ply by ply from the definitions, by the referee's rules."""
    game, lines, captured, recorded = random_playouts
    np.testing.assert_array_equal(recorded.breaks, captured)
    credit = {rule: credits.credit(rule, recorded) for rule in credits.RULES}
    other = Game(game.size, game.stones, to_play=-game.to_play)
    for i, line in enumerate(lines):
        prefix = next(
            (ply for ply, move in enumerate(line) if move != P and
             (move in line[:ply] or captured[i, ply] or (other if ply % 2 else game).why_illegal(move))), len(line)
        )  # fmt: skip
        own = [ply for ply in range(0, len(line), 2) if line[ply] != P]
        first = [ply for ply in own if line[ply] not in line[:ply]]
        inside = [ply for ply in own if ply < prefix] or [0]
        expected = {
            "amaf": {ply: 1 for ply in first},
            "weighted_v1": {ply: 1 - Fraction(ply, len(line)) for ply in first},
            "weighted_v2": {ply: 1 - Fraction(ply, len(line) + 1) for ply in own},
            "mctr_simple": {ply: Fraction(1, len(inside)) for ply in inside},
        }
        for rule, weights in expected.items():
            row = credit[rule][i]
            assert {int(ply): row[ply] for ply in np.flatnonzero(row)} == {ply: in_units(x) for ply, x in weights.items()}, rule


def test_unknown_rule():
    with pytest.raises(ValueError, match="best_guess"):
        credits.credit("best_guess", histories([[0]]))
