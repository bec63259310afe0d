"""`jaxgo bench search` and `analysis`."""

import pytest

from bench import search
from tests.bench.running import assert_says_what_it_ran_on, assert_spread, result_of

pytestmark = pytest.mark.usefixtures("few_workers")


@pytest.mark.wide
def test_search(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"rave": ("rave", 16, 8), "v1": ("rave-v1", 16, 8)}
    monkeypatch.setattr(search, "SEARCHES", few)
    monkeypatch.setattr(search, "FED", {8: 16})
    document = result_of("search", "--sizes", "5", "--runs", "1", "--count", "4096")
    assert_says_what_it_ran_on(document, "search")
    assert [entry["name"] for entry in document["results"]] == ["evaluate", *few]
    for entry in document["results"]:
        assert_spread(entry["per_second"])
    for entry in document["results"][1:]:
        assert entry["of_evaluate"] > 0
        assert 0 < entry["shares"]["device"] <= 1.001
    assert [entry["playouts_of_a_leaf"] for entry in document["host"]] == [8]
    for entry in document["host"]:
        assert_spread(entry["leaves_per_second"])
        assert_spread(entry["leaves_per_second_on_all"])
    assert 26 < document["memory"][0]["bytes_visited_once"] < document["memory"][0]["bytes_visited_again"]


@pytest.mark.wide
def test_search_of_one_kind() -> None:
    """In the rounds that suit the machine, and without the host alone."""
    document = result_of("search", "--sizes", "3", "--runs", "1", "--count", "4096", "--only", "uct")
    assert [entry["name"] for entry in document["results"]] == ["evaluate", "uct"]
    assert (document["results"][1]["leaves"], document["results"][1]["playouts"]) == (256, 8)
    assert document["host"] == []


@pytest.mark.wide
def test_analysis() -> None:
    document = result_of("analysis", "--sizes", "5", "--runs", "1", "--count", "4096")
    assert_says_what_it_ran_on(document, "analysis")
    names = ["one batch", "queries of 1,000 playouts", "one tree", "searches of 2,000 visits", "searches of 20,000 visits"]
    assert [entry["name"] for entry in document["results"]] == names
    for entry in document["results"]:
        assert_spread(entry["per_second"])
    assert [entry.get("of") for entry in document["results"]] == [None, "one batch", None, "one tree", "one tree"]
