"""Ended games: which stones are taken off, and how that agrees with what records state."""

import pathlib

import numpy as np
import pytest

import jaxgo
from jaxgo import cli
from jaxgo.commands.endings import _dead, endings, without
from jaxgo.commands.report import ending_text, score_text
from jaxgo.records.sgf import read_game
from jaxgo.results.statuses import DEAD
from tests.jaxgo.commands.documents import documents

# White's stone at A4 and Black's at E2 are dead: 15 points to 10.
ENDED = """
    . . X O .
    O . X O .
    . . X O .
    . . X O X
    . . X O .
"""


def _ended() -> jaxgo.Position:
    return jaxgo.Position.from_ascii(ENDED, passes=2)


@pytest.mark.parametrize(
    ("stated", "dead", "score", "by_record"),
    [
        (None, ["A4", "E2"], 1.5, False),
        (1.5, ["A4", "E2"], 1.5, False),
        (-9.5, ["E2"], -9.5, True),  # A4, the less certain of the two, is alive: the left side is nobody's
        (7.5, ["A4", "E2"], 1.5, False),  # no stones that could be dead give this
    ],
)
def test_dead_stones(stated: float | None, dead: list[str], score: float, by_record: bool) -> None:
    (found,) = endings(_ended(), [3.5], [3.5], [stated], [0], seed=0)
    assert found.at_its_komi == found.score
    assert (found.score, found.stated, found.by_record) == (score, stated, by_record)
    assert sorted(jaxgo.coordinate(point, 5) for point in found.dead) == dead
    cleared = without(_ended(), [found.dead])
    assert bool(cleared.is_over()[0]) and int(cleared.score()[0]) - 3.5 == score


@pytest.mark.parametrize("komi", [6.1, 7.1])
def test_scores_in_tenths_agree(komi: float) -> None:
    """Though floats make more of them."""
    (found,) = endings(_ended(), [komi], [komi], [round(5 - komi, 1)], [0], seed=0)
    assert found.score != found.stated and "as the record says" in ending_text(found, 5) and not found.by_record
    (other,) = endings(_ended(), [komi], [komi], [round(-6 - komi, 1)], [0], seed=0)
    assert other.by_record and "as the record says" in ending_text(other, 5)


@pytest.mark.parametrize(("stated", "bonus", "told"), [
    (-1.5, 3, "B+1.5; W+1.5 with 3 points for handicap stones, as the record says"), (-0.5, 2, "B+1.5; W+0.5 with 2 points"),
    (1.5, 0, "B+1.5, as the record says"), (0.5, 0, "B+1.5, but the record says B+0.5"),
])  # fmt: skip
def test_points_for_handicap_stones_are_no_dead_ones(stated: float, bonus: int, told: str) -> None:
    """By Chinese rules White gets 3 for three stones, by AGA's 2."""
    (found,) = endings(_ended(), [3.5], [3.5], [stated], [3], seed=0)
    assert len(found.dead) == 2 and not found.by_record and found.bonus == bonus and told in ending_text(found, 5)


@pytest.mark.parametrize(
    ("result", "points"),
    [("B+14.0", 14.0), ("W+0.5", -0.5), ("w+3,5", -3.5), ("B+R", None), ("W+T", None), ("0", 0.0), ("Draw", 0.0), ("Jigo", 0.0), ("", None),
     ("B+", None), ("B+0", None), ("W+0.0", None), ("Void", None), ("?", None), ("B+inf", None), ("B+nan", None), ("B-3", None)],
)  # fmt: skip
def test_results_that_state_points(result: str, points: float | None) -> None:
    assert read_game(f"(;SZ[5]RE[{result}])").result_points == points


