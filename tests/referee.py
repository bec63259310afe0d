"""An independent referee: the rules of Go and of the playouts in plain Python, one board and one point at a time.

It shares no code and no method with the engine (lists and sets here, bitboards and floods there), so that a mistake has to be
made twice to go unseen. `tests/test_referee.py` checks the referee itself against published counts.

Points are numbered row by row, `p = y * N + x`, row 0 at the top; the pass is `P = N * N`. Colours are 1 (Black) and -1 (White).
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence

BLACK, WHITE, EMPTY = 1, -1, 0
NO_KO = -1
CAP_PER_POINT = 3
"""A playout ends after `CAP_PER_POINT * P` plies, passes counted."""


class IllegalMove(Exception):
    """A move that the rules forbid; the text says which rule."""


@functools.cache
def orthogonals(size: int) -> list[tuple[int, ...]]:
    """The points next to each point, orthogonally."""
    return _points_at(size, ((-1, 0), (0, -1), (0, 1), (1, 0)))


@functools.cache
def diagonals(size: int) -> list[tuple[int, ...]]:
    """The points next to each point, diagonally."""
    return _points_at(size, ((-1, -1), (-1, 1), (1, -1), (1, 1)))


def _points_at(size: int, steps: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    return [
        tuple((y + dy) * size + x + dx for dy, dx in steps if 0 <= y + dy < size and 0 <= x + dx < size)
        for y in range(size)
        for x in range(size)
    ]


class Game:
    """A position of one game and the moves from it: board, side to move, ko point, passes in a row."""

    def __init__(
        self, size: int, stones: Sequence[int] | None = None, *, to_play: int = BLACK, ko: int = NO_KO, passes: int = 0
    ) -> None:
        self.size = size
        self.num_points = size * size
        self.stones = [EMPTY] * self.num_points if stones is None else [int(stone) for stone in stones]
        self.to_play = to_play
        self.ko = ko
        self.passes = passes
        if len(self.stones) != self.num_points:
            raise ValueError(f"{len(self.stones)} stones on a board of {self.num_points} points")

    @property
    def pass_move(self) -> int:
        """The number that stands for a pass."""
        return self.num_points

    @property
    def is_over(self) -> bool:
        """The last two plies were passes."""
        return self.passes >= 2

    def copy(self) -> "Game":
        """An independent copy."""
        other = Game(self.size, to_play=self.to_play, ko=self.ko, passes=self.passes)
        other.stones = self.stones.copy()
        return other

    def key(self) -> tuple[tuple[int, ...], int, int, int]:
        """Everything the future depends on, hashable: stones, side to move, ko point, passes."""
        return tuple(self.stones), self.to_play, self.ko, self.passes

    def chain(self, point: int) -> tuple[set[int], set[int]]:
        """The stones of the chain that stands on `point`, and its liberties."""
        stones, around = self.stones, orthogonals(self.size)
        colour = stones[point]
        members, liberties, frontier = {point}, set(), [point]
        while frontier:
            for neighbour in around[frontier.pop()]:
                stone = stones[neighbour]
                if stone == EMPTY:
                    liberties.add(neighbour)
                elif stone == colour and neighbour not in members:
                    members.add(neighbour)
                    frontier.append(neighbour)
        return members, liberties

    def every_stone_has_liberties(self) -> bool:
        """The board can arise in a game: no chain is without a liberty."""
        return all(liberties for _, liberties in self.chains())

    def chains(self) -> list[tuple[set[int], set[int]]]:
        """All chains of the board: their stones and their liberties."""
        found, seen = [], set()
        for point, stone in enumerate(self.stones):
            if stone != EMPTY and point not in seen:
                members, liberties = self.chain(point)
                seen |= members
                found.append((members, liberties))
        return found

    def why_illegal(self, point: int) -> str | None:
        """The rule that forbids the side to move to play at `point`, tried out on the board; None if the move is legal."""
        if self.is_over:
            return "the game is over"
        if point == self.pass_move:
            return None
        if not 0 <= point < self.num_points:
            return "off the board"
        if self.stones[point] != EMPTY:
            return "occupied"
        if point == self.ko:
            return "ko"
        around = orthogonals(self.size)[point]
        if any(self.stones[neighbour] == EMPTY for neighbour in around):
            return None  # a liberty of its own
        self.stones[point] = self.to_play
        try:
            captures = any(
                self.stones[neighbour] == -self.to_play and not self.chain(neighbour)[1] for neighbour in around
            )
            return None if captures or self.chain(point)[1] else "suicide"
        finally:
            self.stones[point] = EMPTY

    def legal_points(self) -> list[int]:
        """The points (no pass) that are legal for the side to move, in rising order.

        Found by counting liberties, not by trying: a stone survives next to an empty point, next to an own chain that keeps
        another liberty, or by capturing an enemy chain whose last liberty it takes.
        """
        if self.is_over:
            return []
        liberties_of = [0] * self.num_points
        for members, liberties in self.chains():
            for member in members:
                liberties_of[member] = len(liberties)
        stones, around, me = self.stones, orthogonals(self.size), self.to_play
        legal = []
        for point, stone in enumerate(stones):
            if stone == EMPTY and point != self.ko:
                for neighbour in around[point]:
                    other = stones[neighbour]
                    if other == EMPTY or (liberties_of[neighbour] > 1 if other == me else liberties_of[neighbour] == 1):
                        legal.append(point)
                        break
        return legal

    def play(self, point: int) -> list[int]:
        """Plays a move or a pass for the side to move and returns the captured points; raises IllegalMove."""
        reason = self.why_illegal(point)
        if reason:
            raise IllegalMove(f"{point} for {self.to_play}: {reason}\n{self}")
        me, self.to_play, self.ko = self.to_play, -self.to_play, NO_KO
        if point == self.pass_move:
            self.passes += 1
            return []
        self.passes = 0
        self.stones[point] = me
        captured = []
        for neighbour in orthogonals(self.size)[point]:
            if self.stones[neighbour] == -me:
                members, liberties = self.chain(neighbour)
                if not liberties:
                    captured.extend(members)
                    for member in members:
                        self.stones[member] = EMPTY
        if len(captured) == 1:
            # A ko: one stone took one stone, and could be taken back by a stone on the point that fell empty.
            members, liberties = self.chain(point)
            if len(members) == 1 and len(liberties) == 1:
                self.ko = captured[0]
        return captured

    def is_eye(self, point: int, colour: int) -> bool:
        """`point` is an eye of `colour` by the playouts' rule.

        It is empty, its orthogonal neighbours are all of the colour, and its diagonal neighbours hold at most one enemy stone, or
        none where the point is on an edge or corner.
        """
        stones = self.stones
        if stones[point] != EMPTY:
            return False
        for neighbour in orthogonals(self.size)[point]:
            if stones[neighbour] != colour:
                return False
        corners = [stones[corner] for corner in diagonals(self.size)[point]]
        return corners.count(-colour) <= (1 if len(corners) == 4 else 0)

    def candidates(self) -> list[int]:
        """What a playout draws from: the legal points that are no own eye, in rising order. Empty means: pass."""
        return [point for point in self.legal_points() if not self.is_eye(point, self.to_play)]

    def area(self) -> list[int]:
        """Whose each point is: 1, -1, or 0. An empty region belongs to a colour if it touches only that one."""
        owner, around = list(self.stones), orthogonals(self.size)
        seen = set()
        for start, stone in enumerate(self.stones):
            if stone != EMPTY or start in seen:
                continue
            region, frontier, touched = {start}, [start], set()
            while frontier:
                for neighbour in around[frontier.pop()]:
                    if self.stones[neighbour] != EMPTY:
                        touched.add(self.stones[neighbour])
                    elif neighbour not in region:
                        region.add(neighbour)
                        frontier.append(neighbour)
            seen |= region
            if len(touched) == 1:
                (colour,) = touched
                for point in region:
                    owner[point] = colour
        return owner

    def margin(self) -> int:
        """Black's area minus White's."""
        return sum(self.area())

    def __str__(self) -> str:
        rows = [self.stones[y * self.size : (y + 1) * self.size] for y in range(self.size)]
        board = "\n".join(" ".join(".XO"[stone] for stone in row) for row in rows)
        return f"{board}\nto play {self.to_play}, ko {self.ko}, passes {self.passes}"


def parse(text: str, *, to_play: int = BLACK, ko: int = NO_KO, passes: int = 0) -> tuple[Game, dict[str, int]]:
    """Reads a diagram: X Black, O White, . empty; lower-case letters are empty points with a name.

    Returns:
        The game, and the named points.
    """
    rows = [line.split() for line in text.strip().splitlines()]
    cells = [cell for row in rows for cell in row]
    if any(len(row) != len(rows) for row in rows):
        raise ValueError(f"no square:\n{text}")
    named = {cell: point for point, cell in enumerate(cells) if cell.islower()}
    stones = [{"X": BLACK, "O": WHITE}.get(cell, EMPTY) for cell in cells]
    return Game(len(rows), stones, to_play=to_play, ko=ko, passes=passes), named


def count_sequences(game: Game, depth: int, *, passes: bool, superko: bool = False) -> int:
    """How many sequences of exactly `depth` plies there are from a position; a sequence ends after two passes.

    With `superko`, no move may bring back the stones of an earlier position of the sequence (passes may).
    """

    def count(game: Game, depth: int, before: frozenset[tuple[int, ...]]) -> int:
        if depth == 0:
            return 1
        total = 0
        for move in game.legal_points() + ([game.pass_move] if passes and not game.is_over else []):
            after = game.copy()
            after.play(move)
            board = tuple(after.stones)
            if move == game.pass_move or not superko or board not in before:
                total += count(after, depth - 1, before | {board})
        return total

    return count(game, depth, frozenset({tuple(game.stones)}))


@dataclasses.dataclass
class Choice:
    """One draw of a playout: how many moves there were to choose from, and which of them (in rising order) was chosen."""

    ply: int
    num_candidates: int
    rank: int


def validate_playout(
    start: Game,
    moves: Sequence[int],
    *,
    max_plies: int | None = None,
    length: int | None = None,
    truncated: bool | None = None,
    margin: int | None = None,
    board: Sequence[int] | None = None,
    captured: Sequence[bool] | None = None,
    preferred: Callable[[Game, Sequence[int], list[int]], list[int]] = lambda game, moves, candidates: candidates,
) -> list[Choice]:
    """Replays a recorded playout and asserts that it keeps every rule of the playouts and ended when and as it should.

    Args:
        start: The position it began from; left as it is.
        moves: Points, P for a pass, filled up with -1.
        max_plies: The cap; `CAP_PER_POINT * P` by default.
        length, truncated, margin: What the engine says of the playout; None is not looked at.
        board: [P] the final stones the engine gave.
        captured: Per ply, whether it captured; as long as `moves`.
        preferred: Called with a position, the moves before it and its candidates; gives those, in rising order, of which the move
            must be one; the pass alone where it must be that. By default it is all of them.

    Returns:
        The choices of the playout, passes left out.
    """
    game, choices = start.copy(), []
    max_plies = CAP_PER_POINT * game.num_points if max_plies is None else max_plies
    plies = [int(move) for move in moves]
    num_plies = plies.index(-1) if -1 in plies else len(plies)
    assert all(move == -1 for move in plies[num_plies:]), "a move behind the end of the record"
    assert num_plies <= max_plies, f"{num_plies} plies, but the cap is {max_plies}"
    for ply, move in enumerate(plies[:num_plies]):
        assert not game.is_over, f"ply {ply} comes after the end\n{game}"
        candidates = game.candidates()
        chosen = preferred(game, plies[:ply], candidates)
        if move == game.pass_move:
            assert chosen in ([], [move]), f"ply {ply} passes, but {chosen} could be played\n{game}"
        else:
            reason = game.why_illegal(move) or "own eye"
            assert move in candidates, f"ply {ply}, {move}, is not one of {candidates}: {reason}\n{game}"
            assert move in chosen, f"ply {ply}: {move} is not one of {chosen}\n{game}"
            choices.append(Choice(ply, len(chosen), chosen.index(move)))
        taken = game.play(move)
        if captured is not None:
            assert bool(captured[ply]) == bool(taken), f"ply {ply} captured {taken}, the record says {captured[ply]}\n{game}"
    assert game.is_over or num_plies == max_plies, f"stopped after {num_plies} plies of {max_plies}\n{game}"
    if captured is not None:
        assert not any(captured[num_plies:]), "a capture behind the end of the record"
    if length is not None:
        assert length == num_plies, f"length {length}, but {num_plies} plies"
    if truncated is not None:
        assert bool(truncated) == (not game.is_over), f"truncated {truncated} with {game.passes} passes at the end"
    if board is not None:
        assert [int(stone) for stone in board] == game.stones, f"another board than\n{game}"
    if margin is not None:
        assert margin == game.margin(), f"margin {margin} instead of {game.margin()}\n{game}"
    return choices
