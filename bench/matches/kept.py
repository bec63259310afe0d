"""Matches that are kept in a folder, for measurements of several of them: what is there already is not played again."""

import argparse
import json
import os
import pathlib
import subprocess
import sys


def make_folder(parser: argparse.ArgumentParser, out: pathlib.Path) -> None:
    """Makes the folder OUT of a command; ends it with a usage error where that is none, or cannot be written to."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"OUT must be a folder, not {out}: {error.strerror}")
    if not os.access(out, os.W_OK):
        parser.error(f"OUT must be a folder that can be written to, which {out} is not")


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
