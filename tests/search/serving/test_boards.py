"""Positions as arrays: what is read, what is refused, and that nobody is trusted."""

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.serving import boards
from search.serving.limits import MALFORMED, NOT_ALLOWED, TOO_LARGE, Limits, Refusal
from tests.search.serving.asking import npz

EMPTY = np.zeros((2, 5, 5), np.int8)


def refused(body: bytes, limits: Limits | None = None) -> Refusal:
    """The refusal of a request."""
    with pytest.raises(Refusal) as caught:
        boards.read(body, limits or Limits())
    return caught.value


def member(data: bytes, name: str = "boards.npy", packing: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of one file, which says nothing of when it was made: it is the name of a test."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(zipfile.ZipInfo(name), data, packing)
    return buffer.getvalue()


def npy(shape: str, descr: str = "'|i1'", data: bytes = b"") -> bytes:
    """A file of numpy's npy format that claims what it likes."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def test_a_file_is_unpacked_no_further_than_it_says():
    """It may claim to be small and hold gigabytes."""
    size = (1 << 24) + 12_345
    claimed, held = struct.pack("<L", 200), struct.pack("<L", size)
    body = member(bytes(size), packing=zipfile.ZIP_DEFLATED)
    assert body.count(held) == 2
    body = body.replace(held, claimed)
    tracemalloc.start()
    assert refused(body).status == MALFORMED
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 20


def test_what_is_not_given_is_as_jaxgo_has_it():
    asked = boards.read(npz(boards=EMPTY[0]), Limits())
    assert asked.boards.shape == (1, 5, 5) and (asked.positions, asked.size) == (1, 5)
    assert (asked.to_play.tolist(), asked.ko.tolist(), asked.passes.tolist()) == ([1], [-1], [0])
    assert (asked.komi, asked.playouts, asked.seed, asked.first_playout, asked.streams) == (7.5, 1_000, 0, 0, None)
    assert asked.statistics == ("margins", "ownership", "amaf")


def test_all_that_can_be_given():
    body = npz(
        boards=EMPTY.astype(np.int64), to_play=[1, -1], ko=[-1, 3], passes=1, komi=[0.5, -3], playouts=np.uint16(7),
        seed=np.uint64(2**64 - 1), first_playout=5, streams=[9, 9], statistics=["amaf"],
    )  # fmt: skip
    asked = boards.read(body, Limits())
    assert (asked.to_play.tolist(), asked.ko.tolist(), asked.passes.tolist()) == ([1, -1], [-1, 3], [1, 1])
    assert asked.komi.tolist() == [0.5, -3] and (asked.playouts, asked.seed, asked.first_playout) == (7, 2**64 - 1, 5)
    assert asked.streams.tolist() == [9, 9] and asked.statistics == ("amaf",) and asked.work == 14
    turned = np.asfortranarray(np.arange(25, dtype=np.int8).reshape(5, 5) % 2)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, boards=turned)
    assert (boards.read(buffer.getvalue(), Limits()).boards[0] == turned).all()


def test_what_can_be_evaluated_together_has_one_key():
    first, *others = (boards.read(npz(**{"boards": EMPTY} | more), Limits()).key for more in (
        {}, {"boards": EMPTY[:1].astype(np.int64), "komi": 3, "playouts": 7, "statistics": ["ownership", "amaf", "margins"]},
        {"boards": EMPTY.astype(np.uint64)}, {"boards": EMPTY[:, :4, :4]}, {"seed": 3}, {"statistics": ["amaf"]},
    ))  # fmt: skip
    assert [key == first for key in others] == [True] + [False] * 4


@pytest.mark.parametrize(("arrays", "field", "text"), [
    ({}, "boards", "boards must be there"),
    ({"boards": EMPTY.astype(float)}, "boards", "must hold integers of shape [B, N, N] or [N, N], not float64 of (2, 5, 5)"),
    ({"boards": EMPTY[:, 1:]}, "boards", "not int8 of (2, 4, 5)"),
    ({"boards": EMPTY[:0]}, "boards", "not int8 of (0, 5, 5)"),
    ({"boards": np.zeros((26, 26), np.int8)}, "boards", "must be of a size between 2 and 25, not 26"),
    ({"boards": EMPTY, "ko": 25}, "ko", "ko must be between -1 and 24, not 25"),
    ({"boards": EMPTY, "to_play": [1, 2]}, "to_play", "to_play must be between -1 and 1, not 2"),
    ({"boards": EMPTY, "passes": [0, 0, 0]}, "passes", "must be one integer or have shape (2,), not (3,)"),
    ({"boards": EMPTY, "komi": np.nan}, "komi", "komi must be finite, not nan"),
    ({"boards": EMPTY, "playouts": 0}, "playouts", "playouts must be between 1 and"),
    ({"boards": EMPTY, "playouts": [1, 2]}, "playouts", "playouts must be an integer"),
    ({"boards": EMPTY, "seed": -1}, "seed", "seed must be between 0 and 18446744073709551615, not -1"),
    ({"boards": EMPTY, "first_playout": 2**31 - 1}, "first_playout", "first_playout + playouts must be between"),
    ({"boards": EMPTY, "streams": [-1, 0]}, "streams", "streams must be between 0 and"),
    ({"boards": EMPTY, "statistics": ["owner"]}, "statistics", "must be of margins, ownership, amaf, not owner"),
    ({"boards": EMPTY, "board": 1}, "board", "an array must be one of boards, to_play"),
])  # fmt: skip
def test_what_is_wrong_is_named(arrays, field, text):
    refusal = refused(npz(**arrays))
    assert (refusal.status, refusal.field) == (NOT_ALLOWED, field) and text in refusal.text


@pytest.mark.parametrize(("limits", "field", "text"), [
    (Limits(positions=1), "boards", "boards must be at most 1 here, not 2"),
    (Limits(playouts=99), "playouts", "playouts must be at most 99 here, not 100"),
    (Limits(work=199), "playouts", "playouts must be at most 199 for all positions of a request, not 2 times 100"),
])  # fmt: skip
def test_what_is_too_much_is_named(limits, field, text):
    body = npz(boards=EMPTY, playouts=100)
    assert boards.read(body, Limits(positions=2, playouts=100, work=200)).positions == 2
    refusal = refused(body, limits)
    assert (refusal.status, refusal.field, refusal.text) == (NOT_ALLOWED, field, text)


@pytest.mark.parametrize(("body", "text"), [
    (b"", "not a zip file"),
    (b"PK\x03\x04nothing", "not a zip file"),
    (member(b"boards and more"), "magic string is not correct"),
    (member(npy("(1, 5, 5)")), "claims to hold 25 bytes, and holds 0"),
    (member(npy("(10**9, 10**9)")), "malformed node"),
    (member(b"\x93NUMPY\x01\x00v\x00" + b"(" * 118), "the body must be a file"),
    (member(b"\x93NUMPY\x01\x00\x29\x23" + b"-" * 9_000 + b"1"), "the body must be a file"),
    (member(npy("(1,)", "',i8'")), "the body must be a file"),
    (member(npy("({[]: 1},)")), "the body must be a file"),
    (member(npy("(1,)", "()", b"1234")), "the body must be a file"),
    (member(npy("(1,)", "('<i4',)", b"1234")), "the body must be a file"),
    (member(npy("(1,)", "'<U1'", b"\xff" * 4)), "holds signs that Unicode does not have"),
    (member(npy("(1,)", "'>U1'", b"\0\x11\0\0")), "holds signs that Unicode does not have"),
    (member(npy("(1000000000, 1000000000)", data=b"x")), "claims to hold 1,000,000,000,000,000,000 bytes, and holds 1"),
    (member(npy("(-1, -25)", data=b"x" * 25)), "claims to hold 25 bytes"),
    (member(npy("(1000000000,)", "'<U0'")), "neither numbers nor texts"),
    (member(npy("(1,)", "'|O'", b"cos\nsystem\n(S'true'\ntR.")), "holds object, which are neither numbers nor texts"),
    (member(npy("(1,)", "[('a', '<i4')]", b"1234")), "neither numbers nor texts"),
    (member(npy("(5, 5)", data=b"\0" * 25), packing=zipfile.ZIP_BZIP2), "packed in a way that np.savez does not know"),
    (npz(**{f"a{i}": 0 for i in range(11)}), "at most 10 arrays, not 11"),
])  # fmt: skip
def test_what_is_no_such_file_is_refused(body, text):
    refusal = refused(body)
    assert refusal.status == MALFORMED and text in refusal.text


def test_a_small_file_that_unpacks_to_a_large_one_is_not_unpacked():
    body = member(npy("(1, 100000000)", data=b"\0" * 100_000_000), packing=zipfile.ZIP_DEFLATED)
    assert len(body) < 100_000
    refusal = refused(body)
    assert refusal.status == TOO_LARGE and "at most 4,194,304 bytes, not 100,000,0" in refusal.text


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_bytes_that_were_changed_on_the_way_are_read_or_refused(data):
    body = bytearray(npz(boards=EMPTY[:1], ko=3, statistics=["amaf"]))
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    body = bytes(body[: data.draw(st.integers(0, len(body)))]) if data.draw(st.booleans()) else bytes(body)
    try:
        assert boards.read(body, Limits()).positions >= 1
    except Refusal as refusal:
        assert refusal.status in (MALFORMED, NOT_ALLOWED, TOO_LARGE)
