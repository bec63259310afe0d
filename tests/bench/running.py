"""Running `jaxgo bench` with as little work as it takes to run a benchmark once, and what all its documents have."""

import contextlib
import io
import json
import sys

import pytest

from jaxgo import cli

SPREAD = {"median", "min", "max"}
LITTLE = ("--runs", "2", "--count", "64")


def result_of(*arguments: str) -> dict:
    """The JSON document of a benchmark, which must be all that stdout has."""
    out, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        patch.setattr(sys, "argv", ["jaxgo", "bench", *arguments, "--json"])
        status = cli.main()
    assert status == 0, errors.getvalue()
    assert errors.getvalue().startswith("jaxgo bench: ")  # progress
    return json.loads(out.getvalue())


def assert_spread(figures: dict) -> None:
    assert set(figures) == SPREAD
    assert 0 < figures["min"] <= figures["median"] <= figures["max"]


def assert_says_what_it_ran_on(document: dict, benchmark: str) -> None:
    assert document["benchmark"] == benchmark
    assert document["command"].startswith("jaxgo ")
    assert {"cpu", "cores", "cores_usable", "load_average", "load_at_start", "memory_bytes"} <= set(document["hardware"])
    assert {"python", "jax", "jaxlib", "numpy"} <= set(document["software"])
    if benchmark != "startup":  # of which nothing is known but that it was started
        assert document["software"]["devices"] and document["software"]["one_loop"] is True
