"""Game records: reads an SGF file into a `GameRecord`, and a record into positions.

`sgfmill` reads the format; this module decides what a record means as a sequence of Go positions, and judges its moves with
the rules of `jaxgo.Position`. What is settled here:

- Position k of a record is the board after k moves of the main line (the first branch everywhere), with any setup stones that
  the record places before the next move. Position 0 holds the handicap and the setup stones.
- The player to move is the one who moves next in the record. After the last move it is the other player, unless the record
  says so itself (PL). Before the first move of a record without moves: PL, else White after handicap stones, else Black.
- Two moves of one colour in a row happen in real records (a pass was left out, or handicap stones were placed as moves). They
  are played as they stand: the player to move changes, which lifts a ko and ends a row of passes.
- A stone played after two passes resumes the game; a further pass leaves it ended.
- Fox, and sites that take games from it, write the komi in hundredths, of points or of stones: KM[650] is 6.5 points, KM[375] is
  3.75 stones and so 7.5 points. A komi that cannot be is taken for none; `GameRecord.remarks` says both.

Source of the format: SGF FF[4], https://www.red-bean.com/sgf/ ; of Fox's komi: the readers of KataGo and of LizzieYzy.
"""

import dataclasses
import os
import re
import reprlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
from sgfmill import sgf, sgf_grammar, sgf_properties

from jaxgo.base.constants import MAX_SIZE, MIN_SIZE
from jaxgo.board.coordinates import coordinate

if TYPE_CHECKING:
    from jaxgo.board.position import Position

BLACK = 1
WHITE = -1
EMPTY = 0
_REASONS = {
    "the point is occupied": "the point is occupied",
    "the ko forbids it": "it retakes the ko at once",
    "it is suicide": "it would leave its own chain without liberties (suicide)",
}
_OVER = 2  # passes in a row that end a game

_COLOURS = {"b": BLACK, "w": WHITE}
_NAMES = {BLACK: "Black", WHITE: "White"}
_DEFAULT_SIZE = 19  # FF[4]: what a Go record without SZ means
_FOX = "foxwq"  # what Fox puts into AP

