"""`jaxgo.Position`: construction, arrays, hashing, use inside JAX's transformations, and bad input."""

import itertools

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType, PartitionSpec

import jaxgo
from tests.positions import every_size
from tests.referee import Game

Position = jaxgo.Position

DIAGRAM = """
    . X O . .
    X . X O .
    . X O . .
    . . . . X

    O . . . .
"""
STONES = np.array(
    [[0, 1, -1, 0, 0], [1, 0, 1, -1, 0], [0, 1, -1, 0, 0], [0, 0, 0, 0, 1], [-1, 0, 0, 0, 0]],
    dtype=np.int8,
)


def random_boards(size: int, num_boards: int, seed: int = 0) -> np.ndarray:
    """int8 [num_boards, N, N]: random stones on every other point, so that all have liberties; the boards are distinct."""
    rng = np.random.default_rng(seed)
    every_other = np.indices((size, size)).sum(axis=0) % 2 == 0
    stones = rng.integers(-1, 2, (num_boards, size, size)).astype(np.int8) * every_other.astype(np.int8)
    distinct = {board.tobytes(): index for index, board in enumerate(stones)}
    assert len(distinct) > 0.999 * num_boards
    return stones[list(distinct.values())]


# Construction and conversion.


@pytest.mark.parametrize("size", every_size())
def test_empty(size):
    position = Position.empty(size, 3, to_play=-1)
    assert (position.size, position.batch, len(position)) == (size, 3, 3)
    stones = np.asarray(position.to_array())
    assert stones.shape == (3, size, size) and stones.dtype == np.int8 and not stones.any()
    for name, value, dtype in (("to_play", -1, np.int8), ("ko", -1, np.int16), ("passes", 0, np.int8)):
        leaf = np.asarray(getattr(position, name))
        assert leaf.dtype == dtype and leaf.tolist() == [value] * 3, name


@pytest.mark.parametrize("size", every_size())
def test_arrays_come_back_as_they_went_in(size):
    all_stones = random_boards(size, 48 if size > 3 else 1, seed=size)
    rng = np.random.default_rng(size)
    for stones in np.split(all_stones, range(16, len(all_stones), 16)):  # the programs of the random positions
        to_play = rng.choice(np.array([1, -1], dtype=np.int8), len(stones))
        passes = rng.integers(0, 3, len(stones)).astype(np.int8)
        # A ko point must be empty; odd points of these boards are.
        ko = np.where(rng.random(len(stones)) < 0.5, 1, -1).astype(np.int16)
        position = Position.from_array(stones, to_play=to_play, ko=ko, passes=passes)
        np.testing.assert_array_equal(position.to_array(), stones)
        np.testing.assert_array_equal(position.to_play, to_play)
        np.testing.assert_array_equal(position.ko, ko)
        np.testing.assert_array_equal(position.passes, passes)
        np.testing.assert_array_equal(position.is_over(), passes == 2)
        np.testing.assert_array_equal(position.score(), [Game(size, board.reshape(-1)).margin() for board in stones])


def test_results_have_the_documented_types():
    position = Position.from_ascii(DIAGRAM)
    for array, shape, dtype in (
        (position.legal(), (1, 26), np.bool_),
        (position.is_over(), (1,), np.bool_),
        (position.score(), (1,), np.int32),
        (position.hash(), (1, 2), np.uint32),
        (position.to_array(), (1, 5, 5), np.int8),
    ):
        assert (array.shape, array.dtype) == (shape, dtype)


def test_one_board_is_a_batch_of_one():
    assert Position.from_array(STONES).batch == 1
    np.testing.assert_array_equal(Position.from_array(STONES).to_array(), STONES[None])


def test_scalars_are_for_the_whole_batch():
    position = Position.from_array(np.stack([STONES, STONES]), to_play=-1, ko=0, passes=1)
    assert np.asarray(position.to_play).tolist() == [-1, -1]
    assert np.asarray(position.ko).tolist() == [0, 0]
    assert np.asarray(position.passes).tolist() == [1, 1]


