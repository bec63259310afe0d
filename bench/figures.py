"""The figures in the README and in `docs/`, written from what was recorded in `bench/results/`.

    python -m bench.figures            writes them anew
    python -m bench.figures --check    only says which are not those of the newest results, and fails if there are any

A page has a place for each, between `<!-- figures: NAME -->` and `<!-- end of figures -->`; the names are those of `FIGURES`.
They are of `MACHINE`, or of another that the place names: `<!-- figures: NAME on MACHINE -->`. Under each stands what was
measured on what, at which commit, and the command that measures it again. A picture's file says of itself which result it shows.
"""

import argparse
import functools
import importlib.util
import json
import pathlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bench import curves_plot, elo, limit_plot, picture, published, report
from bench.engines import JAXGO

ROOT = pathlib.Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
#: The pages with figures.
PAGES = ("README.md", "docs/figures.md")
_PLACE = re.compile(r"(?<=<!-- figures: )([a-z]+)((?: on ([a-z0-9-]+))? -->\n).*?(?=<!-- end of figures -->)", re.S)
#: Whose results are shown where a place does not say `on` which machine, as in the files' names; of benchmarks that it has no
#: result of, the newest of any.
MACHINE = "epyc-2core"

#: What the benchmarks call their outputs, in words.
OUTPUTS = {
    "evaluate": "`evaluate`: win rate, margins, ownership, AMAF counts",
    "playouts": "`playouts`: every margin, length, final board",
    "playouts with moves": "`playouts(moves=True)`: every move too",
}
POLICIES = {
    "capture": "`Capture(0.5)`", "reply": "`LastGoodReply`, always asked", "advisor": "`Advisor(0.5)`", "nakade": "`Nakade`",
    "no-self-atari": "`NoSelfAtari`", "patterns": "`Patterns`",
    "match": "`Patterns(0.8)`, 3x3 patterns alone",
}  # fmt: skip
SEARCHES = {
    "evaluate": "`jaxgo.evaluate`, no tree", "rave": "RAVE", "rave, 64 x 8": "RAVE, rounds of 64 leaves x 8 playouts",
    "uct": "UCT", "v1": "RAVE of weighted plays, V1", "v2": "the same, V2", "mctr": "RAVE of MCTR statistics",
}  # fmt: skip


class Missing(Exception):
    """There are no such figures, or no result of the benchmark is recorded."""


def newest(benchmark: str, results: pathlib.Path = RESULTS, machine: str | None = None) -> dict:
    """The newest recorded result of a benchmark on a machine; files are named by date, machine and benchmark."""
    for name in [machine] if machine else [MACHINE, "*"]:
        if found := sorted(results.glob(f"{'[0-9]' * 4}-??-??-{name}-{benchmark}.json")):
            return json.loads(found[-1].read_text("utf-8"))
    raise Missing(f"{results} holds no result of {benchmark}{f' on {machine}' if machine else ''}")


def matches(results: pathlib.Path = RESULTS) -> list[dict[str, Any]]:
    """The newest recorded match of each pair of players, without the games, in the order of the files' names."""
    found = {}
    for path in sorted(results.glob("*-match-*.json")):
        found[path.stem.partition("-match-")[2]] = path
    return [json.loads(path.read_text("utf-8")) for _, path in sorted(found.items())]


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def source(made: Mapping) -> str:
    """What a result is of: the machine, the software, the commit, the command."""
    machine, software = made["hardware"], made.get("software", {})
    commit = f" at {made['commit'][:7]}" if made.get("commit") else ""
    versions = f"Python {software.get('python', '-')}, jax {software.get('jax', '-')}"
    return (
        f"\n{machine['cpu']}, {machine['cores_usable']} cores, {machine['load_at_start']}; {versions}; "
        f"jaxgo {made['jaxgo']}{commit}, {made['date'][:10]}: `{made['command']}`.\n"
    )


