"""What is said of moves: the same sets as an independent scalar version's, and a diagram for each thing that may be said."""

import collections
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgo
from jaxgo.base import forms
from jaxgo.board import bitboard as bb
from jaxgo.board import dynamics, rules
from jaxgo.board.geometry import geometry
from jaxgo.board.tactics import tactics
from jaxgo.playing.features import features
from tests import scalar_features
from tests.positions import from_games
from tests.referee import Game, parse
from tests.wide import wide

#: Positions of a call.
ROOM = 512


@functools.cache
def program(size: int, form: forms.Form):
    """Positions and their last moves to bool [B, F, P]."""
    g = geometry(size)

    def said(position, last, before):
        own, opp = dynamics.own_and_opp(position)
        found = tactics(g, own, opp)
        legal = rules.legal_points(g, own, opp, dynamics.ko_board(g, position.ko), found.free)
        useful = bb.both(legal, rules.no_eyes(g, own, opp))
        words = features(g, own, opp, found, useful, last, before)
        return bb.points_of(g, tuple(words[..., w] for w in range(g.num_words)))

    return jax.jit(forms.written(form, said))


def said_of(games: list[Game], lasts: list[tuple[int, int]], form: forms.Form = forms.CPU) -> list[dict[str, list[int]]]:
    """For each position, given its last move and the one before, what is said of its moves, as `scalar_features.features`."""
    out, count = [], len(games)
    more = -count % ROOM
    games, lasts = games + games[:1] * more, np.array(lasts + lasts[:1] * more, np.int32)
    for start in range(0, len(games), ROOM):
        part = slice(start, start + ROOM)
        found = np.asarray(program(games[0].size, form)(from_games(*games[part]), *jnp.asarray(lasts[part].T)))
        for planes in found:
            out.append({name: np.flatnonzero(x).tolist() for name, x in zip(jaxgo.FEATURES, planes) if x.any()})
    return out[:count]


def positions(size: int, count: int, seed: int) -> tuple[list[Game], list[tuple[int, int]]]:
    """Positions of random games, half of those that they pass through, with their last moves."""
    rng, games, lasts = np.random.default_rng(seed), [], []
    while len(games) < count:
        game, moves = Game(size), [-1, -1]
        for _ in range(2 * size * size):
            candidates = game.candidates()
            if not candidates:
                break
            moves.append(int(rng.choice(candidates)))
            game.play(moves[-1])
            if rng.random() < 0.5:
                games.append(game.copy())
                lasts.append((moves[-1], moves[-2]))
    return games[:count], lasts[:count]


@pytest.mark.parametrize(("size", "count", "form"), [
    (5, 15 * ROOM, forms.CPU), (2, ROOM, forms.PLAIN), *wide((9, 4 * ROOM, forms.CPU), (16, 20, forms.CPU)),
])  # fmt: skip
def test_sets_are_the_scalar_versions(size, count, form):
    """In more than 10^4 positions, in all."""
    games, lasts = positions(size, count, seed=size)
    numbers = collections.Counter()
    for game, last, said in zip(games, lasts, said_of(games, lasts, form)):
        assert said == scalar_features.features(game, *last), f"{game}\n{last}"
        numbers.update({name: len(points) for name, points in said.items()})
    assert size != 9 or min(numbers[name] for name in jaxgo.FEATURES) > 50, numbers


# What is said of the points with a name, and of no other, X to move; but l was the last move, and m the one before it.
DIAGRAMS = {
    "captures of one stone": ("capture_one", """
        . X . . .
        X O a . .
        . X . . .
        . . . X X
        . . . b O
    """),
    "captures of two stones, of one chain or of two": ("capture_two", """
        O X . X .
        O X X O X
        a . X b .
        X . X O X
        . . . X .
    """),
    "a capture of three stones": ("capture_more", """
        O O X . .
        O X . . .
        a . . . .
        X . . . .
        . . . . .
    """),
    "extending saves, but not with one liberty": ("save", """
        . O . . .
        O X a . .
        . O . O .
        . . O X O
        . . . . O
    """),
    "what takes the attackers saves": ("save", """
        a O X b .
        . X O X .
        . . c . .
        . . . . .
        . . . . .
    """),
    "ataris on chains of two liberties": ("atari", """
        . O . . .
        . a . . .
        X O b . .
        . X . . .
        . . . . .
    """),
    "self-atari of one stone and of more": ("self_atari", """
        . O . . .
        O a . . .
        d O . . .
        . e O O O
        f O X b c
    """),
    "a pattern: hane on either side": ("pattern", """
        . . . . .
        . a O b .
        . c X d .
        . . . . .
        . . . . .
    """),
    "beside the last move's chain": ("near_last_1", """
        . . . . .
        . . a . .
        . b O X .
        . c l d .
        . . e . .
    """),
    "two steps from the last move, through the chains beside it": ("near_last_2", """
        . . a . .
        . b . c d
        e . l X X
        . f . g h
        . . i . .
    """),
    "beside the move before": ("near_before_1", """
        . . . . .
        . a . . .
        b m c l .
        . d . . .
        . . . . .
    """),
    "the first line, far from stones": ("far_line_1", """
        X . . . a
        . . . . b
        . . . . c
        . . . . d
        e f g h i
    """),
    "as good as eyes": ("eyelike", """
        d X a X .
        X O X X .
        . . . . .
        X X X X O
        b c X O .
    """),
}


@pytest.mark.parametrize("name", DIAGRAMS)
def test_diagrams(name):
    what, text = DIAGRAMS[name]
    game, named = parse(text)
    last, before = named.pop("l", -1), named.pop("m", -1)
    for point, stone in ((last, -1), (before, 1)):
        if point >= 0:
            game.stones[point] = stone
    assert game.every_stone_has_liberties()
    (said,) = said_of([game], [(last, before)])
    assert said.get(what, []) == sorted(named.values()), said
