"""How long `jaxgo serve` takes to answer, by load.

    python -m bench.service [OUT.png] [--ray ADDRESS] [--replicas N] [--seconds S] [--runs N]

Starts the service, finds out how many requests a second 64 clients get answered who each ask again as soon as they are answered,
and then sends requests at random moments (a Poisson process) at given shares of that rate, whether the earlier ones have been
answered or not. The service accepts 64 at a time, and tells others "busy". A latency runs from the moment that a request was due
to the last byte of its answer, so that waiting for a service that falls behind is counted. Loads are measured in turn, several
runs of each; the bars go from the least to the greatest of the runs. Who asks runs on the same machine as who answers.
"""

import argparse
import asyncio
import contextlib
import io
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TextIO

import numpy as np

from bench import hardware, picture
from search.commands import options

#: Loads, as shares of what 64 clients get answered.
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5)
CLIENTS, BOARDS, PLAYOUTS, VISITS = 64, 16, 500, 1_000
TOKEN = "the-token-of-the-benchmark"
BUSY, DONE = 503, 200
#: A little to one side, so that bars do not meet.
_STYLES = {50: (*picture.LINES[0], 0.99), 99: (*picture.LINES[1], 1.01)}


class Kind(NamedTuple):
    """A kind of request."""

    name: str
    path: str
    body: Callable[[int], bytes]
    """Of a request with a number."""


def _boards(number: int) -> bytes:
    rng, buffer = np.random.default_rng(number), io.BytesIO()
    boards = np.zeros((BOARDS, 81), np.int8)
    boards[np.arange(BOARDS), rng.integers(0, 81, BOARDS)] = 1
    np.savez(buffer, boards=boards.reshape(BOARDS, 9, 9), to_play=-1, playouts=PLAYOUTS)
    return buffer.getvalue()


def _query(number: int) -> bytes:
    move = f"{'ABCDEFGHJ'[number % 9]}{number // 9 % 9 + 1}"
    asked = {"id": str(number), "moves": [["B", move]], "rules": "tromp-taylor", "boardXSize": 9, "boardYSize": 9}
    return json.dumps(asked | {"maxVisits": VISITS}).encode()


KINDS = (
    Kind(f"/evaluate: {BOARDS} boards 9x9, {PLAYOUTS} playouts each", "/evaluate", _boards),
    Kind(f"/analysis: a search of {VISITS:,} visits, 9x9", "/analysis", _query),
)


class Run(NamedTuple):
    """What came of some seconds of load."""

    latencies: np.ndarray
    """Milliseconds of the requests that were answered."""
    busy: float
    """The share that was told "busy"."""


Measured = dict[Kind, tuple[float, dict[float, list[Run]]]]
"""Of each kind, the capacity, and the runs by requests a second."""


class Client:
    """Asks over connections that stay open, as many as are needed."""

    def __init__(self, host: str, port: int):
        self._address = host, port
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.failed = ""
        """The last answer that was neither right nor "busy"."""

    async def ask(self, kind: Kind, number: int) -> int:
        """The status of the answer, once all of that is read."""
        while self._idle and self._idle[-1][0].at_eof():  # the service has closed what was idle for long
            self._idle.pop()[1].close()
        reader, writer = self._idle.pop() if self._idle else await asyncio.open_connection(*self._address)
        body = kind.body(number)
        head = f"POST {kind.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        told = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        answer = await reader.readexactly(int(re.findall(r"content-length: (\d+)", told)[0]))
        self._idle.append((reader, writer))
        status = int(told.split()[1])
        if status not in (BUSY, DONE):
            self.failed = answer[:500].decode(errors="replace")
        return status

    def close(self) -> None:
        """Closes what is open."""
        for _, writer in self._idle:
            writer.close()


@contextlib.contextmanager
def service(ray: str, replicas: int) -> Iterator[tuple[str, int]]:
    """(host, port) of a service, as long as this lasts."""
    command = [sys.executable, "-P", "-m", "jaxgo", "serve", "--ray", ray, "--replicas", str(replicas)]
    command += ["--sizes", "9", "--port", "0", "--queue", str(CLIENTS)]
    variables = os.environ | {"JAXGO_TOKEN": TOKEN}
    with subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = []
            for line in process.stderr:
                said.append(line)
                if found := re.search(r"ready at http://(.*):(\d+)$", line):
                    threading.Thread(target=_pass_on, args=(process.stderr,), daemon=True).start()
                    yield found[1], int(found[2])
                    break
            else:
                raise SystemExit("the service has not started:\n" + "".join(said))
        finally:
            process.send_signal(signal.SIGTERM)


def _pass_on(said: TextIO) -> None:
    """Says on stderr what the service says there, until it ends."""
    with contextlib.suppress(ValueError):  # it is closed
        shutil.copyfileobj(said, sys.stderr)


async def capacity(client: Client, kind: Kind, seconds: float) -> float:
    """Requests a second that `CLIENTS` get answered who ask one after the other."""
    answered, numbers = 0, itertools.count()
    until = time.monotonic() + seconds

    async def ask() -> None:
        nonlocal answered
        while time.monotonic() < until:
            status = await client.ask(kind, next(numbers))
            answered += status == DONE

    await asyncio.gather(*(ask() for _ in range(CLIENTS)))
    return answered / seconds


