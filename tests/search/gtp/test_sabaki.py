"""Sabaki's own GTP client drives the engine; `tests/clients/install` installs it."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
LIBRARY = ROOT / ".clients" / "node_modules" / "@sabaki" / "gtp"
pytestmark = pytest.mark.skipif(not LIBRARY.is_dir() or shutil.which("node") is None, reason="@sabaki/gtp is not installed")


@pytest.fixture(scope="module")
def heard() -> dict:
    """What the client heard."""
    engine = [sys.executable, "-m", "jaxgo", "gtp", "--size", "5", "--visits", "200", "--leaves", "16"]
    script = ROOT / "tests" / "clients" / "sabaki.js"
    done = subprocess.run(["node", script, LIBRARY, *engine], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_learns_who_it_talks_to(heard):
    assert heard["name"] == "jaxgo"
    assert heard["protocol_version"] == "2"
    assert {"kata-analyze", "lz-analyze", "kata-genmove_analyze", "undo"} <= set(heard["list_commands"].split("\n"))
    assert heard["stderr"] == []


def test_it_gets_moves_and_errors(heard):
    assert re.fullmatch(r"[A-E][1-5]", heard["genmove"])
    assert re.fullmatch(r"play [A-E][1-5]", heard["genmove_analyze"].split("\n")[-1])
    assert heard["unknown"] and heard["illegal"]


@pytest.mark.parametrize("command", ["kata-analyze", "lz-analyze"])
def test_it_streams_analysis_until_it_interrupts(heard, command):
    found = heard[command]
    assert not found["error"]
    assert found["lines"][0] == "=" and found["lines"][-1] == ""
    assert found["answer"] == "2"
    assert found["milliseconds"] < 2000
    reports = found["lines"][1:-1]
    assert len(reports) >= 3
    for report in reports:
        report, _, ownership = report.partition(" ownership ")
        assert len(ownership.split()) == (25 if command == "kata-analyze" else 0)
        for entry in re.split(r"\s*info\s+", report)[1:]:  # as Sabaki takes a line apart
            assert re.search(r" pv( ([A-E][1-5]|pass))+$", entry), "the moves expected are the last of an entry"
            assert re.match(r"move [A-E][1-5]|move pass", entry)
