"""Positions evaluated by tree searches, many at a time on one device.

A search is that of `search.Search` with the collection's seed, the position's komi and the game's earlier positions: it is the
same whatever else the device does. Its memory is as much as its playouts can need, so that no tree forgets anything.
"""

import contextlib
import functools
import queue

import numpy as np

import jaxgo
from jaxgo import Position
from jaxgo.backends.choice import backend_of, workers_of
from jaxgo.board.coordinates import coordinate
from jaxgo.playing.policies.in_order import policy_of
from search.collection.findings import Findings, standard_error, together
from search.collection.playing import policies_named
from search.collection.settings import Settings
from search.ownership import Samples
from search.players import search_options
from search.search import Search
from search.shared import SharedLeaves, leaves_of_calls
from search.tree_needs import memory_for, needs_histories

#: A round, as of `search.Search`.
LEAVES, PLAYOUTS_PER_LEAF = 256, 8
#: Searches at a time: on a CPU, which one nearly fills, and on other devices.
SEARCHES_ON_CPU, SEARCHES_ELSEWHERE = 2, 64
#: The most moves of an expected line.
LINE = 20


class Searches:
    """Evaluates positions by searches.

    Args:
      settings: of the collection.
      devices: as in `jaxgo.evaluate`.
    """

    def __init__(self, settings: Settings, devices=None):
        assert settings.bot is not None
        self._settings, self._devices = settings, devices
        self._on_cpu = backend_of(workers_of(devices)[0]).platform == "cpu"
        self._options, self._policies = search_options(settings.bot), policies_named(settings.policy)
        self._shared: SharedLeaves | None = None
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()

    def positions_of_call(self, size: int) -> int:
        """A part's: searches begin and end one by one."""
        return self._settings.positions_of_part(size)

    def evaluate(self, position: Position, komi: np.ndarray, histories: list[np.ndarray], progress=None) -> Findings:
        """Findings of B positions; one that is over counts as it stands.

        Args:
          position: on the host.
          komi: float64 [B].
          histories: uint32 [n, 2] of each, the hashes of its game's earlier positions.
          progress: called with (done, total) playouts.
        """
        over, found = np.asarray(position.is_over()), {}
        most = SEARCHES_ON_CPU if self._on_cpu else SEARCHES_ELSEWHERE
        rows = iter(range(position.batch))
        active: dict[int, Search] = {}
        while True:
            while len(active) < most and (row := next(rows, None)) is not None:
                if over[row]:
                    found[row] = _as_it_stands(position[row : row + 1], komi[row], self._devices)
                else:
                    active[row] = self._search(position[row : row + 1], komi[row], histories[row])
            if not active:
                return together([found[row] for row in range(position.batch)])
            while not self._news.empty():
                self._news.get()
            for search in active.values():
                while search.launch(self._settings.playouts):
                    pass
            assert self._shared is not None
            self._shared.flush()
            moved = False
            for row, search in list(active.items()):
                moved |= search.finish()
                if not search.under_way and search.visits >= self._settings.playouts:
                    found[row] = _of_search(search, self._settings.best, self._devices)
                    del active[row]
                    if progress is not None:
                        progress(len(found) * self._settings.playouts, position.batch * self._settings.playouts)
            if not moved:
                with contextlib.suppress(queue.Empty):
                    self._news.get(timeout=0.05)

    def _search(self, position: Position, komi: float, history: np.ndarray) -> Search:
        if self._shared is None or self._shared.size != position.size:
            if self._shared is not None:
                self._shared.close()
            self._policy = policy_of(self._policies, position.size)
            moves = needs_histories(self._options["rule"])
            self._shared = SharedLeaves(
                position.size, leaves_of_calls(LEAVES, moves, self._devices), PLAYOUTS_PER_LEAF, moves=moves, policy=self._policy,
                devices=self._devices, on_done=functools.partial(self._news.put, None),
            )  # fmt: skip
        return search_of(position, komi, history, self._settings, policy=self._policy, device=self._shared)


def search_of(position: Position, komi: float, history: np.ndarray, settings: Settings, **where) -> Search:
    """The search of a position, to be run for `settings.playouts` visits; `where` is `search.Search`'s policy and device."""
    assert settings.bot is not None
    options = search_options(settings.bot)
    # Rounds under way when the last playouts are asked for are still added.
    memory = memory_for(position.size, options["rule"], settings.playouts // PLAYOUTS_PER_LEAF + 8 * LEAVES)
    return Search(
        position, komi=float(komi), history=history, seed=settings.seed, leaves=LEAVES, playouts_per_leaf=PLAYOUTS_PER_LEAF,
        memory=memory, **options, **where,
    )  # fmt: skip


def _of_search(search: Search, best: int, devices) -> Findings:
    found, size = search.statistics(), search.position.size
    sign, turned = (1, lambda rate: rate) if found.black else (-1, lambda rate: 1 - rate)
    tried = np.flatnonzero((found.visits > 0) & found.playable)
    first = search.best()
    rate = np.nan_to_num(found.win_rate)
    moves = np.array(sorted(map(int, tried), key=lambda m: (m != first, -int(found.visits[m]), -rate[m], m))[:best], np.int64)
    visits, root_rate = found.visits[moves], np.array([turned(found.root_win_rate)])
    return Findings(
        playouts=np.array([found.root_visits]), win_rate=root_rate,
        win_rate_error=standard_error(root_rate, np.array([found.root_visits])),
        margin=np.array([sign * found.root_lead + search.komi]), margin_stdev=np.array([found.root_lead_stdev]),
        length=np.array([np.nan]), ownership=Samples.of(search).ownership(devices).reshape(1, -1),
        num_moves=np.array([len(moves)]), moves=moves, move_playouts=visits, move_win_rate=turned(rate[moves]),
        move_error=standard_error(rate[moves], visits),
        lines=[" ".join(coordinate(point, size) for point in line) for line in search.variations(moves, LINE)],
    )  # fmt: skip


def _as_it_stands(position: Position, komi: float, devices) -> Findings:
    """The findings of a game that is over: its score, as playouts of no plies tell it."""
    found = jaxgo.evaluate(position, 1, komi=float(komi), statistics=["ownership"], devices=devices)
    none = np.zeros(0)
    return Findings(
        playouts=found.num_playouts, win_rate=found.win_rate, win_rate_error=found.win_rate_error, margin=found.margin_mean,
        margin_stdev=found.margin_std, length=np.array([np.nan]), ownership=found.ownership.reshape(1, -1),
        num_moves=np.zeros(1, np.int64), moves=none.astype(np.int64), move_playouts=none.astype(np.int64), move_win_rate=none,
        move_error=none, lines=[],
    )  # fmt: skip
