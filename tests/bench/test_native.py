"""Native engines by their commands: how they are named, what they may print, what is said of those that cannot be measured."""

import pathlib
import shlex
import signal
import subprocess
import sys
import time

import pytest

from bench import children, native, native_work
from bench.differences import Differences, told
from bench.measure import NotMeasured
from jaxgo.cli import UsageError


def printing(text: str) -> list[str]:
    """An engine that prints something."""
    return [sys.executable, "-c", f"print({text!r})"]


def test_a_command_is_called_after_its_program() -> None:
    (engine,) = native.read(["/opt/go/fast-go --size {size} -n {playouts}"])
    assert engine.name == "fast-go"
    assert engine.command_for(9) == ["/opt/go/fast-go", "--size", "9", "-n", "{playouts}"]


def test_commands_of_one_name_are_one_engine() -> None:
    texts = ["fast=9:./go9 {playouts}", "other=./x=3 a:b", "fast=13,19:./go big", "fast=./any '{size} {size}'"]
    small, other = native.read(texts)
    assert (small.name, other.name) == ("fast", "other")
    assert small.command_for(9) == ["./go9", "{playouts}"]
    assert small.command_for(13) == small.command_for(19) == ["./go", "big"]
    assert small.command_for(7) == ["./any", "7 7"]
    assert other.command_for(9) == ["./x=3", "a:b"]
    assert native.read(["9:./go"])[0].command_for(13) is None


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([""], "there is no command"),
        (["fast=9:"], r"must be \[NAME=\]\[SIZE,...:\]COMMAND"),
        (["fast 'open"], "No closing quotation"),
        (["a/go", "b/go"], "go has a command for all sizes already"),
        (["fast=9:a", "fast=13,9:b"], "fast has a command for 9x9 already"),
        (["old/jaxgo"], "another engine is called jaxgo; give this one a name"),
    ],
)
def test_what_is_no_command_is_refused(texts: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=f"--native .*{message}"):
        native.read(texts)


@pytest.mark.parametrize(
    ("output", "playouts", "seconds"),
    [
        ("100000 0.53\n", 100_000, 0.53),
        ("warming up 1 2 3\n\n100,000 playouts in 5.3e-1 s\n\n", 100_000, 0.53),
        ("playouts: 100_000; seconds: 12", 100_000, 12.0),
        ('9x9\n{"playouts": 1e5, "seconds": 0.53, "rate": 1}', 100_000, 0.53),
        ('{\n  "playouts": 100000,\n  "seconds": 2\n}\n', 100_000, 2.0),
    ],
)
def test_what_engines_may_print(output: str, playouts: int, seconds: float) -> None:
    assert native_work.read(output) == (playouts, seconds, None, None, None)


def test_engines_may_tell_more() -> None:
    text = '{"playouts": 3, "seconds": 1, "mean_plies": 111.1, "black_win_rate": 0.42, "differs": {"eyes": "filled"}}'
    assert native_work.read(text) == (3, 1.0, 111.1, 0.42, {"eyes": "filled"})
    assert told(native_work.read(text).differs) == Differences(eyes="filled")
    assert native_work.read('{"playouts": 3, "seconds": 1, "differs": "scores only"}').differs == {"remark": "scores only"}