def drawn(name: str, words: str) -> str:
    """A picture, and what it shows in words."""
    return f"![{words}](pictures/{name}.png)\n"


def curves(made: Mapping) -> str:
    """The picture of how rates change."""
    return drawn("curves", "Playouts per second by board, size of a call, games side by side, devices, and rounds of a search")


def short(figures: Mapping[str, float]) -> str:
    """A rate's median."""
    return report.short(figures["median"])


def throughput(made: Mapping) -> str:
    """Playouts per CPU second by size and output, and of the whole machine; or of that alone."""
    sizes = list(dict.fromkeys(entry["size"] for entry in made["results"]))
    by = {(entry["output"], entry["size"]): entry for entry in made["results"]}
    if "per_core" not in made["results"][0]:
        rows = [(name, *(short(by[output, size]["machine"]) for size in sizes)) for output, name in OUTPUTS.items()]
        return table(("playouts a second from the empty board, whole machine", *(f"{size}x{size}" for size in sizes)), rows)
    rows = [(name, *(short(by[output, size]["per_core"]) for size in sizes)) for output, name in OUTPUTS.items()]
    rows.append(("`evaluate` on the whole machine", *(short(by["evaluate", size]["machine"]) for size in sizes)))
    ratios = {entry["size"]: entry["time_ratio"] for entry in made["recording_moves"]}
    rows.append(("a playout's time with its moves, over that without", *(f"{ratios[size]['median']:.2f}" for size in sizes)))
    return table(("from the empty board, playouts per CPU second of a core", *(f"{size}x{size}" for size in sizes)), rows)


def policies(made: Mapping) -> str:
    """How many times a uniform playout's time one takes that asks a policy, by size."""
    sizes = list(dict.fromkeys(entry["size"] for entry in made["policies"]))
    by = {(entry["policy"], entry["size"]): entry["time_ratio"]["median"] for entry in made["policies"]}
    rows = [(text, *(f"{by[name, size]:.1f}" for size in sizes)) for name, text in POLICIES.items() if (name, sizes[0]) in by]
    return table(("a playout's time, over a uniform one's", *(f"{size}x{size}" for size in sizes)), rows)


def search(made: Mapping) -> str:
    """Playouts a second inside a search, and their share of `evaluate`'s."""
    sizes = list(dict.fromkeys(entry["size"] for entry in made["results"]))
    by = {(entry["name"], entry["size"]): entry for entry in made["results"]}

    def cell(entry: Mapping) -> str:
        share = f" ({entry['of_evaluate']:.0%})" if "of_evaluate" in entry else ""
        rounds = f", {entry['leaves']} x {entry['playouts']}" if "leaves" in entry else ""
        return short(entry["per_second"]) + share + rounds

    rows = [(text, *(cell(by[name, size]) for size in sizes)) for name, text in SEARCHES.items() if (name, sizes[0]) in by]
    return table(("playouts a second, whole machine", *(f"{size}x{size}" for size in sizes)), rows)


def host(made: Mapping) -> str:
    """Playouts a second that the host could take from a device which is fast enough."""
    by = {(entry["playouts_of_a_leaf"], entry["size"]): entry for entry in made["host"]}
    rows = []
    for playouts in sorted({playouts for playouts, _ in by}):
        for of, who in (("leaves_per_second", "one search"), ("leaves_per_second_on_all", "a search for each core")):
            rates = [report.short(playouts * by[playouts, size][of]["median"]) for size in made["settings"]["sizes"]]
            rows.append((f"{who}, {playouts} playouts of a leaf", *rates))
    return table(("the host alone, playouts a second", *(f"{size}x{size}" for size in made["settings"]["sizes"])), rows)


