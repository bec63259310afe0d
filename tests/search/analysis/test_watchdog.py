"""The watchdog, by a clock of its own."""

from search.analysis.watchdog import LOOKS, STUCK, Watchdog


def barks(capfd, passes: list[tuple[float, float]], end: float) -> int:
    """How often it barks at passes that last from one time to another, until an end."""
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    def since() -> float | None:
        return next((first for first, last in passes if first <= now < last), None)

    Watchdog(since, lambda: now >= end, lambda: now, sleep).watch()
    text = capfd.readouterr().err
    assert text.count("\n") == text.count(f"the scheduler has been at one thing for {STUCK:.0f} seconds")
    return text.count("\n")


def test_it_barks_once_for_each_pass_that_takes_too_long(capfd):
    assert barks(capfd, [(0.5, 10 * STUCK)], 20 * STUCK) == 1
    assert barks(capfd, [(0.5, 2 * STUCK), (2 * STUCK + 5, 5 * STUCK)], 20 * STUCK) == 2
    assert barks(capfd, [(0.5, 9 * STUCK)], STUCK + 2 * LOOKS) == 1, "while the pass still lasts"


def test_it_is_quiet_as_long_as_passes_end(capfd):
    assert barks(capfd, [], 3 * STUCK) == 0
    assert barks(capfd, [(i * STUCK, (i + 0.9) * STUCK) for i in range(9)], 9 * STUCK) == 0
    assert barks(capfd, [(0.0, 9 * STUCK)], STUCK) == 0
