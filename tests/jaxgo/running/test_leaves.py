"""Leaves of a tree: positions by the rules of `Position` and the referee, and the playouts of `jaxgo.playouts`."""


import jax
import numpy as np
import pytest

import jaxgo
from jaxgo import STAY, LeafResults, Leaves
from jaxgo.backends.cpu import Cpu
from jaxgo.backends.programs import Programs
from jaxgo.base.promise import Promise
from jaxgo.board.geometry import geometry
from jaxgo.results import outcome, sums
from jaxgo.running import leaf_columns, ring, ring_program
from jaxgo.running.leaf_results import Places
from jaxgo.running.leaves import Call
from jaxgo.running.request import seed_words
from tests.positions import from_games, middle_game
from tests.referee import Game, parse

LEAVES, PLAYOUTS, SEED = 16, 4, 11
SIZES = (5, 9)


def words_of(games: list[Game]) -> np.ndarray:
    """uint32 [n, 2 W]: the stones of the player to move, then the other's, bit by bit."""
    g = geometry(games[0].size)
    out = np.zeros((len(games), 2, g.num_words), np.uint32)
    for i, game in enumerate(games):
        for point, stone in enumerate(game.stones):
            if stone:
                out[i, int(stone != game.to_play), g.word_of_point[point]] |= np.uint32(1) << np.uint32(g.bit_of_point[point])
    return out.reshape(len(games), -1)


def play(leaves: Leaves, games: list[Game], moves, streams=None) -> LeafResults:
    """The leaves that moves from positions of the referee lead to."""
    streams = np.arange(len(games)) if streams is None else streams
    black = [game.to_play == 1 for game in games]
    ko, passes = [game.ko for game in games], [game.passes for game in games]
    return leaves.gather(leaves.submit(words_of(games), ko, passes, black, moves, streams))


KO = """
    . X O . .
    X O k O .
    . X O . .
    . . . . .
    . . . . .
"""
"""Black takes a ko at k."""


def leaf_games(size: int) -> tuple[list[Game], list[int]]:
    """Positions and a move in each: points, captures and kos among them, passes, a second pass, none at all, and an end."""
    rng, games, moves = np.random.default_rng(size), [], []
    for i in range(10):
        game = middle_game(size, int(rng.integers(0, 2 * size * size)), seed=i)
        game.to_play = game.to_play if i % 3 else -game.to_play
        game.ko = -1
        games.append(game)
        captures = [move for move in game.legal_points() if game.copy().play(move)]
        moves.append(int(rng.choice(captures or game.legal_points() or [game.pass_move])))
    rows = [row.split() + ["."] * (size - 5) for row in KO.strip().splitlines()] + [["."] * size] * (size - 5)
    ko, named = parse("\n".join(map(" ".join, rows)))
    games += [ko, middle_game(size, 9, seed=20), Game(size, passes=1), middle_game(size, 8, seed=21), Game(size, passes=2)]
    moves += [named["k"], size * size, size * size, STAY, STAY]
    after_ko = ko.copy()
    after_ko.play(named["k"])
    return [*games, after_ko], [*moves, STAY]


def after(game: Game, move: int) -> Game:
    """The leaf."""
    out = game.copy()
    if move != STAY:
        out.play(move)
    return out


@pytest.fixture(scope="module", params=SIZES)
def case(request) -> tuple[list[Game], list[int], list[Game], LeafResults, jaxgo.Playouts]:
    """Positions, moves, the referee's leaves, the results, and the engine's playouts of the same leaves."""
    games, moves = leaf_games(request.param)
    leaves = Leaves(request.param, LEAVES, PLAYOUTS, seed=SEED, moves=True)
    results = play(leaves, games, moves)
    leaves.close()
    found = [after(game, move) for game, move in zip(games, moves)]
    return games, moves, found, results, jaxgo.playouts(from_games(*found), PLAYOUTS, seed=SEED, moves=True)


