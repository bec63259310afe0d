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
    assert len(turns._had) <= 1


def test_who_has_had_little_comes_before_who_has_had_much():
    """Counted by what turns cost; what somebody has not used while he was away he does not save up."""
    turns, (much, little, away) = Turns(), (Someone() for _ in range(3))
    turns.took(away)
    order = []
    for _ in range(200):
        client = turns.order([much, little])[0]
        turns.took(client, 10.0 if client is much else 1.0)
        order.append(client)
    assert 8 <= order.count(little) / order.count(much) <= 12
    assert turns.order([much, little, away])[0] is away
    turns.took(away, 10.0)
    assert turns.order([much, little, away])[-1] is away
