"""Game records in SGF: reads a file into a `GameRecord`. `sgfmill` reads the format; `jaxgo.records.record` says what it means.

Source of the format: SGF FF[4], https://www.red-bean.com/sgf/ .
"""

import codecs
import os
import re
import unicodedata

from jaxgo.base.constants import BLACK, MAX_SIZE, MIN_SIZE, WHITE
from jaxgo.records.library import sgf, sgf_grammar, sgf_properties
from jaxgo.records.record import COLOUR_NAMES, GameRecord, Setup, when

EMPTY = 0

#: Colours as sgfmill names them.
LETTERS = {BLACK: "b", WHITE: "w"}
_COLOURS = {letter: colour for colour, letter in LETTERS.items()}
_DEFAULT_SIZE = 19  # FF[4]: what a Go record without SZ means

#: Bytes of a record's file, at most; records of games with all their variations have a few hundred thousand.
MOST_BYTES = 1 << 24
#: A text begins like this, after a byte order mark and what a mail's header may hold; no name of a file does.
_BEGINS_A_GAME = re.compile(r"^\ufeff?\s*\(\s*;", re.MULTILINE)
#: Where a record names its character set.
CHARACTER_SET = re.compile(rb"(?<![A-Za-z])CA\s*\[\s*([^\]\s]+)\s*\]")
#: Under these names records have letters of wider sets.
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "big5": "cp950"}


def read_game(path_or_text: str | bytes | os.PathLike) -> GameRecord:
    """Reads a game record. The first game counts where a file holds several, and the first branch where it has variations.

    Args:
      path_or_text: a path, or the record itself as str or bytes. A str is the record itself where a line of it begins with "(;"
        and no file has that name; other strings are names of files, and so is every `pathlib.Path`.

    Raises:
      ValueError: the file cannot be read, holds no SGF, or no Go game on a square board of 2 to 25; a move or setup is off the
        board. The legality of moves shows when positions are asked for.
    """
    record, fault = read_as_far_as_possible(path_or_text)
    if fault:
        raise ValueError(fault)
    return record


def read_as_far_as_possible(path_or_text: str | bytes | os.PathLike) -> tuple[GameRecord, str]:
    """(the record up to the first move or setup that is off the board, what is wrong with that or "").

    Raises:
      ValueError: as `read_game`, for all else.
    """
    return _record(*parse(path_or_text))


def parse(path_or_text: str | bytes | os.PathLike) -> tuple[sgf.Sgf_game, tuple[str, ...]]:
    """The first game of a record as `sgfmill` has it, and what the file holds beyond that game's main line, a sentence each.

    Raises:
      ValueError: the file cannot be read, holds no SGF, or no Go game on a square board of 2 to 25.
    """
    given, name = _read(path_or_text)
    data, in_utf8 = (given.encode("utf-8", "replace"), True) if isinstance(given, str) else readable(given)
    try:
        root = sgf_grammar.parse_sgf_game(data)
    except ValueError as error:
        raise ValueError(f"{name} is not an SGF game record: {error}") from None
    _drop_unnamed(root)
    properties = root.sequence[0]
    game_kind = _raw(properties, "GM")
    if game_kind not in ("", "1"):
        raise ValueError(f"{name} is an SGF record of another game, GM[{game_kind}]; Go is GM[1]")
    size = _size(_raw(properties, "SZ"), name)
    properties["SZ"] = [str(size).encode()]
    if in_utf8:
        properties["CA"] = [b"UTF-8"]
    return _game(root, data), _notes(root, data)


def _drop_unnamed(root: sgf_grammar.Coarse_game_tree) -> None:
    """Drops properties without a name, which is all that is left of names in small letters alone."""
    trees = [root]
    while trees:
        tree = trees.pop()
        for properties in tree.sequence:
            properties.pop("", None)
        trees += tree.children


