"""Searches play as long as they are let."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def for_many_playouts(many_playouts: None) -> None:
    """All programs here are compiled for many playouts."""
