"""Each folder imports only from those above it in the table of docs/design.md, as that says."""

import ast
import pathlib
import re
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parent.parent
ORDER = re.findall(r"^\| `(\w+(?:/\w+)?)/`", (ROOT / "docs/design.md").read_text(encoding="utf-8"), re.MULTILINE)
#: Modules of no folder: the library as a whole, and the command.
ALONE = {"jaxgo": "jaxgo/commands", "jaxgo.cli": "jaxgo/commands"}
#: Methods that lead on to what comes after, and import it when they are called: `Position.from_sgf`, `update` of policies' tables.
LATER = {("jaxgo/board", "jaxgo/records"), ("jaxgo/playing", "jaxgo/results")}


def imported(path: pathlib.Path) -> Iterator[str]:
    """The project's modules, or names of these, that a module imports anywhere."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def place(module: str) -> str | None:
    """The folder of the table that a module lies in, None for other projects'."""
    path = ALONE.get(module, module.replace(".", "/"))
    return next((folder for folder in ORDER if f"{path}/".startswith(f"{folder}/")), None)


def test_folders_import_from_those_above_them():
    assert ORDER[:2] == ["jaxgo/base", "jaxgo/board"] and "search" in ORDER
    wrong = []
    for path in (path for folder in ORDER[: ORDER.index("bench") + 1] for path in (ROOT / folder).rglob("*.py")):
        here = place(path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."))
        for module in imported(path):
            there = place(module)
            if there is not None and ORDER.index(there) > ORDER.index(here) and (here, there) not in LATER:
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not wrong