@pytest.mark.parametrize("text", [DIAGRAM, DIAGRAM.replace(" ", ""), DIAGRAM.replace("X", "#").replace(".", "+")])
def test_from_ascii(text):
    position = Position.from_ascii(text, to_play=-1, ko=6, passes=1)
    np.testing.assert_array_equal(position.to_array(), STONES[None])
    states = [np.asarray(leaf).tolist() for leaf in (position.to_play, position.ko, position.passes)]
    assert states == [[-1], [6], [1]]


def test_indexing_and_concatenation():
    stones = random_boards(5, 6)
    position = Position.from_array(stones, to_play=np.array([1, -1, 1, -1, 1, -1], dtype=np.int8))
    for index in (slice(2, 5), slice(None, None, 2), np.array([5, 0, 0]), [1, 2], np.array([True, False] * 3)):
        np.testing.assert_array_equal(position[index].to_array(), stones[index])
        np.testing.assert_array_equal(position[index].to_play, np.asarray(position.to_play)[index])
    assert position[2:5].batch == 3
    # A single index is still a batch, of one, so that every method works on it.
    assert position[3].batch == 1
    np.testing.assert_array_equal(position[3].to_array(), stones[3:4])
    np.testing.assert_array_equal(position[-1].to_array(), stones[5:])
    for beyond in (6, -7, 2**70):
        with pytest.raises(IndexError, match=f"position {beyond} of a batch of 6"):
            position[beyond]
    joined = Position.concatenate([position[3:], position[0], position[1:3]])
    np.testing.assert_array_equal(joined.to_array(), stones[[3, 4, 5, 0, 1, 2]])
    np.testing.assert_array_equal(joined.to_play, [-1, 1, -1, 1, -1, 1])
    assert [np.asarray(one.to_array()).tolist() for one in position] == stones[:, None].tolist()


def test_what_has_no_values_has_a_name_all_the_same():
    """As debuggers show the results of `jax.eval_shape`."""
    shapes = jax.eval_shape(lambda x: x, (Position.empty(5), jaxgo.Capture(0.5), jaxgo.Mercy(9), jaxgo.AdvisorTable(5)))
    assert [repr(x).partition("(")[0] for x in shapes] == ["Position", "Capture", "Mercy", "AdvisorTable"]


def test_repr_shows_the_board():
    text = repr(Position.from_ascii(DIAGRAM, to_play=-1))
    for row in (". X O . .", "X . X O .", "O . . . ."):
        assert row in text
    assert "White" in text
    many = repr(Position.empty(19, 1000))
    assert "1000" in many and len(many) < 5000


def test_repr_runs_no_program():
    """Debuggers ask for it anywhere, also where a function is being traced that has nothing to do with the position."""
    position, shown = Position.from_ascii(DIAGRAM, to_play=-1), []
    jax.jit(lambda x: (shown.append(repr(position)), x)[1])(1)
    assert shown == [repr(position)]


@pytest.mark.parametrize("transform", [jax.jit, jax.vmap, lambda f: lambda p: lax.scan(lambda _, q: (0, f(q)), 0, p)])
def test_repr_of_what_is_traced(transform):
    shown = []
    transform(lambda p: (shown.append(repr(p)), p.to_play)[1])(Position.empty(5, 2))
    assert shown[0].startswith("Position(size=5, to_play=")


def test_positions_are_values():
    """Playing makes a new batch and leaves the old one as it was."""
    position = Position.empty(5)
    position.play(3)
    assert not np.asarray(position.to_array()).any()


# Hashing.


def hashes(position: jaxgo.Position) -> np.ndarray:
    """uint64 [batch]."""
    words = np.asarray(position.hash()).astype(np.uint64)
    return words[:, 0] << np.uint64(32) | words[:, 1]


def test_the_hash_is_of_the_stones_only():
    stones = np.stack([STONES] * 4)
    position = Position.from_array(
        stones,
        to_play=np.array([1, -1, 1, 1], dtype=np.int8),
        ko=np.array([-1, -1, 6, -1], dtype=np.int16),
        passes=np.array([0, 0, 0, 2], dtype=np.int8),
    )
    assert len(set(hashes(position).tolist())) == 1


