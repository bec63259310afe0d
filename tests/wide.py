"""Cases that only a wider run tries: other sizes, rules and bots of what the default suite tests with some of them."""

from collections.abc import Collection, Iterable

import pytest


def wide(*cases) -> list:
    """These cases of a test, each a value, or a tuple of the values of several arguments, for `pytest -m wide` alone."""
    return [pytest.param(*(case if type(case) is tuple else (case,)), marks=pytest.mark.wide) for case in cases]


def mostly_wide(cases: Iterable, kept: Collection) -> list:
    """All of the cases, of which only those kept are in the default suite."""
    return [case if case in kept else wide(case)[0] for case in cases]
