"""Conversations in which nothing is said on stderr that depends on the machine."""

import pytest

from search.gtp import engine


@pytest.fixture(autouse=True)
def no_word_of_compilations(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long they last; `test_people_are_told_of_a_long_compilation` has its own patience."""
    monkeypatch.setattr(engine, "SILENCE", 3600.0)
