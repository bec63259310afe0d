"""Games as SGF records, the way back from `jaxgo.records.sgf`."""

from collections.abc import Mapping

import numpy as np

from jaxgo.base.source import version
from jaxgo.board.stones import after_move
from jaxgo.records.library import sgf
from jaxgo.records.sgf import LETTERS, row_column
from search.game import Game
from search.replay import together


def as_record(game: Game, properties: Mapping[str, object], comments: Mapping[int, str] | None = None) -> bytes:
    """The SGF record of a game, with the stones that were set up at first or between moves.

    Args:
      game: the game.
      properties: of the root beyond what the game says, such as {"PB": "Ann", "KM": 7.5}; as sgfmill takes them.
      comments: on moves, by their number from 1 on.
    """
    record, comments = sgf.Sgf_game(size=game.size), comments or {}
    node = record.get_root()
    for name, value in {"AP": ("jaxgo", version()), **properties}.items():
        node.set(name, value)
    boards = np.asarray(together(game.positions).to_array())
    black_first = int(np.asarray(game.positions[0].to_play)[0]) == 1
    if boards[0].any():
        _set_up(node, np.zeros_like(boards[0]), boards[0])
    if boards[0].any() or not black_first:
        node.set("PL", "b" if black_first else "w")
    for number, ((colour, point), before, after) in enumerate(zip(game.moves, boards, boards[1:]), start=1):
        node = node.new_child()
        node.set_move(LETTERS[colour], row_column(point, game.size))
        if number in comments:
            node.set("C", comments[number])
        only = np.arange(before.size) == point  # nothing for a pass
        if np.array_equal(after.ravel(), np.where(only, colour, before.ravel())):  # mostly: nothing is captured
            continue
        played = after_move(before, colour, point)
        if (played != after).any():
            node = node.new_child()
            _set_up(node, played, after)
    if game.moves and game.to_play == game.moves[-1][0]:
        node.new_child().set("PL", LETTERS[game.to_play])
    return record.serialise(wrap=None)


def _set_up(node: sgf.Tree_node, before: np.ndarray, after: np.ndarray) -> None:
    """Notes the stones that turn one board into another."""
    changed, size = before != after, len(after)
    points = ([row_column(int(p), size) for p in np.flatnonzero(changed & (after == colour))] for colour in (1, -1, 0))
    node.set_setup_stones(*points)


def score_as_result(score: float) -> str:
    """A score for Black in points as SGF and GTP have it: B+3.5, W+2, or 0 for a draw."""
    return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):.12g}"
