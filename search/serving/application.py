"""The service as an application of Ray Serve: replicas of the engine, as many as are needed, on the nodes of a cluster."""

import asyncio
import concurrent.futures
import contextlib
import dataclasses
import logging
import os
import threading
from collections.abc import Callable, Iterator

import ray
from ray import serve
from ray.exceptions import NodeDiedError, ObjectLostError, RayActorError, RayError, WorkerCrashedError
from ray.serve.handle import DeploymentHandle

from jaxgo.base.cache import keep_compiled
from jaxgo.base.source import version
from search.analysis.options import ServiceOptions
from search.cluster import ClusterError
from search.serving.boards import Boards
from search.serving.engine import Engine
from search.serving.limits import Refusal

#: Requests that a replica works on at a time; and so many of each are what more replicas are started for.
ONGOING, TARGET = 64, 8
#: Requests for `jaxgo.evaluate` that go together, and how long the first of them waits for others, seconds.
TOGETHER, PATIENCE = 64, 0.002
#: Playouts of a request that fill a replica alone. Others do not wait for it, but run beside it; so many of each kind at a time.
ALONE, BESIDE = 500_000, 2
#: How often a request is handed to a replica, and how long after the first of them has died, seconds; longer each time.
TRIES, PAUSE = 6, 0.1
#: Seconds that it must be busy or idle before replicas come or go, and that these may take to finish what they are at.
_UP, _DOWN, _FINISH = 3.0, 60.0, 60.0
#: Seconds between two looks at how many replicas there are.
_LOOKS = 1.0
_DIED = (RayActorError, WorkerCrashedError, NodeDiedError, ObjectLostError)
_QUIET = {"enable_access_log": False, "log_level": "ERROR"}


@dataclasses.dataclass(frozen=True)
class Deployment:
    """What is deployed."""

    name: str
    """Of the application."""
    options: ServiceOptions
    """How positions are analysed; `threads` are the cores of a replica."""
    sizes: tuple[int, ...]
    """Board sizes that replicas are warmed up for."""
    least: int
    most: int
    """Replicas."""


class Replica:
    """A process of the cluster that answers requests. It counts as ready when it has compiled what usual requests need."""

    def __init__(self, options: ServiceOptions, sizes: tuple[int, ...], wanted: str):
        if version() != wanted:
            raise RuntimeError(f"this node has jaxgo {version()}, the process that serves has {wanted}")
        keep_compiled()
        # What cannot answer any more ends: its requests go to others, and Ray Serve starts another.
        self._engine = Engine(options, on_failure=lambda: os._exit(1))
        self._engine.warm_up(sizes)
        self._queries, self._alone, self._batches = map(concurrent.futures.ThreadPoolExecutor, (ONGOING, BESIDE, BESIDE))

    async def answer(self, asked: dict) -> list[dict] | Refusal:
        """See `Engine.answer`."""
        client = self._engine.client()
        with _on_cancel(client.drop):
            return await asyncio.get_running_loop().run_in_executor(self._queries, self._engine.answer, asked, client)

    async def evaluate(self, asked: Boards) -> bytes | Refusal:
        """See `Engine.evaluate`, of one request."""
        if asked.work < ALONE:
            return await self._together(asked)
        gone = threading.Event()
        with _on_cancel(gone.set):
            work = asyncio.get_running_loop().run_in_executor(self._alone, self._engine.evaluate, [asked], gone.is_set)
            (answer,) = await work
        return answer

    @serve.batch(max_batch_size=TOGETHER, batch_wait_timeout_s=PATIENCE, max_concurrent_batches=BESIDE)
    async def _together(self, asked: list[Boards]) -> list[bytes | Refusal]:
        return await asyncio.get_running_loop().run_in_executor(self._batches, self._engine.evaluate, asked)


@contextlib.contextmanager
def _on_cancel(give_up: Callable[[], object]) -> Iterator[None]:
    """Calls `give_up` where what is awaited within is cancelled."""
    try:
        yield
    except asyncio.CancelledError:
        give_up()
        raise


