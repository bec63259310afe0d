"""Which jaxgo this is, as results say it."""

import importlib.metadata
import pathlib
import re
import shutil
import subprocess

import pytest

import jaxgo
from jaxgo.base import source

CHECKOUT = pathlib.Path(__file__).parents[3]
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(autouse=True)
def asked_anew():
    """Nothing is remembered from one test to the next."""
    source.commit.cache_clear()
    yield
    source.commit.cache_clear()


def git(folder: pathlib.Path, *arguments: str) -> str:
    command = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def elsewhere(tmp_path, monkeypatch) -> pathlib.Path:
    """A repository in which the module seems to lie, as in a virtual environment within a program's own."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "program.py").write_text("")
    git(tmp_path, "add", "program.py")
    git(tmp_path, "commit", "--quiet", "--message", "begin")
    (tmp_path / "source.py").write_text("")
    monkeypatch.setattr(source, "__file__", str(tmp_path / "source.py"))
    return tmp_path


def test_the_version_is_the_installed_one():
    assert source.version() == importlib.metadata.version("jaxgo")


@needs_git
@pytest.mark.skipif(not (CHECKOUT / ".git").exists(), reason="this is not a git checkout")
def test_a_checkouts_commit():
    assert re.fullmatch(git(CHECKOUT, "rev-parse", "HEAD") + "(-dirty)?", source.commit())


@needs_git
def test_the_repository_of_another_program_is_not_ours(elsewhere):
    assert source.commit() is None


@needs_git
def test_what_was_changed_since_the_commit_is_told(elsewhere):
    git(elsewhere, "add", "source.py")
    git(elsewhere, "commit", "--quiet", "--message", "jaxgo")
    head = git(elsewhere, "rev-parse", "HEAD")
    assert source.commit() == head
    (elsewhere / "program.py").write_text("changed")
    assert source.commit() == head, "it is still the process of the commit"
    source.commit.cache_clear()
    assert source.commit() == head + "-dirty"
    assert source.in_words(source.commit()) == f", commit {head[:12]}-dirty"


def test_without_git_there_is_no_commit(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert source.commit() is None
    assert source.in_words(None) == ""


def test_there_is_one_version():
    """The installed one, the package's, and that to be cited."""
    (cited,) = re.findall(r"^version: (.+)$", (CHECKOUT / "CITATION.cff").read_text(), re.M)
    assert source.version() == jaxgo.__version__ == cited


@needs_git
def test_tags_and_a_hooks_environment_change_nothing(elsewhere, monkeypatch):
    """A hook's environment names the repository that it is of."""
    git(elsewhere, "add", "source.py")
    git(elsewhere, "commit", "--quiet", "--message", "jaxgo")
    git(elsewhere, "tag", "--annotate", "v0.1", "--message", "a tag")
    head = git(elsewhere, "rev-parse", "HEAD")
    assert source.commit() == head
    source.commit.cache_clear()
    monkeypatch.setenv("GIT_DIR", str(elsewhere / "of another"))
    assert source.commit() == head
