"""How much is accepted at a time."""

import contextlib

import pytest

from search.serving.limits import BUSY, Refusal
from search.serving.places import Places


def test_more_requests_than_places_are_told_busy():
    places = Places(2, 1_000)
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(places.place(10))
        with pytest.raises(Refusal, match="busy: 2 requests are waiting") as refused, places.place(10):
            pass
        assert refused.value.status == BUSY
        assert (places.taken, places.held) == (2, 20)
    assert (places.taken, places.held) == (0, 0)


def test_bytes_of_requests_and_answers_are_bounded_together():
    places = Places(10, 100)
    with places.place(60) as first:
        with pytest.raises(Refusal, match="take 60 of 100 bytes, and this one needs 50") as refused, places.place(50):
            pass
        assert refused.value.status == BUSY and places.taken == 1
        first.take(40)
        with pytest.raises(Refusal):
            first.take(1)
        assert places.held == 100
    assert (places.taken, places.held) == (0, 0)


def test_a_place_is_free_again_after_a_failure():
    places = Places(1, 100)
    for _ in range(3):
        with pytest.raises(OSError), places.place(100):
            raise OSError
    assert (places.taken, places.held) == (0, 0)