def analysis(made: Mapping) -> str:
    """Playouts a second that the analysis engine gives its clients."""
    rows = []
    for entry in made["results"]:
        share = f"{entry['share']:.0%} of {entry['of']}" if "share" in entry else ""
        rows.append((f"{entry['size']}x{entry['size']} {entry['name']}", short(entry["per_second"]), share))
    return table((f"`jaxgo analysis`, {made['settings']['outstanding']} queries outstanding", "playouts/s", ""), rows)


def peers(made: Mapping) -> str:
    """Playouts per CPU second of other engines beside ours."""
    rows = []
    for entry in made["results"]:
        if "missing" not in entry:
            ratio = None if entry["engine"] == JAXGO else entry["jaxgo_is_faster"]
            faster = report.ratio(ratio).partition(" (")[0] if ratio else ""
            plies = f"{entry['mean_plies']:.0f}" if entry.get("mean_plies") else ""
            rows.append((f"{entry['size']}x{entry['size']} {entry['engine']}", short(entry["per_core"]), faster, plies))
    return table(("one core, in turn", "playouts/s", "jaxgo is faster by", "plies"), rows)


def startup(made: Mapping) -> str:
    """Seconds until the first result."""
    rows = [
        (f"`jaxgo {entry['command']}`", report.seconds(entry["cold"]), report.seconds(entry["warm"]))
        for entry in made["results"]
    ]
    return table(("from the start to the result", "nothing compiled before", "compiled before"), rows)


def of_matches(all_of_them: Sequence[Mapping[str, Any]]) -> str:
    """The score of each match, with its interval, the commit and the command that plays it again."""
    rows = []
    for made in all_of_them:
        asked, (low, high) = made.get("settings", made), (100 * x for x in made["interval"])
        names = asked.get("names", (asked["first"], asked["second"]))
        # The oldest results name neither.
        commit = (made.get("commit") or "-")[:7]
        command = made.get("command") or f"jaxgo match {asked['first']} {asked['second']} --visits {asked['visits']} --opening 0"
        score = f"{100 * made['score']:.1f} %", f"{low:.1f} to {high:.1f}"
        rows.append((
            " against ".join(names), f"{asked['size']}x{asked['size']}", _move_of(asked), *score, f"{made['games']}", commit,
            f"`{command}`",
        ))  # fmt: skip
    return table(("the score of", "board", "a move", "", "95 % interval", "games", "commit", "command"), rows)


def _move_of(asked: Mapping) -> str:
    """What each player has for a move; players who are told apart say it in their names."""
    if asked["visits"] is not None:
        return f"{asked['visits']:,} playouts"
    return "-" if asked.get("seconds") is None else f"{asked['seconds']} s"


def near_the_limit(made: Mapping) -> str:
    """How near ticks and playouts come to what a core could do, and the picture of it."""
    rows = []
    for entry in made["results"]:
        if "ceiling" in entry:
            names = "ticks_share", "playouts_share", "in_order_share", "ticks_in_order"
            shares = (f"{entry[name]['median']:.0%}" for name in names)
            stack = entry["code"]["stack"] / entry["code"]["instructions"]
            rows.append((f"{entry['size']}x{entry['size']}", short(entry["could_be"]), *shares, f"{stack:.0%}"))
    columns = (
        "", "playouts/s at the ceiling", "ticks reach of it", "playouts reach", "the same operations, in their order, reach",
        "of which ticks reach", "instructions that use the stack",
    )  # fmt: skip
    words = "Shares of the ceiling, playouts a second beside it, and what a GPU's instructions would be for"
    return f"{drawn('limit', words)}\n{table(columns, rows)}"


def then(made: Mapping) -> str:
    """A part of what was published from 2007 to 2009, measured again."""
    title, columns, rows = published.table(made)
    text = table((title, *columns[1:]), rows)
    if made["benchmark"] in published.PICTURES:
        words = "Games that weighted AMAF won of AMAF by playouts a move: Williams' table and ours"
        text += "\n" + drawn(made["benchmark"], words)
    return text


