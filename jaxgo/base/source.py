"""Which jaxgo this is: its version, and the commit where it runs from a git checkout. Results name both, to be made again."""

import functools
import importlib.metadata
import os
import pathlib
import subprocess

_LONGEST_SECONDS = 10.0
"""More than git takes on a slow disk; without an answer there is no commit."""


@functools.cache  # metadata is a file, which every query for the version would read
def version() -> str:
    """The installed version."""
    return importlib.metadata.version("jaxgo")


@functools.cache  # what runs is what was there when it was first asked for, whatever is checked out meanwhile
def commit() -> str | None:
    """The commit of the checkout that this package lies in, 40 hexadecimal digits; "-dirty" follows if files were changed since.

    None where it is installed otherwise: without git, or in a repository that does not track this file, such as that of a
    program whose virtual environment jaxgo is installed in.
    """
    here = pathlib.Path(__file__)
    if _git(here.parent, "ls-files", "--error-unmatch", here.name) is None:
        return None
    return _git(here.parent, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def in_words(found: str | None) -> str:
    """", commit ..." with as many digits as tell commits apart, "" for None."""
    if found is None:
        return ""
    digits, dash, changed = found.partition("-")
    return f", commit {digits[:12]}{dash}{changed}"


def _git(folder: pathlib.Path, *arguments: str) -> str | None:
    """What a git command says, None if it fails."""
    # A hook's environment names another repository; looking must not lock this one.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], env=environment | {"GIT_OPTIONAL_LOCKS": "0"}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=_LONGEST_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
