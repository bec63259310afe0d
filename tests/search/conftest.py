"""Searches play as long as they are let."""

import pytest

#: Modules whose tests play so little that they wait longer for the compiler.
OF_FEW_PLAYOUTS = (
    "test_clock", "test_compilations", "test_invariants", "test_javascript", "test_shared", "test_streams", "test_tactics",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def for_many_playouts(request: pytest.FixtureRequest) -> None:
    """All programs here are compiled for many playouts, but for those modules."""
    if request.module.__name__.rpartition(".")[2] not in OF_FEW_PLAYOUTS:
        request.getfixturevalue("many_playouts")
