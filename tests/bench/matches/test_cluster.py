"""Matches on Ray: what is done about workers that are lost, by a Ray that is none (`test_match_on_ray.py` has a real one)."""

import types

import pytest

from bench.matches import cluster
from bench.matches.cluster import Cluster, own_cores
from jaxgo.cli import UsageError


class RayError(Exception):
    """As Ray's."""


class RayTaskError(RayError):
    """As Ray's."""

    def __init__(self, cause: Exception):
        super().__init__(str(cause))
        self.cause = cause


class FakeRay:
    """Actors that play a game as soon as it is waited for, the last that was begun first; each call in `losses` loses its actor.

    Args:
      losses: (actor, game), by numbers from 1 on; game 0 is that an actor begins.
      fails: a game that raises something.
    """

    exceptions = types.SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, losses=(), fails: int | None = None, nodes=((4, 0),)):
        self._losses, self._fails, self._nodes = set(losses), fails, nodes
        self.actors, self.killed, self.calls, self.begun, self.options = 0, set(), [], [], {}

    def nodes(self) -> list[dict]:
        return [{"Alive": True, "Resources": {"CPU": float(cpus), "GPU": float(gpus)}} for cpus, gpus in self._nodes] + [
            {"Alive": False, "Resources": {}}
        ]

    def remote(self, **options):
        self.options = options
        return lambda kind: types.SimpleNamespace(remote=self._actor)

    def _actor(self, cores: int):
        self.actors += 1
        number = self.actors

        def call(method):
            def remote(*arguments):
                game = arguments[1] if method == "play" else 0
                self.begun.append(game)
                return number, game

            return types.SimpleNamespace(remote=remote)

        return types.SimpleNamespace(number=number, begin=call("begin"), play=call("play"))

    def wait(self, references: list, timeout: float, num_returns: int = 1):
        return references[-num_returns:], references[:-num_returns]

    def get(self, reference):
        actor, game = reference
        assert actor not in self.killed
        self.calls.append(reference)
        if (actor, game) in self._losses or (None, game) in self._losses:
            raise RayError("gone")
        if game and game == self._fails:
            raise RayTaskError(ZeroDivisionError("in the game"))
        return {"number": game}, b"record"

    def kill(self, actor) -> None:
        self.killed.add(actor.number)


def numbers(ray: FakeRay, games: int = 6, workers: int = 2, until: int = 100) -> list[int]:
    """The numbers of the games that a match yields, told to stop after so many."""
    found: list[int] = []
    todo = [(None, number) for number in range(1, games + 1)]
    for game, _ in Cluster(ray, 1).play_all(todo, workers, lambda: len(found) >= until):
        found.append(game["number"])
    return found


def test_games_of_lost_workers_are_played_again_and_count_once():
    ray = FakeRay({(2, 0), (1, 2), (4, 5)})
    assert sorted(numbers(ray)) == [1, 2, 3, 4, 5, 6]
    lost = {(actor, game) for actor, game in ray.calls if (actor, game) in ray._losses}
    assert lost, "some were"
    for actor, game in lost:
        assert [other for other, of in ray.calls if of == game and other != actor] or not game, "by another"
    assert ray.killed == set(range(1, ray.actors + 1)), "none is left"


def test_games_that_have_ended_are_told_when_it_is_to_stop_or_one_fails():
    """Though nobody has asked for them yet."""
    ray = FakeRay()
    assert sorted(numbers(ray, workers=4, until=1)) == [game for game in sorted(ray.begun) if game] != [1]
    ray, found = FakeRay(fails=3), []
    with pytest.raises(ZeroDivisionError):
        for game, _ in Cluster(ray, 1).play_all([(None, number) for number in range(1, 7)], 2, lambda: False):
            found.append(game["number"])
    assert sorted([*found, 3]) == [game for game in sorted(ray.begun) if game]


def test_a_game_that_always_loses_its_worker_ends_the_match():
    ray, found = FakeRay({(None, 2)}), []
    with pytest.raises(RuntimeError, match="game 2 is lost with its worker again and again: RayError"):
        for game, _ in Cluster(ray, 1).play_all([(None, number) for number in range(1, 4)], 1, lambda: False):
            found.append(game["number"])
    assert [game for _, game in ray.calls].count(2) == cluster.MOST_LOSSES
    assert found == [1], "what was finished before"


def test_workers_that_never_begin_end_the_match():
    with pytest.raises(RuntimeError, match="workers that begin are lost again and again"):
        numbers(FakeRay({(None, 0)}))


def test_a_cluster_that_is_lost_ends_the_match(monkeypatch):
    """Nothing is heard of any more; it would be waited for for ever."""
    ray = FakeRay()
    monkeypatch.setattr(ray, "wait", lambda references, timeout: ([], references))
    made = Cluster(ray, 1)
    ray._nodes = ()
    with pytest.raises(RuntimeError, match="the cluster is lost"):
        next(made.play_all([(None, 1)], 1, lambda: False))
    assert ray.killed == {1}


def test_what_a_game_raises_comes_through():
    ray = FakeRay(fails=3)
    with pytest.raises(ZeroDivisionError, match="in the game"):
        numbers(ray)
    assert ray.killed == {1, 2}


def test_a_match_that_is_told_to_stop_leaves_no_workers():
    ray = FakeRay()
    assert len(numbers(ray, until=3)) == 4, "with the one that had ended beside"
    assert ray.killed == {1, 2}


@pytest.mark.parametrize(
    ("nodes", "cores", "places", "of_node"),
    [(((4, 0), (3, 0)), 1, 7, 4), (((4, 0), (3, 0)), 2, 3, 2), (((8, 2), (8, 0), (1, 1)), 2, 2, 2), (((0, 0), (1, 0)), 1, 1, 1)],
)
def test_places_are_cores_of_one_node_or_gpus_with_them(nodes, cores, places, of_node):
    found = Cluster(FakeRay(nodes=nodes), cores)
    assert (found.places, found.places_of_node) == (places, of_node)


def test_a_cluster_without_cores_for_a_game_is_refused():
    with pytest.raises(UsageError, match="--cores must be at most the cores of a node of the cluster, not 8"):
        Cluster(FakeRay(), 8)


def test_players_of_a_machine_have_cores_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "usable_cores", lambda: [2, 3, 5])
    monkeypatch.setattr(cluster.tempfile, "tempdir", str(tmp_path))
    with own_cores(1) as first:
        with own_cores(1) as second, own_cores(2) as more:
            assert (first, second) == ([2], [3])
            assert more == [5, 2], "there are no others"
        with own_cores(1) as third:
            assert third == [3], "it is free again"


def test_workers_that_begin_are_lost_again_and_again_only_where_so_many_are_in_a_row():
    """Of many at a time some may be lost by one accident; and once one has begun it is another time."""
    assert sorted(numbers(FakeRay({(actor, 0) for actor in (4, 5, 6, 7)}), workers=4)) == [1, 2, 3, 4, 5, 6]
    assert sorted(numbers(FakeRay({(1, 0), (2, 0), (3, 1), (4, 0), (5, 0)}), workers=1)) == [1, 2, 3, 4, 5, 6]


def test_a_node_with_another_version_is_told():
    with pytest.raises(RuntimeError, match="^a node has jaxgo .*, the process that uses the cluster has another$"):
        cluster.Player(1).begin("another")
