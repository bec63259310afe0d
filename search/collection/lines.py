"""The lines of a game: its main line and its variations, each as a record of its own."""

import dataclasses
from collections.abc import Iterator

from jaxgo.records.library import sgf_grammar
from jaxgo.records.record import GameRecord
from jaxgo.records.sgf import read_as_far_as_possible, readable

_MOVES, _SETUPS = ("B", "W"), ("AB", "AW", "AE", "PL")


@dataclasses.dataclass(frozen=True)
class Line:
    """A line from the first node to a last one."""

    record: GameRecord
    start: int
    """The first ply that is not an earlier line's; 0 for the main line."""
    fault: str
    """What is wrong with the move after the record's last one, "" where the line ends there."""


def lines_of(text: bytes) -> list[Line]:
    """A game's lines, in the order of the file, the main line first.

    Raises:
      ValueError: this is no record of a Go game that can be played here.
    """
    record, fault = read_as_far_as_possible(text)
    out = [Line(record, 0, fault)]
    if text.count(b"(") == 1:  # most games have no variations, and need not be parsed again
        return out
    data, in_utf8 = readable(text)
    root = sgf_grammar.parse_sgf_game(data)
    if in_utf8:
        root.sequence[0]["CA"] = [b"UTF-8"]
    for start, variation in _variations(root):
        record, fault = read_as_far_as_possible(sgf_grammar.serialise_game_tree(variation))
        if len(record.moves) >= start or fault:
            out.append(Line(record, start, fault))
    return out


def _variations(root: sgf_grammar.Coarse_game_tree) -> Iterator[tuple[int, sgf_grammar.Coarse_game_tree]]:
    """(the first ply of its own, all its nodes as a tree without branches) of every line but the first."""
    main = True
    left: list[tuple[sgf_grammar.Coarse_game_tree, list[dict], int]] = [(root, [], 0)]
    while left:
        tree, before, start = left.pop()
        nodes = before + tree.sequence
        for i, child in reversed(list(enumerate(tree.children))):
            # A first branch goes on with its line.
            left.append((child, nodes, start if i == 0 else _first_ply(nodes, child.sequence)))
        if not tree.children:
            if not main:
                line = sgf_grammar.Coarse_game_tree()
                line.sequence, line.children = nodes, []
                yield start, line
            main = False


def _first_ply(before: list[dict], own: list[dict]) -> int:
    """The first ply whose position is a variation's own: after its first move, or before that where it sets up stones."""
    moves = sum(_has(node, _MOVES) for node in before)
    for node in own:
        if _has(node, _MOVES):
            break
        if _has(node, _SETUPS):
            return moves
    return moves + 1


def _has(node: dict, names: tuple[str, ...]) -> bool:
    return any(name in node for name in names)