class Application:
    """The replicas, as the process that serves sees them.

    Args:
      deployment: what they are.
      on_again: called when a request is handed to another replica, as its own has died.

    Raises:
      ClusterError: the cluster has no room for the fewest replicas.
    """

    def __init__(self, deployment: Deployment, on_again: Callable[[], None] = lambda: None):
        self._deployment, self._on_again, self._deployed = deployment, on_again, False
        self._handle: DeploymentHandle | None = None
        self.replicas, self._over = 0, threading.Event()
        """`replicas` are those that are ready, as they were last looked at."""
        resources = ray.cluster_resources()
        self._on_gpu, cores = resources.get("GPU", 0) >= 1, deployment.options.threads or 1
        self._actor = {"num_cpus": 1, "num_gpus": 1} if self._on_gpu else {"num_cpus": cores}
        room = int(resources.get("GPU", 0) if self._on_gpu else resources.get("CPU", 0) // cores)
        if deployment.least > room:
            what = "one GPU" if self._on_gpu else f"{cores} core{'s' * (cores > 1)}"
            raise ClusterError(f"the cluster has room for {room} replicas of {what} each, not for {deployment.least}")

    def start(self) -> None:
        """Starts the fewest replicas, and waits until they are ready. What runs there under the same name is replaced.

        Raises:
          ClusterError: they cannot be started.
        """
        asked = self._deployment
        options = dataclasses.replace(asked.options, threads=None) if self._on_gpu else asked.options
        growing = {
            "min_replicas": asked.least, "max_replicas": asked.most, "target_ongoing_requests": TARGET,
            "upscale_delay_s": _UP, "downscale_delay_s": _DOWN,
        }  # fmt: skip
        replicas = {"num_replicas": asked.least} if asked.least == asked.most else {"autoscaling_config": growing}
        deployment = serve.deployment(
            name="engine", max_ongoing_requests=ONGOING, ray_actor_options=self._actor,
            graceful_shutdown_timeout_s=_FINISH, logging_config=_QUIET, **replicas,
        )(Replica)  # fmt: skip
        try:
            serve.start(proxy_location="Disabled", logging_config=_QUIET)
            logging.getLogger("ray.serve").setLevel(logging.ERROR)  # which the start has set to its own
            application, self._deployed = deployment.bind(options, asked.sizes, version()), True
            self._handle = serve.run(application, name=asked.name, route_prefix=None)
        except (RayError, RuntimeError) as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise ClusterError(f"the replicas cannot be started: {lines[-1] if lines else type(error).__name__}") from error
        self.replicas = self._running()
        threading.Thread(target=self._look, name="looks", daemon=True).start()

    def stop(self) -> None:
        """Ends the replicas."""
        self._over.set()
        self.replicas = 0
        if self._deployed:
            with contextlib.suppress(RayError, RuntimeError):  # the cluster is lost
                serve.delete(self._deployment.name)

    async def answer(self, asked: dict) -> list[dict] | Refusal:
        """See `Engine.answer`."""
        return await self._call("answer", asked)

    async def evaluate(self, asked: Boards) -> bytes | Refusal:
        """See `Engine.evaluate`, of one request."""
        return await self._call("evaluate", asked)

    async def _call(self, method: str, asked):
        """Has a replica do something; where it dies another, as the answer depends on nothing but what is asked."""
        number = 0
        while True:
            response = getattr(self._handle, method).remote(asked)
            try:
                with _on_cancel(response.cancel):
                    return await response
            except _DIED:
                number += 1
                if number == TRIES:
                    raise
                self._on_again()
                await asyncio.sleep(PAUSE * 2**number)

    def _running(self) -> int:
        """Replicas that are ready."""
        found = serve.status().applications.get(self._deployment.name)
        states = [] if found is None else [deployment.replica_states for deployment in found.deployments.values()]
        return sum(count for state in states for name, count in state.items() if name == "RUNNING")

    def _look(self) -> None:
        while not self._over.wait(_LOOKS):
            try:
                self.replicas = self._running()
            except (RayError, RuntimeError, TimeoutError):  # the cluster is lost, or busy
                self.replicas = 0