def test_a_coarse_clock_gets_more_playouts() -> None:
    """One that says 0 for a few is run with ten times as many, as long as that may help."""
    coarse = [sys.executable, "-c", "import sys; n = int(sys.argv[1]); print(n, 0 if n < 500 else 0.001)", "{playouts}"]
    assert native_work.Playouts(coarse, 60.0).run(7).amount == 700
    for words in (printing("100 0"), [*coarse[:2], "import sys; print(sys.argv[1], 0)", "{playouts}"]):
        with pytest.raises(NotMeasured, match='"seconds" must be a number above 0; it is 0'):
            native_work.Playouts(words, 60.0).run(64)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (" \n", "printed nothing: the last line must be PLAYOUTS SECONDS"),
        ("9x9: 100000 playouts in 0.5 s", "'9x9: 100000 playouts in 0.5 s', cannot be read: the last line must"),
        ("done", "'done', cannot be read"),
        ("0 1.5", '"playouts" must be a whole number from 1 on; it is 0'),
        ('{"playouts": 5}', '"seconds" must be a number from 0 on; it is null'),
        ('{"playouts": true, "seconds": 1}', '"playouts" must be a whole number'),
        ('{"playouts": 5, "seconds": NaN}', '"seconds" must be a number from 0 on; it is NaN'),
        ('{"playouts": 5, "seconds": 1, "black_win_rate": 42}', '"black_win_rate" must be a number from 0 to 1; it is 42'),
        ('{"playouts": 5, "seconds": 1, "mean_plies": "many"}', '"mean_plies" must be a number from 0 on'),
        ('{"playouts": 5, "seconds": 1, "differs": {"colour": "red"}}', '"differs" must be a text, or texts by eyes, suicide'),
    ],
)
def test_what_cannot_be_read_is_told_with_what_is_expected(output: str, message: str) -> None:
    with pytest.raises(NotMeasured) as caught:
        native_work.read(output)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "limit", "message"),
    [
        (["/no/such/engine"], 60, "there is no program '/no/such/engine'"),
        (["sh", "-c", "echo 5 1; echo no board of this size >&2; exit 3"], 60, "exit status 3: no board of this size"),
        (["sh", "-c", "kill -9 $$"], 60, "signal 9: it printed nothing"),
        (["sh", "-c", "sleep 60 & wait"], 0.2, "ran for more than 0.2 s, and was ended"),
        (printing("100000 900"), 60, "its playouts took 900 s, but it ended after"),
        (printing("hello"), 60, "'hello', cannot be read"),
    ],
)
def test_engines_that_cannot_be_measured(words: list[str], limit: float, message: str) -> None:
    start = time.monotonic()
    with pytest.raises(NotMeasured) as caught:
        native_work.Playouts(words, limit).run(10)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert time.monotonic() - start < 50  # what it has started is not waited for


def test_start_up_does_not_count() -> None:
    """The engine's own seconds do; where its clock ran on while other work had the core, the CPU seconds of its process."""
    slow_start = "import time; t = time.process_time()\nwhile time.process_time() < t + 0.3: pass\nprint({playouts}, 0.01)"
    work = native_work.Playouts([sys.executable, "-c", slow_start], 60).run(70)
    assert (work.amount, work.wall, work.cpu) == (70, 0.01, 0.01)
    work = native_work.Playouts([sys.executable, "-c", "import time; time.sleep(1.5); print(7, 1.5)"], 60).run(70)
    assert work.amount == 7 and work.wall == 1.5 and 0 < work.cpu < 1.4


@pytest.mark.parametrize(
    ("own", "cpu", "expected"), [(0.5, 0.9, 0.5), (0.5, 0.4, 0.4), (0.5, 1.9, 1.9), (0.5, None, 0.5)]
)
def test_cpu_seconds(own: float, cpu: float | None, expected: float) -> None:
    """More CPU seconds than the one second that it ran are those of several cores."""
    assert native_work.cpu_seconds(own, children.Ran("", 1.0, cpu)) == expected


def test_an_engine_ends_with_its_worker(tmp_path: pathlib.Path) -> None:
    """Workers are ended by SIGTERM, in the middle of a run too."""
    engine = ["sh", "-c", f"echo $$ > {shlex.quote(str(tmp_path))}/pid; sleep 60"]
    code = f"from bench import children; children.run({engine!r}, 60)"
    parent = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    parent.send_signal(signal.SIGTERM)
    assert parent.wait(30) == 128 + signal.SIGTERM
    # It is gone, or waits for nothing but to be taken notice of by the system's first process.
    stat = pathlib.Path("/proc", (tmp_path / "pid").read_text().strip(), "stat")
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.02)