def test_positions_are_the_referees(case):
    """Stones, ko, passes, area, and where both players may play; nowhere once the game is over."""
    games, moves, found, results, _ = case
    assert len(games) == LEAVES
    np.testing.assert_array_equal(results.words, words_of(found))
    assert results.ko.tolist() == [game.ko for game in found]
    assert results.passes.tolist() == [game.passes for game in found]
    assert results.margin.tolist() == [game.to_play * game.margin() for game in found]
    for game, legal, useful in zip(found, results.legal, results.useful):
        other = Game(game.size, game.stones, to_play=-game.to_play, passes=game.passes)
        assert np.flatnonzero(legal[0]).tolist() == game.legal_points()
        assert np.flatnonzero(legal[1]).tolist() == other.legal_points()
        assert np.flatnonzero(useful).tolist() == (game.candidates() if not game.is_over else [])
    assert (results.legal[:, 0] != results.useful).any(), "no eyes"
    assert {0, 1, 2} == set(results.passes.tolist()) and (results.ko >= 0).any()
    grown = [sum(map(abs, leaf.stones)) - sum(map(abs, game.stones)) for leaf, game in zip(found, games)]
    assert any(more < 1 and 0 <= move < game.num_points for more, move, game in zip(grown, moves, games)), "no captures"


def test_positions_are_those_of_position_play(case):
    """The same by the library's own rules, hashes included."""
    games, moves, _, results, _ = case
    for i, (game, move) in enumerate(zip(games, moves)):
        position = from_games(game)
        if move != STAY:
            position = position.play(move)
        high, low = np.asarray(position.hash())[0].tolist()
        assert int(results.hash[i]) == high << 32 | low
        own, other = (position.black, position.white) if int(position.to_play[0]) == 1 else (position.white, position.black)
        assert results.words[i].tolist() == [int(word[0]) for word in (*own, *other)]
        assert (results.ko[i], results.passes[i]) == (int(position.ko[0]), int(position.passes[0]))


def test_playouts_are_those_of_the_engine(case):
    """Move by move, captures too."""
    results, played = case[3], case[4]
    np.testing.assert_array_equal(results.moves, played.moves)
    np.testing.assert_array_equal(results.captured, played.captured)
    colour = np.array([game.to_play for game in case[2]])
    np.testing.assert_array_equal(results.lead, (colour[:, None] * played.margin).sum(axis=1))
    np.testing.assert_array_equal(results.squares, (played.margin.astype(np.int64) ** 2).sum(axis=1))


def results_of(margins: np.ndarray, found: list[Game], komi: float) -> np.ndarray:
    """int [B, K]: results in halves for the players to move, from Black's margins."""
    colour = np.array([game.to_play for game in found])[:, None]
    return 1 + np.sign(colour * (margins - komi)).astype(int)


def first_plays(lines: np.ndarray, results: np.ndarray, num_points: int) -> np.ndarray:
    """int [2, 2, P + 1] of one leaf: playouts in which each was the first of both at each point, and his results in them."""
    out = np.zeros((2, 2, num_points + 1), int)
    for line, result in zip(lines.tolist(), results.tolist()):
        for ply, move in enumerate(line):
            if 0 <= move < num_points and move not in line[:ply]:
                out[ply % 2, 0, move] += 1
                out[ply % 2, 1, move] += 2 - result if ply % 2 else result
    return out


@pytest.mark.parametrize("komi", [7.5, 7.0, -3.5, 25])
def test_wins_and_first_plays(case, komi):
    """Sums over the playouts against a count from the recorded moves; draws count half."""
    games, moves, found, _, played = case
    size = found[0].size
    # The programs with and without recorded moves, in turn.
    leaves = Leaves(size, LEAVES, PLAYOUTS, komi=komi, seed=SEED, moves=komi == 7.5)
    results = play(leaves, games, moves)
    leaves.close()
    expected = results_of(played.margin, found, komi)
    np.testing.assert_array_equal(results.wins, expected.sum(axis=1))
    if results.results is not None:
        np.testing.assert_array_equal(results.results, expected)
    for i in range(LEAVES):
        np.testing.assert_array_equal(results.firsts[i], first_plays(played.moves[i], expected[i], size * size))
    if komi == {5: 25, 9: 7.0}[size]:
        assert (expected == 1).any(), "no draws"
    assert results.firsts.any(axis=(1, 2, 3)).sum() > LEAVES // 2


def test_first_plays_of_many_playouts():
    """Twice as many as are counted at a time, and one; all are won by the same, and some points always first played."""
    playouts = 2 * sums.AT_ONCE + 1
    games = [middle_game(5, plies, seed=plies) for plies in (0, 15, 31, 46)]
    leaves = Leaves(5, LEAVES, playouts, komi=-25.5, seed=SEED, moves=True)
    results = play(leaves, games, [STAY] * len(games))
    leaves.close()
    most = 0
    for i, game in enumerate(games):
        expected = first_plays(results.moves[i], np.full(playouts, 1 + game.to_play), 25)
        np.testing.assert_array_equal(results.firsts[i], expected)
        most = max(most, expected[:, 0].max())
    assert most == playouts and {game.to_play for game in games} == {-1, 1}


