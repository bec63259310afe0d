"""The tables of a collection: what their columns are, and the bytes of the Parquet file that a part becomes.

A file is of one board size, so that `ownership` is a list of a fixed size. It says under the key "jaxgo" of its metadata what it
was made by (`Facts`); what of its part could not be read stands there too, so that one file, written at once, is all of a part.
"""

import dataclasses
import json
from collections.abc import Sequence

import jax
import numpy as np
import pyarrow
import pyarrow.compute
import pyarrow.parquet

from jaxgo import BLACK
from jaxgo.base.source import commit
from jaxgo.board.coordinates import coordinate
from search.collection.findings import Findings
from search.collection.inputs import Reject
from search.collection.parts import Part
from search.collection.reading import NAMES, Read, names_of_ko
from search.collection.settings import Settings

#: The key of the metadata.
KEY = b"jaxgo"

_MOVE = pyarrow.struct([
    pyarrow.field("move", pyarrow.string(), nullable=False),
    pyarrow.field("playouts", pyarrow.int64(), nullable=False),
    pyarrow.field("win_rate", pyarrow.float64(), nullable=False),
    pyarrow.field("win_rate_error", pyarrow.float64(), nullable=False),
    pyarrow.field("line", pyarrow.string()),
])  # fmt: skip
_TYPES = {"variation": pyarrow.int32(), "ply": pyarrow.int32()}
_REJECTS = pyarrow.schema([
    ("game", pyarrow.string()), ("variation", pyarrow.int32()), ("ply", pyarrow.int32()), ("reason", pyarrow.string()),
])  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Facts:
    """What a part's file says of itself."""

    part: int
    fingerprint: str
    settings: dict
    """As `Settings.as_document` gives them."""
    versions: dict
    """Of what computed it."""
    rejects: tuple[Reject, ...]
    positions: int
    """Rows of the file."""

    @classmethod
    def of(cls, file: pyarrow.parquet.FileMetaData) -> "Facts":
        """Those of a file.

        Raises:
          ValueError: it is no part of a collection.
        """
        try:
            facts = json.loads((file.metadata or {})[KEY])
            rejects = tuple(Reject(**reject) for reject in facts["rejects"])
            return cls(facts["part"], facts["fingerprint"], facts["settings"], facts["versions"], rejects, file.num_rows)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError("this is no part of a collection") from error


def versions() -> dict[str, str | None]:
    """What this process computes with."""
    return {"jax": jax.__version__, "numpy": np.__version__, "pyarrow": pyarrow.__version__, "commit": commit()}


def schema(size: int) -> pyarrow.Schema:
    """The columns of tables for a board size, without metadata. docs/collections.md says what they mean."""
    double, text = pyarrow.float64(), pyarrow.string()
    return pyarrow.schema([
        pyarrow.field("game", text, nullable=False), pyarrow.field("variation", pyarrow.int32(), nullable=False),
        pyarrow.field("ply", pyarrow.int32(), nullable=False), ("move", text), ("black", text), ("white", text), ("result", text),
        ("size", pyarrow.int32()), ("to_play", text), ("over", pyarrow.bool_()), ("board", text), ("ko", text),
        ("passes", pyarrow.int8()), ("komi", double), ("playouts", pyarrow.int64()), ("win_rate", double),
        ("win_rate_error", double), ("margin", double), ("margin_stdev", double), ("length", double),
        ("ownership", pyarrow.list_(double, size * size)), ("moves", pyarrow.list_(_MOVE)),
    ])  # fmt: skip


def table_of(read: Read, found: Findings | None) -> pyarrow.Table:
    """The rows of a part; no findings for one without positions."""
    size, columns = read.part.size, schema(read.part.size)
    if found is None:
        return columns.empty_table()
    position, batch = read.position, read.batch
    assert position is not None
    letters = np.array([ord("O"), ord("."), ord("X")], np.uint8)
    boards = letters[np.asarray(position.to_array()).reshape(batch, -1) + 1]
    values = {
        **{name: pyarrow.array([as_text(x) for x in read.facts[name]], _TYPES.get(name, pyarrow.string())) for name in NAMES},
        "size": np.full(batch, size, np.int32),
        "to_play": pyarrow.array(np.where(np.asarray(position.to_play) == BLACK, "black", "white").tolist()),
        "over": np.asarray(position.is_over()),
        "board": [row.tobytes().decode() for row in boards],
        "ko": pyarrow.array(names_of_ko(position), pyarrow.string()),
        "passes": np.asarray(position.passes),
        "komi": read.komi,
        "playouts": found.playouts, "win_rate": found.win_rate, "win_rate_error": found.win_rate_error,
        "margin": found.margin, "margin_stdev": found.margin_stdev,
        "length": pyarrow.array(found.length, from_pandas=True),  # NaN becomes null
        "ownership": pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(found.ownership.ravel()), size * size),
        "moves": _moves(found, size),
    }  # fmt: skip
    arrays = []
    for name, kind in zip(columns.names, columns.types):
        value = values[name]
        arrays.append(value if isinstance(value, pyarrow.Array) else pyarrow.array(value, kind))
    return pyarrow.Table.from_arrays(arrays, schema=columns)


def _moves(found: Findings, size: int) -> pyarrow.Array:
    names = pyarrow.array([coordinate(point, size) for point in range(size * size + 1)])
    fields = [
        names.take(pyarrow.array(found.moves)), pyarrow.array(found.move_playouts, pyarrow.int64()),
        pyarrow.array(found.move_win_rate), pyarrow.array(found.move_error), pyarrow.array(found.lines, pyarrow.string()),
    ]  # fmt: skip
    ends = np.concatenate([[0], np.cumsum(found.num_moves)]).astype(np.int32)
    return pyarrow.ListArray.from_arrays(pyarrow.array(ends), pyarrow.StructArray.from_arrays(fields, fields=list(_MOVE)))


def file_of(part: Part, table: pyarrow.Table, rejects: Sequence[Reject], settings: Settings) -> bytes:
    """The bytes of a part's Parquet file."""
    facts = {
        "part": part.number, "fingerprint": part.fingerprint, "settings": settings.as_document(), "versions": versions(),
        "rejects": [dataclasses.asdict(reject) for reject in rejects],
    }  # fmt: skip
    return _written(table.replace_schema_metadata({KEY: json.dumps(facts)}))


def rejects_file(rejects: Sequence[Reject]) -> bytes:
    """The bytes of the Parquet file of what could not be evaluated."""
    rows = [{name: as_text(x) for name, x in dataclasses.asdict(reject).items()} for reject in rejects]
    return _written(pyarrow.Table.from_pylist(rows, schema=_REJECTS))


def as_text(x):
    """A text that tables can hold: halves of surrogate pairs, as of files' names that are not UTF-8, are written out; of anything
    else itself."""
    return x.encode("utf-8", "backslashreplace").decode() if isinstance(x, str) else x


def _written(table: pyarrow.Table) -> bytes:
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue().to_pybytes()


def facts_in(path) -> Facts:
    """What a part's file says of itself.

    Raises:
      ValueError: it is no part of a collection, or was not written to its end.
      OSError: it cannot be read.
    """
    try:
        return Facts.of(pyarrow.parquet.read_metadata(path))
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{path} is no whole Parquet file: {error}") from error  # pyarrow has an OSError for some damage too
