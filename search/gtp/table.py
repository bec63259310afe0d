"""The board on the table: the game, its komi and rules, handicap stones."""

import pathlib

import numpy as np

from jaxgo import BLACK, WHITE, Position
from jaxgo.board.coordinates import COLUMNS, coordinate
from jaxgo.board.stones import captured_by
from jaxgo.playing.policies.in_order import begun, policy_of
from jaxgo.records.record import GameRecord
from jaxgo.records.sgf import read_as_far_as_possible
from search import rulesets
from search.game import Game
from search.gtp import protocol
from search.gtp.options import DEFAULT_KOMI, DEFAULT_SIZE, EngineOptions
from search.gtp.protocol import Failure
from search.records import as_record
from search.replay import together

#: What stands for the rules in a record whose rules were asked for, but not played.
AREA = "area"


class Table:
    """What the client has set up and played.

    Args:
      options: where it begins.
    """

    def __init__(self, options: EngineOptions):
        self.rules, self._policy = options.rules, options.policy
        #: Points for White as the client knows them; the rules may add some for handicap stones.
        self.nominal_komi = DEFAULT_KOMI if options.komi is None else options.komi
        self.clear(options.size or DEFAULT_SIZE)

    @property
    def size(self) -> int:
        """N."""
        return self.game.size

    @property
    def komi(self) -> float:
        """Points for White, those for handicap stones included."""
        return self.nominal_komi + self.rules.handicap_bonus(self.handicap)

    @property
    def handicap(self) -> int:
        """Handicap stones, set up or played before White's first move; 0 without."""
        number = rulesets.handicap_stones(self._set_up, self.game.moves, self.size**2)[-1]
        return number if number > 1 else 0

    @property
    def played(self) -> int:
        """Moves since the handicap stones stand."""
        return len(self.game.moves) - max(0, self.handicap - len(self._set_up))

    @property
    def stones(self) -> np.ndarray:
        """int8 [N, N]: 1 Black, -1 White, 0 empty; row 0 is the top."""
        return np.asarray(self.game.position.to_array())[0]

    def clear(self, size: int) -> None:
        """An empty board.

        Raises:
          Failure: the playouts' policy is for boards of another size.
        """
        try:
            policy_of(begun(self._policy, size), size)
        except ValueError as error:
            raise Failure(f"{protocol.UNACCEPTABLE_SIZE}: {error}") from None
        self._begin(Game(Position.empty(size)))

    def load(self, path: str, before: int | None) -> None:
        """A game record's position before a move number, by default after all moves, and its komi and rules.

        What is remarkable is said on stderr.

        Raises:
          Failure: the record cannot be read, or is no Go game that can be played here; the text says why.
        """
        try:
            record, fault = read_as_far_as_possible(pathlib.Path(path))
            if fault and (before is None or before - 1 > len(record.moves)):  # else what is wrong comes later
                raise ValueError(fault)
            last = len(record.moves) if before is None else min(before - 1, len(record.moves))
            komi = self.nominal_komi if record.komi is None else record.komi
            game = Game.of_record(record, last, komi)
            policy_of(begun(self._policy, game.size), game.size)
        except ValueError as error:
            raise Failure(f"cannot load file: {error}") from None
        for remark in record.remarks:
            protocol.remark(remark)
        self.nominal_komi, self.rules = komi, self._rules_of(record)
        self._begin(game)

    def _rules_of(self, record: GameRecord) -> rulesets.Ruleset:
        """A record's rules, or those on the table where it names none that are known."""
        if not record.rules or record.rules == AREA:
            return self.rules
        try:
            rules, warning = rulesets.find(record.rules)
        except ValueError:
            rules, warning = self.rules, f"the game record's rules, RU[{record.rules:.60}], are not known; they stay as they are"
        if warning:
            protocol.remark(warning)
        return rules

    def record(self) -> bytes:
        """The game as an SGF record; its rules are those that were played."""
        name = self.rules.name
        properties = {"KM": self.nominal_komi, "RU": name if name and rulesets.find(name)[1] is None else AREA}
        if self.handicap:
            properties["HA"] = self.handicap
        return as_record(self.game, properties)

    def place_handicap(self, points: list[int]) -> None:
        """Handicap stones on the empty board; White moves next."""
        self.set_up({point: BLACK for point in points}, WHITE)

    def set_up(self, stones: dict[int, int], to_play: int) -> None:
        """These stones alone, points and colours, and a player to move; there is no game before.

        Raises:
          ValueError: some have no liberties.
        """
        board = np.zeros(self.size**2, np.int8)
        board[list(stones)] = list(stones.values())
        self._begin(Game(Position.from_array(board.reshape(self.size, self.size), to_play=to_play)))

    def _begin(self, game: Game) -> None:
        self.game = game
        stones = np.asarray(game.positions[0].to_array())
        self._set_up = stones[stones != 0].tolist()

    @property
    def empty(self) -> bool:
        """Whether nothing has been placed or played."""
        return not self.game.moves and not self.stones.any()

    def captured(self, colour: int) -> int:
        """How many of a player's stones moves have captured; what a record sets up or takes off between moves does not count."""
        moves = zip(np.asarray(together(self.game.positions).to_array()), self.game.moves)
        return sum(len(captured_by(before, *move)) for before, move in moves if move[0] == -colour)

    def diagram(self) -> str:
        """The board as text, the last three moves numbered."""
        size, stones = self.size, self.stones
        recent = {point: number for number, (_, point) in enumerate(self.game.moves[-3:], start=1) if point < size * size}
        rows = [f"   {' '.join(COLUMNS[:size])}"]
        for y in range(size):
            marks = "".join(
                f"{'.XO'[stones[y, x]]}{recent.get(y * size + x, ' ') if stones[y, x] else ' '}" for x in range(size)
            )  # fmt: skip
            rows.append(f"{size - y:2d} {marks}".rstrip())
        return "\n".join(rows)


def names(points, size: int) -> str:
    """Points by their names."""
    return " ".join(coordinate(int(point), size) for point in points)
