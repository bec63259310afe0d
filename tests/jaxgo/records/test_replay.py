"""Records played side by side: each as it is alone, and each as far as it is legal."""

import numpy as np
import pytest

from jaxgo import Position
from jaxgo.records.replay import replay
from jaxgo.records.sgf import read_game

RECORDS = {
    "plain": "(;SZ[5];B[cc];W[bb];B[cb])",
    "set up": "(;SZ[5]HA[2]AB[aa][bb]AW[dd];W[cc];B[dc])",
    "set up later": "(;SZ[5];B[aa];W[bb];AB[cc]AE[aa];B[ee])",
    "after passes": "(;SZ[5];B[cc];W[];B[];W[];B[bb];W[])",
    "one colour": "(;SZ[5]AB[bb][ac][bd]AW[cb][dc][cd][bc];B[cc];B[ee];W[bc])",
    "no moves": "(;SZ[5])",
    "another size": "(;SZ[4];B[aa])",
}
FAULTS = {
    "(;SZ[5];B[cc];W[cc];B[aa])": (1, "move 2, White C3, is illegal: the point is occupied"),
    "(;SZ[5]AB[bb][ac][bd]AW[cb][dc][cd][bc];B[cc];W[bc])": (1, "move 2, White B3, is illegal: it retakes the ko at once"),
    "(;SZ[5];B[cc];AB[aa]AW[ba][ab];W[ee])": (0, "the stones set up after move 1 are not a legal position: "),
}


def test_records_are_played_side_by_side_as_alone() -> None:
    records = [read_game(text) for text in RECORDS.values()]
    for record, played in zip(records, replay(records), strict=True):
        alone = record.positions()
        assert played.fault == "" and played.num_moves == len(record.moves)
        for mine, other in zip((played.positions.to_array(), played.positions.to_play, played.positions.ko,
                                played.positions.passes), (alone.to_array(), alone.to_play, alone.ko, alone.passes)):  # fmt: skip
            np.testing.assert_array_equal(mine, other)
        for move in range(len(record.moves) + 1):
            one = Position.from_array(alone.to_array()[move], to_play=alone.to_play[move])
            assert int(record.position(move).to_play[0]) == record.to_play(move) == int(one.to_play[0])


def test_each_record_is_played_as_far_as_it_is_legal() -> None:
    texts = [*RECORDS.values(), *FAULTS]
    found = replay([read_game(text) for text in texts])[len(RECORDS) :]
    for (moves, fault), played in zip(FAULTS.values(), found, strict=True):
        assert played.num_moves == moves and played.fault.startswith(fault)
    assert replay([]) == []


def test_stones_set_up_at_first_that_are_illegal_leave_no_position() -> None:
    (played,) = replay([read_game("(;SZ[5]AB[aa]AW[ba][ab])")])
    assert played.positions is None and played.num_moves == 0
    assert played.fault.startswith("the stones set up before the first move are not a legal position: ")


@pytest.mark.parametrize("move", [0, 1, 2, 3])
def test_a_record_up_to_a_move_has_the_same_player_to_move(move: int) -> None:
    record = read_game("(;SZ[5];B[cc];B[dd];AW[ee]PL[B];B[aa])")
    part = record.until(move)
    assert len(part.moves) == move and part.to_play(move) == record.to_play(move)
    np.testing.assert_array_equal(part.position().to_array(), record.position(move).to_array())


def test_two_passes_of_one_colour_are_no_row() -> None:
    """The player to move changes, so that the second pass is the first of a row."""
    record = read_game("(;SZ[5];B[cc];W[];W[];B[])")
    positions = record.positions()
    np.testing.assert_array_equal(positions.passes, [0, 0, 0, 1, 2])
    np.testing.assert_array_equal(positions.to_play, [1, -1, -1, 1, -1])