#: A text begins like this, after a byte order mark and what a mail's header may hold; no name of a file does.
#: Bytes of a record's file, at most; records of games with all their variations have a few hundred thousand.
MOST_BYTES = 1 << 24
_BEGINS_A_GAME = re.compile(r"^\ufeff?\s*\(\s*;", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Setup:
    """Stones that a record places or removes without a move, at one node."""

    after_move: int
    """How many moves of the main line precede it."""
    stones: tuple[tuple[int, int], ...]
    """(point, colour) pairs, colour 1 Black, -1 White, 0 to empty the point."""
    to_play: int | None
    """1 or -1 where the record names the player to move (PL), else None."""


@dataclasses.dataclass(frozen=True)
class GameRecord:
    """The main line of one game. Points are y * size + x with row 0 at the top, a pass is size * size; 1 Black, -1 White."""

    size: int
    """Rows and columns of the board, 2 to 25."""
    moves: tuple[tuple[int, int], ...]
    """(colour, point) for each move of the main line."""
    setups: tuple[Setup, ...] = ()
    """Handicap and other setup stones in the order of the record."""
    handicap: int = 0
    """Number of handicap stones the record states (HA), 0 without."""
    komi_text: str = ""
    """The record's komi (KM) as written, "" without."""
    black: str = ""
    """Black's name, "" without."""
    white: str = ""
    """White's name, "" without."""
    result: str = ""
    """The result as written, such as "B+14.0", "" without."""
    application: str = ""
    """The programs that wrote the record (AP), separated by blanks, "" without."""

    @property
    def komi(self) -> float | None:
        """The record's komi in points, None where it states none, or one that cannot be (see `remarks`)."""
        return self._komi_and_remark[0]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What of the record was not taken as it is written, a sentence each for people to read; mostly empty."""
        remark = self._komi_and_remark[1]
        return (remark,) if remark else ()

    @property
    def _komi_and_remark(self) -> tuple[float | None, str]:
        """The komi, and what is to be said of it, "" for nothing."""
        text, points = self.komi_text.strip().replace(",", "."), self.size * self.size
        if not text:
            return None, ""
        remark = f"the game record's komi, KM[{self.komi_text}], is "
        try:
            written = sgf_properties.interpret_real(text.encode())
        except ValueError:
            return None, f"{remark}left out: it is no finite number"
        komi = _from_hundredths(written, fox=_FOX in self.application.lower())
        if abs(komi) > points:
            return None, f"{remark}left out: it is beyond the {points} points of the board"
        return komi, "" if komi == written else f"{remark}taken for {komi:g} points: it is written in hundredths"

    def to_play(self, move: int) -> int:
        """The colour to move after `move` moves (1 Black, -1 White); see the module's text."""
        if move < len(self.moves):
            return self.moves[move][0]
        named = [setup.to_play for setup in self.setups if setup.after_move == move and setup.to_play]
        if named:
            return named[-1]
        if move:
            return -self.moves[move - 1][0]
        return WHITE if self.handicap > 1 else BLACK

    @property
    def last_in_play(self) -> int:
        """The number of moves without the passes that closed the game: the last position from which it could go on.

        A game that did not end with two passes was given up, or is not finished; then it is the number of moves.
        """
        points, last = [point for _, point in self.moves], len(self.moves)
        if points[-2:] != [self.size * self.size] * 2:
            return last
        while last and points[last - 1] == self.size * self.size:
            last -= 1
        return last

    def position(self, move: int | Literal["all"] | None = None) -> "Position":
        """The position after `move` moves, as a batch of 1; or every position.

        Args:
          move: 0 to the number of moves; None for the last position; "all" for a batch of all of them, number k after k moves.

        Raises:
          ValueError: `move` is out of range, or a move or setup up to there is illegal (the text says which and why).
        """
        last = len(self.moves)
        if isinstance(move, str):
            if move != "all":
                raise ValueError(f'move must be a number from 0 to {last}, None or "all", not {move!r}')
            return self.positions()
        if move is None:
            move = last
        if not 0 <= move <= last:
            raise ValueError(f"move must be from 0 to {last}, the number of moves of the game record, not {move}")
        *_, position = self._replay(move)
        return position

    def positions(self) -> "Position":
        """All positions, from before the first move to after the last, as a batch of `len(moves) + 1`.

        Raises:
          ValueError: a move or a setup is illegal (the text says which and why).
        """
        import jax

        # numpy joins the parts: with jax.numpy, each length of record would compile its own program.
        return jax.tree.map(lambda *leaves: np.concatenate(leaves), *self._replay(len(self.moves)))

    def _replay(self, num_moves: int) -> Iterator["Position"]:
        """Yields the positions 0 to `num_moves`, each a batch of 1, so that one compiled program plays all of them."""
        from jaxgo.board.position import Position

        position = self._with_setups(Position.empty(self.size), 0)
        yield position
        for number, (colour, point) in enumerate(self.moves[:num_moves], start=1):
            position = self._play(position, number, colour, point)
            yield (position := self._with_setups(position, number))

    def _with_setups(self, position: "Position", move: int) -> "Position":
        """`position` with the record's setup stones at this move number, and the right player to move."""
        from jaxgo.board.position import Position

        setups = [setup for setup in self.setups if setup.after_move == move]
        to_play = self.to_play(move)
        if not any(setup.stones for setup in setups) and to_play == np.asarray(position.to_play)[0]:
            return position
        board = np.array(position.to_array())[0]
        for setup in setups:
            for point, colour in setup.stones:
                board[divmod(point, self.size)] = colour
        try:
            return Position.from_array(board, to_play=to_play)
        except ValueError as error:
            raise ValueError(f"the stones set up {_when(move)} are not a legal position: {error}") from error

    def _play(self, position: "Position", number: int, colour: int, point: int) -> "Position":
        """`position` after one move of the record."""
        from jaxgo.board import dynamics
        from jaxgo.board.position import Position

        is_pass = point == self.size * self.size
        if np.asarray(position.passes)[0] == _OVER:
            passes = _OVER if is_pass else 0
            position = Position.from_array(position.to_array(), to_play=-colour if is_pass else colour, passes=passes)
            if is_pass:
                return position
        after, faults = dynamics.run(dynamics.tried, position, np.array([point], np.int32), np.ones(1, np.bool_))
        if fault := int(np.asarray(faults)[0]):
            move = f"move {number}, {_NAMES[colour]} {coordinate(point, self.size)}"
            raise ValueError(f"{move}, is illegal: {_REASONS[dynamics.FAULTS[fault - 1]]}")
        return after


def read_game(path_or_text: str | bytes | os.PathLike) -> GameRecord:
    """Reads a game record. The first game counts where a file holds several, and the first branch where it has variations.

    Args:
      path_or_text: a path, or the record itself as str or bytes. A str is the record itself where a line of it begins with "(;"
        and no file has that name; other strings are names of files, and so is every `pathlib.Path`.

    Raises:
      ValueError: the file cannot be read, holds no SGF, or no Go game on a square board of 2 to 25; a move or setup is off the
        board. The legality of moves shows when positions are asked for.
    """
    data, name = _read(path_or_text)
    try:
        root = sgf_grammar.parse_sgf_game(data)
    except ValueError as error:
        raise ValueError(f"{name} is not an SGF game record: {error}") from None
    properties = root.sequence[0]
    game_kind = _raw(properties, "GM")
    if game_kind not in ("", "1"):
        raise ValueError(f"{name} is an SGF record of another game, GM[{game_kind}]; Go is GM[1]")
    size = _size(_raw(properties, "SZ"), name)
    properties["SZ"] = [str(size).encode()]
    try:
        game = sgf.Sgf_game.from_coarse_game_tree(root)
    except (ValueError, LookupError):  # the record names a character set that does not exist
        game = sgf.Sgf_game.from_coarse_game_tree(root, override_encoding="latin-1")
    return _record(game)


def _read(path_or_text: str | bytes | os.PathLike) -> tuple[bytes, str]:
    """The record's bytes, and what to call it in errors."""
    if isinstance(path_or_text, bytes):
        return path_or_text, "the given text"
    if isinstance(path_or_text, str) and _BEGINS_A_GAME.search(path_or_text) and not os.path.isfile(path_or_text):
        return path_or_text.encode(), "the given text"
    if not isinstance(path_or_text, (str, os.PathLike)):
        raise TypeError(f"path_or_text must be a path or the text of an SGF game record, not {type(path_or_text).__name__}")
    name = reprlib.repr(os.fspath(path_or_text))
    try:
        with open(path_or_text, "rb") as file:
            read = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"the game record {name} cannot be read: {reason}") from error
    if len(read) > MOST_BYTES:
        raise ValueError(f"the game record {name} cannot be read: it has more than {MOST_BYTES:,} bytes")
    return read, name


