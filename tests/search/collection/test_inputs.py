"""What inputs are, and how they are cut: files found, games told apart, parts the same however they are worked on."""

import io
import os
import pathlib

import pyarrow
import pyarrow.parquet
import pytest

from search.collection import inputs, reading
from search.collection.inputs import Game, NoInput, Reject
from search.collection.lines import lines_of
from search.collection.parts import Part, cut
from search.collection.positions import cut_rows, positions_of
from search.collection.reading import read
from search.collection.settings import Settings

TREE = "(;SZ[5];B[cc];W[bb](;B[dd];W[aa](;B[ee])(;B[ea];W[eb]))(;C[another];B[db])(;AB[da];W[ad]))"


def test_files_of_folders_are_found_once_and_results_left_out(tmp_path: pathlib.Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "out" / "5x5").mkdir(parents=True)
    for name in ("b.sgf", "more/a.SGF", "t.parquet", "notes.txt", "out/5x5/000000.parquet"):
        (tmp_path / name).write_text("")
    names = [str(tmp_path / "b.sgf"), str(tmp_path), str(tmp_path / "more")]
    found = [str(pathlib.Path(path).relative_to(tmp_path)) for path in inputs.files_of(names, str(tmp_path / "out"))]
    assert found == ["b.sgf", "t.parquet", "more/a.SGF"]
    for name, text in (("none.sgf", "there is no file"), ("notes.txt", "neither a folder nor"), ("out/5x5", "holds no .sgf")):
        with pytest.raises(NoInput, match=text):
            inputs.files_of([str(tmp_path / name)], str(tmp_path / "out" / "5x5"))


@pytest.mark.parametrize(("block", "beginning"), [(1, 5), (7, 5), (1 << 16, 1 << 12)])
def test_games_of_a_file_are_told_apart_by_their_brackets(block: int, beginning: int, monkeypatch) -> None:
    """However much of it is held at a time."""
    monkeypatch.setattr(inputs, "BLOCK", block)
    monkeypatch.setattr(inputs, "BEGINNING", beginning)
    first = b"(;SZ[9]C[a \\] ) ( ;];B[cc](;W[dd])(;W[ee]))"
    text = b"Dear all, (see below)\n" + first + b"\n(;C[SZ[3\\]]SZ[13:13])(;PB[x];B[aa]) (; SZ[5];B[bb"
    games = list(inputs.cut_games("f", io.BytesIO(text)))
    assert [(game.name, game.size, game.nodes) for game in games] == [("f", 9, 4), ("f#2", 13, 1), ("f#3", 19, 2), ("f#4", 5, 2)]
    assert games[0].text == first
    assert b"".join(game.text for game in games[1:3]) in text


@pytest.mark.parametrize(("name", "codec"), [("Shift_JIS", "cp932"), ("GBK", "gb18030"), ("gb2312", "gbk"), ("Big5", "big5")])
def test_letters_whose_second_byte_looks_like_a_bracket_are_letters(name: str, codec: str) -> None:
    """And of each line; the next game has another character set."""
    letters = [x for x in map(chr, range(0x4E00, 0x9FFF)) if x.encode(codec, "ignore")[1:] in (b"\\", b"]", b"[")]
    word = "".join(letters[:4])
    assert len(word) == 4
    text = f"(;CA[{name}]PB[{word}]SZ[9]C[{word}];B[ee];W[dd]C[{word}](;B[cc];W[gg])(;B[bb]))"
    other = "(;FF[4]SZ[5]PB[Bär];B[aa])".encode("latin-1")
    first, second = inputs.cut_games("f", io.BytesIO(text.encode(codec) + b"\n" + other))
    assert (first.size, first.nodes, second.size, second.nodes) == (9, 6, 5, 2) and second.text == other
    told = [(line.start, len(line.record.moves), line.record.black, line.fault) for line in lines_of(first.text)]
    assert told == [(0, 4, word, ""), (3, 3, word, "")]


