"""An independent tree search: plain Python objects, the rules of `tests.referee`.

RAVE as Gelly posted it in 2009 with its slips corrected, and UCT: what the search has to build, whatever the leaves of a round
and the rounds under way. It shares with the package only what has no right answer of its own: the random playouts (fed as lists
of moves), the hashes of positions and the random numbers that break ties. It finds captures, legality, repetitions and results
itself, by the referee.

A node keeps the results of the player to move there; who moves to it reads them the other way round. Results are in halves: win
2, draw 1, loss 0.
"""

import collections
import functools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from search.features import FEATURES
from search.move_weights import strengths as strengths_of_weights
from search.rounds import PLAYOUTS_A_LOSS, UNDER_WAY_SHARE
from tests.referee import Game
from tests.scalar_features import distance, features, number_of_pattern, number_of_shape, number_of_sides, turned_shapes

Feed = Callable[[Game, int, int], list[list[int]]]
"""(position, number of the leaf, number of playouts) -> the moves of each."""
Ply = tuple[int, bool]
"""A move and whether it captured."""


class Node:
    """A position in the tree."""

    def __init__(self, game: Game, parent: "Node | None", move: int | None, hash: int, candidates: list[int]):
        self.game, self.parent, self.move, self.hash, self.candidates = game, parent, move, hash, candidates
        self.depth: int = parent.depth + 1 if parent else 0
        self.children: dict[int, Node] = {}
        self.visits = self.pending = self.wins = self.lead = self.squares = 0
        """Playouts, those on their way included; those on their way; sums over the others."""
        self.rave_visits = collections.defaultdict(Fraction)
        """By (0 for the player to move or 1 for the other, point)."""
        self.rave_wins = collections.defaultdict(Fraction)
        """The same, for the player who earned them."""
        self.priors: dict[int, tuple[int, int]] = {}
        """Prior playouts of moves, won and lost."""
        self.described = self.struck = False
        """Whether its first playouts have come back, and whether these showed that it repeats a position."""

    def line(self) -> "list[Node]":
        """The nodes from the root to this one."""
        return [*(self.parent.line() if self.parent else ()), self]