def _read(path_or_text: str | bytes | os.PathLike) -> tuple[bytes | str, str]:
    """The record, and what to call it in errors."""
    if isinstance(path_or_text, bytes):
        return path_or_text, "the given text"
    if isinstance(path_or_text, str) and _BEGINS_A_GAME.search(path_or_text) and not os.path.isfile(path_or_text):
        return path_or_text, "the given text"
    if not isinstance(path_or_text, (str, os.PathLike)):
        raise TypeError(f"path_or_text must be a path or the text of an SGF game record, not {type(path_or_text).__name__}")
    return bytes_of(path_or_text), repr(os.fspath(path_or_text))


def bytes_of(path: str | os.PathLike) -> bytes:
    """A file's bytes, which may be no game record.

    Raises:
      ValueError: it cannot be read, or has more than `MOST_BYTES`.
    """
    name = repr(os.fspath(path))
    try:
        with open(path, "rb") as file:
            read = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"the game record {name} cannot be read: {reason}") from error
    if len(read) > MOST_BYTES:
        raise ValueError(f"the game record {name} cannot be read: it has more than {MOST_BYTES:,} bytes")
    return read


def readable(data: bytes) -> tuple[bytes, bool]:
    """A record as `sgfmill` can read it, which goes by bytes; and whether it is now in UTF-8.

    In Shift_JIS, Big5, GBK and their kin the second byte of a letter may be one that stands for a backslash or a bracket.
    """
    named = CHARACTER_SET.search(data)
    if named is None:
        return data, False
    try:
        codec = codec_of(named[1])
        text = data.decode(codec)
        letters = {letter for letter in text if letter > "\x7f"}
        doubtful = any(byte < 0x80 for letter in letters for byte in letter.encode(codec))
        if doubtful and named[0].decode("ascii") in text:
            return text.encode(), True
    except (LookupError, ValueError):  # there is no such set, or the record is not in it
        pass
    return data, False


def codec_of(name: bytes) -> str:
    """What Python calls the character set of this name, or one with more letters that records have under it.

    Raises:
      LookupError, ValueError: there is none.
    """
    codec = codecs.lookup(name.decode("ascii")).name
    return _WIDER.get(codec, codec)


def _game(root: sgf_grammar.Coarse_game_tree, data: bytes) -> sgf.Sgf_game:
    """The game of a parse tree, its texts in the character set that it names, or in the one that they are in."""
    unnamed = not _raw(root.sequence[0], "CA")
    try:
        # Records without CA, which would be Latin-1, are UTF-8 in practice where their bytes are.
        return sgf.Sgf_game.from_coarse_game_tree(root, "UTF-8" if unnamed and _is_utf8(data) else None)
    except (ValueError, LookupError):  # the record names a character set that does not exist
        return sgf.Sgf_game.from_coarse_game_tree(root, "latin-1")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _notes(root: sgf_grammar.Coarse_game_tree, data: bytes) -> tuple[str, ...]:
    """What the file holds beyond the main line of its first game."""
    games, end = 1, sgf_grammar.tokenise(data)[1]
    while (found := sgf_grammar.tokenise(data, end))[0]:
        games, end = games + 1, found[1]
    branches, trees = 1, [root]
    while trees:
        children = trees.pop().children
        branches += max(0, len(children) - 1)
        trees += children
    notes = []
    if games > 1:
        notes.append(f"the file holds {games} games; the first is read")
    if branches > 1:
        notes.append(f"the game has {branches} branches; the first is read")
    return tuple(notes)


def _raw(properties: dict[str, list[bytes]], identifier: str) -> str:
    """A property's first value as text, "" without."""
    return without_controls(properties.get(identifier, [b""])[0].decode("latin-1")).strip()


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


def _record(game: sgf.Sgf_game, notes: tuple[str, ...]) -> tuple[GameRecord, str]:
    """The meaning of a game that `sgfmill` has read, and what is wrong where that ends before the game."""
    root, size = game.get_root(), game.get_size()
    moves, setups, fault = _main_line(game)
    handicap, remark = _handicap(_raw(root.get_raw_property_map(), "HA"), size * size)
    placed = any(setup.after_move == 0 and setup.stones for setup in setups)
    first = next((colour for colour, point in moves if point != size * size), WHITE)
    if handicap > 1 and not placed and first == WHITE:
        raise ValueError(f"the game record states a handicap, HA[{handicap}], but does not place its stones (AB)")
    record = GameRecord(
        size=size,
        moves=tuple(moves),
        setups=tuple(setups),
        handicap=handicap,
        komi_text=_raw(root.get_raw_property_map(), "KM"),
        rules=_text(root, "RU"),
        black=_text(root, "PB"),
        white=_text(root, "PW"),
        result=_text(root, "RE"),
        application=" ".join(value.decode("latin-1").strip() for value in root.get_raw_property_map().get("AP", [])),
        notes=(*notes, remark) if remark else notes,
    )
    return record, fault


