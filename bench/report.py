"""A benchmark's report: a dict that is printed as JSON, or as tables under a line that names the hardware."""

import datetime
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich import box

from jaxgo.base import source
from jaxgo.commands.tables import make_console, print_table

#: With less than this share of a pinned core, something else ran on it.
UNDISTURBED = 0.95


def begin(benchmark: str, machine: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The part that every report has.

    Args:
      benchmark: its name.
      machine: of `hardware.describe`, taken before anything ran.
      settings: what was asked for.

    Returns:
      A dict ready for JSON with `benchmark`, `jaxgo` (version), `commit` (None outside a git checkout), `date` (UTC), `command`,
      `hardware`, `settings`.
    """
    return {
        "benchmark": benchmark,
        "jaxgo": source.version(),
        "commit": source.commit(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command(),
        "hardware": dict(machine),
        "settings": dict(settings),
    }


def command() -> str:
    """How this process was called."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    name = spec.name if spec else ""
    return shlex.join([*(["python", "-m", name] if name.startswith("bench.") else ["jaxgo"]), *sys.argv[1:]])


def heading(report: Mapping[str, Any]) -> list[str]:
    """The lines above the tables: what was measured, on what."""
    machine, software = report["hardware"], report.get("software", {})
    memory = machine["memory_bytes"]
    lines = [
        f"jaxgo {report['jaxgo']} bench {report['benchmark']}, {report['date']}" + source.in_words(report.get("commit")),
        f"{machine['cpu']} ({machine['architecture']}), {machine['cores_usable']} of {machine['cores']} cores"
        + (f", {memory / 2**30:.0f} GiB" if memory else "")
        + f"; {machine['load_at_start']}",
    ]
    if software:
        lines.append(f"python {software['python']}, jax {software.get('jax')}")
        if "devices" in software:
            lines[-1] += f", devices: {', '.join(software['devices'])}"
        if "one_loop" in software:
            lines[-1] += f"; single fused loop {'on' if software['one_loop'] else 'OFF'}"
        if "vector_ratio" in software:
            lines[-1] += f", vectors {'on' if software['vectors'] else 'OFF'} ({software['vector_ratio']:.1f})"
    return lines


class Table(NamedTuple):
    """A table and the line above it, which may be longer than the table is wide."""

    title: str
    columns: Sequence[str]
    """The first is text, the others are figures."""
    rows: Sequence[Sequence[str]]


def show(report: Mapping[str, Any], items: Iterable[Table | str]) -> None:
    """Prints the heading, the tables, and what there is to say about them on stdout."""
    console = make_console()
    for line in heading(report):
        console.print(line, soft_wrap=True)
    for item in items:
        console.print()
        console.print(item if isinstance(item, str) else item.title, soft_wrap=True)
        if isinstance(item, Table):
            print_table(console, item.columns, item.rows, box=box.HEAVY_HEAD)


def shared_core(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """A warning if something else ran on the core that the work was pinned to; `results` are a report's."""
    least = min((entry["core_share"] for entry in results if "core_share" in entry), default=1.0)
    if least >= UNDISTURBED:
        return []
    return [f"Something else ran on the measured core: the work had {least:.0%} of it in the worst run. Rates are a little low."]


def rate(figures: Mapping[str, float] | None) -> str:
    """A rate's median with three significant digits, and how far the runs were apart: `412 k (405-415)`."""
    if figures is None:
        return "-"
    scale, unit = _scale(figures["median"])
    low, high = (_digits(figures[key] / scale) for key in ("min", "max"))
    return f"{_digits(figures['median'] / scale)}{unit} ({low}-{high})"


def short(value: float) -> str:
    """A rate with three significant digits: `412 k`."""
    scale, unit = _scale(value)
    return f"{_digits(value / scale)}{unit}"


def ratio(figures: Mapping[str, float]) -> str:
    """A ratio's median, and how far the pairs were apart: `1.21 (1.19-1.24)`."""
    return f"{_digits(figures['median'])} ({_digits(figures['min'])}-{_digits(figures['max'])})"


def seconds(figures: Mapping[str, float]) -> str:
    """A time's median, and how far the runs were apart: `2.31 s (2.25-2.40)`."""
    return f"{figures['median']:.2f} s ({figures['min']:.2f}-{figures['max']:.2f})"


def _scale(value: float) -> tuple[float, str]:
    """The unit in which a figure is easy to read."""
    for scale, unit in ((1e6, " M"), (1e3, " k")):
        if value >= 0.9995 * scale:  # which is shown as one of them
            return scale, unit
    return 1.0, ""


def _digits(value: float) -> str:
    """Three significant digits, never in powers of ten."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
