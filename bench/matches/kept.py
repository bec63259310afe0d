"""Matches that are kept in a folder, for measurements of several of them: what is there already is not played again."""

import json
import pathlib
import subprocess
import sys


def kept_match(folder: pathlib.Path, first: str, second: str, games: int, *options: str) -> dict:
    """A match by `jaxgo match --output`, or what is missing of it; what is known of it, without its records.

    Args:
      folder: of this match alone.
      first, second: the players, as `jaxgo match` names them.
      games: how many in all.
      *options: others of `jaxgo match`.

    Raises:
      SystemExit: it failed, or was interrupted; what was finished is kept.
    """
    command = [sys.executable, "-m", "jaxgo", "match", first, second, "--games", str(games), "--output", str(folder), "--json"]
    done = subprocess.run([*command, *options], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{first} against {second}: `jaxgo match` ended with exit status {done.returncode}")
    made = json.loads(done.stdout)
    made.pop("records")
    return made
