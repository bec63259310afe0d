"""Sphinx's settings: `sphinx-build -W docs docs/build`. The pages are Markdown; the reference comes from the docstrings."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import jaxgo

project, author, release = "jaxgo", "the jaxgo authors", jaxgo.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["build"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"jaxgo {release}"
autodoc_member_order = "groupwise"
autodoc_typehints = "none"
napoleon_numpy_docstring = False


def mark_code(app, what, name, obj, options, lines: list[str]) -> None:
    """Docstrings indent examples by four blanks after a blank line, as Markdown has them; says so in reStructuredText's way."""
    for i in range(len(lines) - 1, 0, -1):
        begins = lines[i].startswith("    ") and not lines[i - 1].strip()
        before = next((line for line in reversed(lines[:i]) if line.strip()), "")
        if begins and before and not before.startswith("    ") and not before.endswith("::"):
            lines[i:i] = ["::", ""]


def setup(app) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", mark_code, priority=400)
