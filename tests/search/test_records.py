"""Games as SGF records."""

import pytest

from jaxgo import Position
from search.game import Game
from search.records import as_record, score_as_result


@pytest.mark.parametrize(("score", "text"), [(0.0, "0"), (3.5, "B+3.5"), (-2.0, "W+2"), (360.0625, "B+360.0625"), (-1e-3, "W+0.001")])
def test_scores_have_all_their_digits(score, text):
    assert score_as_result(score) == text


@pytest.mark.parametrize(("rows", "to_play", "said"), [
    ("...\n...\n...", 1, ""), ("...\n...\n...", -1, "PL[W]"), ("X..\n...\n...", 1, "PL[B]"), ("X..\n...\n...", -1, "PL[W]"),
])  # fmt: skip
def test_who_is_to_move_is_said_where_it_is_not_plain(rows, to_play, said):
    """A program may take White for the one to move wherever Black has stones."""
    text = as_record(Game(Position.from_ascii(rows, to_play=to_play)), {}).decode()
    assert ("PL[" in text, said in text) == (bool(said), True)


def test_comments_are_those_of_their_moves():
    game = Game(Position.empty(3))
    for point in (0, 1, 2):
        game.play(point)
    text = "".join(as_record(game, {"KM": 7.5}, {1: "first", 3: "third"}).decode().split())
    assert ";B[aa]C[first];W[ba];B[ca]C[third]" in text and "KM[7.5]" in text
