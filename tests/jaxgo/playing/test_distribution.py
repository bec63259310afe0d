"""Playouts are drawn from the right distribution: published figures, exact probabilities, uniform and independent moves.

Statistical tests use fixed seeds and state their error; see `tests/chi_square.py`.
"""

import collections

import numpy as np
import pytest
from scipy import stats

import jaxgo
from tests import chi_square, exact, referee
from tests.positions import from_games, middle_game, validate
from tests.referee import Game
from tests.wide import mostly_wide

# Uniformity and independence of all later moves.


def choices(size: int, num_playouts: int, seed: int, stream: int = 0) -> list[list[referee.Choice]]:
    """The choices of playouts from the empty board, as the referee sees them."""
    start = Game(size)
    played = jaxgo.playouts(from_games(start), num_playouts, seed=seed, streams=np.array([stream]), moves=True)
    return validate(start, played, 0, num_playouts)


@pytest.mark.parametrize("size, num_playouts", [(3, 1000), (5, 500), (9, 150)])
def test_every_move_is_uniform_among_its_candidates(size, num_playouts):
    """The rank of the chosen move among its k candidates is uniform on 0..k-1, for every k, at any ply."""
    ranks = collections.defaultdict(collections.Counter)
    for playout in choices(size, num_playouts, seed=5):
        for choice in playout:
            ranks[choice.num_candidates][choice.rank] += 1
    statistic, freedom = 0.0, 0
    for k, counts in ranks.items():
        if k > 1 and counts.total() >= 5 * k:
            result = stats.chisquare([counts[rank] for rank in range(k)])
            statistic, freedom = statistic + result.statistic, freedom + k - 1
    assert freedom >= 30 if size > 3 else freedom >= 8
    assert chi_square.ALPHA < stats.chi2.sf(statistic, freedom) < 1 - chi_square.ALPHA


def unit_draws(playouts: list[list[referee.Choice]], plies: int, min_candidates: int) -> np.ndarray:
    """float [playouts, plies]: (rank + 1/2) / candidates, evenly spread over [0, 1); NaN where there were few candidates."""
    draws = np.full((len(playouts), plies), np.nan)
    for row, playout in zip(draws, playouts):
        for choice in playout:
            if choice.ply < plies and choice.num_candidates >= min_candidates:
                row[choice.ply] = (choice.rank + 0.5) / choice.num_candidates
    return draws


def test_moves_are_independent():
    """Of the moves before, and of the neighbouring playout's, stream's and seed's moves: correlations and 4x4 tables."""
    plies = 40
    base = unit_draws(choices(9, 200, seed=5), plies, min_candidates=20)
    pairs = {
        "the move before": (base[:, :-1], base[:, 1:]),
        "two moves before": (base[:, :-2], base[:, 2:]),
        "the playout before": (base[:-1], base[1:]),
        "the stream before": (base, unit_draws(choices(9, 200, seed=5, stream=1), plies, min_candidates=20)),
        "the seed before": (base, unit_draws(choices(9, 200, seed=6), plies, min_candidates=20)),
    }
    for name, (one, other) in pairs.items():
        known = ~np.isnan(one) & ~np.isnan(other)
        one, other = one[known], other[known]
        assert len(one) > 7000
        table, _, _ = np.histogram2d(one, other, bins=4, range=[[0, 1], [0, 1]])
        assert stats.chi2_contingency(table).pvalue > chi_square.ALPHA, name
        # The standard error of a correlation of independent numbers is 1 / sqrt(n).
        assert abs(np.corrcoef(one, other)[0, 1]) < 4 / np.sqrt(len(one)), name


# Many playouts, whose programs are compiled for that from here on.


# Published figures of the reference bot.

# Black's score from the empty 9x9 board, 10^6 playouts each (Don Dailey, 2008), and the mean length, pooled.
PUBLISHED_SCORES = {0.0: 0.5245, 5.5: 0.4457, 6.0: 0.4467, 6.5: 0.4471, 7.0: 0.4334, 7.5: 0.4213}
PUBLISHED_LENGTH = 111.04
SCORE_ERROR = 0.0005
"""Standard error of a score over 10^6 playouts: sqrt(.25 / 10^6), as the published figures have."""
LENGTH_ERROR = 0.016
"""Standard error of a mean length over 10^6 playouts."""
COUNT = 200_000
"""Playouts of ours, whose standard errors are sqrt(5) times those, 0.0011 and 0.036."""
FIRST_MOVES_EACH = 100_000
"""First moves from a position; of one with 12 candidates, a candidate's share has the standard error 0.0009."""


@pytest.fixture(scope="module")
def empty_9x9(many_playouts) -> dict[float, jaxgo.Evaluation]:
    """Playouts for each published komi, of different seeds."""
    position = jaxgo.Position.empty(9)
    return {komi: jaxgo.evaluate(position, COUNT, komi=komi, seed=int(10 * komi)) for komi in PUBLISHED_SCORES}


