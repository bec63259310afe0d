"""`jaxgo bench`: measures what jaxgo costs, on this machine.

Each benchmark is a module that answers one question and offers `SUMMARY`, `DESCRIPTION`, `SIZES` (its default board sizes),
`measure(sizes, plan, say, ...)` and `tables(report)`. The imports stand inside the functions: `jaxgo --help` imports this
module for its `SUMMARY`.
"""

import argparse
import importlib
import json
import math
import signal
import sys
from collections.abc import Callable, Iterable, Sequence

from jaxgo.base.signals import interruptible
from jaxgo.cli import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, UsageError

SUMMARY = "speed, memory and start-up time on this machine, by itself and beside other engines"

#: The playout policies that can be priced.
POLICIES = ("capture", "reply", "advisor", "nakade", "no-self-atari", "patterns", "match")
#: The benchmarks, in the order of the help; the first is the default.
BENCHMARKS = (
    "throughput", "peers", "environment", "search", "analysis", "startup", "scaling", "curves", "kernel", "limit", "history",
)  # fmt: skip
DEFAULT = BENCHMARKS[0]

_DESCRIPTION = """\
Measures what jaxgo costs on this machine: medians over runs, compiling apart, with the hardware's name.
Without a benchmark's name: throughput.
"""
_EPILOG = """\
examples:
  jaxgo bench                                   playouts per second on 9x9, 13x13 and 19x19
  jaxgo bench --sizes 9 --json > result.json    9x9 only, everything as JSON
  jaxgo bench throughput --policy all           what playout policies cost
  jaxgo bench peers                             beside OpenSpiel, pgx (pip install 'jaxgo[bench]') and GNU Go
  jaxgo bench peers --native './bench {size} {playouts}'   beside any engine that prints playouts and seconds
  jaxgo bench startup --record game.sgf         how long `jaxgo evaluate` and `genmove` take to answer
  jaxgo bench limit --plot limit.png            how near playouts come to what a core could do
  jaxgo bench curves --plot curves.png          playouts per second by board, call, lanes, devices and rounds
  jaxgo bench kernel                            the GPU kernel's registers, and what its playouts cost, without a GPU

The result goes to stdout, progress to stderr. Figures of the whole machine hold only while nothing else runs;
the report says how busy it was.
"""