@pytest.mark.parametrize("codec", ["utf-8", "latin-1"])
@pytest.mark.parametrize("name", ["GBK", "GB2312", "Big5", "Shift_JIS"])
def test_games_that_are_not_in_the_character_set_that_they_name(name: str, codec: str, monkeypatch) -> None:
    """As converted records are; in pieces, too."""
    monkeypatch.setattr(inputs, "BLOCK", 100)
    word = "好, 白 良い]" if codec == "utf-8" else "José, André, café]"
    game = f"(;GM[1]FF[4]CA[{name}]PB[{word[0]}]SZ[9]KM[7];B[aa];W[bb];B[cc]C[{word}".encode(codec) + b")"
    found = list(inputs.cut_games("f", io.BytesIO(b"\n".join([game] * 3))))
    assert [(x.size, x.nodes, x.text) for x in found] == [(9, 4, game)] * 3


@pytest.mark.parametrize("more", [b"A", b"[", b"[\\", b"A[", b"(;A"])
def test_what_no_game_holds_takes_no_longer_for_each_byte(more: bytes) -> None:
    """Quadratic time would be hours."""
    for begin, size in ((b"(;SZ[7]", 7), (b"(;", 19)):
        text = b"(;SZ[5];B[aa])" + begin + more * 500_000
        first, *others = inputs.cut_games("f", io.BytesIO(text))
        assert first.text == b"(;SZ[5];B[aa])" and others[0].size == size
        assert sum(len(game.text) for game in others) == len(text) - 14


