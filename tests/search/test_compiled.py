"""Which loops are compiled anew."""

import ast
import os
import pathlib
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import search
import search.rounds  # and so all of them
from search import compiled

FOLDER = pathlib.Path(search.__file__).parent
#: What compiled functions do not use of what their modules import: Python calls it.
OF_PYTHON = {"jaxgo.base.cache", "jaxgo.base.checks", "jaxgo.base.memory", "jaxgo.base.promise", "jaxgo.base.saved", "jaxgo.base.threads", "jaxgo.board.geometry"}


def imported(name: str) -> set[str]:
    """The modules of the project from which a module of `search` takes something."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text())
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in ("jaxgo", "search")]
    names = [(node.module, alias.name) for node in found for alias in node.names]
    return {f"{module}.{name}" if isinstance(getattr(sys.modules[module], name), types.ModuleType) else module for module, name in names}


def test_loops_are_compiled_anew_when_a_module_changes_that_they_need():
    known = {f"search.{name}" for name in compiled.MODULES} | {module.__name__ for module in compiled.CONSTANTS} | OF_PYTHON
    for name in compiled.MODULES:
        assert imported(name) <= known, name
    users = {path.stem for path in FOLDER.glob("*.py") if "search.compiled" in path.read_text()}
    assert users - {"chances", "rounds"} <= {*compiled.MODULES}, "these call compiled functions and have none"


def test_loops_are_kept_though_they_were_imported_before_it_was_said_where(tmp_path):
    program = """
import sys
import search.tree, search.rounds, search.values
import jaxgo
jaxgo.keep_compiled(sys.argv[1])
from search.tree import Tree
Tree(2, 1 << 20)
"""
    without = {name: value for name, value in os.environ.items() if "CACHE" not in name}
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, env=without, timeout=300)
    assert list(tmp_path.glob("tree-*/**/*.nbi"))



def test_what_is_kept_and_damaged_is_compiled_anew_and_what_cannot_be_written_is_not_kept(tmp_path, monkeypatch):
    """A file that power loss has left empty, and a full disk."""
    program = """
import sys, jaxgo
jaxgo.keep_compiled(sys.argv[1])
from search.tree import Tree
print(Tree(2, 1 << 20).root)
"""
    without = {name: value for name, value in os.environ.items() if "CACHE" not in name}

    def made(refuse: str = "") -> str:
        command = [sys.executable, "-c", refuse + program, str(tmp_path)]
        return subprocess.run(command, check=True, env=without, timeout=300, capture_output=True, text=True).stdout

    def kept() -> list[pathlib.Path]:
        return [path for path in tmp_path.glob("tree-*/**/*.nb[ic]") if path.stat().st_size]

    assert made() == "0\n" and kept()
    count = len(kept())
    for path in kept():
        path.write_bytes(b"")
    assert made() == "0\n" and len(kept()) == count, "and kept again"
    for path in kept():
        path.unlink()
    no_room = "import numba.core.caching as c\ndef no(*_): raise OSError(28, 'No space left on device')\nc.IndexDataCacheFile.save = no\n"
    assert made(no_room) == "0\n" and not kept()


def test_threads_may_make_their_first_trees_at_the_same_time(tmp_path, monkeypatch):
    """None goes on before all loops are kept."""
    kept = []

    class Function:
        def enable_caching(self) -> None:
            time.sleep(0.05)
            kept.append(self)

    monkeypatch.setattr(compiled, "_anywhere", [Function() for _ in range(3)])
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path))
    together = threading.Barrier(4)

    def make() -> int:
        together.wait()
        compiled.keep_loops()
        return len(kept)

    with ThreadPoolExecutor(4) as threads:
        assert [made.result() for made in [threads.submit(make) for _ in range(4)]] == [3] * 4