def test_the_hash_does_not_depend_on_the_way():
    for black in itertools.permutations((0, 7, 12)):
        position = Position.empty(5)
        for own, other in zip(black, (24, 18, 5)):
            position = position.play(own).play(other)
        if black == (0, 7, 12):
            first = hashes(position)
        assert hashes(position) == first
    # A capture takes the stone out of the hash: White's stone in the corner is as if it had never been.
    taken = Position.empty(5)
    for move in (1, 0, 5):
        taken = taken.play(move)
    plain = Position.empty(5).play(1).play(25).play(5)
    assert hashes(taken) == hashes(plain) != hashes(Position.empty(5))


@pytest.mark.parametrize("size", [9, 19])
def test_hashes_of_distinct_boards_are_distinct(size):
    """10^5 random boards; by chance, 64 bits collide once in 4 * 10^9 such tests, 32 of them would about once in each."""
    boards = random_boards(size, 100_000, seed=size)
    words = np.asarray(Position.from_array(boards).hash())
    assert len(np.unique(words, axis=0)) == len(boards)
    assert all(len(np.unique(words[:, half])) > len(boards) - 20 for half in (0, 1)), "each half is a good hash by itself"


def test_hashes_of_all_small_boards_are_distinct():
    """Boards that differ in a stone or two, which a poor table of random numbers would confuse."""
    boards = np.array(list(itertools.product((0, 1, -1), repeat=9)), dtype=np.int8).reshape(-1, 3, 3)
    legal = [board for board in boards if Game(3, board.reshape(-1)).every_stone_has_liberties()]
    assert len(np.unique(hashes(Position.from_array(np.stack(legal))))) == 12675


# Inside JAX's transformations.


def some_positions() -> jaxgo.Position:
    """A batch of 8 positions on 5x5, some with a ko or a pass before."""
    stones = random_boards(5, 8, seed=1)
    ko = np.array([1, -1, -1, 3, -1, -1, -1, -1], dtype=np.int16)
    passes = np.array([0, 1, 2, 0, 0, 0, 1, 0], dtype=np.int8)
    to_play = np.array([1, -1] * 4, dtype=np.int8)
    return Position.from_array(stones, to_play=to_play, ko=ko, passes=passes)


def same(actual: jaxgo.Position, expected: jaxgo.Position) -> None:
    """Asserts that two batches are equal, leaf by leaf."""
    assert actual.size == expected.size
    chex.assert_trees_all_equal(actual, expected)


def first_legal(position: jaxgo.Position) -> jax.Array:
    """The first legal move of each position, in terms of JAX; works under every transformation."""
    return jnp.argmax(position.legal(), axis=-1)


def going_on() -> jaxgo.Position:
    """`some_positions` without the one that has ended."""
    return some_positions()[np.array([0, 1, 3, 4, 5, 6, 7, 0])]


def test_positions_are_pytrees():
    position = some_positions()
    assert all(leaf.shape[0] == 8 for leaf in jax.tree.leaves(position))
    same(jax.tree.map(lambda leaf: leaf[2:4], position), position[2:4])
    leaves, structure = jax.tree.flatten(position)
    same(jax.tree.unflatten(structure, leaves), position)
    assert jax.tree.structure(Position.empty(5)) != jax.tree.structure(Position.empty(6))


def test_methods_work_inside_jit():
    position = going_on()
    every = jax.jit(lambda p: (p.legal(), p.play(first_legal(p)), p.score(), p.hash(), p.is_over(), p.to_array()))
    legal, after, score, hash_, over, stones = every(position)
    np.testing.assert_array_equal(legal, position.legal())
    same(after, position.play(np.asarray(first_legal(position))))
    np.testing.assert_array_equal(score, position.score())
    np.testing.assert_array_equal(hash_, position.hash())
    np.testing.assert_array_equal(over, position.is_over())
    np.testing.assert_array_equal(stones, position.to_array())


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_methods_of_a_position_from_outside_work_inside_jit(batch):
    """Its values are known there, but what becomes of them is traced."""
    position = going_on()[:batch]
    moves = np.asarray(first_legal(position))

    def every(_):
        played = position.play(moves), position.play(moves, check=False), position.play(moves, where=np.arange(batch) % 2 == 0)
        return position.legal(), position.useful(), position.score(), position.hash(), position.to_array(), played, position[0].hash()

    expected = every(0)
    chex.assert_trees_all_equal(jax.jit(every)(0), expected)
    chex.assert_trees_all_equal(jax.tree.map(lambda x: x[1], lax.scan(lambda _, x: (0, every(x)), 0, jnp.arange(2))[1]), expected)
    chex.assert_trees_all_equal_shapes_and_dtypes(jax.eval_shape(every, 0), expected)


