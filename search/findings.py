"""What has been found of a position, as programs are told it: the same figures whoever asks, and in whatever protocol.

They come from a search with a tree, from a bot without one, or from playouts alone. `search.move_infos` says what each means.
"""

import dataclasses
from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from jaxgo import BLACK, Evaluation
from jaxgo.board.coordinates import coordinate, point
from search import move_infos
from search.flat import FlatSearch
from search.game import legal_moves
from search.ownership import Samples, finished
from search.root import RootStatistics
from search.search import Search


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What a program wants to be told beside the moves and the root."""

    line: int = 20
    """The most moves of a `pv`."""
    least_moves: int = 0
    """So many are told of if there are as many that may be tried, tried or not."""
    most_moves: int | None = None
    pv_visits: bool = False
    pv_edge_visits: bool = False
    ownership: bool = False
    moves_ownership: bool = False
    shares: bool = False
    """What every move is thought to be worth, see `priors`."""
    amaf: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class Findings:
    """What is known of a position at one moment; rates, leads and ownership from the view of one player."""

    viewer: int
    """1 Black, -1 White."""
    infos: list[dict]
    """Moves, the best first."""
    root: dict
    """The position itself."""
    shares: np.ndarray | None = None
    """float64 [P + 1]: `prior` of every move."""
    amaf: dict[int, tuple[np.ndarray, np.ndarray]] | None = None
    """By colour: what each point [P] has earned as a first play, and its win rate for that colour."""
    ownership: np.ndarray | None = None
    """float64 [N, N]: 1 where the viewer always ends up with the point, -1 where the other does."""
    moves_ownership: np.ndarray | None = None
    """float64 [n, N, N]: the same after each of the moves that have been tried, in the order of `infos`."""
    samples: tuple[Samples | None, Samples | None] = (None, None)
    """Positions whose playouts will tell the last two."""

    @classmethod
    def of(cls, search: Search | FlatSearch, wanted: Wanted | None = None) -> "Findings":
        """What a search that has some playouts has found, from the view of the player to move.

        It may go on meanwhile. Who owns what is not known before `with_ownership` has played it out.
        """
        wanted, position = Wanted() if wanted is None else wanted, search.position
        infos, root, shares, amaf = _of_tree(search, wanted) if isinstance(search, Search) else _of_flat(search, wanted)
        tried = [point(info["move"], position.size) for info in infos] if wanted.moves_ownership else []
        least = wanted.least_moves if wanted.most_moves is None else min(wanted.least_moves, wanted.most_moves)
        if len(infos) < least:
            infos = infos + _untried(search, infos, root, wanted)[: least - len(infos)]
        samples = (
            _samples(search) if wanted.ownership else None,
            _samples(search, tried) if tried else None,
        )
        viewer = int(np.asarray(position.to_play)[0])
        return cls(viewer, infos, root, shares, amaf, samples=samples)

    @classmethod
    def of_playouts(
        cls, found: Evaluation, viewer: int, komi: float, wanted: Wanted, legal: np.ndarray | None = None
    ) -> "Findings":
        """What playouts of one position have found, from the view of the player to move.

        Args:
          found: of the one position.
          viewer: the player to move there.
          komi: points that White gets.
          wanted: what to tell of.
          legal: bool [P + 1], where he may play; for the shares.
        """
        amaf = shares = None
        if wanted.amaf:
            counts = zip(found.amaf_visits.reshape(2, -1), found.amaf_wins.reshape(2, -1))
            amaf = {colour: (visits, move_infos.rates(visits, wins)) for colour, (visits, wins) in zip((1, -1), counts)}
        if wanted.shares:
            assert legal is not None
            # Of wins; who wins nothing has those of plays, and who can only pass the pass.
            won, played = (x[0 if viewer == BLACK else 1].reshape(-1) * legal[:-1] for x in (found.amaf_wins, found.amaf_visits))
            earned = won if won.any() else played.astype(won.dtype)
            shares = np.append(earned / (earned.sum() or 1.0), 0.0 if earned.any() else 1.0)
        root = move_infos.root_info_of_playouts(found, viewer == BLACK, komi)
        return cls(viewer, [], root, shares, amaf, viewer * found.ownership if wanted.ownership else None)

    @property
    def waits(self) -> bool:
        """Whether there is ownership to be played out."""
        return any(part is not None for part in self.samples)

    def with_ownership(self, devices=None, stop: Callable[[], bool] = lambda: False) -> "Findings | None":
        """The same with the ownership that is wanted; None once `stop` says so. For any thread.

        Args:
          devices: as in `jaxgo.evaluate`.
          stop: asked now and then.
        """
        return finished(self.in_parts(devices), stop)

    def in_parts(self, devices=None) -> "Generator[None, None, Findings]":
        """`with_ownership`, call by call of the device: yields between two of them."""
        played: list[np.ndarray | None] = [None, None]
        for i, part in enumerate(self.samples):
            if part is not None:
                played[i] = self.viewer * (yield from part.in_parts(devices))
        root = None if played[0] is None else played[0][0]
        return dataclasses.replace(self, ownership=root, moves_ownership=played[1], samples=(None, None))

    def seen_by(self, viewer: int) -> "Findings":
        """The same from the view of a player; who earns what as a first play stays as it is."""
        if viewer == self.viewer:
            return self
        infos, root = [move_infos.other_side(info) for info in self.infos], move_infos.other_side(self.root)
        owners, after = (None if x is None else -x for x in (self.ownership, self.moves_ownership))
        return dataclasses.replace(self, viewer=viewer, infos=infos, root=root, ownership=owners, moves_ownership=after)


def _of_tree(search: Search, wanted: Wanted):
    """(infos, root, shares, amaf) of a search with a tree; the last two None where they are not wanted."""
    found = search.statistics()
    infos = move_infos.move_infos(
        search, most=wanted.most_moves, line=wanted.line, statistics=found, pv_visits=wanted.pv_visits,
        pv_edge_visits=wanted.pv_edge_visits,
    )  # fmt: skip
    shares = move_infos.priors(found) if wanted.shares else None
    return infos, move_infos.root_info(found), shares, _amaf_of_tree(found) if wanted.amaf else None


def _amaf_of_tree(found: RootStatistics) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    rate = np.where(found.rave_visits > 0, np.nan_to_num(found.rave_win_rate), 0.5)[:-1]
    # The search's first plays are the mover's only.
    return {1 if found.black else -1: (found.rave_visits[:-1], rate)}


def _of_flat(search: FlatSearch, wanted: Wanted):
    """The same of one without."""
    choice, size = search.choice(), search.position.size
    infos = move_infos.move_infos_of_choice(
        choice, size, most=wanted.most_moves, line=wanted.line, pv_visits=wanted.pv_visits,
        pv_edge_visits=wanted.pv_edge_visits,
    )  # fmt: skip
    shares = choice.visits / (choice.visits.sum() or 1.0) if wanted.shares else None
    return infos, move_infos.root_info_of_choice(choice), shares, _amaf_of_flat(search, choice) if wanted.amaf else None


def _amaf_of_flat(search: FlatSearch, choice) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    earned, rate = choice.visits[:-1], np.where(np.isnan(choice.values), 0.5, choice.values)[:-1]
    return {int(np.asarray(search.position.to_play)[0]): (earned, rate)}


def _untried(search: Search | FlatSearch, infos: list[dict], root: dict, wanted: Wanted) -> list[dict]:
    """Infos of the legal moves that may be tried and have not been: nothing but the root's figures is known of them."""
    known, size = {info["move"] for info in infos}, search.position.size
    moves = legal_moves(search.position, search.history)
    if search.restrictions is not None:
        moves = search.restrictions.at_root(moves, moves, int(np.asarray(search.position.to_play)[0]) == BLACK)
    names = (coordinate(int(move), size) for move in np.flatnonzero(moves))
    nothing: dict[str, Any] = {"visits": 0, "edgeVisits": 0, "weight": 0.0, "prior": 0.0, "lcb": 0.0, "utilityLcb": -1.0}
    nothing |= move_infos.visits_of_line([0], wanted.pv_visits, wanted.pv_edge_visits)
    return [
        {**root, **nothing, "move": name, "scoreMean": root["scoreLead"], "order": order, "pv": [name]}
        for order, name in enumerate((name for name in names if name not in known), start=len(infos))
    ]


def _samples(search: Search | FlatSearch, moves: list[int] | None = None) -> Samples:
    if isinstance(search, Search):
        return Samples.of(search, moves)
    return Samples.without_tree(search.position, search.seed, moves)