@pytest.mark.parametrize("komi", mostly_wide(PUBLISHED_SCORES, {0.0, 7.5}))
def test_scores_are_the_reference_bots(empty_9x9, komi):
    evaluation = empty_9x9[komi]
    assert evaluation.num_playouts.tolist() == [COUNT]
    assert evaluation.win_rate_error[0] == pytest.approx(np.sqrt(0.25 / COUNT), rel=0.03)
    assert abs(evaluation.win_rate[0] - PUBLISHED_SCORES[komi]) < 4 * np.hypot(SCORE_ERROR, evaluation.win_rate_error[0])


def test_mean_length_is_the_reference_bots(empty_9x9):
    pooled = np.mean([evaluation.length_mean[0] for evaluation in empty_9x9.values()])
    # Both means are pooled over six runs; the published one is also rounded to .01.
    errors = [LENGTH_ERROR / np.sqrt(len(empty_9x9)) * np.sqrt(1_000_000 / count) for count in (1_000_000, COUNT)]
    assert abs(pooled - PUBLISHED_LENGTH) < 4 * np.hypot(*errors) + 0.005


def test_the_runs_at_different_seeds_agree(empty_9x9):
    """The komi does not change the playouts: the six margin histograms are samples of one distribution."""
    table = np.array([evaluation.margin_histogram[0] for evaluation in empty_9x9.values()])
    table = table[:, table.sum(axis=0) >= 100]
    assert stats.chi2_contingency(table).pvalue > chi_square.ALPHA


# Small boards: the exact distribution.

SMALL_STARTS = {
    "2x2": Game(2),
    "2x2, White first, after a pass": Game(2, to_play=-1, passes=1),
    "3x3": Game(3),
    "3x3, White first": Game(3, to_play=-1),
    "3x3 with a ko": referee.parse(". X .\nO O X\nO . O", to_play=-1, ko=2)[0],
    "3x3 with the ko passed": referee.parse(". X .\nO O X\nO . O", to_play=-1, passes=1)[0],
    "3x3 with another ko": referee.parse("X . X\n. X O\nO O .", to_play=-1, ko=1)[0],
    "3x3 after a pass": referee.parse(". X .\nO X O\n. O .", passes=1)[0],
}


@pytest.mark.usefixtures("many_playouts")
@pytest.mark.parametrize("start", SMALL_STARTS.values(), ids=SMALL_STARTS.keys())
@pytest.mark.parametrize("max_plies", [None, 7])
def test_results_on_small_boards_have_their_exact_distribution(start, max_plies):
    """(length, margin, truncated) of many playouts against the probabilities by brute force, chi-square."""
    probabilities = exact.distribution(start, max_plies)
    assert sum(probabilities.values()) == pytest.approx(1.0, abs=1e-12)
    played = jaxgo.playouts(from_games(start), COUNT, seed=7, max_plies=max_plies)
    assert p_value_of_results(played, probabilities) > chi_square.ALPHA


def p_value_of_results(played: jaxgo.Playouts, probabilities: dict[exact.Result, float]) -> float:
    """Chi-square of the (length, margin, truncated) of the first position's playouts."""
    results = zip(played.length[0].tolist(), played.margin[0].tolist(), played.truncated[0].tolist())
    observed = collections.Counter(results)
    return chi_square.p_value(observed, probabilities)


@pytest.mark.usefixtures("many_playouts")
def test_the_exact_distribution_can_tell():
    """The chi-square test above fails for a slightly different game: a cap one ply lower."""
    played = jaxgo.playouts(jaxgo.Position.empty(3), COUNT, seed=7, max_plies=26)
    assert p_value_of_results(played, exact.distribution(Game(3))) == 0.0
    probabilities = exact.distribution(Game(2))
    skewed = {cell: p * (1.03 if index % 2 else 0.97) for index, (cell, p) in enumerate(probabilities.items())}
    played = jaxgo.playouts(jaxgo.Position.empty(2), COUNT, seed=7)
    assert p_value_of_results(played, probabilities) > chi_square.ALPHA > p_value_of_results(played, skewed)


# Uniformity of the first move.

FIRST_MOVES = {
    "suicides of one stone and of several": """
        . X . X a
        X . X X O
        . X O O .
        X X X O O
        b . X O .
    """,
    "own eyes, true and false": """
        . X . O .
        X X X O O
        . X O O .
        X X X O O
        . X . X .
    """,
    "captures into eyes": """
        . O X . X
        O O X X .
        X X O X X
        X . O O O
        . X O . O
    """,
    "an eye of each, and nothing else": """
        . X X O .
        X X X O O
        X X X O O
        X X O O O
        . X O O .
    """,
    "a big eye with one liberty to fill": """
        . . . X O
        X X X X O
        O O O O O
        O . O . O
        O O O O O
    """,
    "snapback": """
        . X O X .
        O O O X .
        X X X X X
        X . X . X
        X X X X X
    """,
    "one candidate": """
        X X X X .
        X X X X X
        X . X X X
        X X X X X
        X X X . O
    """,
}
KO_FIGHT = """
    . X O . O
    X O . O .
    . X O O O
    X X X O .
    . X . X O
"""


