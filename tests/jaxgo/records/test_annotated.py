"""Annotated records: what was there stays, what is said stands at its move, and any character set can hold it."""

import pytest
from sgfmill import sgf

from jaxgo.records.annotated import Annotation, annotated
from jaxgo.records.sgf import read_game


def _nodes(data: bytes) -> list[sgf.Tree_node]:
    return sgf.Sgf_game.from_bytes(data).get_main_sequence()


def test_what_is_said_stands_at_its_move_and_what_was_there_stays() -> None:
    text = "(;SZ[5]KM[3.5]PB[Ann]C[hello\\]];B[cc]BL[60];AB[ee];W[bb]TB[aa](;B[cb];W[])(;B[dd]C[a try]))"
    said = {
        0: Annotation("at first", 0.5, black=[12], white=[0, 1]),
        1: Annotation("one"),
        2: Annotation(win_rate=0.123456, black=[3]),
        3: Annotation("three", bad=True, better=(1, 25)),
    }
    data = annotated(text, 5, said)
    root, first, setup, second, third, last = _nodes(data)
    assert root.get("C") == "hello]\n\nat first" and root.get_raw("SBKV") == b"50.00" and root.get("PB") == "Ann"
    assert root.get("TB") == {(2, 2)} and root.get("TW") == {(4, 0), (4, 1)}
    assert first.get("C") == "one" and first.get_raw("BL") == b"60" and not setup.has_property("C")
    assert second.get_raw("SBKV") == b"12.35" and second.get("TB") == {(4, 0)}  # the record's own marks stay
    assert third.get_raw("BM") == b"1" and third.get("C") == "three"
    assert [child.get_move() for child in second] == [("b", (3, 2)), ("b", (1, 3)), ("b", None)]
    assert second[1].get("C") == "a try" and second[2].get_raw("TE") == b"1" and last.get_move() == ("w", None)
    assert read_game(data).moves == read_game(text).moves


def test_records_in_any_character_set() -> None:
    for name in ("shift_jis", "gb18030", "utf-8", "latin-1"):
        text = f"(;SZ[5]CA[{name}]C[{'é' if name == 'latin-1' else '碁'}];B[cc])".encode(name)
        (root, first) = _nodes(annotated(text, 5, {0: Annotation("more"), 1: Annotation("one")}))
        assert root.get("C") == f"{'é' if name == 'latin-1' else '碁'}\n\nmore" and first.get("C") == "one"
    broken = annotated(b"(;SZ[5]CA[utf-8]C[\xff];B[cc])", 5, {0: Annotation("more")})
    assert b"C[\xff\n\nmore]" in broken


@pytest.mark.parametrize("charset", ["CA[UTF-8]CA[UTF-8]", "CA[utf-16]", "CA[punycode]", "CA[rot13]", "CA[undefined]", "CA[a\0b]", "CA[none]"])
def test_character_sets_that_are_none(charset: str) -> None:
    """What is read is written."""
    data = annotated(f"(;SZ[5]{charset};B[cc]C[a]C[b])".encode(), 5, {1: Annotation("one")})
    assert b"C[a\n\nb\n\none]" in data
    assert read_game(data).moves == ((1, 12),)


def test_names_in_small_letters_are_dropped() -> None:
    data = annotated(b"(;SZ[5];B[cc]c[hi])", 5, {1: Annotation("one")})
    assert read_game(data).moves == ((1, 12),) and b"[hi]" not in data


@pytest.mark.parametrize(("name", "letter"), [("shift_jis", "十"), ("big5", "許"), ("gbk", "乗")])
def test_letters_that_hold_a_backslash_or_a_bracket(name: str, letter: str) -> None:
    """Such a record is in UTF-8 afterwards."""
    assert set(letter.encode(name)) & set(b"\\]")
    (root, first) = _nodes(annotated(f"(;SZ[5]CA[{name}]C[{letter}];B[cc])".encode(name), 5, {0: Annotation("more")}))
    assert root.get("C") == f"{letter}\n\nmore" and root.get("CA") == "UTF-8" and first.get_move() == ("b", (2, 2))


def test_a_move_of_the_root_has_no_place_for_a_better_one() -> None:
    said = {1: Annotation("better was C3", bad=True, better=(1, 12))}
    (root, second) = _nodes(annotated("(;SZ[5]B[aa];W[cc])", 5, said))
    assert root.get("C") == "better was C3" and root.get_raw("BM") == b"1" and len(root) == 1
    assert second.get_move() == ("w", (2, 2))


def test_an_empty_board() -> None:
    (root,) = _nodes(annotated(None, 4, {0: Annotation("empty", 0.25)}))
    assert root.get("SZ") == 4 and root.get("C") == "empty" and root.get_raw("SBKV") == b"25.00"


def test_what_the_record_marks_itself_stays() -> None:
    (root,) = _nodes(annotated("(;SZ[5]TW[aa])", 5, {0: Annotation(black=[12], white=[1])}))
    assert root.get("TW") == {(4, 0)} and not root.has_property("TB")
    _, first = _nodes(annotated("(;SZ[5];B[cc]TE[1])", 5, {1: Annotation(bad=True)}))
    assert first.has_property("TE") and not first.has_property("BM")
    (root,) = _nodes(annotated("(;SZ[5]C[hello \n\n])", 5, {0: Annotation("more")}))
    assert root.get("C") == "hello\n\nmore"