def test_ends_of_the_game(case):
    """No playout goes on after two passes: all have the result of the board as it stands."""
    _, _, found, results, played = case
    over = [i for i, game in enumerate(found) if game.is_over]
    assert len(over) == 2
    for i in over:
        assert (results.moves[i] == -1).all() and not results.firsts[i].any()
        assert not results.legal[i].any() and not results.useful[i].any()
        assert results.wins[i] == PLAYOUTS * results_of(np.array([[found[i].margin()]]), found, 7.5)[i, 0]
        assert results.lead[i] == PLAYOUTS * results.margin[i]


def assert_equal(actual: LeafResults, expected: LeafResults, index=slice(None)) -> None:
    """All arrays, of some leaves of the second."""
    for name, x in vars(expected.some(index)).items():
        if x is not None:
            np.testing.assert_array_equal(getattr(actual, name), x, name, strict=True)


def test_results_do_not_depend_on_the_split(case):
    """Over workers, calls, and the order in a call: a leaf's stream is its name."""
    games, moves, _, expected, _ = case
    # Two workers at the larger size, whose program for that is there; one at the other, whose program compiles fast.
    devices = jax.devices()[:1] * (2 if games[0].size == max(SIZES) else 1)
    leaves = Leaves(games[0].size, LEAVES, PLAYOUTS, seed=SEED, moves=True, devices=devices)
    order = np.random.default_rng(0).permutation(LEAVES)
    for chosen in (order, order[:3], order[3:4], order[4:]):
        some = play(leaves, [games[i] for i in chosen], [moves[i] for i in chosen], streams=chosen)
        assert_equal(some, expected, chosen)
    leaves.close()


def test_calls_wait_in_line(case):
    """Several may be under way, and are gathered in any order."""
    games, moves, _, expected, _ = case
    leaves = Leaves(games[0].size, LEAVES, PLAYOUTS, seed=SEED, moves=True)
    black, ko, passes = zip(*((game.to_play == 1, game.ko, game.passes) for game in games))
    arrays = [words_of(games), *map(np.array, (ko, passes, black, moves)), np.arange(LEAVES)]
    calls = [leaves.submit(*(x[part] for x in arrays)) for part in (slice(0, 5), slice(5, 16), slice(2, 9))]
    for call, part in ((calls[2], slice(2, 9)), (calls[0], slice(0, 5)), (calls[1], slice(5, 16))):
        assert_equal(leaves.gather(call), expected, part)
    leaves.close()


def test_seeds_and_streams_name_the_playouts():
    """Equal leaves of other streams, or with another seed, get other playouts; equal ones the same."""
    leaves = Leaves(5, LEAVES, PLAYOUTS, seed=SEED, moves=True)
    some = play(leaves, [Game(5)] * 4, [STAY] * 4, streams=[3, 8, 3, 1 << 30])
    np.testing.assert_array_equal(some.moves[0], some.moves[2])
    lines = {tuple(line) for line in some.moves[[0, 1, 3]].reshape(3 * PLAYOUTS, -1).tolist()}
    assert len(lines) == 3 * PLAYOUTS
    leaves.close()
    leaves = Leaves(5, LEAVES, PLAYOUTS, seed=SEED + 1, moves=True)
    other = play(leaves, [Game(5)] * 4, [STAY] * 4, streams=[3, 8, 3, 1 << 30])
    assert not (other.moves == some.moves).all(axis=2).any()
    leaves.close()


def test_calls_of_too_many_playouts_are_refused():
    """Before their records would fill the memory, or their numbers 32 bits."""
    with pytest.raises(ValueError, match="leaves times playouts must be .*1048576000"):
        Leaves(5, 1 << 16, 16_000)


@pytest.mark.parametrize("name, value", [("size", 1), ("size", 26), ("leaves", 0), ("playouts", 0), ("playouts", 16_001),
                                         ("komi", float("nan")), ("seed", -1), ("seed", "1")])  # fmt: skip