@pytest.mark.parametrize(("value", "where", "error"), [
    (3.7, True, "points must hold integers, not float32"), (3, 1, "where must hold bools, not int32"),
    ([1, 2], True, r"points must be one for all or have shape \(8,\), not \(2,\)"),
])  # fmt: skip
def test_moves_that_are_traced_have_a_type_and_a_shape(value, where, error):
    position = some_positions()
    with pytest.raises((TypeError, ValueError), match=error):
        jax.jit(lambda points: position.play(points, where=where))(jnp.array(value))


def test_one_trace_serves_all_batches_of_a_shape():
    step = jax.jit(chex.assert_max_traces(lambda p: p.play(first_legal(p)), n=1))
    position = going_on()
    for _ in range(4):
        position = step(position)
    same(step(going_on()), going_on().play(np.asarray(first_legal(going_on()))))
    chex.clear_trace_counter()


def test_methods_work_inside_vmap():
    """vmap takes the batch apart: the function sees positions without a batch axis."""
    position = going_on()
    legal, after, score = jax.vmap(lambda p: (p.legal(), p.play(first_legal(p)), p.score()))(position)
    np.testing.assert_array_equal(legal, position.legal())
    same(after, position.play(np.asarray(first_legal(position))))
    np.testing.assert_array_equal(score, position.score())
    # And batches of batches.
    stacked = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), position)
    np.testing.assert_array_equal(jax.vmap(lambda p: p.score())(stacked), [position.score()] * 2)


def test_methods_work_inside_scan():
    def step(position, _):
        legal = position.legal()
        move = jnp.argmax(legal, axis=-1)
        after = position.play(move)
        return after, (move, after.score())

    final, (moves, scores) = jax.jit(lambda p: jax.lax.scan(step, p, length=12))(going_on())
    position = going_on()
    for move, score in zip(np.asarray(moves), np.asarray(scores)):
        position = position.play(move)
        np.testing.assert_array_equal(position.score(), score)
    same(final, position)


def test_methods_work_inside_shard_map():
    mesh = jax.make_mesh((1,), ("devices",), axis_types=(AxisType.Auto,))
    spec = PartitionSpec("devices")

    def step(position):
        return position.legal(), position.play(first_legal(position)), position.score()

    sharded = jax.jit(jax.shard_map(step, mesh=mesh, in_specs=(spec,), out_specs=spec))
    position = going_on()
    legal, after, score = sharded(position)
    np.testing.assert_array_equal(legal, position.legal())
    same(after, position.play(np.asarray(first_legal(position))))
    np.testing.assert_array_equal(score, position.score())


# Bad input. The text must name what was wrong.

EMPTY = np.zeros((2, 5, 5), dtype=np.int8)
WITHOUT_LIBERTIES = np.array([[1, -1, 0], [-1, 0, 0], [0, 0, 0]], dtype=np.int8)


def with_stone(point: int) -> np.ndarray:
    """An otherwise empty 5x5 board."""
    stones = np.zeros((5, 5), dtype=np.int8)
    stones[divmod(point, 5)] = 1
    return stones


