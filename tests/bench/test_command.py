"""`jaxgo bench` as a command: what it refuses, and its help. Each benchmark has a module of its own.

There no time is compared with a number: a test machine is busy. Rates must be positive and belong to the work that was asked for.
How long compiling takes is not looked at either.
"""

import argparse
import signal

import pytest

from bench import command
from jaxgo import cli


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sizes", "1"), "--sizes 1: a board size is a whole number from 2 to 25"),
        (("--sizes", "9,26"), "--sizes 26: "),
        (("--sizes", "nine"), "--sizes nine: "),
        (("--runs", "0"), "--runs 0: must be a whole number from 1 to 1000"),
        (("--count", "3000000000"), "--count 3000000000: must be a whole number from 1 to 2147483647"),
        (("--seconds", "nan"), "--seconds nan: must be a number above 0"),
        (("environment", "--batches", "0"), "--batches 0: "),
        (("throughput", "--only", "gpu"), "--only gpu: must be of core, machine, or all"),
        (("throughput", "--policy", "best"), "--policy best: must be of capture, reply, advisor, nakade, no-self-atari, patterns, match, or all"),
        (("search", "--only", "rave,best"), "--only rave,best: must be of rave, rave-64, uct, v1, v2, mctr, host, or all"),
        (("startup", "--record", "/nowhere/game.sgf"), "--record /nowhere/game.sgf: cannot be read: "),
        (("peers", "--native", "9:"), "--native '9:': must be [NAME=][SIZE,...:]COMMAND"),
        (("limit", "--plot", "limit.txt"), "--plot limit.txt: the name must end in"),
        (("peers", "--timeout", "0"), "--timeout 0: must be a number above 0"),
        (("speed",), "invalid choice: 'speed'"),
    ],
)
def test_bad_usage_is_one_line_that_says_what_to_change(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["bench", *arguments]) == 2
    out, errors = capsys.readouterr()
    assert out == ""
    assert message in errors
    assert len(errors.splitlines()) == 1


def test_help_of_every_benchmark_explains_it(capsys: pytest.CaptureFixture[str]) -> None:
    for name in command.BENCHMARKS:
        with pytest.raises(SystemExit, match="^0$"):
            cli.main(["bench", name, "--help"])
        text = capsys.readouterr().out
        assert command._module(name).DESCRIPTION.strip() in text
        assert "--json" in text


def test_options_before_the_benchmark_count() -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    args = parser.parse_args(["--json", "--sizes", "9,13", "environment", "--runs", "3"])
    assert (args.benchmark, args.json, args.sizes, args.runs, args.count) == ("environment", True, [9, 13], 3, None)


def test_a_benchmark_that_is_ended_clears_up(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """By SIGTERM as by Ctrl-C: its folders and programs are gone when it is."""
    cleared = []

    def measure(*_: object, **__: object) -> dict:
        try:
            signal.raise_signal(signal.SIGTERM)
            return {}
        finally:
            cleared.append(True)

    monkeypatch.setattr(command._module("history"), "measure", measure)
    assert cli.main(["bench", "history"]) == cli.EXIT_INTERRUPTED
    assert cleared == [True] and "interrupted" in capsys.readouterr().err
