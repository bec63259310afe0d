"""The README and the pages of `docs/`: their Python runs, their links lead somewhere, Sphinx makes a site without a warning."""

import pathlib
import re
import subprocess
import sys

import pytest

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
