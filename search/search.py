"""The search: a tree on the host, fed by playouts from the device.

A round chooses many leaves, asks the device for playouts from each, and adds the results to the tree. Two rounds are under way at
a time, so that the device works while the host chooses; a round is always chosen before the results of the one before it are
added, whether or not they are already there, so that the tree depends on nothing but the seed and the number of visits.
"""

import collections
import concurrent.futures
import dataclasses
import threading
import time

import numpy as np

from jaxgo import Position, checks
from jaxgo.engine import workers_of
from jaxgo.leaves import STAY, LeafResults, Leaves
from jaxgo.position import BLACK
from jaxgo.simulation import check_seed
from search import descent, histories
from search.game import hash_numbers
from search.selection import Rave
from search.tree import FORBIDDEN, ROOT, UNEXPLORED, Tree

#: Rounds under way at a time.
IN_FLIGHT = 2
#: Descents of the first round, all of which end at the root.
FIRST_LEAVES = 16
#: A round is at most this share of the playouts that the root has had, so that early choices see results.
ROUND_SHARE = 0.25
#: Playouts of a round, at most: their results in halves are summed as int16.
MOST_PLAYOUTS = 16_000
#: How much better a pass must look than the best other move to be played while there is another.
PASS_GAIN = 0.02
#: How the RAVE statistics are updated.
UPDATES = ("reductions", "histories")
#: How long a wait for the device lasts before it looks whether it should stop, seconds.
WAIT = 0.02


@dataclasses.dataclass
class _Round:
    """Leaves that the device is working on."""

    leaves: descent.Leaves
    nodes_before: int
    waiting: np.ndarray
    """Indices of the leaves that the device works on; the others are ends of the game."""
    call: list[concurrent.futures.Future]


@dataclasses.dataclass(frozen=True, eq=False)
class RootStatistics:
    """What a search knows of the root's moves; arrays [P + 1], rates from the view of the player to move."""

    black: bool
    """Whether Black is to move at the root."""
    visits: np.ndarray
    """int32: playouts through each move."""
    win_rate: np.ndarray
    """float64 in [0, 1], draws half; NaN without visits."""
    lead: np.ndarray
    """float64 points: mean area of the mover minus the other's, komi counted; NaN without visits."""
    rave_visits: np.ndarray
    """What each point has earned, see `jaxgo.credits`."""
    rave_win_rate: np.ndarray
    """float64 in [0, 1]; NaN without any."""
    playable: np.ndarray
    """bool: moves that the search considers."""
    root_visits: int
    """Playouts in all."""
    root_win_rate: float
    """Their results' mean for the mover."""
    root_lead: float
    """Their mean lead, komi counted."""

    def as_json(self, name_of) -> dict:
        """Plain numbers, a dictionary for each move visited, the most visited first; `name_of(point)` names a move."""
        order = sorted(np.flatnonzero(self.visits), key=lambda m: (-int(self.visits[m]), int(m)))
        return {
            "visits": self.root_visits,
            "win_rate": self.root_win_rate,
            "lead": self.root_lead,
            "moves": [
                {
                    "move": name_of(int(m)),
                    "visits": int(self.visits[m]),
                    "win_rate": float(self.win_rate[m]),
                    "lead": float(self.lead[m]),
                    "rave_visits": float(self.rave_visits[m]),
                    "rave_win_rate": None if np.isnan(self.rave_win_rate[m]) else float(self.rave_win_rate[m]),
                }
                for m in order
            ],
        }


