"""What moves do: the same sets as an independent scalar version's, and a diagram for each thing that may be said."""

import collections

import numpy as np
import pytest

import jaxgo
from search import surroundings
from search.features import FEATURES, weights_by_number
from tests import scalar_features
from tests.positions import from_games
from tests.referee import Game, parse
from tests.wide import wide


def said_of(games: list[Game]) -> list[dict[str, list[int]]]:
    """For each position what is said of its moves, as `scalar_features.features`."""
    words, *_ = jaxgo.Leaves.arguments_of(from_games(*games))
    *_, numbers = surroundings.numbers(games[0].size, words)
    candidates = [[] if game.is_over else game.candidates() for game in games]
    said = [{name: [p for p in points if of[p] >> i & 1] for i, name in enumerate(FEATURES)} for points, of in zip(candidates, numbers)]
    return [{name: points for name, points in each.items() if points} for each in said]


def positions(size: int, count: int, seed: int) -> list[Game]:
    """Positions of random games, half of those that they pass through."""
    rng, games = np.random.default_rng(seed), []
    while len(games) < count:
        game = Game(size)
        for _ in range(2 * size * size):
            candidates = game.candidates()
            if not candidates:
                break
            game.play(int(rng.choice(candidates)))
            if rng.random() < 0.5:
                games.append(game.copy())
    return games[:count]


@pytest.mark.parametrize(("size", "count"), [(5, 7500), (2, 500), (9, 1000), *wide((9, 2000), (16, 20), (25, 10))])
def test_sets_are_the_scalar_versions(size, count):
    """In more than 10^4 positions, in all."""
    games, numbers = positions(size, count, seed=size + count), collections.Counter()
    for game, said in zip(games, said_of(games)):
        assert said == scalar_features.features(game), f"{game}"
        numbers.update({name: len(points) for name, points in said.items()})
    assert size != 9 or min(numbers[name] for name in FEATURES) > 25, numbers


def test_weights_are_sums():
    weights = weights_by_number(np.array([1, -2, 4, 8, 16, 32, 64, 128, 256, -512], np.int16))
    assert len(weights) == 1024 and weights[0] == 0 and weights[0b10] == -2 and weights[0b1000000101] == 1 + 4 - 512


# What is said of the points with a name, and of no other, X to move.
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
    "a chain on two sides of the move is captured once": ("capture_more", """
        X X X . .
        X O O X .
        X O a . .
        . X . . .
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
    assert game.every_stone_has_liberties()
    (said,) = said_of([game])
    assert said.get(what, []) == sorted(named.values()), said