BAD_INPUT = {
    "empty: size 1": (lambda: Position.empty(1), r"size.*\b1\b"),
    "empty: size 26": (lambda: Position.empty(26), r"size.*\b26\b"),
    "empty: size 0": (lambda: Position.empty(0), r"size.*\b0\b"),
    "empty: size -5": (lambda: Position.empty(-5), r"size.*-5"),
    "empty: size 9.0": (lambda: Position.empty(9.0), r"size.*9\.0"),
    "empty: size '9'": (lambda: Position.empty("9"), r"size.*9"),
    "empty: size True": (lambda: Position.empty(True), r"size.*True"),
    "empty: batch 0": (lambda: Position.empty(9, 0), r"batch.*\b0\b"),
    "empty: batch -1": (lambda: Position.empty(9, -1), r"batch.*-1"),
    "empty: batch 1.5": (lambda: Position.empty(9, 1.5), r"batch.*1\.5"),
    "empty: to_play 0": (lambda: Position.empty(9, to_play=0), r"to_play.*\b0\b"),
    "empty: to_play 2": (lambda: Position.empty(9, to_play=2), r"to_play.*\b2\b"),
    "array: not square": (lambda: Position.from_array(np.zeros((1, 5, 6), np.int8)), r"stones.*5, 6"),
    "array: one axis": (lambda: Position.from_array(np.zeros(25, np.int8)), r"stones.*25"),
    "array: four axes": (lambda: Position.from_array(np.zeros((1, 1, 5, 5), np.int8)), r"stones.*1, 1, 5, 5"),
    "array: no boards": (lambda: Position.from_array(np.zeros((0, 5, 5), np.int8)), r"stones|batch"),
    "array: size 1": (lambda: Position.from_array(np.zeros((1, 1, 1), np.int8)), r"(size|stones).*\b1\b"),
    "array: size 26": (lambda: Position.from_array(np.zeros((1, 26, 26), np.int8)), r"(size|stones).*\b26\b"),
    "array: float": (lambda: Position.from_array(EMPTY.astype(np.float32)), r"stones.*float32"),
    "array: bool": (lambda: Position.from_array(EMPTY.astype(bool)), r"stones.*bool"),
    "array: value 2": (lambda: Position.from_array(with_stone(7) * np.int8(2)), r"stones.*\b2\b"),
    "array: value -2": (lambda: Position.from_array(with_stone(7) * np.int8(-2)), r"stones.*-2"),
    "array: value 257": (lambda: Position.from_array(with_stone(7).astype(np.int32) * 257), r"stones.*257"),
    "array: no liberties": (lambda: Position.from_array(WITHOUT_LIBERTIES), r"libert"),
    "array: full board": (lambda: Position.from_array(np.ones((1, 3, 3), np.int8)), r"libert"),
    "array: ko occupied": (lambda: Position.from_array(with_stone(7), ko=7), r"ko.*\b7\b"),
    "array: ko off board": (lambda: Position.from_array(EMPTY, ko=25), r"ko.*\b25\b"),
    "array: ko -2": (lambda: Position.from_array(EMPTY, ko=-2), r"ko.*-2"),
    "array: ko 1.0": (lambda: Position.from_array(EMPTY, ko=1.0), r"ko.*(1\.0|float)"),
    "array: ko shape": (lambda: Position.from_array(EMPTY, ko=np.array([1, 2, 3])), r"ko.*3"),
    "array: to_play 0": (lambda: Position.from_array(EMPTY, to_play=0), r"to_play.*\b0\b"),
    "array: to_play 'black'": (lambda: Position.from_array(EMPTY, to_play="black"), r"to_play.*(black|str|<U)"),
    "array: to_play shape": (lambda: Position.from_array(EMPTY, to_play=np.array([1, 1, 1])), r"to_play.*3"),
    "array: passes 3": (lambda: Position.from_array(EMPTY, passes=3), r"passes.*\b3\b"),
    "array: passes -1": (lambda: Position.from_array(EMPTY, passes=-1), r"passes.*-1"),
    "array: passes shape": (lambda: Position.from_array(EMPTY, passes=np.array([[1, 1]])), r"passes.*1, 2"),
    "ascii: letter": (lambda: Position.from_ascii("X .\n. Z"), r"Z"),
    "ascii: ragged": (lambda: Position.from_ascii("X . .\n. .\n. . ."), r"(row|line|column)"),
    "ascii: not square": (lambda: Position.from_ascii("X . .\n. . ."), r"(row|square|line)"),
    "ascii: nothing": (lambda: Position.from_ascii("  \n "), r"(empty|no board|size|row)"),
    "ascii: no text": (lambda: Position.from_ascii(5), r"text.*(5|int)"),
    "ascii: no liberties": (lambda: Position.from_ascii("X O\nO ."), r"libert"),
    "play: off board": (lambda: Position.empty(5).play(26), r"\b26\b"),
    "play: -1": (lambda: Position.empty(5).play(-1), r"-1"),
    "play: occupied": (lambda: Position.from_array(with_stone(7)).play(7), r"\b7\b"),
    "play: one of two": (lambda: Position.from_array(EMPTY).play(np.array([3, 77])), r"77"),
    "play: wrong number": (lambda: Position.from_array(EMPTY).play(np.array([1, 2, 3])), r"points.*3"),
    "play: float": (lambda: Position.empty(5).play(1.0), r"points.*(1\.0|float)"),
    "empty: to_play of each": (lambda: Position.empty(5, 2, to_play=np.array([1, -1])), r"to_play must be an integer, not array"),
    "concatenate: no positions": (lambda: Position.concatenate([Position.empty(5), 3]), r"positions must hold .*, not int"),
    "concatenate: one number": (lambda: Position.concatenate(5), r"positions must be jaxgo\.Position objects, not 5"),
    "index: of two lengths": (lambda: Position.empty(5, 3)[[1, [2]]], r"a batch's index must be"),
    "concatenate: nothing": (lambda: Position.concatenate([]), r"(positions|empty|at least one|none)"),
    "concatenate: sizes": (lambda: Position.concatenate([Position.empty(5), Position.empty(6)]), r"size.*5.*6"),
}


