"""Game records with remarks: a record as it was, with comments, win rates, marks of ownership and variations on its main line."""

import dataclasses
import os
from collections.abc import Mapping, Sequence

from jaxgo.records.library import sgf, sgf_grammar
from jaxgo.records.sgf import LETTERS, parse, row_column


@dataclasses.dataclass(frozen=True)
class Annotation:
    """What is said of the position after some moves. Texts are ASCII, so that a record in any character set can hold them."""

    comment: str = ""
    """Goes behind the record's own comment."""
    win_rate: float | None = None
    """Black's, in [0, 1]; Sabaki and others draw a curve of them (SBKV)."""
    black: Sequence[int] = ()
    """Points that are marked as Black's (TB), unless the record marks territory there itself."""
    white: Sequence[int] = ()
    """Points that are marked as White's (TW)."""
    bad: bool = False
    """Whether the move that led there is marked as bad (BM)."""
    better: tuple[int, int] | None = None
    """(colour, point) of a move that goes beside the one that led there, as a variation."""


def annotated(source: str | bytes | os.PathLike | None, size: int, annotations: Mapping[int, Annotation]) -> bytes:
    """A record with annotations.

    Args:
      source: the record, as `jaxgo.read_game` takes it, the first game of which is kept; None for an empty board.
      size: of the empty board.
      annotations: by the number of moves before the position.

    Raises:
      ValueError: the source is no game record.
    """
    game = sgf.Sgf_game(size) if source is None else parse(source)[0]
    moves = 0
    for node in game.get_main_sequence():
        last = node.get_raw_move()[0] is not None
        moves += last
        if moves in annotations and (last or node is game.get_root()):
            _annotate(node, annotations[moves], game.get_size())
    tree = sgf_grammar.make_coarse_game_tree(game.get_root(), lambda node: node, sgf.Node.get_raw_property_map)
    return sgf_grammar.serialise_game_tree(tree, None)  # as it was read, in whatever character set it says that it is


def _annotate(node: sgf.Tree_node, said: Annotation, size: int) -> None:
    if said.comment:
        own = [text.rstrip() for text in node.get_raw_list("C")] if node.has_property("C") else []
        node.set_raw("C", b"\n\n".join([*own, said.comment.encode("ascii")]))
    if said.win_rate is not None:
        node.set_raw("SBKV", f"{100 * said.win_rate:.2f}".encode())
    if not (node.has_property("TB") or node.has_property("TW")):
        for name, points in (("TB", said.black), ("TW", said.white)):
            if points:
                node.set(name, [row_column(point, size) for point in points])
    if said.bad and not node.has_property("TE"):
        node.set_raw("BM", b"1")
    if said.better is not None and node.parent is not None:  # beside a move of the root there is no place
        colour, point = said.better
        branch = node.parent.new_child()
        branch.set_move(LETTERS[colour], row_column(point, size))
        branch.set_raw("TE", b"1")