def _from_hundredths(written: float, *, fox: bool) -> float:
    """A komi in points, from what a record states: itself, or hundredths of points or of stones.

    Fox's are multiples of 25 (2.75, 3.25 and 3.75 stones, 0.5, 6.5 and 7.5 points); from 200 on such a number is taken for
    hundredths in any record. Of what is at most 4, quarters and what is at least 2 are stones, each worth two points.
    """
    if written % 25 or not (25 if fox else 200) <= abs(written) <= 2000:
        return written
    komi = written / 100
    return 2 * komi if abs(komi) <= 4 and (written % 50 or abs(komi) >= 2) else komi


def _raw(properties: dict[str, list[bytes]], identifier: str) -> str:
    """A property's first value as text, "" without."""
    return properties.get(identifier, [b""])[0].decode("latin-1").strip()


def _size(text: str, name: str) -> int:
    """The board size that SZ states."""
    if not text:
        return _DEFAULT_SIZE
    columns, _, rows = text.partition(":")
    try:
        size = int(columns)
        square = not rows or int(rows) == size
    except ValueError:
        raise ValueError(f"{name} states no board size but SZ[{text}]") from None
    if not square:
        raise ValueError(f"{name} is of a game on a {columns}x{rows} board; only square boards are played")
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise ValueError(f"{name} is of a game on a {size}x{size} board; sizes {MIN_SIZE} to {MAX_SIZE} are played")
    return size