@pytest.mark.parametrize("call, match", BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_bad_input_is_refused_by_name_and_value(call, match):
    with pytest.raises((ValueError, TypeError), match=f"(?is){match}") as caught:
        call()
    # One clear sentence of our own, not something from the depths of numpy or JAX.
    last = caught.traceback[-1].path
    assert "jaxgo" in str(last) and "site-packages" not in str(last), f"raised in {last}"


def test_the_board_without_liberties_is_named():
    """In a batch, the error says which board and which point."""
    boards = np.zeros((4, 3, 3), np.int8)
    boards[2] = WITHOUT_LIBERTIES
    with pytest.raises(ValueError, match=r"(?s)\b2\b"):
        Position.from_array(boards)


def test_indices_beyond_the_batch_are_refused_in_arrays_too():
    position = Position.empty(5, 3)
    for index, wrong in (([0, 3], 3), (np.array([-1, -4]), -4), (np.int64(3), 3)):
        with pytest.raises(IndexError, match=f"position {wrong} of a batch of 3"):
            position[index]
    assert position[[-3, 2]].batch == 2
    for index in ([True, False], np.zeros(4, bool)):
        with pytest.raises(ValueError, match=r"a batch of 3 takes an index of \[n\] integers or \[3\] bools, not bool of "):
            position[index]
    with pytest.raises(TypeError, match="a batch's index must be an integer, a slice or an array of integers or bools, not True"):
        position[True]


def test_repr_shows_three_boards_and_counts_the_others():
    shown = repr(Position.empty(5, 3))
    assert shown.count("to play") == 3 and "more" not in shown
    shown = repr(Position.empty(5, 7))
    assert shown.count("to play") == 3 and shown.endswith("... and 4 more")
    told = repr(Position.from_array(np.zeros((3, 2, 2), np.int8), to_play=-1, ko=[2, -1, -1], passes=[0, 1, 2])).splitlines()
    assert [line for line in told if "to play" in line] == [
        f"White (X is Black) to play{more}" for more in (", ko at 2", ", passes 1", ", passes 2")
    ]


def test_an_illegal_moves_place_is_told_by_row_and_column():
    position = Position.empty(5).play(7)
    with pytest.raises(ValueError, match=r"point 7 \(row 1, column 2\) in position 0: the point is occupied"):
        position.play(7)
    over = Position.empty(5).play(25).play(25)
    with pytest.raises(ValueError, match="a pass in position 0: the game is over"):
        over.play(25)


def test_the_hash_is_the_same_in_every_version():
    assert np.asarray(Position.empty(5).play(12).hash()).tolist() == [[3929651670, 2162162045]]
    assert np.asarray(Position.empty(19).play(0).play(360).hash()).tolist() == [[3441494086, 3170568770]]