def test_bad_arguments(name, value):
    """The error names the argument."""
    arguments = {"size": 5, "leaves": 1, "playouts": 1} | {name: value}
    with pytest.raises((ValueError, TypeError), match=name):
        Leaves(arguments.pop("size"), arguments.pop("leaves"), arguments.pop("playouts"), **arguments)


def test_leaves_are_positions_and_back():
    """What comes back can be played on as positions, and positions can be submitted."""
    games, moves = leaf_games(5)
    leaves = Leaves(5, LEAVES, PLAYOUTS, seed=SEED)
    found = play(leaves, games, moves)
    black = np.array([game.to_play == (1 if move == STAY else -1) for game, move in zip(games, moves)])
    position = found.position(black)
    np.testing.assert_array_equal(position.legal()[:, :-1], found.legal[:, 0])
    np.testing.assert_array_equal(position.hash(), np.stack([found.hash >> np.uint64(32), found.hash & np.uint64(2**32 - 1)], axis=1))
    words, ko, passes, is_black = Leaves.arguments_of(position)
    for one, other in zip((words, ko, passes, is_black), (found.words, found.ko, found.passes, black), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    again = leaves.gather(leaves.submit(words, ko, passes, is_black, np.full(len(games), STAY), np.arange(len(games))))
    np.testing.assert_array_equal(again.wins, found.wins)
    leaves.close()
    for wrong, error, text in ((black.astype(int), TypeError, "black must hold bools"), (black[1:], ValueError, "black must .*16")):
        with pytest.raises(error, match=text):
            found.position(wrong)
    assert found.events is found.results is found.moves is found.captured is None, "which were not asked for"


def test_some_of_the_leaves(case):
    """An integer drops their axis."""
    results = case[3]
    one, alone = results.some(3), results.some([3])
    for name in (*vars(results), "firsts", "legal", "useful", "moves", "captured"):
        of_one, of_alone, of_all = (getattr(each, name) for each in (one, alone, results))
        if name == "size":
            assert of_one == of_alone == of_all
        else:
            np.testing.assert_array_equal(of_alone, of_all[3:4], name, strict=True)
            np.testing.assert_array_equal(of_one, of_all[3], name, strict=True)


@pytest.mark.parametrize("flies", [True, False])
def test_leaves_of_other_seeds_and_komi_share_a_call(monkeypatch, flies):
    """Columns that a program writes itself: each leaf is played as in a call of its own, and its rows say what `gather` says; also
    where a device plays whole calls."""
    if not flies:
        monkeypatch.setattr(Cpu, "flies_on", lambda *_: False)
        monkeypatch.setattr(ring_program, "compiled", Programs(ring_program._lowered))
    rows, seeds, komis = 2 * geometry(5).num_words, (SEED, 2**40 + 3), (0.5, -6.0)
    leaves = Leaves(5, LEAVES, PLAYOUTS)
    games, moves = leaf_games(5)
    count, streams = len(games), np.arange(len(games)) + 5
    columns = np.zeros((leaf_columns.number(5), count), np.uint32)
    signed = columns.view(np.int32)
    columns[:rows] = words_of(games).T
    signed[rows + leaf_columns.KO] = [game.ko for game in games]
    signed[rows + leaf_columns.PASSES] = [game.passes for game in games]
    signed[rows + leaf_columns.BLACK] = [game.to_play == 1 for game in games]
    signed[rows + leaf_columns.STREAM], signed[rows + leaf_columns.MOVE] = streams, moves
    for i in range(count):
        signed[rows + leaf_columns.WIN, i], signed[rows + leaf_columns.DRAW, i] = outcome.bounds(komis[i % 2], 25)
        columns[rows + leaf_columns.SEED, i], columns[rows + leaf_columns.MORE_SEED, i] = seed_words(seeds[i % 2])
    call = leaves.begin(columns)
    together, told, places = leaves.gather(call), leaves.rows(call), Places.of(5)
    leaves.close()
    for seed, komi in zip(seeds, komis):
        alone = Leaves(5, LEAVES, PLAYOUTS, komi=komi, seed=seed)
        expected = play(alone, games, moves, streams)
        alone.close()
        assert_equal(together.some(slice(seeds.index(seed), None, 2)), expected, slice(seeds.index(seed), None, 2))
    for name, where, of in (("wins", places.wins, told.playouts), ("lead", places.lead, told.playouts),
                            ("ko", places.ko, told.positions), ("margin", places.margin, told.positions)):  # fmt: skip
        np.testing.assert_array_equal(of[:, where].view(np.int32), getattr(together, name))
    assert set(together.margin < 0) == {True, False}


@pytest.mark.parametrize(("shape", "dtype"), [((9,), "u4"), ((), "u4"), ((2, 3), "u4"), (None, "i4"), (0, "u4"), (17, "u4")])
def test_columns_of_another_form_are_refused(shape, dtype):
    leaves, rows = Leaves(5, LEAVES, PLAYOUTS), leaf_columns.number(5)
    shape = (rows, 3 if shape is None else shape) if isinstance(shape, int | None) else shape
    with pytest.raises(ValueError, match=rf"columns must be uint32 of {rows} rows for 1 to 16 leaves, not .*shape"):
        leaves.begin(np.zeros(shape, dtype))
    with pytest.raises(ValueError, match="columns must be a numpy array of uint32, not list"):
        leaves.begin([[1]])
    leaves.close()


def test_what_memory_held_before_is_no_leaf(monkeypatch):
    """The device's program describes a whole place at once: what lies where there are no leaves must not keep it for ever."""
    real = ring.Ring._ask

    def ask(self, columns, numbers):
        columns[...] = np.uint32(0xFFFFFFFF)
        columns[:2] = np.array([[1309733608], [2850499955]], np.uint32)  # stones of both on some points: no end of chains
        return real(self, columns, numbers)

    leaves = Leaves(5, LEAVES, PLAYOUTS, seed=SEED)
    games, moves = (x[:3] for x in leaf_games(5))
    expected = play(leaves, games, moves)
    monkeypatch.setattr(ring.Ring, "_ask", ask)
    for _ in range(5):
        assert_equal(play(leaves, games, moves), expected)
    leaves.close()


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        ({"words": np.zeros((2, 2), np.int64)}, ValueError, r"words must be uint32 of shape \(2, 2\), not int64"),
        ({"words": np.zeros((3, 2), np.uint32)}, ValueError, r"words must be uint32 of shape \(2, 2\), not uint32 of \(3, 2\)"),
        ({"ko": [0, 25]}, ValueError, "ko must be between -1 and 24, not 25"),
        ({"passes": [0, 3]}, ValueError, "passes must be between 0 and 2, not 3"),
        ({"black": [1, 0]}, TypeError, "black must hold bools"),
        ({"moves": [0, 26]}, ValueError, "moves must be between -1 and 25, not 26"),
        ({"moves": 3}, TypeError, r"moves must be integers of shape \[n\], not of shape \(\)"),
        ({"moves": np.zeros(17, int)}, ValueError, "the number of leaves must be between 1 and 16, not 17"),
        ({"streams": [0, -1]}, ValueError, "streams must be between 0 and"),
        ({"streams": [0.0, 1.0]}, TypeError, "streams must hold integers"),
        ({"komi": np.nan}, ValueError, "komi must be finite"),
        ({"komi": [1.0]}, ValueError, r"komi must be one number or have shape \(2,\)"),
        ({"seed": -1}, ValueError, "seed must be between 0"),
    ],
)
def test_bad_leaves_are_refused(wrong, error, text):
    leaves = Leaves(5, LEAVES, PLAYOUTS)
    good = {
        "words": np.zeros((2, 2), np.uint32), "ko": [-1, -1], "passes": [0, 0], "black": [True, False], "moves": [STAY, 3],
        "streams": [0, 1],
    }  # fmt: skip
    with pytest.raises(error, match=text):
        leaves.submit(**(good | wrong))
    leaves.close()


