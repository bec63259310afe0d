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
from ray.serve.exceptions import DeploymentUnavailableError, RayServeException
from ray.serve.handle import DeploymentHandle

from jaxgo.base.cache import keep_compiled
from jaxgo.base.source import version
from search.analysis.options import ServiceOptions
from search.cluster import ClusterError, cause, room_of_nodes
from search.serving.boards import Boards
from search.serving.engine import Engine
from search.serving.limits import Refusal
from search.serving.together import Together

#: Requests that a replica has at a time: as many as the door accepts by default, so that those that take long, or wait for a
#: compiler, keep no others from it; and so many of each are what more replicas are started for.
ONGOING, TARGET = 256, 8
#: Playouts of a request for `jaxgo.evaluate` that fill a replica for seconds: these have a list of their own, so that no other
#: waits behind them. So many batches of each list are played at a time.
LARGE, BESIDE = 100_000, 2
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
        self._threads = concurrent.futures.ThreadPoolExecutor(ONGOING)
        self._small, self._large = (Together(self._engine.evaluate, self._engine.room, BESIDE) for _ in range(2))

    async def answer(self, asked: dict) -> list[tuple[int, bytes]] | Refusal:
        """See `Engine.answer`."""
        client = self._engine.client()
        with _on_cancel(client.drop):
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._engine.answer, asked, client)

    async def evaluate(self, asked: Boards) -> bytes | Refusal:
        """See `Engine.evaluate`, of one request: those that wait and are alike go together."""
        refusal = await asyncio.get_running_loop().run_in_executor(self._threads, self._engine.prepare, asked)
        if refusal is not None:
            return refusal
        return await asyncio.wrap_future((self._large if asked.work >= LARGE else self._small).add(asked))


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
        self.lost = False
        """Whether it is another's by now, or gone."""
        self._since: float | None = None
        """When it was deployed, as Ray tells, by which it is known for this one's."""
        self._on_gpu, cores = ray.cluster_resources().get("GPU", 0) >= 1, deployment.options.threads or 1
        self._actor = {"num_cpus": 1, "num_gpus": 1} if self._on_gpu else {"num_cpus": cores}
        room = sum(room_of_nodes(ray, 1 if self._on_gpu else cores, on_gpus=self._on_gpu))
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
        except (RayError, RayServeException, RuntimeError) as error:
            raise ClusterError(f"the replicas cannot be started: {cause(error)}") from error
        self._since = self._deployed_at()
        self.replicas = self._running()
        threading.Thread(target=self._look, name="looks", daemon=True).start()

    def stop(self, *, at_once: bool = False) -> None:
        """Ends the replicas, unless they are another's by now; `at_once` does not wait until they have gone."""
        self._over.set()
        self.replicas = 0
        with contextlib.suppress(RayError, RuntimeError, TimeoutError):  # the cluster is lost, or replicas take long to end
            if self._deployed and (self._since is None or self._deployed_at() == self._since):
                serve.delete(self._deployment.name, _blocking=not at_once)

    async def answer(self, asked: dict) -> list[tuple[int, bytes]] | Refusal:
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
            except DeploymentUnavailableError:
                return Refusal(503, "busy: no replica is ready")
            except _DIED:
                number += 1
                if number == TRIES:
                    raise
                self._on_again()
                await asyncio.sleep(PAUSE * 2**number)

    def _deployed_at(self) -> float | None:
        """When what has this name was deployed; None where there is nothing."""
        found = serve.status().applications.get(self._deployment.name)
        return None if found is None else found.last_deployed_time_s

    def _running(self) -> int:
        """Replicas that are ready."""
        found = serve.status().applications.get(self._deployment.name)
        states = [] if found is None else [deployment.replica_states for deployment in found.deployments.values()]
        return sum(count for state in states for name, count in state.items() if name == "RUNNING")

    def _look(self) -> None:
        while not self._over.wait(_LOOKS):
            try:
                self.lost = self._deployed_at() != self._since
                self.replicas = 0 if self.lost else self._running()
            except (RayError, RuntimeError, TimeoutError):  # the cluster is lost, or busy
                self.replicas = 0