def first_move_starts() -> dict[str, Game]:
    """5x5 positions with few legal moves, for both sides, with and without a ko."""
    starts = {}
    for name, text in FIRST_MOVES.items():
        for to_play, colour in ((1, "Black"), (-1, "White")):
            starts[f"{name}, {colour}"] = referee.parse(text, to_play=to_play)[0]
    for ko in (referee.NO_KO, 7):
        starts[f"ko {ko}"] = referee.parse(KO_FIGHT, ko=ko)[0]
        starts[f"ko {ko}, after a pass"] = referee.parse(KO_FIGHT, ko=ko, passes=1)[0]
    return starts


@pytest.fixture(scope="module")
def first_moves(many_playouts) -> tuple[dict[str, Game], jaxgo.Playouts]:
    """Many first moves from each of the starting positions."""
    starts = first_move_starts()
    return starts, jaxgo.playouts(from_games(*starts.values()), FIRST_MOVES_EACH, seed=11, max_plies=1, moves=True)


@pytest.mark.parametrize("name", first_move_starts())
def test_first_moves_are_uniform(first_moves, name):
    starts, played = first_moves
    game, index = starts[name], list(starts).index(name)
    assert game.every_stone_has_liberties()
    candidates = game.candidates() or [game.pass_move]
    points, counts = np.unique(played.moves[index], return_counts=True)
    assert points.tolist() == candidates, f"other moves than the candidates of\n{game}"
    if len(candidates) > 1:
        assert chi_square.uniform_p_value(counts) > chi_square.ALPHA, f"{counts}\n{game}"
    # The captured flag is right for every move.
    for point in candidates:
        flags = np.unique(played.captured[index][played.moves[index] == point])
        assert flags.tolist() == [bool(game.copy().play(point))]


def test_first_moves_are_few(first_moves):
    """The positions are what their names say: legal moves that are eyes, illegal ones that are empty, and a ko among them."""
    starts, _ = first_moves
    assert all(1 <= len(game.candidates() or [game.pass_move]) <= 12 for game in starts.values())
    suicides = [p for game in starts.values() for p in range(25) if game.why_illegal(p) == "suicide"]
    own_eyes = [p for game in starts.values() for p in game.legal_points() if game.is_eye(p, game.to_play)]
    assert len(suicides) >= 10 and len(own_eyes) >= 10
    ko, free = starts["ko 7"], starts["ko -1"]
    assert set(free.candidates()) - set(ko.candidates()) == {7}


def late_games() -> list[Game]:
    """9x9 positions from the last third of the referee's playouts, with a few candidates each."""
    return [middle_game(9, plies, seed=plies) for plies in (55, 62, 70, 77, 84, 91)]


@pytest.mark.usefixtures("many_playouts")
def test_first_moves_late_in_the_game_are_uniform():
    games = late_games()
    assert sum(len(game.legal_points()) - len(game.candidates()) for game in games) >= 5, "own eyes"
    assert sum(game.why_illegal(point) == "suicide" for game in games for point in range(81)) >= 20
    moves = jaxgo.playouts(from_games(*games), FIRST_MOVES_EACH, seed=12, max_plies=1, moves=True).moves[:, :, 0]
    for game, drawn in zip(games, moves):
        points, counts = np.unique(drawn, return_counts=True)
        assert len(points) >= 2 and points.tolist() == game.candidates()
        assert chi_square.uniform_p_value(counts) > chi_square.ALPHA, f"{counts}\n{game}"


@pytest.mark.usefixtures("many_playouts")
def test_first_moves_of_many_playouts_are_all_different_streams():
    """Over 200,000 (playout, stream) pairs of small numbers, pairs of first moves on neighbouring numbers are independent."""
    position = jaxgo.Position.empty(9, 8)
    first = jaxgo.playouts(position, 25_000, seed=3, max_plies=1, moves=True).moves[:, :, 0].astype(int)
    for one, other in ((first[:, :-1], first[:, 1:]), (first[:-1], first[1:]), (first[:, :-2], first[:, 2:])):
        table = np.bincount((one * 81 + other).reshape(-1), minlength=81 * 81)
        assert chi_square.uniform_p_value(table) > chi_square.ALPHA
    seeds = [jaxgo.playouts(position, 25_000, seed=s, max_plies=1, moves=True).moves.astype(int) for s in (4, 2**32 + 3)]
    for other in seeds:
        table = np.bincount((first * 81 + other[:, :, 0]).reshape(-1), minlength=81 * 81)
        assert chi_square.uniform_p_value(table) > chi_square.ALPHA
