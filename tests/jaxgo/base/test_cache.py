"""Compiled programs on disk, in one line."""

import os
import pathlib
import subprocess
import sys

import pytest

import jaxgo
from jaxgo.base import cache

PLAY = """
import pathlib, sys
{before}
folder = {call}
print(folder)
{after}
import jax, numpy, jaxgo
from jaxgo.backends import kept
compiled, found = [], kept.Place._load
jax.monitoring.register_event_listener(lambda name, **more: compiled.append(name) if name == "/jax/compilation_cache/cache_hits" else None)
kept.Place._load = lambda *where: (program := found(*where)) and (compiled.append(where) or program)
jaxgo.evaluate(jaxgo.Position.empty(3), 10)
print(len(compiled))
"""


def run(call: str, before: str = "", after: str = "", **environment: str) -> list[str]:
    """What a process prints that asks for a cache and plays: the folder, and how many programs it took from there, by jax or without."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("JAX")}
    code = PLAY.format(call=call, before=before, after=after)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=kept | environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split("\n")[:2]


def test_nothing_is_kept_of_somebody_without_a_home(tmp_path, monkeypatch):
    """As in a container: the folder would be named "~", and lie where he happens to be."""
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_CACHE_HOME", "JAXGO_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cache, "_known_to_jax", lambda: False)
    monkeypatch.setattr(cache.os.path, "expanduser", lambda path: path)
    assert jaxgo.keep_compiled() is None
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    assert jaxgo.keep_compiled() is None and not list(tmp_path.iterdir())


def test_a_second_process_need_not_compile(tmp_path):
    """Whether the folder is told after jax is imported, as here in the first, or before, as in the second."""
    folder = str(tmp_path / "new" / "cache")
    call = f"jaxgo.keep_compiled({folder!r})"
    assert run(call, "import jax, jaxgo; jaxgo.Position") == [folder, "0"]
    assert any(pathlib.Path(folder).iterdir())
    found, hits = run(call, "import jaxgo")
    assert found == folder and int(hits) >= 1


def test_where_it_is(tmp_path):
    before = "import jaxgo; jax = None"
    call = "jaxgo.keep_compiled()"
    stop = "sys.exit()"
    assert run(call, before, stop, XDG_CACHE_HOME=str(tmp_path))[0] == str(tmp_path / "jaxgo")
    assert run(call, before, stop, JAXGO_CACHE=str(tmp_path / "x"))[0] == str(tmp_path / "x")
    assert run(call, before, stop, JAXGO_CACHE="off")[0] == "None"
    for relative in ({"call": "jaxgo.keep_compiled('here')"}, {"call": call, "JAXGO_CACHE": "here"}):  # wherever it goes then
        moved = f"import os; os.chdir({str(tmp_path)!r}); {before}"
        assert run(before=moved, after=stop, **relative)[0] == str(tmp_path / "here")
    assert run(call, before, stop, JAX_COMPILATION_CACHE_DIR=str(tmp_path / "theirs"))[0] == "None"
    assert run(call, before + "; import jax", "jax.config.update('jax_compilation_cache_dir', 'x'); sys.exit()")[0] != "None"


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path):
    import jaxgo

    (tmp_path / "file").write_text("")
    environment = dict(os.environ)
    os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)
    import jax

    held = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", None)
    try:
        with pytest.raises(OSError, match="cannot be written to"):
            jaxgo.keep_compiled(tmp_path / "file" / "x")
    finally:
        jax.config.update("jax_compilation_cache_dir", held)
        os.environ.clear()
        os.environ.update(environment)


@pytest.fixture
def nothing_told(monkeypatch):
    """Neither the environment nor jax names a folder; what is told of one is forgotten."""
    import jax

    for name in ("XDG_CACHE_HOME", "JAXGO_CACHE", "JAX_COMPILATION_CACHE_DIR", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    names = "jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs"
    held = {name: getattr(jax.config, name) for name in names}
    jax.config.update("jax_compilation_cache_dir", None)
    yield
    for name, value in held.items():
        jax.config.update(name, value)


def test_off_is_off_however_it_is_written(tmp_path, monkeypatch, nothing_told):
    monkeypatch.chdir(tmp_path)
    for off in ("off", "OFF", "Off"):
        monkeypatch.setenv("JAXGO_CACHE", off)
        assert jaxgo.keep_compiled() is None and not list(tmp_path.iterdir())


def test_what_jax_has_been_told_stays(tmp_path, monkeypatch, nothing_told):
    """A folder, and how long a program must take to be kept."""
    import jax

    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "7")
    assert jaxgo.keep_compiled(tmp_path / "ours") == str(tmp_path / "ours")
    assert jax.config.jax_persistent_cache_min_compile_time_secs == 7
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR")
    assert jax.config.jax_compilation_cache_dir == str(tmp_path / "ours")
    assert jaxgo.keep_compiled(tmp_path / "others") is None
    assert jax.config.jax_compilation_cache_dir == str(tmp_path / "ours") and not (tmp_path / "others").exists()


def test_where_the_default_folder_cannot_be_written_to_nothing_is_kept(tmp_path, monkeypatch, nothing_told):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert jaxgo.keep_compiled() is None


def test_a_folder_that_is_no_folder_here_is_nobodys(nothing_told):
    """jax itself keeps programs in a cloud's storage."""
    import jax

    assert cache.folder_of_jax() is None
    jax.config.update("jax_compilation_cache_dir", "gs://bucket/programs")
    assert cache.folder_of_jax() is None


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "there").mkdir()
    cache.write(tmp_path / "there", b"programs")  # a folder has the name
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    cache.write(tmp_path / "new" / "here", b"programs")
    assert (tmp_path / "new" / "here").read_bytes() == b"programs" and len(list((tmp_path / "new").iterdir())) == 1
