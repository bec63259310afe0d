"""Progress on stderr: speeds and estimates are of playing, whatever was compiled before or in between."""

import errno
import io
import re

import pytest

from jaxgo.commands import progress
from jaxgo.commands.progress import Progress, progress_on_stderr, shown, time_left


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_compiling_counts_for_no_speed(clock: Clock) -> None:
    found = Progress()
    clock.now += 60
    found(100, 1000)  # the first chunk, after a minute of compiling
    assert found.rate() is None
    clock.now += 0.5
    found(150, 1000)
    assert found.rate() is None  # too early to tell
    clock.now += 1.5
    found(300, 1000)
    assert found.rate() == 100
    found.compiles()
    assert found.rate() == 100
    clock.now += 60
    found(400, 1000)
    assert found.rate() == 100
    clock.now += 2
    found(800, 1000)
    assert found.rate() == 150 and found.seconds() == 124


def test_the_first_estimate_is_of_playing(clock: Clock, capsys: pytest.CaptureFixture) -> None:
    with progress_on_stderr(1000) as found:
        clock.now += 30
        found(100, 1000)
        assert capsys.readouterr().err == ""
        clock.now += 2
        found(300, 1000)
        assert capsys.readouterr().err == "jaxgo: 300 of 1,000 playouts, 100 playouts/s, 7 s left\n"
        clock.now += 1
        found(400, 1000)
        assert capsys.readouterr().err == ""  # the lines become fewer


def test_a_log_that_is_full_ends_no_work(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        tried = 0

        def flush(self) -> None:
            self.tried += 1
            raise OSError(errno.ENOSPC, "No space left on device")

    full = Full()
    monkeypatch.setattr("sys.stderr", full)
    with shown("jaxgo match", 10) as show:
        for done in range(1, 4):
            clock.now += 60
            show(done, 10, lambda done=done: f"{done} of 10")
    assert full.tried == 3


def test_a_bar_in_a_terminal(clock: Clock, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "150")
    with progress_on_stderr(0) as found:
        found(100, 1000)
        clock.now += 2
        found(300, 1000)
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err)
    assert "300 of 1,000 playouts, 100 playouts/s, 7 s left" in text


def test_lines_for_logs_become_fewer(clock: Clock, capsys: pytest.CaptureFixture) -> None:
    with shown("jaxgo match", 1000) as show:
        for second in range(1000):
            show(second, 1000, lambda second=second: f"{second} of 1000 games" if second > 5 else "")
            clock.now += 1
    lines = capsys.readouterr().err.splitlines()
    times = [int(line.removeprefix("jaxgo match: ").removesuffix(" of 1000 games")) for line in lines]
    assert times[0] == 6 and 15 < len(times) < 30
    between = [after - before for before, after in zip(times, times[1:])]
    assert between == sorted(between) and between[-1] == 60


def test_a_bar_shows_at_once_that_there_is_work(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "150")
    with shown("jaxgo match", 10, "0 [of] 10 games"):
        pass
    assert "0 [of] 10 games" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s left"), (99.4, "99 s left"), (99.6, "0:01:40 left"), (3725, "1:02:05 left"), (360_000, "100:00:00 left")]
)
def test_time_left(seconds: float, words: str) -> None:
    assert time_left(seconds) == words


def test_nothing_more_done_is_no_speed(clock: Clock) -> None:
    found = Progress()
    found(100, 1000)
    clock.now += 2
    found(100, 1000)
    assert found.rate() is None


def test_each_programs_playouts_count_once(clock: Clock) -> None:
    """However often it is said that another comes."""
    found = Progress()
    found(100, 2000)
    clock.now += 2
    found(300, 2000)
    found.compiles()
    found.compiles()
    found(700, 2000)
    clock.now += 2
    found(1500, 2000)
    assert found.rate() == 250


def test_more_done_than_was_to_be_is_no_time_left() -> None:
    assert time_left(-3) == "0 s left"


def test_a_bar_in_a_terminal_without_dots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    written = io.BytesIO()
    monkeypatch.setattr("sys.stderr", io.TextIOWrapper(written, encoding="ascii", errors="replace", write_through=True))
    with shown("jaxgo match", 10, "0 of 10 games"):
        pass
    assert b"0 of 10 games" in written.getvalue() and b"?\x1b" not in written.getvalue().replace(b"[?", b"")
