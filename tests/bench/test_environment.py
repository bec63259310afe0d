"""`jaxgo bench environment`."""

import importlib.util

import pytest

from tests.bench.running import LITTLE, assert_says_what_it_ran_on, assert_spread, result_of

pytestmark = pytest.mark.usefixtures("few_workers")


def test_environment() -> None:
    document = result_of("environment", "--sizes", "5", "--batches", "4", *LITTLE)
    assert_says_what_it_ran_on(document, "environment")
    assert [(entry["size"], entry["batch"]) for entry in document["results"]] == [(5, 4)]
    for entry in document["results"]:
        assert_spread(entry["jaxgo"])
        if importlib.util.find_spec("pgx"):
            assert_spread(entry["pgx"])
            assert_spread(entry["jaxgo_is_faster"])
        else:
            assert entry["pgx"] is entry["jaxgo_is_faster"] is None
