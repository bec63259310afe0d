"""The games of a match on a Ray cluster: actors that play one game after the other, each in a process bound to cores of its own.

This process alone keeps the journal: a game travels to an actor as its number, and comes back as what is known of it. An actor or
node that is lost leaves nothing behind; its game is played again by another, and as nobody waits any more for what the first one
may still say, no game counts twice.
"""

import collections
import contextlib
import fcntl
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

from bench.hardware import usable_cores
from bench.matches import pool
from bench.matches.playing import Match, play
from jaxgo.base.cache import keep_compiled
from jaxgo.base.source import version
from jaxgo.cli import UsageError
from search.cluster import room_of_nodes

#: So often a game, or a worker that begins, is lost before that is taken for no accident.
MOST_LOSSES = 3
#: Seconds without any news after which it is looked whether the cluster is still there.
LOOK = 10.0


class Cluster:
    """The places that a cluster has for games. To be used while this process is connected to it.

    Args:
      ray: the module.
      cores: of each game.

    Raises:
      UsageError: no node has so many cores.
    """

    def __init__(self, ray: Any, cores: int):
        self._ray, self._cores = ray, cores
        self._on_gpus = any(node["Resources"].get("GPU") for node in ray.nodes() if node["Alive"])
        of_nodes = room_of_nodes(ray, cores, on_gpus=self._on_gpus)
        self.places = sum(of_nodes)
        """Games at a time, at most: on as many cores, or GPUs with as many cores, as there are."""
        self.places_of_node = max(of_nodes, default=0)
        """Of the largest node."""
        if not self.places:
            with_gpu = " with a GPU" if self._on_gpus else ""
            raise UsageError(f"--cores must be at most the cores of a node of the cluster{with_gpu}, not {cores}")

    def play_all(
        self, games: Sequence[tuple[Match, int]], workers: int, stop: Callable[[], bool]
    ) -> Iterator[tuple[dict, bytes]]:  # fmt: skip
        """What `bench.matches.pool.play_all` does, by so many workers of the cluster; what has ended is told in any case.

        Raises:
          RuntimeError: a game, or workers that begin, are lost again and again; or jaxgo is of another version there.
        """
        ray, waiting, left = self._ray, collections.deque(games), len(games)
        lost: collections.Counter[int | None] = collections.Counter()
        #: What is awaited: of which actor, and its game, None where it begins.
        awaited: dict[Any, tuple[Any, tuple[Match, int] | None]] = {}
        actors: list[Any] = []
        idle: list[Any] = []
        silent, begun, told = 0.0, False, False

        def begin() -> None:
            actor = ray.remote(num_cpus=self._cores, num_gpus=1 if self._on_gpus else 0)(Player).remote(self._cores)
            actors.append(actor)
            awaited[actor.begin.remote(version())] = actor, None

        try:
            for _ in range(workers):
                begin()
            while left and not stop():
                done, _ = ray.wait(list(awaited), timeout=0.5)
                silent = 0.0 if done else silent + 0.5
                if silent >= LOOK:
                    silent = 0.0
                    if not any(node["Alive"] for node in ray.nodes()):
                        raise RuntimeError("the cluster is lost: none of its nodes is there any more")
                    if not told and not begun:
                        told = True
                        print("jaxgo match: no worker has begun yet; has the cluster free cores?", file=sys.stderr)
                for reference in done:
                    actor, game = awaited.pop(reference)
                    number = None if game is None else game[1]
                    try:
                        found = ray.get(reference)
                    except ray.exceptions.RayTaskError as error:  # not that it was lost, but what it raised
                        yield from self._ended(awaited)
                        raise error.cause or RuntimeError(str(error)) from error
                    except ray.exceptions.RayError as error:
                        actors.remove(actor)
                        ray.kill(actor)  # it may be out of reach only
                        lost[number] += 1
                        if lost[number] >= MOST_LOSSES * (workers if number is None else 1):
                            what = "workers that begin are lost" if number is None else f"game {number} is lost with its worker"
                            raise RuntimeError(f"{what} again and again: {type(error).__name__}") from error
                        if game is not None:
                            waiting.appendleft(game)
                        begin()
                        continue
                    idle.append(actor)
                    if game is None:
                        del lost[None]
                        begun = True
                    else:
                        left -= 1
                        yield found
                while idle and waiting:
                    actor, game = idle.pop(), waiting.popleft()
                    awaited[actor.play.remote(*game)] = actor, game
            yield from self._ended(awaited)
        finally:
            for actor in actors:
                ray.kill(actor)

    def _ended(self, awaited: dict[Any, tuple[Any, tuple[Match, int] | None]]) -> Iterator[tuple[dict, bytes]]:
        """The games that have ended among what is awaited."""
        of_games = [reference for reference, (_, game) in awaited.items() if game is not None]
        done = self._ray.wait(of_games, num_returns=len(of_games), timeout=0)[0] if of_games else []
        for reference in done:
            with contextlib.suppress(self._ray.exceptions.RayError):
                yield self._ray.get(reference)


class Player:
    """What an actor is: it has a process that plays, which ends with it, and ends the engines that it has started."""

    def __init__(self, cores: int):
        self._cores = cores
        self._ending = contextlib.ExitStack()

    def begin(self, wanted: str) -> None:
        """Makes ready for games."""
        if version() != wanted:
            raise RuntimeError(f"a node has jaxgo {version()}, the process that uses the cluster has {wanted}")
        keep_compiled()
        cores = self._ending.enter_context(own_cores(self._cores))
        self._process = self._ending.enter_context(pool.processes([cores]))

    def play(self, match: Match, number: int) -> tuple[dict, bytes]:
        """Plays a game; see `bench.matches.playing.play`."""
        try:
            return self._process.submit(play, match, number).result()
        except pool.BrokenProcessPool:
            os._exit(1)  # a worker whose process is lost is lost


@contextlib.contextmanager
def own_cores(count: int) -> Iterator[list[int]]:
    """Cores of this machine that no other player has, as far as there are such; those of players that have ended are free."""
    folder = pathlib.Path(tempfile.gettempdir(), f"jaxgo-cores-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    taken: dict[int, BinaryIO] = {}
    with contextlib.ExitStack() as files:
        for core in usable_cores():
            if len(taken) < count:
                file = (folder / str(core)).open("wb")
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the system frees it when the process ends
                except OSError:
                    file.close()
                else:
                    taken[core] = files.enter_context(file)
        others = [core for core in usable_cores() if core not in taken]
        yield [*taken, *others][:count]
