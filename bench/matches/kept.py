"""Matches that are kept in a folder, for measurements of several of them: what is there already is not played again."""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys

from jaxgo.base.signals import interruptible


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
    command = [sys.executable, "-P", "-m", "jaxgo", "match", first, second]  # whatever lies in the present folder
    command += ["--games", str(games), "--output", str(folder), "--json"]
    # In a process group of its own, so that it is interrupted once, and by this process.
    with interruptible(signal.SIGTERM), subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, text=True, process_group=0
    ) as match:  # fmt: skip
        try:
            text, _ = match.communicate()
        except KeyboardInterrupt:
            match.send_signal(signal.SIGINT)
            match.communicate()
            raise SystemExit(f"interrupted; what is finished is in {folder}, and the same command goes on") from None
    if match.returncode:
        raise SystemExit(f"{first} against {second}: `jaxgo match` ended with exit status {match.returncode}")
    made = json.loads(text)
    made.pop("records")
    return made
