"""Whose turn it is."""

from search.turns import Turns


class Someone:
    """Who takes turns."""


def test_who_has_waited_longest_comes_first():
    turns, (a, b, c) = Turns(), (Someone() for _ in range(3))
    assert turns.order([a, b, a]) == [a, b]
    turns.took(a)
    assert turns.order([a, b]) == [b, a]
    turns.took(b)
    assert turns.order([b, a, c]) == [c, a, b], "newcomers come first"


def test_those_who_are_gone_are_forgotten():
    turns = Turns()
    for _ in range(100):
        turns.took(Someone())
    assert len(turns._last) <= 1
