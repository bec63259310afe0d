"""The README and the pages of `docs/`: their Python runs, their links lead somewhere, Sphinx makes a site without a warning."""

import argparse
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

from jaxgo import cli

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text("utf-8"))], ids=lambda page: page.stem)
def test_the_examples_run(page, capsys):
    """One after the other, as they stand."""
    names: dict[str, object] = {}
    for block in BLOCK.findall(page.read_text("utf-8")):
        exec(compile(block, str(page), "exec"), names)
    printed = capsys.readouterr().out
    if page.stem == "README":
        assert printed.startswith("Black wins 0.")
        assert names["tree"].visits >= 50_000


def _command_lines() -> list[tuple[str, str]]:
    """Each command line of the pages and of the commands' help, and where it stands."""
    found = []
    for page in PAGES:
        for block in re.findall(r"^```(?:sh|bash|console)\n(.*?)^```", page.read_text("utf-8"), re.S | re.M):
            for line in block.replace("\\\n", " ").splitlines():
                if match := re.search(r"(?:^|[ /])jaxgo +([a-z].*)", line):
                    found.append((match[1], page.name))
    for name, entry in cli._entries().items():
        parser = argparse.ArgumentParser()
        cli._load(entry).add_arguments(parser)
        for line in (parser.epilog or "").splitlines():
            if match := re.match(r"  jaxgo +([a-z].*)", line):
                found.append((match[1], f"jaxgo {name} --help"))
    return found


def test_command_lines_are_understood(monkeypatch, tmp_path):
    """Those of the pages and of the help, with all their options; nothing is done. What follows two blanks is a remark."""
    lines = _command_lines()
    assert len(lines) > 50 and {"README.md", "players.md", "collections.md"} <= {where for _, where in lines}
    monkeypatch.chdir(tmp_path)  # folders that options name are looked at
    for line, where in lines:
        words = shlex.split(re.split(r"  +|[|<>#]", line)[0])
        parser = argparse.ArgumentParser(exit_on_error=False)
        parser.error = lambda message, told=f"{where}: jaxgo {line}": pytest.fail(f"{told}: {message}")
        cli._load(cli._entries()[words[0]]).add_arguments(parser)
        parser.parse_args(words[1:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_nothing_is_left_to_be_filled_in(page):
    assert not re.findall(r"@[A-Z0-9]+@|TODO|XXX", page.read_text("utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    """Those to files of the repository, pictures included."""
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


@pytest.mark.wide
def test_the_site_is_made_without_a_warning(tmp_path):
    """With the reference of the API, from the docstrings."""
    pytest.importorskip("sphinx")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(ROOT / "docs"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    reference = (tmp_path / "api.html").read_text("utf-8")
    for name in ("jaxgo.evaluate", "jaxgo.Position.play", "jaxgo.Leaves.submit", "search.Search.run"):
        assert f'id="{name}"' in reference, name