class Search:
    """A tree search from one position.

    Args:
      position: one position that is not over.
      rule: a rule of selection, `search.Rave()` or `search.UCB1()`, or another object like them.
      komi: points that White gets.
      leaves: leaves of a round, at most.
      playouts_per_leaf: playouts from each leaf at each visit.
      seed: an int in [0, 2**64).
      history: the hashes (`Position.hash`) of the game's earlier positions, uint32 [n, 2], which positional superko forbids
        to repeat.
      memory: bytes that the tree may take; a full tree stops growing and goes on learning.
      cleanup: whether to capture all dead stones before passing, for scoring by rules that count what stands on the board.
      depth: the most moves that the tree looks ahead; 1 is a bandit over the root's moves. By default any number.
      updates: "reductions" (counts made on the device) or "histories" (the playouts' moves, ply by ply); the tree is the same.
        Rules with weighted credits need "histories", and take it by themselves.
      devices: as in `jaxgo.playouts`.
      in_flight: rounds under way at a time.

    Raises:
      TypeError, ValueError: an argument is not what it must be, or the game is over.
    """

    def __init__(
        self,
        position: Position,
        *,
        rule=None,
        komi: float = 7.5,
        leaves: int = 256,
        playouts_per_leaf: int = 8,
        seed: int = 0,
        history=None,
        memory: int = 1 << 30,
        cleanup: bool = False,
        depth: int | None = None,
        updates: str | None = None,
        devices=None,
        in_flight: int = IN_FLIGHT,
    ):
        check_one_position(position)
        self.rule = Rave() if rule is None else rule
        if not callable(getattr(self.rule, "values", None)):
            raise TypeError(f"rule must be a rule of selection like search.Rave(), not {self.rule!r}")
        self.komi = checks.komi(komi)
        self.num_leaves = checks.integer("leaves", leaves, 1, MOST_PLAYOUTS)
        self.playouts_per_leaf = checks.integer("playouts_per_leaf", playouts_per_leaf, 1, MOST_PLAYOUTS)
        checks.integer("leaves times playouts_per_leaf", leaves * playouts_per_leaf, 1, MOST_PLAYOUTS)
        self.in_flight = checks.integer("in_flight", in_flight, 1, 64)
        self.seed = check_seed(seed)
        self.cleanup = bool(cleanup)
        self.depth = checks.integer("depth", depth, 1) if depth is not None else checks.INT32_MAX
        weighted = self.rule.credit not in (None, "amaf")
        checks.one_of("updates", updates, (None, *UPDATES))
        if weighted and updates == "reductions":
            raise ValueError(f"updates must be 'histories' for the credit {self.rule.credit!r}, not 'reductions'")
        self.updates = updates or ("histories" if weighted else "reductions")
        self._history = hash_numbers(history)
        size = position.size
        kinds = {"colours": 2 if self.rule.reference_visits else 1, "fractions": weighted, "legal": weighted}
        capacity = min(checks.integer("memory", memory, 1, 1 << 50) // Tree.bytes_per_node(size, **kinds), 1 << 30)
        if capacity < 2:
            raise ValueError(f"memory must be at least {2 * Tree.bytes_per_node(size, **kinds)} bytes, not {memory}")
        self._tree = Tree(size, int(capacity), **kinds)
        self._tree_arguments = (size, int(capacity), kinds)
        self._device = Leaves(
            size, self.num_leaves, self.playouts_per_leaf, komi=self.komi, seed=self.seed, devices=workers_of(devices),
            moves=self.updates == "histories" and self.rule.credit is not None,
        )  # fmt: skip
        self._ties = descent.Ties(self.seed if isinstance(self.seed, int) else 0, size * size + 1)
        self._rounds: collections.deque[_Round] = collections.deque()
        self._stop = threading.Event()
        self._streams = 0
        #: Seconds spent choosing, waiting for the device, and adding results.
        self.seconds = {"select": 0.0, "wait": 0.0, "back up": 0.0}
        self._plant(position)

    # What a program asks.

    @property
    def tree(self) -> Tree:
        """The tree; node 0 is the root."""
        return self._tree

    @property
    def position(self) -> Position:
        """The root's position."""
        return self._position

    @property
    def history(self) -> np.ndarray:
        """uint64 [n]: hashes of the game's positions before the root."""
        return self._history

    @property
    def visits(self) -> int:
        """Playouts that the root has had, those kept from earlier moves included."""
        return int(self._tree.node_visits[ROOT])

    @property
    def device_seconds(self) -> float:
        """Seconds that the workers (cores or devices) have worked, all together."""
        return self._device.busy_seconds

    @property
    def num_workers(self) -> int:
        """Cores or devices that play."""
        return self._device.num_workers

    def compile(self) -> None:
        """Compiles what the search needs on the device, so that no clock runs meanwhile."""
        self._device.compile()

    def run(self, *, visits: int | None = None, seconds: float | None = None) -> int:
        """Searches until the root has had so many playouts, or so much time has passed, or `stop` is called.

        Returns:
          The root's visits. With a limit on visits alone, the tree that results is always the same.
        """
        if visits is None and seconds is None:
            raise ValueError("visits or seconds must be given")
        visits = checks.integer("visits", visits, 0) if visits is not None else checks.INT32_MAX // 4
        if seconds is not None and not (isinstance(seconds, (int, float)) and 0 <= seconds < float("inf")):
            raise ValueError(f"seconds must be a finite number that is not negative, not {seconds!r}")
        deadline = None if seconds is None else time.monotonic() + seconds
        self._stop.clear()
        visits = min(visits, checks.INT32_MAX // 4)
        while True:
            if self._stopping(deadline):
                self._abandon()
                break
            if self.visits < visits and len(self._rounds) < self.in_flight and (not self._rounds or self._tree.ready[ROOT]):
                self._launch(-(-(visits - self.visits) // self.playouts_per_leaf))
            elif not self._rounds:
                break
            elif self._await(deadline):
                self._finish()
        return self.visits

    def stop(self) -> None:
        """Makes a `run` in another thread return within 50 ms; what the device has not finished by then is dropped."""
        self._stop.set()

    def best(self) -> int:
        """The move to play: the most visited; P passes.

        A pass is played when there is nothing else; when the other player has passed and the score as it stands wins; or when it
        is the most visited, the score as it stands wins, and every other move looks worse (as in a seki).
        """
        tree, moves = self._tree, self._tree.moves
        visits = np.where(tree.child[ROOT] == FORBIDDEN, -1, tree.visits[ROOT]).astype(np.int64)
        if not tree.ready[ROOT]:
            raise ValueError("the search has no visits yet: run it first")
        if self._passing_wins():
            return moves - 1
        # Equal visits: more wins, then the lower number.
        best = int(np.lexsort((np.arange(moves), -tree.wins[ROOT], -visits))[0])
        if best == moves - 1 and (visits[:-1] > 0).any():
            rate = tree.wins[ROOT] / np.maximum(2 * visits, 1)
            other = int(np.lexsort((-tree.wins[ROOT][:-1], -visits[:-1]))[0])
            if self.cleanup or not self._wins_as_it_stands() or rate[best] < rate[other] + PASS_GAIN:
                return other
        return best

    def advance(self, move: int) -> None:
        """Plays a move at the root; what the tree knows of the position that results is kept.

        Raises:
          ValueError: the move is illegal or repeats an earlier position of the game.
        """
        self._abandon()
        tree = self._tree
        after = self._position.play(np.array([checks.integer("move", move, 0, tree.moves - 1)]))
        hashes = np.append(self._history, hash_numbers(self._position.hash()))
        if move != tree.moves - 1 and hash_numbers(after.hash())[0] in hashes:
            raise ValueError(f"move {move} repeats an earlier position of the game (positional superko)")
        self._history = hashes
        child = int(tree.child[ROOT, move])
        if child > 0 and tree.ready[child]:
            tree.keep(child)
            self._position = after
        else:
            size, capacity, kinds = self._tree_arguments
            self._tree = Tree(size, capacity, **kinds)
            self._plant(after)

    def lines(self, length: int) -> list[tuple[int, ...]]:
        """All lines of at most so many moves from the root that the tree holds, the shorter first."""
        tree, lines, ends = self._tree, [], [((), ROOT)]
        for _ in range(length):
            ends = [((*line, int(m)), int(tree.child[node, m])) for line, node in ends for m in np.flatnonzero(tree.child[node] > 0)]
            ends = [(line, node) for line, node in ends if tree.ready[node]]
            lines += [line for line, _ in ends]
        return lines

    def leads_to(self, moves, position: Position, history=None) -> bool:
        """Whether some moves that the tree holds lead from the root to this position of a game with this history."""
        tree, node, hashes = self._tree, ROOT, self._history
        for move in moves:
            hashes = np.append(hashes, tree.hash[node])
            node = int(tree.child[node, move])
        words, ko, passes = _leaf_input(position)
        black = np.asarray(position.to_play)[0] == BLACK
        return bool(
            tree.ready[node]
            and (self._black_moves(np.array([node]))[0] == black)
            and (tree.words[node] == words[0]).all()
            and tree.ko[node] == ko[0]
            and tree.passes[node] == passes[0]
            and np.array_equal(hashes, hash_numbers(history))
        )

    def variation(self, move: int | None = None, most: int = 20) -> list[int]:
        """The principal variation: the most visited moves from the root, or from `move` on."""
        node, line = ROOT, []
        while len(line) < most:
            visits = np.where(self._tree.child[node] == FORBIDDEN, 0, self._tree.visits[node])
            chosen = int(move) if move is not None and not line else int(visits.argmax())
            if visits[chosen] <= 0:
                break
            line.append(chosen)
            node = int(self._tree.child[node, chosen])
            if node <= 0:
                break
        return line

    def statistics(self) -> RootStatistics:
        """The root's statistics."""
        tree, black = self._tree, bool(np.asarray(self._position.to_play)[0] == BLACK)
        komi = self.komi if black else -self.komi
        visits, rave = tree.visits[ROOT].copy(), tree.rave_visits[ROOT, 0].copy()
        with np.errstate(invalid="ignore", divide="ignore"):
            total = self.visits
            return RootStatistics(
                black=black, visits=visits, win_rate=tree.wins[ROOT] / (2.0 * visits),
                lead=tree.leads[ROOT].astype(np.float64) / visits - komi, rave_visits=rave,
                rave_win_rate=tree.rave_wins[ROOT, 0] / (2.0 * rave), playable=tree.child[ROOT] != FORBIDDEN,
                root_visits=total, root_win_rate=float(tree.node_wins[ROOT] / np.float64(2 * total)),
                root_lead=float(tree.node_leads[ROOT] / np.float64(total)) - komi,
            )  # fmt: skip

    def close(self) -> None:
        """Ends the search's threads."""
        self._abandon()
        self._device.close()

    # The rounds.

    def _plant(self, position: Position) -> None:
        """Makes a position the root of an empty tree."""
        self._position = position
        self._root_input = _leaf_input(position)

    def _stopping(self, deadline: float | None) -> bool:
        # The root's first playouts are always awaited: without them there is no move to play.
        late = deadline is not None and time.monotonic() >= deadline
        return (late or self._stop.is_set()) and bool(self._tree.ready[ROOT])

    def _launch(self, most: int) -> None:
        """Chooses leaves and submits them."""
        start, tree, playouts = time.perf_counter(), self._tree, self.playouts_per_leaf
        before = tree.count
        if tree.ready[ROOT]:
            share = max(4, int(self.visits * ROUND_SHARE / playouts))
            leaves = descent.descend(tree, self.rule, self._ties, min(self.num_leaves, share, most), playouts, self.depth)
        else:
            count = min(FIRST_LEAVES, self.num_leaves, most)
            tree.node_visits[ROOT] += count * playouts
            leaves = descent.Leaves(np.zeros(count, np.int64), np.full(count, STAY), np.zeros(count, np.int32))
        held = np.where(leaves.children == FORBIDDEN, 0, leaves.children)
        ended = (leaves.children != FORBIDDEN) & tree.is_terminal(held)
        waiting = np.flatnonzero(~ended)
        call = self._submit(leaves.parents[waiting], leaves.moves[waiting]) if len(waiting) else []
        self._rounds.append(_Round(leaves, before, waiting, call))
        self.seconds["select"] += time.perf_counter() - start

    def _submit(self, parents: np.ndarray, moves: np.ndarray) -> list[concurrent.futures.Future]:
        tree = self._tree
        streams = (self._streams + np.arange(len(moves))) & checks.INT32_MAX
        self._streams += len(moves)
        black = np.asarray(self._position.to_play)[0] == BLACK
        if tree.ready[ROOT]:
            blacks = (tree.depth[parents] & 1 == 0) == black
            return self._device.submit(tree.words[parents], tree.ko[parents], tree.passes[parents], blacks, moves, streams)
        rows = [np.repeat(x, len(moves), axis=0) for x in (*self._root_input, np.array([black]))]
        return self._device.submit(*rows, moves, streams)

    def _await(self, deadline: float | None) -> bool:
        """Waits a little for the oldest round; whether it has finished."""
        start = time.perf_counter()
        wait = WAIT if deadline is None else max(0.0, min(WAIT, deadline - time.monotonic()))
        if not self._tree.ready[ROOT]:
            wait = WAIT
        pending = concurrent.futures.wait(self._rounds[0].call, timeout=wait).not_done
        self.seconds["wait"] += time.perf_counter() - start
        return not pending

    def _finish(self) -> None:
        """Adds the oldest round's results to the tree."""
        start, tree, playouts = time.perf_counter(), self._tree, self.playouts_per_leaf
        done = self._rounds.popleft()
        if done.call:
            results = self._device.gather(done.call)
            parents, moves, children = (x[done.waiting] for x in dataclasses.astuple(done.leaves))
            kept = ~self._repeats(parents, moves, children, results)
            if not kept.all():
                tree.count_visits(parents[~kept], moves[~kept], children[~kept], -playouts)
                parents, moves, children = parents[kept], moves[kept], children[kept]
                results = _some(results, kept)
            self._describe(children, results)
            by_counts = self.rule.credit is not None and self.updates == "reductions"
            firsts = results.firsts if by_counts else None
            tree.back_up(parents, moves, children, playouts, results.wins, results.lead, firsts, self.rule.strict)
            if self.rule.credit is not None and not by_counts:
                histories.add_histories(tree, children, parents, moves, results, self.rule)
        self._back_up_ends(done)
        self.seconds["back up"] += time.perf_counter() - start

    def _back_up_ends(self, done: _Round) -> None:
        """Adds the scores of games that end in the tree, as so many playouts."""
        ends = np.setdiff1d(np.arange(len(done.leaves.moves)), done.waiting)
        if not len(ends):
            return
        tree, playouts = self._tree, self.playouts_per_leaf
        parents, moves, children = (x[ends] for x in dataclasses.astuple(done.leaves))
        margin = tree.margin[children].astype(np.int64)
        result = self._result(margin, self._black_moves(children))
        firsts = np.zeros((len(ends), 4, tree.moves), np.int16) if self.rule.credit is not None else None
        if self.updates == "histories" and firsts is not None:
            firsts = None
            self._credit_ends(parents, moves, children, result)
        tree.back_up(parents, moves, children, playouts, playouts * result, playouts * margin, firsts, self.rule.strict)

    def _credit_ends(self, parents, moves, children, result) -> None:
        """The RAVE statistics of games that end in the tree, from their moves in the tree alone."""
        count, playouts = len(moves), self.playouts_per_leaf
        results = LeafResults(
            **{f.name: np.empty(count) for f in dataclasses.fields(LeafResults) if f.name not in ("moves", "captured", "results")},
            moves=np.full((count, playouts, 1), -1, np.int16), captured=np.zeros((count, playouts, 1), np.bool_),
            results=np.repeat(result[:, None], playouts, axis=1).astype(np.int8),
        )  # fmt: skip
        histories.add_histories(self._tree, children, parents, moves, results, self.rule)

    def _describe(self, children: np.ndarray, results: LeafResults) -> None:
        """Notes what the device says of nodes that are new, and which moves they may try."""
        new = np.flatnonzero((children != FORBIDDEN) & ~self._tree.ready[np.maximum(children, 0)])
        new = new[np.unique(children[new], return_index=True)[1]]
        if not len(new):
            return
        nodes = children[new]
        self._tree.describe(nodes, results, new, self._playable(results, new, self._black_moves(nodes)))

    def _playable(self, results: LeafResults, new: np.ndarray, black: np.ndarray) -> np.ndarray:
        """bool [n, M]: the moves that the search considers in the positions number `new` of the results.

        A useful move is legal and fills no own eye. The pass is considered where there is no useful move; where the other player
        has just passed and the score as it stands wins, or draws; and late, when no more useful moves are left than the board has
        rows, so that nobody must destroy himself in a seki. With `cleanup` only the first of these.
        """
        useful, before = results.useful[new], results.passes[new]
        number = useful.sum(axis=1)
        passes = number == 0
        if not self.cleanup:
            wins = self._result(results.margin[new].astype(np.int64), black) >= 1
            passes |= np.where(before == 1, wins, number <= self._tree.size)
        passes &= before < 2
        return np.concatenate([useful, passes[:, None]], axis=1)

    def _repeats(self, parents, moves, children, results: LeafResults) -> np.ndarray:
        """bool [n]: leaves that may not be: their position has been on the board before (positional superko).

        The moves that lead there are struck from the tree.
        """
        tree = self._tree
        play = (children != ROOT) & (moves != tree.moves - 1)
        bad = np.isin(results.hash, self._history)
        node = parents
        while True:
            bad |= tree.hash[node] == results.hash
            if (node == ROOT).all():
                break
            node = tree.parent[node]
        bad &= play
        bad |= (children != ROOT) & (tree.child[parents, moves] == FORBIDDEN)
        if bad.any():
            tree.child[parents[bad], moves[bad]] = FORBIDDEN
            stuck = np.unique(parents[bad])
            stuck = stuck[(tree.child[stuck] == FORBIDDEN).all(axis=1)]
            tree.child[stuck, -1] = UNEXPLORED
        return bad

    def _black_moves(self, nodes: np.ndarray) -> np.ndarray:
        """bool [n]: whether Black is to move."""
        black = np.asarray(self._position.to_play)[0] == BLACK
        return (self._tree.depth[nodes] % 2 == 0) == black

    def _result(self, margin: np.ndarray, black: np.ndarray) -> np.ndarray:
        """int64, in halves: the mover's result for his area minus the other's, and whether he is Black."""
        beyond = margin - np.where(black, self.komi, -self.komi)
        return np.sign(beyond).astype(np.int64) + 1

    def _passing_wins(self) -> bool:
        """The other player has passed, and the score as it stands wins for the player to move."""
        useful = (self._tree.child[ROOT, :-1] != FORBIDDEN).any()
        return bool(self._tree.passes[ROOT] == 1) and self._wins_as_it_stands() and not (self.cleanup and useful)

    def _wins_as_it_stands(self) -> bool:
        black = self._black_moves(np.array([ROOT]))
        return bool(self._result(self._tree.margin[ROOT : ROOT + 1].astype(np.int64), black)[0] == 2)

    def _abandon(self) -> None:
        """Drops the rounds under way, as if they had never been chosen."""
        while self._rounds:
            dropped = self._rounds.pop()
            for future in dropped.call:
                future.cancel()
            leaves = dropped.leaves
            self._tree.count_visits(leaves.parents, leaves.moves, leaves.children, -self.playouts_per_leaf)
            self._tree.forget_last(dropped.nodes_before)


def check_one_position(position) -> None:
    """TypeError or ValueError unless it is one position that is not over."""
    if not isinstance(position, Position):
        raise TypeError(f"position must be a jaxgo.Position, not {type(position).__name__}")
    if position.batch != 1:
        raise ValueError(f"position must be one position, not a batch of {position.batch}")
    if bool(np.asarray(position.is_over())[0]):
        raise ValueError("position must not be over, but two passes have ended the game")


def _leaf_input(position: Position) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(words, ko, passes) of a position as `Leaves.submit` takes them."""
    black, white = (np.stack([np.asarray(w) for w in board], axis=1) for board in (position.black, position.white))
    to_play = np.asarray(position.to_play) == BLACK
    words = np.where(to_play[:, None], np.concatenate([black, white], axis=1), np.concatenate([white, black], axis=1))
    return words, np.asarray(position.ko), np.asarray(position.passes)


def _some(results: LeafResults, index) -> LeafResults:
    """The results of some leaves."""
    values = {f.name: getattr(results, f.name) for f in dataclasses.fields(results)}
    return LeafResults(**{k: None if v is None else v[index] for k, v in values.items()})