def doublings(made: Mapping) -> str:
    """How much stronger bots become with more playouts."""
    rows = sorted(elo.rows(made), key=lambda row: list(made["ratings"]).index(row[0]))
    words = "Elo by playouts a move"
    return f"{drawn('elo', words)}\n{table(elo.COLUMNS, rows)}"


#: Figures by name: how they are written from the newest result of their benchmark.
FIGURES: dict[str, Callable[[Mapping], str]] = {
    "throughput": throughput, "policies": policies, "search": search, "host": host, "analysis": analysis, "peers": peers,
    "startup": startup, "curves": curves, "limit": near_the_limit, "elo": doublings, **dict.fromkeys(published.PARTS, then),
}  # fmt: skip
#: Whose results these are, where not those of a benchmark of the same name.
RESULTS_OF = {"policies": "throughput", "host": "search"}
MATCHES = "matches"
#: How the pictures of `docs/pictures/` are drawn, by the name of their benchmark.
PICTURES: dict[str, Callable[[Mapping, str], None]] = {
    "curves": curves_plot.draw, "limit": limit_plot.draw, "elo": elo.draw, **published.PICTURES,
}  # fmt: skip


def written(text: str, results: pathlib.Path = RESULTS) -> str:
    """A page with the newest figures in their places."""

    def fill(match: re.Match) -> str:
        name = match[1]
        if name == MATCHES:
            return f"{name}{match[2]}\n{of_matches(matches(results))}\n"
        if name not in FIGURES:
            raise Missing(f"there are no figures {name!r}; there are {', '.join([*FIGURES, MATCHES])}")
        made = newest(RESULTS_OF.get(name, name), results, match[3])
        return f"{name}{match[2]}\n{FIGURES[name](made)}{source(made)}\n"

    return _PLACE.sub(fill, text)


def pages() -> Iterator[tuple[pathlib.Path, str, str]]:
    """Each page with figures: its place, what it says, and what it should."""
    for name in PAGES:
        text = (ROOT / name).read_text("utf-8")
        yield ROOT / name, text, written(text)


def pictures() -> Iterator[tuple[pathlib.Path, Callable[[], None], bool]]:
    """Each picture on a page: its file, how it is drawn from the newest result, and whether it shows that."""
    places = [match for name in PAGES for match in _PLACE.finditer((ROOT / name).read_text("utf-8"))]
    for name, machine in dict.fromkeys((match[1], match[3]) for match in places if match[1] in PICTURES):
        path, made = ROOT / "docs" / "pictures" / f"{name}.png", newest(name, machine=machine)
        yield path, functools.partial(PICTURES[name], made, str(path)), path.exists() and _title(path) == picture.title_of(made)


def _title(path: pathlib.Path) -> str | None:
    """What a picture's file says of itself."""
    from PIL import Image  # comes with matplotlib

    with Image.open(path) as file:
        return file.info.get("Title")


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks the figures; the exit status."""
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m bench.figures", description=__doc__, formatter_class=as_written)
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args(arguments).check
    if not (ROOT / PAGES[0]).exists():
        parser.error(f"the pages are those of a checkout of jaxgo: there is no {PAGES[0]} beside this package")
    if importlib.util.find_spec("matplotlib") is None:
        parser.error("the pictures need matplotlib, which is not installed: pip install 'jaxgo[plot]'")
    try:
        differing: dict[pathlib.Path, Callable[[], object]] = {
            path: functools.partial(path.write_text, new, "utf-8") for path, old, new in pages() if old != new
        }
        differing |= {path: draw for path, draw, same in pictures() if not same}
    except Missing as error:
        parser.exit(1, f"python -m bench.figures: {error}\n")
    for path, write in differing.items():
        if not check:
            write()
        print(f"{path.relative_to(ROOT)}: {'not the figures of the newest results' if check else 'written'}", file=sys.stderr)
    return int(check and bool(differing))


if __name__ == "__main__":
    sys.exit(main())
