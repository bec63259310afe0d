"""The engines that are measured beside each other, as far as they are there."""

import importlib.util
from collections.abc import Sequence
from contextlib import ExitStack

from bench import gnugo_work
from bench.native import PLAYOUTS, Native
from bench.series import Contender
from bench.worker import Worker, environment, one_core

JAXGO, OPENSPIEL, PGX, GNUGO = ("jaxgo", "OpenSpiel", "pgx", "GNU Go")
#: Games that pgx steps together: small batches stay in the cache, large ones share the overhead.
PGX_BATCHES = (8, 32)
#: GNU Go's patterns: what they are called here, and there.
GNUGO_PATTERNS = (("uniform", "uniform"), ("its patterns", "montegnu_classic"))
KOMI = 7.5
#: The largest board that OpenSpiel and pgx have.
PEERS_LARGEST = 19
TOO_LARGE = f"has boards up to {PEERS_LARGEST}x{PEERS_LARGEST} only"
HOW_TO_INSTALL = "not installed: pip install 'jaxgo[bench]'"
NO_GNUGO = "not installed: there is no program gnugo"
GNUGO_SIZES = (
    f"measured on {gnugo_work.SMALLEST}x{gnugo_work.SMALLEST} to {gnugo_work.LARGEST}x{gnugo_work.LARGEST} only: "
    "its Monte Carlo mode has no larger boards, and reads smaller ones to their end"
)


def found(
    size: int, natives: Sequence[Native], timeout: float, stack: ExitStack
) -> tuple[list[Contender], dict[str, str]]:
    """The engines that can play this size, jaxgo first, each with a worker, and why the others cannot.

    Args:
      size: of the board.
      natives: engines that are called by commands.
      timeout: seconds that a run of theirs may take.
      stack: ends the workers.
    """
    board = {"size": size, "komi": KOMI}
    found = [Contender(JAXGO, _worker(stack), "bench.jaxgo_work:Evaluate", board, first=1000)]
    missing = {}
    for name, package in ((OPENSPIEL, "pyspiel"), (PGX, "pgx")):
        if size > PEERS_LARGEST:
            missing[name] = TOO_LARGE
        elif not importlib.util.find_spec(package):
            missing[name] = HOW_TO_INSTALL
    if not gnugo_work.SMALLEST <= size <= gnugo_work.LARGEST:
        missing[GNUGO] = GNUGO_SIZES
    elif not gnugo_work.command():
        missing[GNUGO] = NO_GNUGO
    if OPENSPIEL not in missing:
        found.append(Contender(OPENSPIEL, _worker(stack), "bench.openspiel_work:Rollouts", board, first=20))
    if PGX not in missing:
        worker = _worker(stack)
        for kind, target in (("lockstep", "LockstepPlayouts"), ("refilled", "RefilledPlayouts")):
            for batch in PGX_BATCHES:
                name = f"{PGX} {kind}, batch {batch}"
                found.append(Contender(name, worker, f"bench.pgx_work:{target}", {**board, "batch": batch}, first=batch))
    if GNUGO not in missing:
        worker, few, most = _worker(stack), gnugo_work.FEWEST, gnugo_work.MOST
        for name, patterns in GNUGO_PATTERNS:
            arguments = {**board, "patterns": patterns}
            found.append(
                Contender(f"{GNUGO}, {name}", worker, "bench.gnugo_work:Simulations", arguments, first=few, most=most)
            )
    for engine in natives:
        words = engine.command_for(size)
        if not words:
            missing[engine.name] = f"--native has no command for {size}x{size}"
            continue
        # One that is not told how much to do does what it always does.
        always = None if any(PLAYOUTS in word for word in words) else 1
        arguments = {"words": words, "limit": timeout}
        target = "bench.native_work:Playouts"
        found.append(Contender(engine.name, _worker(stack), target, arguments, first=always or 100, always=always))
    return found, missing


def _worker(stack: ExitStack) -> Worker:
    return stack.enter_context(Worker(cores=one_core(), environment=environment(platform="cpu")))
