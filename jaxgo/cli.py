"""The `jaxgo` command: finds the sub-commands, imports the chosen one, and turns its failures into exit statuses.

Sub-commands plug in through the entry-point group `jaxgo.commands`, so that this package imports none of them. An entry point
names a module that imports only the standard library at its top (the heavy imports go inside its functions) and offers

- `SUMMARY`: one line for `jaxgo --help`;
- `add_arguments(parser)`: adds its arguments to an `argparse` parser, and sets the parser's `description` and `epilog`;
- perhaps `read_defaults(parser, arguments)`: makes what a file that the arguments name says the parser's defaults;
- `run(args)`: does the work; returns an exit status, or None for success.

Exit statuses: 0 done; 1 failed on the way; 2 bad usage or input, with one line on stderr that says what to change; 130 stopped
with Ctrl-C, or, where a command says so, by SIGTERM.
"""

import argparse
import difflib
import gc
import importlib.metadata
import io
import os
import sys
from collections.abc import Sequence
from typing import Protocol

from jaxgo.base.cache import keep_compiled
from jaxgo.base.signals import interruptible
from jaxgo.base.source import version

GROUP = "jaxgo.commands"

#: New objects after which Python's garbage collector looks through them.
BETWEEN_LOOKS = 50_000

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

_EPILOG = """\
`jaxgo COMMAND --help` explains a command, with examples.

first steps:
  jaxgo evaluate game.sgf                  the last position of a game record
  jaxgo evaluate game.sgf --all            every position of it
  jaxgo evaluate --size 9                  the empty 9x9 board

Compiled programs are kept in a cache, so that a command starts faster the second time: in $JAXGO_CACHE, by default
in the folder `jaxgo` of the user's caches; JAXGO_CACHE=off keeps none. JAX_COMPILATION_CACHE_DIR takes precedence.

Exit statuses: 0 done; 1 failed on the way, or something was left out; 2 bad usage or input; 130 stopped by Ctrl-C.
"""


