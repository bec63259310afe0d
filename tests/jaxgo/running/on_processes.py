"""One of the processes of `test_processes.py`: makes the same calls as the others and prints what came of them, as JSON.

Its arguments are its number, how many processes there are, the number of its devices and the port at which they meet.
"""

import json
import sys

import jax
import numpy as np

import jaxgo
from tests.jaxgo.running.test_reproducibility import digest
from tests.positions import fields, three_positions

SIZE = 5
PLAYOUTS = 12_000
OPTIONS = {"seed": 1, "lanes": 16}
"""So few lanes that there are many groups of chunks."""
STATISTICS = ("margins", "ownership")
POLICY = jaxgo.Capture(0.5)


def results(devices=None) -> dict[str, dict[str, str]]:
    """Digests of what all processes together, or one of them alone, must give."""
    position, options = three_positions(SIZE), OPTIONS | {"devices": devices}
    streamed = list(jaxgo.evaluations(position, PLAYOUTS, statistics=STATISTICS, **options))
    few = jaxgo.playouts(position, 400, moves=True, policy=POLICY, **options)
    return {
        "evaluate": digest(evaluated(devices=devices).sums._asdict()),
        "evaluations": digest(streamed[-1].sums._asdict()),
        "playouts": digest(fields(few)),
    }


def evaluated(num_playouts: int = PLAYOUTS, **options) -> jaxgo.Evaluation:
    """What most calls are."""
    return jaxgo.evaluate(three_positions(SIZE), num_playouts, statistics=STATISTICS, **(OPTIONS | options))


def raised(call) -> str:
    """What a call raises."""
    try:
        call()
    except BaseException as error:
        found = getattr(error, "partial", None)
        partial = "" if found is None else f", partial {0 < found.num_playouts.sum() < 3 * PLAYOUTS} {found.complete}"
        return f"{type(error).__name__}: {error}{partial}"
    return "nothing"


def raising(error: BaseException, mine: bool):
    """For `progress`: raises the error when a part is done, in one process."""

    def progress(done: int, total: int) -> None:
        if mine and 3 * done > total:
            raise error

    return progress


def stopped_early() -> int:
    """How many evaluations a stream gave until it was left."""
    for count, found in enumerate(jaxgo.evaluations(three_positions(SIZE), PLAYOUTS, statistics=STATISTICS, **OPTIONS)):
        if found.num_playouts.sum() > PLAYOUTS:
            return count
    raise AssertionError("the stream ended before")


def one_in_another() -> None:
    """Makes a call in the middle of another one."""
    for _ in jaxgo.evaluations(three_positions(SIZE), PLAYOUTS, statistics=STATISTICS, **OPTIONS):
        evaluated()


def main(number: int, processes: int, devices: int, port: int) -> None:
    """Makes the calls."""
    jax.config.update("jax_num_cpu_devices", devices)
    jax.distributed.initialize(f"127.0.0.1:{port}", processes, number)
    first, told = number == 0, []
    others = [device for device in jax.devices() if device.process_index != number]
    found = {
        "devices": len(jax.devices()),
        "results": results(),
        "differing number": raised(lambda: evaluated(PLAYOUTS + number)),
        "differing calls": raised(lambda: jaxgo.playouts(three_positions(SIZE), 10, moves=first)),
        "differing position": raised(lambda: jaxgo.playouts(three_positions(SIZE)[number], 10)),
        "differing order": raised(lambda: evaluated(devices=jax.devices()[:: 1 if first else -1])),
        "differing devices": raised(lambda: evaluated(devices=jax.devices()[: None if first else -1])),
        "interrupted": raised(lambda: evaluated(progress=raising(KeyboardInterrupt(), not first))),
        "failed": raised(lambda: evaluated(progress=raising(ZeroDivisionError("mine"), first))),
        "stopped early": stopped_early(),
        "one in another": raised(one_in_another),
        "others' devices": raised(lambda: evaluated(devices=others)),
        "leaves on others' devices": raised(lambda: jaxgo.Leaves(SIZE, 1, 1, devices=jax.devices())),
        "alone": digest(evaluated(devices=jax.local_devices()).sums._asdict()) if first else None,
        "at last": digest(evaluated(progress=lambda done, total: told.append((done, total))).sums._asdict()),
        "told": told,
    }
    assert np.array_equal(told, sorted(told))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
