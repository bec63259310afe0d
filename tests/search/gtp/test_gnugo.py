"""Games against GNU Go, which is the referee too: every move is legal to both, both agree on the score, nobody loses on time."""

import contextlib
import re
import shutil
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.search.gtp.client import Piped

GNUGO = shutil.which("gnugo", path="/usr/games:/usr/local/bin:/usr/bin:/bin")
pytestmark = pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed")
#: Area scoring without suicide; all that is dead is captured, so that the board as it stands is the score.
RULES = ("--chinese-rules", "--forbid-suicide", "--positional-superko", "--capture-all-dead")


class GnuGo:
    """GNU Go's own GTP, spoken to without our code."""

    def __init__(self, *arguments: str, level: int):
        command = [GNUGO, "--mode", "gtp", "--level", str(level), *RULES, *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "GnuGo":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.communicate()

    def ok(self, line: str) -> str:
        """The text of a reply that must be a success."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        lines = []
        while not lines or lines[-1].strip():
            lines.append(self.process.stdout.readline())
        text = "".join(lines).strip()
        assert text.startswith("="), (line, text)
        return text[1:].strip()


@contextlib.contextmanager
def opponents(size: int, *arguments: str, seed: int, level: int) -> Iterator[tuple[Piped, GnuGo]]:
    """Both programs, for games on boards of a size."""
    ours = ("--size", str(size), "--seed", str(seed), "--cleanup", "--resign", "0", *arguments)  # all are played to the end
    with Piped(*ours) as jaxgo, GnuGo("--seed", str(seed + 1), level=level) as gnugo:
        yield jaxgo, gnugo
        jaxgo.ok("quit")


def play_game(jaxgo: Piped, gnugo: GnuGo, size: int, colour: str, most_seconds: float | None = None) -> tuple[str, str, int]:
    """A game with jaxgo as a colour; returns both final scores, and the number of moves."""
    for engine in (jaxgo, gnugo):
        for line in (f"boardsize {size}", "komi 6.5", "clear_board"):
            engine.ok(line)
    if most_seconds is not None:
        jaxgo.ok(f"time_settings 0 {most_seconds:g} 1")
    passes = moves = 0
    while passes < 2:
        assert moves < 4 * size * size, "the game does not end"
        mover = "bw"[moves % 2]
        if mover == colour:
            if most_seconds is not None:
                jaxgo.ok(f"time_left {mover} {most_seconds:g} 1")
            start = time.monotonic()
            move = jaxgo.ok(f"genmove {mover}")
            taken = time.monotonic() - start
            assert most_seconds is None or taken < most_seconds, f"move {moves} took {taken:.2f} s"
            assert move.lower() == "pass" or move in gnugo.ok(f"all_legal {mover}").split(), (moves, move)
            gnugo.ok(f"play {mover} {move}")
        else:
            move = gnugo.ok(f"genmove {mover}")
            if move.lower() == "resign":
                return "resigned", "resigned", moves
            jaxgo.ok(f"play {mover} {move}")
        passes = passes + 1 if move.lower() == "pass" else 0
        moves += 1
    return jaxgo.ok("final_score"), gnugo.ok("final_score"), moves


@pytest.mark.wide
def test_two_quick_games():
    """One after the other, as either colour."""
    quick = ("--visits", "200", "--leaves", "8", "--playouts-per-leaf", "4")
    with opponents(5, *quick, seed=3, level=1) as (jaxgo, gnugo):
        for colour in "bw":
            ours, theirs, moves = play_game(jaxgo, gnugo, 5, colour)
            assert moves > 4
            assert ours == theirs


@pytest.mark.slow
@pytest.mark.parametrize(("size", "number"), [*((9, i) for i in range(20)), *((13, i) for i in range(4))])
def test_a_game_at_a_second_a_move(size, number, record_property):
    with opponents(size, seed=number, level=4) as (jaxgo, gnugo):
        ours, theirs, moves = play_game(jaxgo, gnugo, size, "bw"[number % 2], most_seconds=1.0)
    record_property("scores", (ours, theirs, moves))
    print(f"{size}x{size} game {number}: {ours} {theirs}, {moves} moves")
    assert re.fullmatch(r"[BW]\+[\d.]+|resigned|0", ours)
    assert ours == theirs