class ScalarTree:
    """The search.

    Args:
      game: the root.
      rule: read for its numbers: `credit`, `strict`, `schedule`, `bias`, `k`, `exploration`, `first_play`, `reference_visits`,
        and those of its `knowledge`.
      komi: points that White gets.
      playouts_per_leaf: how many playouts a leaf gets at each visit.
      feed: gives the moves of a leaf's playouts.
      ties: (hash of a node's position, its visits) -> what is added to the values of its moves.
      hash_of: the hash of a position's stones.
      leaves, in_flight: leaves of a round, at most, and rounds under way at a time.
      share: playouts under way at a time, at most, as a share of the root's.
      losses: virtual ones of a leaf under way.
      history: stones of the game's positions before the root, that must not come back.
    """

    def __init__(
        self, game: Game, rule, *, komi: float, playouts_per_leaf: int, feed: Feed, ties, hash_of: Callable[[Game], int],
        leaves: int = 1, in_flight: int = 1, share: float = UNDER_WAY_SHARE, losses: int | None = None, history: Iterable[tuple[int, ...]] = (),
    ):  # fmt: skip
        self.rule, self.komi, self.playouts_per_leaf, self.feed, self.ties = rule, komi, playouts_per_leaf, feed, ties
        self.hash_of, self.leaves, self.in_flight, self.before = hash_of, leaves, in_flight, set(history)
        self.share, self.losses = share, losses or max(1, playouts_per_leaf // PLAYOUTS_A_LOSS)
        self.num_leaves = 0
        self.struck = self.ended = 0
        """Moves that repeated a position, and visits to games that end in the tree, after the first to each."""
        self.root = self.new_node(game, None, None)

    def run(self, visits: int) -> None:
        """Searches until the root has had so many playouts."""
        rounds: collections.deque[list[tuple[Node, int | None]]] = collections.deque()
        while True:
            if self.root.visits < visits and (not rounds or self.root.described and len(rounds) < self.may_be_under_way()):
                rounds.append(self.choose_leaves(-(-(visits - self.root.visits) // self.playouts_per_leaf)))
            elif rounds:
                for leaf, number in rounds.popleft():
                    self.take_results(leaf, number)
            else:
                break

    def may_be_under_way(self) -> int:
        """Rounds under way: three, and more where as many full ones are at most the share of the root's playouts."""
        full = self.playouts_per_leaf * self.leaves
        return min(self.in_flight, max(3, int(self.root.visits * self.share) // full))

    def choose_leaves(self, most: int) -> list[tuple[Node, int | None]]:
        """The leaves of a round, each chosen after the one before has left its virtual losses behind; and their numbers.

        A round is at most the share of the root's playouts, divided by the first three rounds; the very first has 16 leaves at
        most.
        Ends of the game get no number: their playouts are known.
        """
        rounds = self.playouts_per_leaf * min(self.in_flight, 3)
        share = max(4, int(self.root.visits * self.share / rounds)) if self.root.described else 16
        out = []
        for _ in range(min(self.leaves, share, most)):
            leaf = self.descend()
            for node in leaf.line():
                node.visits += self.playouts_per_leaf
                node.pending += self.playouts_per_leaf
            ended = leaf.game.is_over and leaf.described
            self.ended += ended
            self.num_leaves += not ended
            out.append((leaf, None if ended else self.num_leaves - 1))
        return out

    def descend(self) -> Node:
        """The leaf that one descent reaches."""
        node = self.root
        while node.described and not node.game.is_over:
            move = self.choose(node.line())
            if move not in node.children:
                game = node.game.copy()
                game.play(move)
                node.children[move] = self.new_node(game, node, move)
            node = node.children[move]
        return node

    def take_results(self, leaf: Node, number: int | None) -> None:
        """Backs up a leaf's playouts, or takes its visits back where it repeats a position."""
        path = leaf.line()
        moves = [node.move for node in path[1:]]
        for node in path:
            node.pending -= self.playouts_per_leaf
        if not leaf.described and not leaf.struck and self.repeats(path, moves):
            self.strike(path[-2], moves[-1])
        if leaf.struck:
            for node in path:
                node.visits -= self.playouts_per_leaf
            return
        leaf.described = True
        lines = [[]] * self.playouts_per_leaf if number is None else self.feed(leaf.game, number, self.playouts_per_leaf)
        captured = [bool(node.game.copy().play(move)) for node, move in zip(path, moves)]
        for line in lines:
            self.back_up(path, list(zip(moves, captured)), line)

    def new_node(self, game: Game, parent: Node | None, move: int | None) -> Node:
        """A node that no playout has come back to."""
        node = Node(game, parent, move, self.hash_of(game), self.candidates(game))
        if self.rule.knowledge is not None:
            node.priors = self.priors(game, move, parent.move if parent else None)
        return node

    def priors(self, game: Game, *moves: int | None) -> dict[int, tuple[int, int]]:
        """Prior playouts of a node's moves, won and lost, given the last move and the one before; None is not known."""
        known = self.rule.knowledge
        priors = {point: (known.even, known.even) for point in range(game.num_points)}
        points = [-1 if move is None or move == game.pass_move else move for move in moves]
        of_shapes = self.shape_weights
        weights = dict.fromkeys([] if game.is_over else game.candidates(), 0)
        for name, said in features(game).items():
            for point in said:
                weights[point] += int(known.weights.features[FEATURES.index(name)])
        strengths = {}
        for point, weight in weights.items():
            y, x = divmod(point, game.size)
            line = min(y, x, game.size - 1 - y, game.size - 1 - x, 4)
            weight += int(known.weights.lines[line]) + int(known.weights.patterns[number_of_pattern(game, point)])
            weight += int(known.weights.sides[number_of_sides(game, point)])
            weight += of_shapes.get(min(turned_shapes(number_of_shape(game, point))), 0)
            for which, other in enumerate(points):
                weight += int(known.weights.distances[which, distance(game.size, point, other)]) if other >= 0 else 0
            strengths[point] = float(strengths_of_weights()[1023 + min(max(weight, -1023), 1023)])
        total = sum(strengths.values())
        for point, strength in strengths.items():
            priors[point] = min(known.even + int(known.likely * (math.sqrt(strength) / math.sqrt(total)) + 0.5), 255), known.even
        return priors

    @functools.cached_property
    def shape_weights(self) -> dict[int, int]:
        """Those of shapes, by number."""
        weights = self.rule.knowledge.weights
        return dict(zip(weights.shapes.tolist(), weights.shape_weights.tolist()))

    def candidates(self, game: Game) -> list[int]:
        """The moves to try: legal, no own eye; and the pass.

        It is one if there is no other, if it ends the game without a loss, or if so few points are left that a player might have
        to destroy himself.
        """
        if game.is_over:
            return []
        points = game.candidates()
        if not points:
            passes = True
        elif game.passes == 1:
            passes = self.result(game.margin(), game.to_play) >= 1
        else:
            passes = len(points) <= game.size
        return points + [game.pass_move] * passes

    def result(self, margin: int, colour: int) -> int:
        """The colour's result, from Black's area minus White's."""
        beyond = colour * (margin - self.komi)
        return 2 if beyond > 0 else 1 if beyond == 0 else 0

    def repeats(self, path: list[Node], moves: list[int]) -> bool:
        """The last move brings back the stones of an earlier position (positional superko; passes may)."""
        if not moves or moves[-1] == path[0].game.pass_move:
            return False
        stones = tuple(path[-1].game.stones)
        return stones in self.before or any(stones == tuple(node.game.stones) for node in path[:-1])

    def strike(self, node: Node, move: int) -> None:
        """Takes a move that repeats a position out of the tree; who has no other may pass."""
        self.struck += 1
        node.children.pop(move).struck = True
        node.candidates.remove(move)
        if not node.candidates:
            node.candidates = [node.game.pass_move]

    def choose(self, path: list[Node]) -> int:
        """The move of the highest value at the end of the path."""
        node = path[-1]
        reference = next((n for n in reversed(path) if n.visits >= self.rule.reference_visits), path[0])
        extra = self.ties(node.hash, node.visits)
        return max(node.candidates, key=lambda move: self.value(node, reference, move) + extra[move])

    def value(self, node: Node, reference: Node, move: int) -> float:
        """What the player to move expects of a move."""
        rule, child = self.rule, node.children.get(move)
        visits = wins = 0
        if child:
            done = child.visits - child.pending
            visits, wins = done + child.pending // self.playouts_per_leaf * self.losses, 2 * done - child.wins
        won, lost = node.priors.get(move, (0, 0))
        visits, wins = visits + won + lost, wins + 2 * won
        quality = wins / (2 * visits) if visits else None
        if rule.credit is None:
            return rule.first_play if not visits else quality + rule.exploration * math.sqrt(math.log(node.visits) / visits)
        key = ((node.depth - reference.depth) % 2, move)
        rave_visits = reference.rave_visits.get(key, 0)
        if not visits and not rave_visits:
            return rule.first_play
        if not rave_visits:
            return quality
        rave = reference.rave_wins[key] / (2 * rave_visits)
        if not visits:
            return rave
        if rule.schedule == "mse":
            beta = rave_visits / (rave_visits + visits + rave_visits * visits * rule.bias**2 / 0.25)
        else:
            beta = math.sqrt(rule.k / (3 * node.visits + rule.k))
        return (1 - beta) * quality + beta * rave

    def back_up(self, path: list[Node], in_tree: list[Ply], line: list[int]) -> None:
        """Adds one playout to the nodes of the path."""
        game = path[-1].game.copy()
        plies = in_tree + [(move, bool(game.play(move))) for move in line]
        margin = game.margin()
        for node in path:
            colour = node.game.to_play
            result = self.result(margin, colour)
            node.wins += result
            node.lead += colour * margin
            node.squares += margin**2
            if self.rule.credit is not None:
                for (whose, point), amount in self.earned(node, plies[node.depth :], len(in_tree) - node.depth):
                    node.rave_visits[whose, point] += amount
                    node.rave_wins[whose, point] += amount * (result if whose == 0 else 2 - result)

    def earned(self, node: Node, plies: list[Ply], in_tree: int) -> list[tuple[tuple[int, int], float]]:
        """((0 for the node's mover or 1, point), credit) of a playout seen from a node; its first plies lie in the tree."""
        moves = [move for move, _ in plies]
        on_board = [ply for ply, move in enumerate(moves) if move != node.game.pass_move]
        if self.rule.credit == "amaf":
            test = self.is_first_strictly if self.rule.strict else self.is_first_loosely
            return [((ply % 2, moves[ply]), 1) for ply in on_board if test(moves, ply, in_tree)]
        own = [ply for ply in on_board if ply % 2 == 0]
        if self.rule.credit == "weighted_v1":
            own = [ply for ply in own if moves[ply] not in moves[:ply]]
            return [((0, moves[ply]), 1 - Fraction(ply, len(moves))) for ply in own]
        if self.rule.credit == "weighted_v2":
            return [((0, moves[ply]), 1 - Fraction(ply, len(moves) + 1)) for ply in own]
        prefix = self.reorderable(node.game, plies)
        own = [ply for ply in own if ply < prefix]
        return [((0, moves[ply]), Fraction(1, len(own))) for ply in own]

    @staticmethod
    def is_first_strictly(moves: list[int], ply: int, in_tree: int) -> bool:
        """Nobody played the point before."""
        return moves[ply] not in moves[:ply]

    @staticmethod
    def is_first_loosely(moves: list[int], ply: int, in_tree: int) -> bool:
        """Gelly's posted code: in the tree his own earlier moves count, in the playout those of both."""
        if moves[ply] in moves[in_tree:ply]:
            return False
        return moves[ply] not in moves[: min(ply, in_tree)][ply % 2 :: 2]

    @staticmethod
    def reorderable(game: Game, plies: list[Ply]) -> int:
        """Length of the longest prefix whose plies could be reordered within each colour (House's MCTR, simple mode)."""
        root = {0: game, 1: Game(game.size, game.stones, to_play=-game.to_play)}
        used = set()
        for ply, (move, captures) in enumerate(plies):
            if move == game.pass_move:
                continue
            if captures or move in used or root[ply % 2].why_illegal(move):
                return max(ply, 1)
            used.add(move)
        return len(plies)

    def nodes(self) -> dict[tuple[int, ...], Node]:
        """All nodes by the moves that lead to them."""
        found, frontier = {}, [((), self.root)]
        while frontier:
            path, node = frontier.pop()
            found[path] = node
            frontier += [((*path, move), child) for move, child in node.children.items()]
        return found