def test_playouts_ask_the_policy():
    """They are those of `jaxgo.playouts` with the same policies, of which some end playouts, or draw captures anew."""
    policy = [jaxgo.Mercy(8), jaxgo.Patterns(0.75), jaxgo.Capture(0.5)]
    games = [middle_game(5, plies, seed=plies) for plies in range(0, 2 * LEAVES, 2)]
    leaves = Leaves(5, LEAVES, PLAYOUTS, seed=SEED, moves=True, policy=policy)
    found = play(leaves, games, [STAY] * LEAVES)
    played = jaxgo.playouts(from_games(*games), PLAYOUTS, seed=SEED, moves=True, policy=policy)
    np.testing.assert_array_equal(found.moves, played.moves)
    np.testing.assert_array_equal(found.captured, played.captured)
    assert not np.array_equal(found.moves, jaxgo.playouts(from_games(*games), PLAYOUTS, seed=SEED, moves=True).moves)
    leaves.close()


ATARI = """
    . . . . .
    . X . . .
    X O a . .
    . s . . .
    . . . . .
"""
"""Black's move at a puts a stone in atari that s alone saves."""


def test_the_move_to_a_leaf_is_the_last_that_a_policy_knows():
    """It is answered; what was played before is not known of a leaf that is searched as it stands."""
    leaves = Leaves(5, LEAVES, PLAYOUTS, seed=SEED, moves=True, policy=[jaxgo.Mercy(8), jaxgo.Patterns(1.0), jaxgo.Capture(0.5)])
    game, named = parse(ATARI)
    first = play(leaves, [game] * LEAVES, [named["a"]] * LEAVES).moves[:, :, 0]
    assert (first == named["s"]).all()
    after_atari = after(game, named["a"])
    first = play(leaves, [after_atari] * LEAVES, [STAY] * LEAVES).moves[:, :, 0]
    assert len(np.unique(first)) > 5
    passed = play(leaves, [game] * LEAVES, [game.pass_move] * LEAVES).moves[:, :, 0]
    assert len(np.unique(passed)) > 5
    leaves.close()


