"""What the tests of `jaxgo evaluate` share: running it, and reading what it prints."""

import json

import pytest

from jaxgo import cli


def documents(capsys: pytest.CaptureFixture, *arguments: str, status: int = 0) -> list[dict]:
    """The documents that `jaxgo evaluate ... --json` prints, one a game."""
    assert cli.main(["evaluate", *arguments, "--json"]) == status
    lines = capsys.readouterr().out.splitlines()
    return [json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON")) for line in lines]


def error(capsys: pytest.CaptureFixture, *arguments: str) -> str:
    """The one line that a refused command prints."""
    assert cli.main(["evaluate", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    return captured.err.removeprefix("jaxgo evaluate: error: ").rstrip("\n")
