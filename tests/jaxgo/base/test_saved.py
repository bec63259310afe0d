"""Files of arrays: what is written is read, and whatever else a file holds is told in one way."""

import io
import json
import zipfile

import numpy as np
import pytest

from jaxgo.base import saved


def read(path):
    return saved.read(path, "kind", 2, "Thing.save")


@pytest.fixture
def path(tmp_path):
    """A file of two arrays."""
    saved.write(tmp_path / "whole.npz", {**saved.facts("kind", 2, size=5), "x": np.arange(400), "y": np.ones((2, 3))})
    return tmp_path / "whole.npz"


def test_what_is_written_is_read(path):
    about, arrays = read(path)
    assert about == {"format": 2, "size": 5} and list(arrays) == ["x", "y"]
    np.testing.assert_array_equal(arrays["x"], np.arange(400), strict=True)


def test_damaged_files_are_refused(path, tmp_path):
    """Cut off, or with bytes changed, anywhere: refused, or read as it was, where the change did no harm."""
    whole, rng, refused = path.read_bytes(), np.random.default_rng(1), 0
    for i in range(900):
        data = bytearray(whole)
        if i % 3 == 0:
            del data[int(rng.integers(len(data))) :]
        elif i % 3 == 1:
            start = int(rng.integers(len(data)))
            del data[start : start + int(rng.integers(1, 200))]
        else:
            data[int(rng.integers(len(data)))] ^= int(rng.integers(1, 256))
        (tmp_path / "damaged.npz").write_bytes(data)
        try:
            read(tmp_path / "damaged.npz")
        except ValueError as error:
            assert str(error).startswith(f"path must be a file that Thing.save has written, not '{tmp_path}")
            refused += 1
    assert refused > 700


@pytest.mark.parametrize(
    "facts", ["", "{", "[]", "3", "null", "{}", '{"format": null}', '{"format": 1e999}', "[" * 100_000, '{"format": "x"}']
)
def test_facts_of_others_are_refused(tmp_path, facts):
    np.savez(tmp_path / "other.npz", kind=facts)
    with pytest.raises(ValueError, match="path must be a file that Thing.save has written"):
        read(tmp_path / "other.npz")


def test_an_array_that_claims_to_be_huge_is_refused(path):
    """Its header tells of more than there is, and than the machine has."""
    with zipfile.ZipFile(path, "a") as file, file.open("z.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": (1 << 60,)})
    with pytest.raises(ValueError, match="path must be a file that Thing.save has written"):
        read(path)


def test_newer_forms_and_missing_files_are_told(tmp_path):
    np.savez(tmp_path / "new.npz", kind=json.dumps({"format": 3}))
    with pytest.raises(ValueError, match="path holds what Thing.save writes in format 3, this version of jaxgo reads up to 2"):
        read(tmp_path / "new.npz")
    for path in (tmp_path, tmp_path / "none.npz"):
        with pytest.raises(OSError):
            read(path)


def test_an_open_file_serves_as_well_and_nothing_else():
    file = io.BytesIO()
    saved.write(file, {"kind": json.dumps({"format": 1}), "x": np.arange(3)})
    file.seek(0)
    assert read(file)[1]["x"].tolist() == [0, 1, 2]
    for call in (lambda: read(5), lambda: saved.write(None, {})):
        with pytest.raises(TypeError, match="path must be the path of a file, or an open file, not (5|None)"):
            call()