#: Options of single benchmarks, which their `measure` takes by these names.
_OF_ONE = ("record", "batches", "policy", "only", "native", "timeout", "plot", "since")
_SMALLEST, _LARGEST = 2, 25
_MOST_RUNS = 1000
_MOST_SECONDS = 3600
_INT32_MAX = 2**31 - 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments, and a sub-command per benchmark, to its parser."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    _add_common(parser, default=None, sizes=_module(DEFAULT).SIZES)
    parser.set_defaults(benchmark=DEFAULT, **dict.fromkeys(_OF_ONE))
    benchmarks = parser.add_subparsers(title="benchmarks", metavar="BENCHMARK", dest="benchmark")
    for name in BENCHMARKS:
        module = _module(name)
        one = benchmarks.add_parser(
            name,
            help=module.SUMMARY,
            description=module.DESCRIPTION,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        # SUPPRESS: what stands before the benchmark's name is not undone by a default of what may stand behind it.
        _add_common(one, default=argparse.SUPPRESS, sizes=module.SIZES, timed=name not in ("history", "kernel"))
        if name == "environment":
            one.add_argument(
                "--batches",
                type=_several(_count("--batches", _INT32_MAX)),
                metavar="N,...",
                default=argparse.SUPPRESS,
                help=f"games stepped together (default: {_joined(module.BATCHES)})",
            )
        if name == "throughput":
            one.add_argument(
                "--policy", type=_names("--policy", POLICIES), metavar="P,...", default=argparse.SUPPRESS,
                help=f"playout policies to price beside uniform playouts: {', '.join(POLICIES)} or all",
            )  # fmt: skip
        if name in ("throughput", "search"):
            what = "where to measure" if name == "throughput" else "what to measure beside `jaxgo.evaluate`"
            one.add_argument(
                "--only", type=_names("--only", tuple(module.ONLY)), metavar="S,...", default=argparse.SUPPRESS,
                help=f"{what}: {', '.join(module.ONLY)} (default: all)",
            )  # fmt: skip
        if name == "peers":
            one.add_argument(
                "--native", action="append", metavar="COMMAND", default=argparse.SUPPRESS,
                help="a native engine, as [NAME=][SIZE,...:]COMMAND (see above); may be given several times",
            )  # fmt: skip
            one.add_argument(
                "--timeout", type=_length("--timeout"), metavar="S", default=argparse.SUPPRESS,
                help=f"seconds that a run of a native engine may take (default: {module.TIMEOUT:g})",
            )  # fmt: skip
        if name in ("limit", "curves"):
            what = "the shares" if name == "limit" else "the curves"
            one.add_argument(
                "--plot", metavar="FILE.png", default=argparse.SUPPRESS,
                help=f"draws {what} into a .png, .svg or .pdf (pip install 'jaxgo[plot]')",
            )  # fmt: skip
        if name == "history":
            one.add_argument("--since", metavar="DATE", default=argparse.SUPPRESS, help="leave out older commits, as of git log")
            one.add_argument("--plot", metavar="FILE", default=argparse.SUPPRESS, help="draw the rates into a .png, .svg or .pdf")
        if name == "startup":
            one.add_argument(
                "--record", metavar="FILE.sgf", default=argparse.SUPPRESS, help="the game record (default: a short one per size)"
            )


def run(args: argparse.Namespace) -> int:
    """Measures and prints what the command line asks for.

    Returns:
      The exit status.

    Raises:
      UsageError: the arguments are no good; nothing has been measured.
    """
    from bench import native, report
    from bench.history import NoHistory
    from bench.series import Plan
    from bench.startup import StartupError
    from bench.worker import WorkerError

    name = args.benchmark or DEFAULT
    benchmark = _module(name)
    defaults = Plan()
    plan = Plan(
        runs=args.runs or defaults.runs,
        seconds=args.seconds or defaults.seconds,
        count=args.count,
    )
    extra = {key: value for key in _OF_ONE if (value := getattr(args, key)) is not None}
    if "record" in extra:
        _check_readable(extra["record"])
    if "plot" in extra:
        from jaxgo.commands import plots

        (extra["plot"],) = plots.places_of(extra["plot"], [f"jaxgo bench {name}"])
    if "native" in extra:
        extra["native"] = native.read(extra["native"])
    try:
        with interruptible(signal.SIGTERM):  # so that folders and programs of its own end with it
            made = benchmark.measure(args.sizes or benchmark.SIZES, plan, _say, **extra)
    except (WorkerError, StartupError, NoHistory) as error:
        print(f"jaxgo bench {name}: failed: {error}", file=sys.stderr)
        return EXIT_FAILED
    if args.json:
        print(json.dumps(made, indent=2, allow_nan=False))
    else:
        report.show(made, benchmark.tables(made))
    return EXIT_DONE if made.get("complete", True) else EXIT_INTERRUPTED


def _add_common(parser: argparse.ArgumentParser, default: object, sizes: Sequence[int], timed: bool = True) -> None:
    """The options of every benchmark, or of those that time something; `sizes` are those it takes by itself."""
    parser.add_argument(
        "--sizes",
        type=_several(_size),
        metavar="N,...",
        default=default,
        help=f"board sizes, 2 to 25 (default: {_joined(sizes)})",
    )
    if timed:
        runs, seconds = "timed runs (default: 5)", "about the length of a run (default: 1)"
        parser.add_argument("--runs", type=_count("--runs", _MOST_RUNS), metavar="R", default=default, help=runs)
        parser.add_argument("--seconds", type=_length("--seconds"), metavar="S", default=default, help=seconds)
        count = "playouts or steps of a run, instead of a length"
        parser.add_argument("--count", type=_count("--count", _INT32_MAX), metavar="N", default=default, help=count)
    parser.add_argument(
        "--json",
        action="store_true",
        default=False if default is None else default,
        help="print one JSON document instead of the tables",
    )


def _module(name: str):
    """The module of a benchmark."""
    return importlib.import_module(f"bench.{name}")


def _say(text: str) -> None:
    """Progress, for people."""
    print(f"jaxgo bench: {text}", file=sys.stderr, flush=True)


def _check_readable(path: str) -> None:
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise UsageError(f"--record {path}: cannot be read: {error.strerror}") from error


def _joined(numbers: Iterable[int]) -> str:
    """Numbers as the command line takes them."""
    return ",".join(map(str, numbers))


def _several(read: Callable[[str], int]) -> Callable[[str], list[int]]:
    """A reader for numbers with commas between them."""
    return lambda text: [read(part.strip()) for part in text.split(",")]


def _size(text: str) -> int:
    """A board size from the command line."""
    if not text.isdecimal() or not _SMALLEST <= int(text) <= _LARGEST:
        raise UsageError(f"--sizes {text}: a board size is a whole number from {_SMALLEST} to {_LARGEST}")
    return int(text)


def _count(option: str, most: int) -> Callable[[str], int]:
    """A reader for whole numbers from 1 to `most`."""

    def read(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise UsageError(f"{option} {text}: must be a whole number from 1 to {most}")
        return int(text)

    return read


def _names(option: str, known: Sequence[str]) -> Callable[[str], list[str]]:
    """A reader for names."""

    def read(text: str) -> list[str]:
        names = list(known) if text == "all" else [name.strip() for name in text.split(",")]
        if not set(names) <= set(known):
            raise UsageError(f"{option} {text}: must be of {', '.join(known)}, or all")
        return names

    return read


def _length(option: str) -> Callable[[str], float]:
    """A reader for lengths of time."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 < value <= _MOST_SECONDS:
            raise UsageError(f"{option} {text}: must be a number above 0, at most {_MOST_SECONDS}")
        return value

    return read