def test_a_game_that_does_not_end_keeps_no_other_back(monkeypatch) -> None:
    games = [b"(;SZ[5];B[cc](;W[dd])(;W[ee]", *(b"(;GM[1]SZ[5];B[%c%c])" % (x, x) for x in b"abc")]
    assert [game.text.strip() for game in inputs.cut_games("f", io.BytesIO(b"\n".join(games)))] == games
    monkeypatch.setattr(inputs, "BLOCK", 64)
    monkeypatch.setattr(inputs, "MOST_BYTES", 1000)

    class Endless(io.RawIOBase):
        """A game without an end, and how much of it has been read."""

        taken = 0

        def read(self, size: int = -1) -> bytes:
            self.taken += size
            return (b"" if self.taken > size else b"(;SZ[5]") + b";B[cc]" * (size // 6)

    endless = Endless()
    (game,) = inputs.cut_games("f", endless)
    assert len(game.text) > 1000 and endless.taken < 5000


def test_lines_have_positions_of_their_own() -> None:
    lines = lines_of(TREE.encode())
    assert [(len(line.record.moves), line.start) for line in lines] == [(5, 0), (6, 5), (3, 3), (3, 2)]
    assert [line.record.moves[-1][1] for line in lines] == [24, 9, 8, 15]


def test_a_game_that_is_cut_is_parsed_and_played_once(monkeypatch) -> None:
    """By a worker that reads its parts one after the other."""
    parsed = []
    monkeypatch.setattr(reading, "lines_of", lambda text: (parsed.append(text), lines_of(text))[1])
    _positions(TREE.replace("(;", "(;C[parsed once]", 1), Settings(playouts=1, batch=1))
    assert len([text for text in parsed if b"parsed once" in text]) == 1


def _positions(text: str, settings: Settings) -> list[tuple]:
    games = [Game("a", text.encode(), 5, text.count(";")), Game("b", b"(;SZ[5];B[cc])", 5, 2)]
    found = [read(part, settings) for part in cut(games, settings) if isinstance(part, Part)]
    boards = [bytes(board) for x in found if x.batch for board in x.position.to_array()]
    rows = [tuple(x.facts[name][i] for name in ("game", "variation", "ply", "move")) for x in found for i in range(x.batch)]
    assert len(set(rows)) == len(rows), "each position appears once"
    return list(zip(rows, boards))


@pytest.mark.parametrize("batch", [1, 3, 100])
@pytest.mark.parametrize("how", [{}, {"every": 2}, {"first_move": 2, "last_move": 4}])
def test_every_position_is_in_one_part_however_parts_are_cut(batch: int, how: dict) -> None:
    settings = Settings(playouts=1, batch=batch, **how)
    found = _positions(TREE, settings)
    assert found == _positions(TREE, Settings(playouts=1, **how))
    plies = [(game, variation, ply) for (game, variation, ply, _), _ in found]
    wanted = {
        "every": [("a", 0, 0), ("a", 0, 2), ("a", 0, 4), ("a", 0, 5), ("a", 1, 6), ("a", 2, 3), ("a", 3, 2), ("a", 3, 3),
                  ("b", 0, 0), ("b", 0, 1)],
        "first_move": [("a", 0, 2), ("a", 0, 3), ("a", 0, 4), ("a", 2, 3), ("a", 3, 2), ("a", 3, 3)],
    }  # fmt: skip
    everything = [*(("a", 0, ply) for ply in range(6)), ("a", 1, 5), ("a", 1, 6), ("a", 2, 3), ("a", 3, 2), ("a", 3, 3)]
    assert plies == wanted.get(next(iter(how), ""), [*everything, ("b", 0, 0), ("b", 0, 1)])


@pytest.mark.parametrize(
    ("text", "rejects", "plies"),
    [
        ("(;SZ[5];B[cc];W[cc];B[aa])", [(0, 2, "move 2, White C3, is illegal: the point is occupied")], [0, 1]),
        ("(;SZ[5];B[cc](;W[cc])(;W[dd];B[cc]))",
         [(0, 2, "move 2, White C3, is illegal: the point is occupied"),
          (1, 3, "move 3, Black C3, is illegal: the point is occupied")], [0, 1, 2]),
        ("(;SZ[5];B[zz](;W[cc])(;W[dd]))", [(0, 1, "move 1, Black [zz], is no point of the 5x5 board")], [0]),
        ("(;GM[2]SZ[5])", [(-1, 0, "this is an SGF record of another game, GM[2]; Go is GM[1]")], []),
        ("(;SZ[5", [(-1, 0, "this is not an SGF game record: ")], []),
        ("(;SZ[5]AB[aa]AW[ba][ab])", [(0, 0, "the stones set up before the first move are not a legal position: ")], []),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_once(text: str, rejects: list, plies: list[int]) -> None:
    settings = Settings(playouts=1, batch=1)
    found = [read(part, settings) for part in cut([Game("a", text.encode(), 5, 9)], settings) if isinstance(part, Part)]
    told = [reject for x in found for reject in x.rejects]
    assert [(x.game, x.variation, x.ply) for x in told] == [("a", variation, ply) for variation, ply, _ in rejects]
    assert all(x.reason.startswith(reason) for x, (_, _, reason) in zip(told, rejects)), told
    assert [ply for x in found for ply in x.facts["ply"]] == plies


@pytest.mark.parametrize(("stated", "size"), [
    ("9", 9), ("009", 9), ("+5", 5), (" 13 ", 13), ("19:19", 19), ("26", 19), ("000919", 19), ("0009" + "9" * 5000, 19), ("-9", 19), ("", 19),
    ("1", 19), ("2", 2), ("25", 25), ("0", 19),
])  # fmt: skip
def test_the_size_that_a_game_states_is_one_that_is_played(stated: str, size: int) -> None:
    (game,) = inputs.cut_games("f", io.BytesIO(f"(;GM[1]SZ[{stated}])".encode()))
    assert game.size == size


def test_tables_hold_whole_numbers(tmp_path: pathlib.Path) -> None:
    """Nothing is rounded; and texts may be categories."""
    boards = [[0.6, 0, 0, 0], [1.0, 0, 0, -1.0], [float("nan"), 0, 0, 0], [None, 0, 0, 0], [257, 0, 0, 0]]
    table = pyarrow.table({"board": boards + [[0.0] * 4], "to_play": ["black"] * 6, "passes": [0.0] * 5 + [1.7]})
    _, good, bad = positions_of(table, 2)
    assert good == [1] and [row for row, _ in bad] == [0, 2, 3, 4, 5]
    assert bad[0][1] == "a board's numbers are 1, -1 and 0, not 0.6" and bad[-1][1] == "passes must be 0, 1 or 2, not 1.7"
    words = pyarrow.table({"board": pyarrow.array(["X..O"]).dictionary_encode(), "to_play": ["b"]})
    pyarrow.parquet.write_table(words, tmp_path / "words.parquet")
    (rows,) = cut_rows(str(tmp_path / "words.parquet"))
    assert positions_of(rows.table, rows.size)[1] == [0]
    pyarrow.parquet.write_table(pyarrow.table({"board": [3], "to_play": ["b"]}), tmp_path / "numbers.parquet")
    (reject,) = cut_rows(str(tmp_path / "numbers.parquet"))
    assert reject.reason == "the column 'board' must hold texts or lists of numbers, not int64"


def test_tables_that_arrow_holds_but_cannot_read_are_rejects(tmp_path: pathlib.Path) -> None:
    """Two columns of a name, and texts that are none: nobody looks when they are written."""
    columns = {"board": ["...."] * 2, "to_play": ["b", "w"]}
    doubled = pyarrow.table([*map(pyarrow.array, columns.values()), pyarrow.array(["...."] * 2)], names=[*columns, "board"])
    no_text = pyarrow.table(columns | {"game": pyarrow.array([b"caf\xe9", b"b"]).view(pyarrow.string())})
    for table, reason in ((doubled, "the table has 2 columns 'board'"), (no_text, "the table cannot be read: ")):
        pyarrow.parquet.write_table(table, tmp_path / "odd.parquet")
        (reject,) = cut_rows(str(tmp_path / "odd.parquet"))
        assert reject.reason.startswith(reason) and (table is doubled or "Invalid UTF8" in reject.reason)


def test_files_that_cannot_be_read_are_rejects(tmp_path: pathlib.Path) -> None:
    """A pipe among them, for which nothing waits."""
    (tmp_path / "empty.sgf").write_text("nothing")
    (tmp_path / "bad.parquet").write_text("nothing")
    os.mkfifo(tmp_path / "pipe.sgf")
    names = "empty.sgf", "bad.parquet", "gone.sgf", "pipe.sgf"
    found = list(inputs.read([str(tmp_path / name) for name in names]))
    assert all(isinstance(x, Reject) for x in found)
    assert [x.reason.partition(":")[0] for x in found] == [
        "the file holds no SGF game record", "the table cannot be read", "the file cannot be read", "the file cannot be read",
    ]  # fmt: skip
    assert found[3].reason.endswith("it is no regular file")


def test_rejects_of_results_are_no_input(tmp_path: pathlib.Path) -> None:
    """Where they are a result; a table of that name elsewhere is a table."""
    (tmp_path / "results" / "9x9").mkdir(parents=True)
    for name in ("results/collection.json", "results/rejects.parquet", "results/9x9/000000.parquet", "rejects.parquet"):
        (tmp_path / name).write_text("")
    found = inputs.files_of([str(tmp_path)], str(tmp_path / "out"))
    assert [os.path.relpath(path, tmp_path) for path in found] == ["rejects.parquet", "results/9x9/000000.parquet"]


def test_parts_are_as_large_as_suits_the_playouts_and_the_board() -> None:
    asked = ((100, 9), (1000, 9), (1000, 19), (10**6, 9), (10**9, 19))
    assert [Settings(playouts=playouts).positions_of_part(size) for playouts, size in asked] == [1024, 1024, 256, 2, 1]


def test_rejects_say_what_there_is_all_the_same() -> None:
    assert Reject("a", 0, 3, "an illegal move").words == "an illegal move; read up to move 2"
    assert Reject("a", -1, 0, "no record").words == "no record"


def test_folders_are_read_in_the_order_of_their_names(tmp_path: pathlib.Path) -> None:
    for name in ("c", "a", "b/d", "b/a"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.sgf").write_text("")
    found = inputs.files_of([str(tmp_path)], str(tmp_path / "out"))
    assert [str(pathlib.Path(path).relative_to(tmp_path).parent) for path in found] == ["a", "b/a", "b/d", "c"]


@pytest.mark.parametrize("first", [b"FF[4]", b"GM[1]", b"SZ[5]", b"CA[UTF-8]", b" CA [UTF-8]"])
def test_the_next_game_plainly_begins_with_what_only_roots_have(first: bytes) -> None:
    games = [b"(;SZ[5];B[cc](;W[dd])", b"(;" + first + b"SZ[5];B[aa])"]
    assert [game.text.strip() for game in inputs.cut_games("f", io.BytesIO(b"\n".join(games)))] == games


def test_a_game_that_is_too_long_but_ends_keeps_no_other_back(monkeypatch) -> None:
    monkeypatch.setattr(inputs, "MOST_BYTES", 1000)
    games = [b"(;SZ[5]" + b";B[cc]" * 300 + b")", b"(;SZ[5];B[aa])"]
    assert [game.text for game in inputs.cut_games("f", io.BytesIO(b"\n".join(games)))] == games
