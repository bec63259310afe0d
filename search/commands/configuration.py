"""Configuration files: a command's options in TOML, under their names without the dashes; the command line goes before them.

    bot = "rave"
    seconds = 5
    ponder = true
"""

import argparse
import tomllib
from collections.abc import Sequence

from jaxgo.cli import UsageError


def add_argument(parser: argparse.ArgumentParser) -> None:
    """--config."""
    what = 'options from a TOML file, such as `seconds = 5` or `bot = "uct"`; those of the command line go before them'
    parser.add_argument("--config", metavar="FILE", help=what)


def read_defaults(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Makes what a configuration file says the parser's defaults, where the arguments name one with --config.

    Raises:
      UsageError: the file cannot be read, or says what the command line could not; the text names the file, the key, and what is
        allowed.
    """
    finder = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    finder.add_argument("--config")
    try:
        path = finder.parse_known_args(arguments)[0].config
    except argparse.ArgumentError:  # no name follows: the command's own parser will say so
        return
    if path is None:
        return
    table, nothing = _read(path), vars(parser.parse_args([]))
    allowed = sorted(name.replace("_", "-") for name in nothing if name != "config")
    words = []
    for key, value in table.items():
        name = key.replace("_", "-")
        if name not in allowed:
            raise UsageError(f"the configuration file {path!r} has the key {key!r}; there are: {', '.join(allowed)}")
        switch = _is_switch(parser, name)
        if isinstance(value, bool) if switch else isinstance(value, (str, int, float)) and not isinstance(value, bool):
            words.append(f"--{'' if value or not switch else 'no-'}{name}" if switch else f"--{name}={value}")
        else:
            wanted = "true or false" if switch else "a text or a number"
            raise UsageError(f"the configuration file {path!r}: {key} must be {wanted}, not {value!r}")
    try:
        given = vars(parser.parse_args(words))
    except UsageError as error:
        raise UsageError(f"the configuration file {path!r}: {error}") from None
    parser.set_defaults(**{name: value for name, value in given.items() if name.replace("_", "-") in _names(table)})


def _is_switch(parser: argparse.ArgumentParser, name: str) -> bool:
    """Whether the option is there or not, in place of a value."""
    try:
        return isinstance(vars(parser.parse_args([f"--{name}"]))[name.replace("-", "_")], bool)
    except UsageError:
        return False


def _read(path: str) -> dict[str, object]:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise UsageError(f"the configuration file {path!r} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the configuration file {path!r} is not TOML: {error}") from None


def _names(table: dict[str, object]) -> set[str]:
    return {key.replace("_", "-") for key in table}