def test_a_policy_for_another_size_is_refused():
    with pytest.raises(ValueError, match="table for boards of size 9, but the board is of size 5"):
        Leaves(5, LEAVES, PLAYOUTS, policy=jaxgo.Advisor(0.5, jaxgo.AdvisorTable(9)))


def test_later_calls_play_by_another_policy():
    """They are those of `Leaves` that were made with it; only one of the same form will do."""
    games = [middle_game(5, plies, seed=plies) for plies in range(0, 2 * LEAVES, 2)]
    table = jaxgo.Replies(5).update(jaxgo.playouts(from_games(games[0]), 200, moves=True), from_games(games[0]))
    policies = [jaxgo.LastGoodReply(replies) for replies in (jaxgo.Replies(5), table)]
    changed, *others = (Leaves(5, LEAVES, PLAYOUTS, seed=SEED, moves=True, policy=policies[i]) for i in (0, 0, 1))
    before, after = (play(leaves, games, [STAY] * LEAVES).moves for leaves in others)
    assert not np.array_equal(before, after)
    np.testing.assert_array_equal(play(changed, games, [STAY] * LEAVES).moves, before)
    busy = changed.busy_seconds
    for wrong in (None, jaxgo.Capture(0.5), [policies[1], jaxgo.Capture(0.5)]):
        with pytest.raises(ValueError, match="policy must be of the same form as the one that was given to Leaves, not"):
            changed.play_by(wrong)
    changed.play_by(policies[1])
    np.testing.assert_array_equal(play(changed, games, [STAY] * LEAVES).moves, after)
    assert changed.busy_seconds > busy > 0
    for leaves in (changed, *others):
        leaves.close()
    with pytest.raises(RuntimeError, match="these Leaves are closed"):
        changed.play_by(policies[0])


def test_calls_of_others_are_refused():
    """Which might be of another size."""
    with Leaves(5, 4, 2) as mine, Leaves(5, 4, 2) as other:
        call = mine.submit(*Leaves.arguments_of(jaxgo.Position.empty(5)), [STAY], [0])
        for use in (other.gather, other.rows, other.drop, other.done, lambda call: other.wait(call, 1)):
            with pytest.raises(ValueError, match="call must be of these Leaves, not of others"):
                use(call)
            with pytest.raises(TypeError, match="call must be what submit has returned, not NoneType"):
                use(None)
        for seconds in (float("nan"), -1, "1"):
            with pytest.raises(ValueError, match="seconds must be a finite number of at least 0, not"):
                mine.wait(call, seconds)
        assert mine.gather(call).wins.shape == (1,)
    with pytest.raises(RuntimeError, match="closed"):
        mine.submit(*Leaves.arguments_of(jaxgo.Position.empty(5)), [STAY], [0])


def test_a_call_is_done_when_all_its_parts_are():
    leaves, parts = Leaves(5, 1, 1), [Promise(), Promise()]
    call = Call(None, parts, leaves._own)
    for part in parts:
        assert not leaves.done(call) and not leaves.wait(call, 0)
        part.keep(None)
    assert leaves.done(call) and leaves.wait(call, 0)
    leaves.close()