class UsageError(Exception):
    """Bad usage or input. The text is one line for the user: what was given, and what is allowed."""


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line that names the help, not the usage text first."""

    def print_help(self, file=None) -> None:
        (file or sys.stdout).write(self.format_help())  # argparse's own says nothing of a full disk

    def error(self, message: str):
        raise UsageError(f"{message} (see {self.prog} --help)")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_) -> None:
        print(f"jaxgo {version()}")
        parser.exit()


class Command(Protocol):
    """What the module behind an entry point offers; see the module's text."""

    SUMMARY: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int | None: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `jaxgo`.

    Args:
      argv: the arguments after the program's name; None takes them from `sys.argv`.

    Returns:
      The exit status (see the module's text). `argparse` leaves with SystemExit for `--help` and for bad usage.
    """
    _have_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    entries = _entries()
    if arguments[:1] == ["help"]:  # `jaxgo help evaluate` is what many try first
        arguments = [*arguments[1:2], "--help"]
    name = arguments[0] if arguments else ""
    try:
        if not name or name.startswith("-"):
            parser = _top_parser(entries)
            _parsed(parser, arguments)  # answers --help and --version, refuses anything else
            parser.print_help(sys.stderr)
            return EXIT_USAGE
        if name not in entries:
            raise UsageError(_unknown(name, entries))
        command = _load(entries[name])
        parser = _Parser(
            prog=f"jaxgo {name}",
            description=command.SUMMARY,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_arguments(parser)
        if hasattr(command, "read_defaults"):
            command.read_defaults(parser, arguments[1:])
        _keep_compiled()
        look_for_less_garbage()
        with interruptible():
            parsed = _parsed(parser, arguments[1:])
            _check_platforms()
            status = command.run(parsed) or EXIT_DONE
        _flush()
        return status
    except UsageError as error:
        print(f"jaxgo{f' {name}' if name in entries else ''}: error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        print(f"jaxgo {name}: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except MemoryError as error:
        print(f"jaxgo {name}: error: {str(error) or 'there is not enough memory'}", file=sys.stderr)
        return EXIT_FAILED
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # the reader (`head`, a pager) has seen enough
            print(f"jaxgo {name}: error: {error}", file=sys.stderr)
        try:
            sys.stdout.flush()
        except OSError:  # what it holds must not be flushed once more at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED


def _parsed(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    try:
        return parser.parse_args(arguments)
    finally:
        _flush()  # of --help, which leaves from here


def _flush() -> None:
    """Sees to it that stdout is written: a reader that has gone away shows here, not at the interpreter's exit."""
    sys.stdout.flush()
    if isinstance(sys.stdout, _Nowhere) and sys.stdout.was_written:
        raise OSError("stdout is closed, and what was to be printed there is lost")


class _Sink(io.FileIO):
    """What is written there is lost, but noticed."""

    was_written = False

    def write(self, data) -> int:
        self.was_written = True
        return super().write(data) or 0


class _Nowhere(io.TextIOWrapper):
    """Where stdout leads if it was closed."""

    def __init__(self) -> None:
        self._sink = _Sink(os.devnull, "w")
        super().__init__(io.BufferedWriter(self._sink))

    @property
    def was_written(self) -> bool:
        """Whether anything was, as far as it is flushed."""
        return self._sink.was_written


def has_stdout() -> bool:
    """Whether there is a stdout: it was not closed when the process began."""
    return sys.stdout is not None and not isinstance(sys.stdout, _Nowhere)


def _have_streams() -> None:
    """Has the standard streams lead somewhere where they were closed, and stdout take any letter, those of names in other sets
    too."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, _Nowhere())
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def look_for_less_garbage() -> None:
    """For a process that is jaxgo's own: while programs are traced, a tenth of the time would go into looking for garbage among
    millions of objects that are none."""
    most, *others = gc.get_threshold()
    if most:  # 0 is never
        gc.set_threshold(max(most, BETWEEN_LOOKS), *others)


def _keep_compiled() -> None:
    """`jaxgo.keep_compiled`, as the help's last lines say."""
    try:
        keep_compiled()
    except OSError as error:
        raise UsageError(f"JAXGO_CACHE: {error}") from None


def _check_platforms() -> None:
    """Of platforms that are not there JAX says so late, and not always in words."""
    named = os.environ.get("JAX_PLATFORMS", "")
    if named in ("", "cpu"):
        return
    import jax

    try:
        jax.devices()
    except (RuntimeError, AssertionError) as error:
        told = str(error).partition("\n")[0]
        raise UsageError(f"JAX_PLATFORMS={named}: JAX cannot use that here{f': {told}' if told else ''}") from error


def _entries() -> dict[str, importlib.metadata.EntryPoint]:
    """The sub-commands that are installed, by name, sorted."""
    found = importlib.metadata.entry_points(group=GROUP)
    return {entry.name: entry for entry in sorted(found, key=lambda entry: entry.name)}


def _load(entry: importlib.metadata.EntryPoint) -> Command:
    """Imports one command; a missing extra of a plugged-in package becomes a plain message."""
    try:
        return entry.load()
    except ImportError as error:
        raise UsageError(f"the command {entry.name!r} ({entry.value}) cannot be loaded: {error}") from error


def _unknown(name: str, entries: dict[str, importlib.metadata.EntryPoint]) -> str:
    """The message for a sub-command that does not exist, with the nearest that do."""
    near = difflib.get_close_matches(name, entries, n=1, cutoff=0.5)
    if near:
        return f"there is no command {name!r}; did you mean {near[0]!r}?"
    if os.path.exists(name) or name.endswith(".sgf"):
        return f"there is no command {name!r}; did you mean `jaxgo evaluate {name}`?"
    return f"there is no command {name!r}; there are: {', '.join(entries) or 'none installed'}"


def _top_parser(entries: dict[str, importlib.metadata.EntryPoint]) -> argparse.ArgumentParser:
    """The parser behind `jaxgo --help`, which lists each command with its one line."""
    width = max((len(name) for name in entries), default=0)
    lines = []
    for name, entry in entries.items():
        try:
            summary = _load(entry).SUMMARY
        except UsageError as error:  # one broken plug-in must not take the help of the others away
            summary = f"({error})"
        lines.append(f"  {name:<{width}}  {summary}")
    parser = _Parser(
        prog="jaxgo",
        usage="jaxgo [--help] [--version] COMMAND ...",
        description="Exact, reproducible batch playouts for the game of Go.\n\ncommands:\n" + "\n".join(lines),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    return parser
