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
