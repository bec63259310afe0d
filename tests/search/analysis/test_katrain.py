"""KaTrain's own engine class drives `jaxgo analysis` through a short game; `tests/clients/install` installs it."""

import json
import pathlib
import shlex
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
FOLDER = ROOT / ".clients" / "katrain"
pytestmark = [pytest.mark.wide, pytest.mark.skipif(not (FOLDER / "katrain").is_dir(), reason="katrain is not installed")]


@pytest.fixture(scope="module")
def seen() -> dict:
    """What KaTrain saw; it checks ownership, policy, other moves and parts of the board itself."""
    # KaTrain starts the command by a shell and later ends that shell: `exec` makes it one and the same process.
    engine = f"exec {shlex.quote(sys.executable)} -m jaxgo analysis"
    script = ROOT / "tests" / "clients" / "katrain_game.py"
    done = subprocess.run([sys.executable, script, FOLDER, engine], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_game_is_analysed_to_the_end(seen):
    assert len(seen["moves"]) == len(set(seen["moves"])) == 8
    assert seen["after the end"] > 0 and seen["fresh"]


def test_illegal_moves_are_told_in_words_that_it_knows(seen):
    """One error goes to who asked; the other, of a sweep over all moves, is known to be harmless and not shown."""
    (illegal,) = seen["illegal"]
    assert illegal.startswith("Illegal move 1: W ")
    assert seen["errors"] == [] and seen["popups"] == []


def test_pondering_goes_on_until_it_is_stopped(seen):
    assert len(seen["pondered"]) >= 4 and seen["pondered"] == sorted(seen["pondered"])


def test_rules_that_are_played_as_others_are_warned_of(seen):
    assert seen["warnings"] > 8