def _handicap(text: str, points: int) -> tuple[int, str]:
    """The handicap that a record states, 0 where it states none; and a remark where what it says is no such number."""
    try:
        stones = float(text or 0)
    except ValueError:
        stones = -1.0
    if stones.is_integer() and 0 <= stones <= points:
        return int(stones), ""
    return 0, f"the game record's handicap, HA[{text}], is left out: it is no number of stones"


def _main_line(game: sgf.Sgf_game) -> tuple[list[tuple[int, int]], list[Setup], str]:
    """The moves and setups of the first branch, and what is wrong with the next, "" at its end."""
    moves: list[tuple[int, int]] = []
    setups: list[Setup] = []
    for node in game.main_sequence_iter():
        try:
            setup = _setup(node, len(moves), game.get_size())
            if setup.stones or setup.to_play:
                setups.append(setup)
            if node.has_property("B") and node.has_property("W"):
                raise ValueError(f"the node {when(len(moves))} has a move of each player (B, W), and a node may have one")
            colour, raw = node.get_raw_move()
            if colour is not None:
                moves.append((_COLOURS[colour], _move(raw, len(moves) + 1, _COLOURS[colour], game.get_size())))
        except ValueError as error:
            return moves, setups, str(error)
    return moves, setups, ""


def _setup(node: sgf.Node, num_moves: int, size: int) -> Setup:
    """The setup properties of one node."""
    try:
        black, white, empty = node.get_setup_stones()
        to_play = _COLOURS[node.get("PL")] if node.has_property("PL") else None
    except ValueError:
        names = [name for name in ("AB", "AW", "AE", "PL") if node.has_property(name)]
        told = " ".join(f"{name}[{b']['.join(node.get_raw_list(name)).decode('latin-1')}]" for name in names)
        where = f"the setup {when(num_moves)}, {without_controls(told)[:60]},"
        raise ValueError(f"{where} names a point off the {size}x{size} board, or no colour") from None
    groups = ((black, BLACK), (white, WHITE), (empty, EMPTY))
    stones = [((size - 1 - row) * size + column, colour) for points, colour in groups for row, column in sorted(points)]
    return Setup(num_moves, tuple(stones), to_play)


def _move(raw: bytes, number: int, colour: int, size: int) -> int:
    """The point of one move property; "" is a pass, and so is "tt" on boards up to 19x19."""
    try:
        move = sgf_properties.interpret_go_point(raw.strip(), size)
    except ValueError:
        text = f"move {number}, {COLOUR_NAMES[colour]} [{without_controls(raw.decode('latin-1'))[:60]}]"
        raise ValueError(f"{text}, is no point of the {size}x{size} board") from None
    if move is None:
        return size * size
    row, column = move
    return (size - 1 - row) * size + column


def _text(node: sgf.Node, identifier: str) -> str:
    """A text property for people to read: wrongly encoded letters are replaced rather than refused, and none moves a cursor."""
    if not node.has_property(identifier):
        return ""
    value = sgf_grammar.simpletext_value(node.get_raw(identifier))
    try:
        text = value.decode(node.get_encoding(), "replace")
    except (LookupError, UnicodeError):  # Python has codecs that are not of texts
        text = value.decode("latin-1")
    return without_controls(text).strip()


def without_controls(text: str) -> str:
    """A text without what would move a terminal's cursor."""
    return "".join(letter for letter in text if unicodedata.category(letter) != "Cc")


def row_column(point: int, size: int) -> tuple[int, int] | None:
    """A point as sgfmill counts it, rows from the bottom; None for a pass."""
    return None if point == size * size else (size - 1 - point // size, point % size)
