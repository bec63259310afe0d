"""A process of its own for each kind of work, pinned to its cores, that waits between the runs.

One process per engine keeps their settings, thread pools and memory apart; waiting in between is what allows A B A B comparisons.
Pinning comes before jax is imported, so that XLA sizes its thread pool by it and every thread stays on the cores given.
"""

import importlib
import multiprocessing
import os
import signal
import traceback
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

from bench import hardware
from bench.measure import NotMeasured, Sample, timed


class WorkerError(Exception):
    """The work failed in its process; the text is that process's traceback, or says how it ended."""


class Worker:
    """One process; use it in a `with` statement, which ends the process.

    Attributes:
      pinned: whether the system lets a process be held to given cores. Where it does not, a rate per CPU second is still nearly a
        rate per core, but the threads may have shared the work.
    """

    pinned = hasattr(os, "sched_setaffinity")

    def __init__(self, *, cores: Sequence[int] | None = None, environment: Mapping[str, str | None] | None = None):
        """Starts the process.

        Args:
          cores: numbers of the cores to stay on; None leaves all.
          environment: environment variables to set, or with None as the value to remove, before anything is imported.
        """
        # A fresh interpreter: a forked one would share jax's locks and threads with this one.
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, cores, dict(environment or {})), daemon=True)
        self._process.start()
        theirs.close()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        # Ends a run in progress, too, so that Ctrl-C answers at once.
        self._process.terminate()
        self._process.join()
        self._pipe.close()

    def call(self, target: str, /, **arguments: object) -> Any:
        """Calls a function there.

        Args:
          target: the function as `package.module:name`.
          **arguments: its arguments; they and the result go through `pickle`.

        Returns:
          What it returns.

        Raises:
          NotMeasured: it says so itself.
          WorkerError: it fails in any other way, or the process has ended.
        """
        try:
            self._pipe.send((target, arguments))
            done, result = self._pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError) as error:
            self._process.join()
            raise WorkerError(f"the process for {target} ended with exit status {self._process.exitcode}") from error
        if not done:
            raise result if isinstance(result, NotMeasured) else WorkerError(result)
        return result

    def prepare(self, name: str, target: str, **arguments: object) -> None:
        """Makes some work ready to be timed.

        Args:
          name: what `measure` will call it.
          target: a class as `package.module:name` whose objects have `run(count) -> Work`.
          **arguments: the arguments of its constructor.
        """
        self.call("bench.worker:_prepare", name=name, target=target, arguments=arguments)

    def measure(self, name: str, count: int) -> Sample:
        """Times one run of prepared work.

        Args:
          name: as given to `prepare`.
          count: how much work to ask for.

        Returns:
          The sample; the clocks are the worker's own.
        """
        return self.call("bench.worker:_measure", name=name, count=count)


def one_core() -> list[int]:
    """The core that work is pinned to: the last one, because systems keep their own chores on the first."""
    return hardware.usable_cores()[-1:]


def environment(*, cache: str | None = None, platform: str | None = None) -> dict[str, str | None]:
    """The environment variables for a worker.

    Args:
      cache: folder of jax's persistent compile cache; None means none, so that compile times are true.
      platform: the one platform that jax may use ("cpu"); None leaves it to jax.

    Returns:
      Variables as `Worker` takes them.
    """
    variables: dict[str, str | None] = {
        "JAX_COMPILATION_CACHE_DIR": cache,
        "JAX_ENABLE_COMPILATION_CACHE": "true" if cache else "false",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    if platform:
        variables["JAX_PLATFORMS"] = platform
    return variables


_PREPARED: dict[str, Any] = {}
"""In a worker: its work, by name."""


def _serve(pipe: Connection, cores: Sequence[int] | None, variables: Mapping[str, str | None]) -> None:
    """The worker's main loop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    os.dup2(2, 1)  # stdout is for the result; whatever an engine prints goes to stderr
    if cores and Worker.pinned:
        os.sched_setaffinity(0, cores)
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    while True:
        try:
            target, arguments = pipe.recv()
        except EOFError:
            return
        try:
            answer = True, _find(target)(**arguments)
        except NotMeasured as error:
            answer = False, error
        except Exception:  # whatever it is, it is the parent's to report
            answer = False, traceback.format_exc()
        pipe.send(answer)


def _find(target: str):
    """The object that `package.module:name` names."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


def _prepare(name: str, target: str, arguments: Mapping[str, Any]) -> None:
    _PREPARED[name] = _find(target)(**arguments)


def _measure(name: str, count: int) -> Sample:
    return timed(_PREPARED[name].run, count)