@pytest.mark.parametrize(
    ("result", "dead", "score"), [("B+1.5", ["A4", "E2"], "B+1.5"), ("W+9.5", ["E2"], "W+9.5"), ("W+R", ["A4", "E2"], "B+1.5")]
)
def test_the_last_row_is_without_dead_stones(capsys, tmp_path: pathlib.Path, result: str, dead: list[str], score: str) -> None:
    rows = [row.split() for row in ENDED.strip().splitlines()]
    points = {c: "".join(f"[{chr(97 + x)}{chr(97 + y)}]" for y in range(5) for x in range(5) if rows[y][x] == c) for c in "XO"}
    path = tmp_path / "ended.sgf"
    path.write_text(f"(;SZ[5]KM[3.5]RE[{result}]AB{points['X']}AW{points['O']};B[];W[])")
    (document,) = documents(capsys, str(path), "--move", "2", "--playouts", "50")
    (row,) = document["positions"]
    assert (sorted(row["dead"]), row["score"], row["win_rate"]) == (dead, score, float(score[0] == "B"))
    assert row["board"][1] == "O.XO." and (row["ownership"][1][0] == 1.0) == ("A4" in dead)
    assert row["dead_by_record"] == (result == "W+9.5")
    # Another komi changes who wins, not what is dead.
    (row,) = documents(capsys, str(path), "--move", "2", "--playouts", "50", "--komi", "50.5")[0]["positions"]
    other = {"B+1.5": "W+45.5", "W+9.5": "W+56.5"}[score]
    assert (sorted(row["dead"]), row["score"], row["win_rate"]) == (dead, other, 0.0)
    assert cli.main(["evaluate", str(path), "--move", "2", "--playouts", "50", "--komi", "50.5"]) == 0
    assert f": {other}; {score} with the record's komi" in " ".join(capsys.readouterr().out.split())


def test_scores_as_records_state_them() -> None:
    assert [score_text(score) for score in (0.0, -0.0, 14.0, -0.5)] == ["0", "0", "B+14", "W+0.5"]


@pytest.mark.parametrize("komi", [0.5, 5.5])
def test_the_score_by_another_komi_is_told_beside_the_records(komi: float) -> None:
    """Whether that is better for Black or for White."""
    (found,) = endings(_ended(), [komi], [3.5], [1.5], [0], seed=0)
    assert f"{score_text(5 - komi)}; B+1.5 with the record's komi, as the record says" in ending_text(found, 5)


@pytest.mark.parametrize(("handicap", "stated", "bonus"), [(2, -0.5, 2), (2, 0.5, 1), (1, 0.5, 0)])
def test_two_handicap_stones_are_the_fewest_that_white_gets_points_for(handicap: int, stated: float, bonus: int) -> None:
    (found,) = endings(_ended(), [3.5], [3.5], [stated], [handicap], seed=0)
    assert found.bonus == bonus and len(found.dead) == 2


@pytest.mark.parametrize(("held", "dead"), [(0.4, [19]), (0.6, [])])
def test_what_playouts_are_sure_of_lives_whatever_the_record_says(held: float, dead: list[int]) -> None:
    """White wins by 9.5 without E2."""
    stones = np.asarray(_ended().to_array())[0]
    owners = stones.astype(np.float64)
    owners[3, 4] = held
    assert _dead(stones, [], (owners, owners), 3.5, -9.5, (0,)) == (dead, bool(dead))


@pytest.mark.parametrize(("judged", "dead"), [([5], [5, 19]), ([2, 7, 12, 17, 22], [5, 19, 20])])
def test_of_several_that_give_the_records_score_it_is_about_as_many_as_playouts_say(judged: list[int], dead: list[int]) -> None:
    """A stone at A1 stands in its own area: the score is the same with and without it."""
    stones = np.array(_ended().to_array())[0]
    stones[4, 0] = 1
    owners = stones.astype(np.float64)
    owners.flat[[5, 19, 20]] = 1.0, -0.9, 0.3
    assert _dead(stones, [(judged, DEAD)], (owners, owners), 3.5, 1.5, (0,)) == (dead, True)
