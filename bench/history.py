"""How figures have changed over commits, from every result that was ever recorded in `bench/results/` of this checkout."""

import itertools
import json
import pathlib
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench import hardware, picture, report
from bench.series import Plan, Say

#: What marks a machine's results in the picture, and joins them.
MACHINES = (("o", "-"), ("s", "--"), ("^", ":"), ("D", "-."), ("v", "-"), ("P", "--"), ("X", ":"))
SUMMARY = "recorded figures over commits (needs a git checkout)"
DESCRIPTION = """\
Every result of `jaxgo bench throughput` and `search` that was ever committed to bench/results, the oldest first:
rates per core of `evaluate`, and of RAVE and UCT searches on the whole machine, with the machine, the version of jax
and the commit that each is of. Nothing is measured. Rates of different machines, or of one machine on another day,
differ by what else ran there too; so each line names its machine.
"""
SIZES = (9, 13, 19)
ROOT = pathlib.Path(__file__).parents[1]
#: Figures by benchmark: the field that names an entry, its names that are shown, and the field with the rate.
SHOWN = {
    "throughput": ("output", {"evaluate": "evaluate, a core"}, "per_core"),
    "search": ("name", {"rave": "RAVE search", "uct": "UCT search", "256 x 8": "RAVE search"}, "per_second"),
}


class NoHistory(Exception):
    """There is no git checkout, or nothing was recorded."""


def measure(sizes: Sequence[int], plan: Plan, say: Say, since: str | None = None, plot: str | None = None) -> dict[str, Any]:
    """Reads what was recorded.

    Args:
      sizes: of the boards.
      plan: not used; nothing is measured.
      say: told what goes on.
      since: a date as git takes it; older commits are left out.
      plot: where to draw the rates, a file whose name ends in .png, .svg or .pdf, or None.

    Returns:
      The report. `results` has an entry per figure with `date`, `commit` (that it is of; where a result names none, the one that
      recorded it), `machine`, `jax`, `size`, `name` and the spread `rate`, playouts per second.

    Raises:
      NoHistory: there is none.
    """
    made = report.begin("history", hardware.describe(), {"sizes": list(sizes), "since": since})
    results = []
    for commit, text in recorded(since):
        try:
            results += list(_figures(json.loads(text), sizes, commit))
        except (ValueError, KeyError, TypeError, AttributeError):
            say("a result of a form that is not known any more is left out")
    if not results:
        boards = ", ".join(f"{size}x{size}" for size in sizes)
        text = f"bench/results holds no figures of {', '.join(SHOWN)} for {boards}"
        raise NoHistory(text + (f" since {since}" if since else ""))
    results.sort(key=lambda entry: (entry["name"], entry["size"], entry["date"]))
    if plot is not None:
        draw(results, plot)
        say(f"wrote {plot}")
    return made | {"results": results}


def tables(made: Mapping[str, Any]) -> list[report.Table | str]:
    """The report for people."""
    rows = [
        (
            f"{entry['size']}x{entry['size']} {entry['name']}", report.rate(entry["rate"]), entry["date"][:10],
            entry["commit"][:7], entry["jax"] or "-", entry["machine"],
        )
        for entry in made["results"]
    ]  # fmt: skip
    return [report.Table("recorded rates, playouts a second", ("board, what", "rate", "date", "commit", "jax", "machine"), rows)]


def recorded(since: str | None = None, root: pathlib.Path = ROOT) -> Iterator[tuple[str, str]]:
    """Each result that a commit has added or changed, once: the commit and the text."""
    asked = ["log", "--format=commit %H", "--name-only", "--diff-filter=AM", *([f"--since={since}"] if since else [])]
    commit, seen = "", set()
    for line in _git(root, *asked, "--", "bench/results/*.json").splitlines():
        if line.startswith("commit "):
            commit = line.removeprefix("commit ")
        elif line:
            text = _git(root, "show", f"{commit}:{line}")
            if text not in seen:
                seen.add(text)
                yield commit, text


def draw(results: Sequence[Mapping[str, Any]], path: str) -> None:
    """Draws the rates over the dates on which they were recorded, a line for each board size on each machine; a point for each
    result, with the spread of its runs."""
    import datetime

    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator

    names = list(dict.fromkeys((entry["name"], entry["size"]) for entry in results))
    columns = list(dict.fromkeys(name for name, _ in names))
    machines = list(dict.fromkeys(entry["machine"] for entry in results))
    figure = Figure(figsize=(4.6 * len(columns), 5.4), dpi=130, layout="constrained")
    for axes, column in zip(figure.subplots(1, len(columns), squeeze=False)[0], columns):
        for (name, size), (colour, _) in zip([x for x in names if x[0] == column], picture.LINES):
            for machine, (marker, line) in zip(machines, itertools.cycle(MACHINES)):
                own = [entry for entry in results if (entry["name"], entry["size"], entry["machine"]) == (name, size, machine)]
                dates = [datetime.datetime.fromisoformat(entry["date"]) for entry in own]
                medians = [entry["rate"]["median"] / 1e3 for entry in own]
                below = [(entry["rate"]["median"] - entry["rate"]["min"]) / 1e3 for entry in own]
                above = [(entry["rate"]["max"] - entry["rate"]["median"]) / 1e3 for entry in own]
                if own:
                    label = f"{size}x{size}, {machine}"
                    how = {"color": colour, "marker": marker, "linestyle": line, "label": label}
                    axes.errorbar(dates, medians, [below, above], capsize=3, **how)
        axes.set(title=column, yscale="log", ylabel="thousand playouts a second (bars: least and greatest run)")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter("{x:g}")
        axes.tick_params(axis="x", rotation=30)
        picture.plain(axes)
    drawn = {label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels())}
    figure.legend(drawn.values(), drawn.keys(), loc="outside lower center", ncols=4, fontsize="small")
    figure.savefig(path)


def _figures(made: Mapping, sizes: Sequence[int], recorded_in: str) -> Iterator[dict[str, Any]]:
    """The figures of a result that are shown."""
    if made.get("benchmark") not in SHOWN:
        return
    field, names, rate = SHOWN[made["benchmark"]]
    for entry in made["results"]:
        # A result may be of a whole machine alone.
        if entry["size"] in sizes and rate in entry and (name := names.get(entry.get(field))):
            yield {
                "date": made["date"], "commit": made.get("commit") or recorded_in, "machine": _machine(made),
                "jax": made.get("software", {}).get("jax"), "size": entry["size"], "name": name, "rate": entry[rate],
            }  # fmt: skip


def _machine(made: Mapping) -> str:
    """What has played: the devices that are no CPU, or the CPU."""
    device = next(iter(made.get("software", {}).get("devices", [])), "cpu: ")
    return made["hardware"]["cpu"] if device.startswith("cpu: ") else device.partition(": ")[2]


def _git(root: pathlib.Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise NoHistory(f"git cannot be run: {error}") from error
    if done.returncode:
        raise NoHistory(f"git says: {done.stderr.strip()}")
    return done.stdout