async def load(client: Client, kind: Kind, rate: float, seconds: float, seed: int) -> Run:
    """Requests at random moments, so many a second."""
    rng, start = np.random.default_rng(seed), time.monotonic()
    due = np.sort(rng.uniform(0, seconds, rng.poisson(rate * seconds) + 1))

    async def ask(number: int, moment: float) -> tuple[int, float]:
        await asyncio.sleep(max(0.0, start + moment - time.monotonic()))
        status = await client.ask(kind, number)
        return status, 1e3 * (time.monotonic() - start - moment)

    answers = await asyncio.gather(*(ask(number, moment) for number, moment in enumerate(due)))
    wrong = {status for status, _ in answers} - {DONE, BUSY}
    if wrong:
        raise SystemExit(f"{kind.name}: answered with status {', '.join(map(str, sorted(wrong)))}: {client.failed}")
    latencies = np.array([taken for status, taken in answers if status == DONE])
    return Run(latencies, float(np.mean([status == BUSY for status, _ in answers])))


async def measure(address: tuple[str, int], seconds: float, runs: int) -> Measured:
    """Loads each kind of request."""
    client = Client(*address)
    found: Measured = {}
    for kind in KINDS:
        await capacity(client, kind, seconds)  # what is not compiled yet is now
        most = await capacity(client, kind, 2 * seconds)
        found[kind] = most, {share * most: [] for share in SHARES}
        for run in range(runs):
            for rate, made in found[kind][1].items():
                made.append(await load(client, kind, rate, seconds, run))
    client.close()
    return found


def percentiles(made: list[Run], which: int) -> tuple[float, float, float]:
    """A percentile's median over the runs, its least and its greatest, milliseconds."""
    each = [np.percentile(run.latencies, which) for run in made if len(run.latencies)]
    return float(np.median(each)), min(each), max(each)


def _bars(spread: list[tuple[float, float, float]]) -> dict[str, Any]:
    """Medians, and bars to the least and the greatest."""
    middle, least, greatest = np.array(spread).T
    return {"y": middle, "yerr": (middle - least, greatest - middle)}


def draw(found: Measured, path: str) -> None:
    """Writes the figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5 * len(found), 5.4), layout="constrained")
    panels = figure.subplots(2, len(found), sharex="col", sharey="row", height_ratios=(3, 1))
    for (above, below), (kind, (most, runs)) in zip(panels.T, found.items()):
        for which, (colour, marker, aside) in _STYLES.items():
            spread = [percentiles(made, which) for made in runs.values()]
            rates = aside * np.array(list(runs))
            above.errorbar(rates, **_bars(spread), color=colour, marker=marker, capsize=3, label=f"p{which}")
        busy = [[100 * run.busy for run in made] for made in runs.values()]
        spread = [(np.median(each), min(each), max(each)) for each in busy]
        below.errorbar(list(runs), **_bars(spread), color="black", marker="^", capsize=3)
        for axes in (above, below):
            axes.axvline(most, color="gray", linestyle=":", label=f"answered to {CLIENTS} clients who ask in a row")
            axes.grid(alpha=0.3)
        above.set(title=kind.name, yscale="log")
        below.set(xlabel="offered load (requests / s)", ylim=(-4, 104))
    panels[0, 0].set_ylabel("latency (ms)")
    panels[1, 0].set_ylabel('told "busy" (%)')
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.savefig(path, dpi=150)


def main(arguments: list[str]) -> None:
    """Prints the figures, and draws them if a path is given."""
    parser = argparse.ArgumentParser(prog="python -m bench.service", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", nargs="?", type=picture.path, metavar="OUT.png")
    parser.add_argument("--ray", default="local", metavar="ADDRESS")
    parser.add_argument("--replicas", type=options.count(1, 1024), default=1, metavar="N")
    parser.add_argument("--seconds", type=options.seconds, default=3.0, metavar="S", help="of a run (default: %(default)s)")
    parser.add_argument("--runs", type=options.count(1, 1000), default=5, metavar="N", help="of each load (default: %(default)s)")
    args = parser.parse_args(arguments)
    busy_at_first = hardware.describe()["load_at_start"]
    with service(args.ray, args.replicas) as address:
        found = asyncio.run(measure(address, args.seconds, args.runs))
    print(f"{busy_at_first}; one-minute load {os.getloadavg()[0]:.1f} at the end")
    for kind, (most, runs) in found.items():
        print(f"{kind.name}: {most:.1f} requests/s are answered to {CLIENTS} clients, {args.replicas} replicas")
        for rate, made in runs.items():
            (p50, *_), (p99, *_) = (percentiles(made, which) for which in _STYLES)
            busy = 100 * np.mean([run.busy for run in made])
            print(f"  {rate:7.1f} requests/s: p50 {p50:7.1f} ms, p99 {p99:7.1f} ms, busy {busy:5.1f} %")
    if args.path:
        draw(found, args.path)


if __name__ == "__main__":
    main(sys.argv[1:])
