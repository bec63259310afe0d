"""The judge `search` of `jaxgo evaluate --mistakes`: a blunder that a search sees, and what Student's quantiles are."""

import importlib.metadata
import math
import pathlib
import tomllib
import types

import numpy as np
import pytest
from scipy import stats

from jaxgo import GameRecord, read_game
from jaxgo.commands import mistakes
from jaxgo.commands.asked import Asked
from jaxgo.commands.playing import How
from jaxgo.commands.progress import Progress
from search.mistakes import by_search, student

# . . . . .
# . X X X .
# X O O O .   Black could capture at E3; he plays at A1, and White goes there.
# . X X X .
# . . . . .
BLUNDER = read_game("(;SZ[5]KM[15.5]AB[bb][cb][db][ac][bd][cd][dd]AW[bc][cc][dc]PL[B];B[ae];W[ec])")


def _asked(record: GameRecord) -> Asked:
    return Asked("game.sgf", None, record, record.positions(), (0,), record.komi, "file")


def test_a_blunder_is_found_and_what_was_better() -> None:
    calls = []
    found = by_search(_asked(BLUNDER), How(1000, 3, None, None), 1, Progress(lambda _, *x: calls.append(x)))
    assert (found.judge, found.judged) == ("search", 2)
    (loss,) = found.losses
    assert (loss.move, loss.colour, loss.point, loss.better) == (1, 1, 20, 14)
    assert loss.loss > found.threshold * loss.loss_error and loss.lead_loss > 0
    assert loss.loss == pytest.approx(loss.better_win_rate - loss.win_rate)
    assert 0 < calls[-1][0] <= calls[-1][1]


@pytest.mark.parametrize("probability", [0.5, 0.95, 0.99, 0.999])
def test_quantiles(probability: float) -> None:
    assert math.isclose(student(probability), stats.t.ppf(probability, 4), abs_tol=1e-9)


def test_the_judge_plugs_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the name that pyproject.toml gives it."""
    project = tomllib.loads((pathlib.Path(__file__).parents[2] / "pyproject.toml").read_text())
    points = project["project"]["entry-points"][mistakes.GROUP]
    entries = [importlib.metadata.EntryPoint(name, value, mistakes.GROUP) for name, value in points.items()]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [x for x in entries if x.group == group])
    assert mistakes.judge_named("search") is by_search


def test_what_seems_to_lose_most_is_tried_first(monkeypatch):
    tried = []

    class Searches:
        """Of positions that are even, but for one in which the other player has erred."""

        def __init__(self, *_):
            pass

        def of(self, k: int) -> tuple[int, float]:
            return 24, 0.9 if k == 3 else 0.5

        def loss(self, k: int, better: int) -> mistakes.Loss:
            tried.append(k)
            return mistakes.Loss(k + 1, 1, 0, better, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0)

    monkeypatch.setattr("search.mistakes._Searches", Searches)
    monkeypatch.setattr("search.mistakes.moves_to_judge", lambda asked: np.arange(5))
    asked = _asked(read_game("(;SZ[5];B[aa];W[ba];B[ca];W[da];B[ea])"))
    by_search(asked, None, 1, types.SimpleNamespace(compiles=lambda: None))
    assert tried[0] == 2