def _record(game: sgf.Sgf_game) -> GameRecord:
    """The meaning of a game that `sgfmill` has read."""
    root, size = game.get_root(), game.get_size()
    moves: list[tuple[int, int]] = []
    setups: list[Setup] = []
    for node in game.main_sequence_iter():
        setup = _setup(node, len(moves), size)
        if setup.stones or setup.to_play:
            setups.append(setup)
        colour, raw = node.get_raw_move()
        if colour is not None:
            moves.append((_COLOURS[colour], _move(raw, len(moves) + 1, _COLOURS[colour], size)))
    try:
        handicap = int(_raw(root.get_raw_property_map(), "HA") or 0)
    except ValueError:
        raise ValueError(f"the game record's handicap, HA[{_raw(root.get_raw_property_map(), 'HA')}], is not a number") from None
    placed = any(setup.after_move == 0 and setup.stones for setup in setups)
    if handicap > 1 and not placed and (not moves or moves[0][0] == WHITE):
        raise ValueError(f"the game record states a handicap, HA[{handicap}], but does not place its stones (AB)")
    return GameRecord(
        size=size,
        moves=tuple(moves),
        setups=tuple(setups),
        handicap=handicap,
        komi_text=_raw(root.get_raw_property_map(), "KM"),
        black=_text(root, "PB"),
        white=_text(root, "PW"),
        result=_text(root, "RE"),
        application=" ".join(value.decode("latin-1").strip() for value in root.get_raw_property_map().get("AP", [])),
    )


def _setup(node: sgf.Node, num_moves: int, size: int) -> Setup:
    """The setup properties of one node."""
    try:
        black, white, empty = node.get_setup_stones()
        to_play = _COLOURS[node.get("PL")] if node.has_property("PL") else None
    except ValueError:
        where = f"the setup (AB, AW, AE, PL) {_when(num_moves)}"
        raise ValueError(f"{where} names a point off the {size}x{size} board, or no colour") from None
    groups = ((black, BLACK), (white, WHITE), (empty, EMPTY))
    stones = [((size - 1 - row) * size + column, colour) for points, colour in groups for row, column in sorted(points)]
    return Setup(num_moves, tuple(stones), to_play)


def _move(raw: bytes, number: int, colour: int, size: int) -> int:
    """The point of one move property; "" is a pass, and so is "tt" on boards up to 19x19."""
    try:
        move = sgf_properties.interpret_go_point(raw.strip(), size)
    except ValueError:
        text = f"move {number}, {_NAMES[colour]} [{raw.decode('latin-1')}]"
        raise ValueError(f"{text}, is no point of the {size}x{size} board") from None
    if move is None:
        return size * size
    row, column = move
    return (size - 1 - row) * size + column


def _text(node: sgf.Node, identifier: str) -> str:
    """A text property for people to read: wrongly encoded letters are replaced rather than refused."""
    if not node.has_property(identifier):
        return ""
    value = sgf_grammar.simpletext_value(node.get_raw(identifier))
    return value.decode(node.get_encoding(), "replace").strip()


def _when(move: int) -> str:
    """Where in a record something stands."""
    return f"after move {move}" if move else "before the first move"
