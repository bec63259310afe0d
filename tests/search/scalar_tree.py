"""An independent tree search: one leaf at a time, plain Python objects, the rules of `tests.referee`.

RAVE as Gelly posted it in 2009 with its slips corrected, and UCT: what the batched search has to build when it takes one leaf at
a time. It shares with the package only what has no right answer of its own: the random playouts (fed as lists of moves) and the
random numbers that break ties. It finds captures, legality, repetitions and results itself, by the referee.

A node keeps the results of the player to move there; who moves to it reads them the other way round. Results are in halves: win
2, draw 1, loss 0.
"""

import collections
import math
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np

from tests.referee import Game
from tests.rounding import UNITS, in_units

Feed = Callable[[Game, int, int], list[list[int]]]
"""(position, number of the leaf, number of playouts) -> the moves of each."""
Ply = tuple[int, bool]
"""A move and whether it captured."""


class Node:
    """A position in the tree."""

    def __init__(self, game: Game, number: int, depth: int, candidates: list[int]):
        self.game, self.number, self.depth, self.candidates = game, number, depth, candidates
        self.children: dict[int, Node] = {}
        self.visits = self.wins = self.lead = self.squares = 0
        self.rave_visits = collections.defaultdict(float)
        """By (0 for the player to move or 1 for the other, point)."""
        self.rave_wins = collections.defaultdict(float)
        """The same, for the player who earned them."""


class ScalarTree:
    """The search.

    Args:
      game: the root.
      rule: read for its numbers: `credit`, `strict`, `schedule`, `bias`, `k`, `exploration`, `first_play`, `reference_visits`.
      komi: points that White gets.
      playouts_per_leaf: how many playouts a leaf gets at each visit.
      feed: gives the moves of a leaf's playouts.
      ties: (numbers of nodes, their visits) -> what is added to the values of their moves.
      history: stones of the game's positions before the root, that must not come back.
    """

    def __init__(
        self, game: Game, rule, *, komi: float, playouts_per_leaf: int, feed: Feed, ties, history: Iterable[tuple[int, ...]] = ()
    ):
        self.rule, self.komi, self.playouts_per_leaf, self.feed, self.ties = rule, komi, playouts_per_leaf, feed, ties
        self.before = set(history)
        self.num_nodes = self.num_leaves = 0
        self.struck = self.ended = 0
        """Moves that repeated a position, and visits to games that end in the tree, after the first to each."""
        self.root = self.new_node(game, 0)

    def run(self, visits: int) -> None:
        """Searches until the root has had so many playouts."""
        while self.root.visits < visits:
            self.visit_one_leaf()

    def visit_one_leaf(self) -> None:
        """One descent, its playouts and their backup."""
        path, moves = [self.root], []
        while path[-1].visits and not path[-1].game.is_over:
            node = path[-1]
            moves.append(self.choose(path))
            if moves[-1] not in node.children:
                game = node.game.copy()
                game.play(moves[-1])
                node.children[moves[-1]] = self.new_node(game, node.depth + 1)
            path.append(node.children[moves[-1]])
        leaf = path[-1]
        if leaf.game.is_over and leaf.visits:
            self.ended += 1
            lines = [[]] * self.playouts_per_leaf
        else:
            self.num_leaves += 1
            if self.repeats(path, moves):
                self.strike(path[-2], moves[-1])
                return
            lines = self.feed(leaf.game, self.num_leaves - 1, self.playouts_per_leaf)
        captured = [bool(node.game.copy().play(move)) for node, move in zip(path, moves)]
        for line in lines:
            self.back_up(path, list(zip(moves, captured)), line)

    def new_node(self, game: Game, depth: int) -> Node:
        """A node; they are numbered as they are made."""
        self.num_nodes += 1
        return Node(game, self.num_nodes - 1, depth, self.candidates(game))

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
        del node.children[move]
        node.candidates.remove(move)
        if not node.candidates:
            node.candidates = [node.game.pass_move]

    def choose(self, path: list[Node]) -> int:
        """The move of the highest value at the end of the path."""
        node = path[-1]
        reference = next((n for n in reversed(path) if n.visits >= self.rule.reference_visits), path[0])
        extra = self.ties(np.array([node.number]), np.array([node.visits]))[0]
        return max(node.candidates, key=lambda move: self.value(node, reference, move) + extra[move])

    def value(self, node: Node, reference: Node, move: int) -> float:
        """What the player to move expects of a move."""
        rule, child = self.rule, node.children.get(move)
        visits = child.visits if child else 0
        quality = 1 - child.wins / (2 * visits) if visits else None
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
            node.visits += 1
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
            return [((0, moves[ply]), in_units(1 - Fraction(ply, len(moves))) / UNITS) for ply in own]
        if self.rule.credit == "weighted_v2":
            return [((0, moves[ply]), in_units(1 - Fraction(ply, len(moves) + 1)) / UNITS) for ply in own]
        prefix = self.reorderable(node.game, plies)
        own = [ply for ply in own if ply < prefix]
        return [((0, moves[ply]), in_units(Fraction(1, len(own))) / UNITS) for ply in own]

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
