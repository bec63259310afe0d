"""Records played, each as far as it is legal."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxgo.records.record import GameRecord, Setup
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


@pytest.mark.parametrize("text", RECORDS.values(), ids=RECORDS)
def test_positions_are_those_of_the_rules(text: str) -> None:
    """A move of each after the other by `Position.play`, where nothing is set up between them."""
    record = read_game(text)
    played = replay(record)
    assert played.fault == "" and played.num_moves == len(record.moves)
    now = played.positions[:1]
    for number, (colour, point) in enumerate(record.moves, start=1):
        if not any(setup.after_move == number and setup.stones for setup in record.setups):
            other = now.to_play != colour
            now = dataclasses.replace(
                now, to_play=np.array([colour], np.int8), ko=np.where(other | (now.passes > 1), np.int16(-1), now.ko),
                passes=np.where(other | (now.passes > 1), np.int8(0), now.passes),
            )  # fmt: skip
            now = now.play(point)
            np.testing.assert_array_equal(played.positions[number : number + 1].to_array(), now.to_array())
            if record.to_play(number) == -colour:
                assert (played.positions.ko[number], played.positions.to_play[number]) == (now.ko[0], -colour)
        now = jax.device_get(played.positions[number : number + 1])
        assert int(record.position(number).to_play[0]) == record.to_play(number) == int(now.to_play[0])
        np.testing.assert_array_equal(record.position(number).to_array(), now.to_array())


@pytest.mark.parametrize(("text", "moves", "fault"), [(text, *found) for text, found in FAULTS.items()])
def test_a_record_is_played_as_far_as_it_is_legal(text: str, moves: int, fault: str) -> None:
    played = replay(read_game(text))
    assert played.num_moves == moves and played.positions.batch == moves + 1 and played.fault.startswith(fault)


def test_passes_after_the_end_leave_it_ended() -> None:
    record = read_game("(;SZ[5];B[cc];W[];B[];W[];B[];W[bb];B[])")
    positions = record.positions()
    np.testing.assert_array_equal(positions.passes, [0, 0, 1, 2, 2, 2, 0, 1])


def test_stones_set_up_at_first_that_are_illegal_leave_no_position() -> None:
    played = replay(read_game("(;SZ[5]AB[aa]AW[ba][ab])"))
    assert played.positions is None and played.num_moves == 0
    assert played.fault.startswith("the stones set up before the first move are not a legal position: ")


@pytest.mark.parametrize("move", [0, 1, 2, 3])
def test_a_record_up_to_a_move_has_the_same_player_to_move(move: int) -> None:
    record = read_game("(;SZ[5];B[cc];B[dd];AW[ee]PL[B];B[aa])")
    part = record.until(move)
    assert len(part.moves) == move and part.to_play(move) == record.to_play(move)
    np.testing.assert_array_equal(part.position().to_array(), record.position(move).to_array())


@pytest.mark.parametrize("move", [-1, 3])
def test_a_record_up_to_no_move_of_it_is_refused(move: int) -> None:
    with pytest.raises(ValueError, match=f"move must be between 0 and 2, not {move}"):
        read_game("(;SZ[5];B[cc];W[dd])").until(move)


@pytest.mark.parametrize(("arguments", "message"), [
    ((30, ()), "size must be between 2 and 25, not 30"), ((9, ((1, 82),)), "points 0 to 81, not of colour 1 and point 82"),
    ((9, ((2, 3),)), "moves must be of colours 1 -1 and points 0 to 81, not of colour 2 and point 3"),
    ((9, ((1, 3.5),)), "not of colour 1 and point 3.5"), ((9, (), (Setup(0, (), 7),)), "to_play must be one of 1, -1, None, not 7"),
    ((9, (), (Setup(0, ((81, 1),), None),)), "setups must be of colours 1 -1 0 and points 0 to 80, not of colour 1 and point 81"),
])  # fmt: skip
def test_records_that_are_none(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GameRecord(*arguments)


def test_two_passes_of_one_colour_are_no_row() -> None:
    """The player to move changes, so that the second pass is the first of a row."""
    record = read_game("(;SZ[5];B[cc];W[];W[];B[])")
    positions = record.positions()
    np.testing.assert_array_equal(positions.passes, [0, 0, 0, 1, 2])
    np.testing.assert_array_equal(positions.to_play, [1, -1, -1, 1, -1])
