"""What a game record means: a game's main line as a sequence of Go positions, with what is to be said of it.

- Position k of a record is the board after k moves of the main line (the first branch everywhere), with any setup stones that
  the record places before the next move. Position 0 holds the handicap and the setup stones.
- The player to move is the one who moves next in the record. After the last move it is the other player, unless the record
  says so itself (PL). Before the first move of a record without moves: PL, else White after handicap stones, else Black.
- Two moves of one colour in a row happen in real records (a pass was left out, or handicap stones were placed as moves). They
  are played as they stand: the player to move changes, which lifts a ko and ends a row of passes.
- A stone played after two passes resumes the game; a further pass leaves it ended.
- Fox, and sites that take games from it, write the komi in hundredths, of points or of stones: KM[650] is 6.5 points, KM[375] is
  3.75 stones and so 7.5 points. A komi that cannot be is taken for none; `GameRecord.remarks` says both.

Source of Fox's komi: the readers of KataGo and of LizzieYzy.
"""

import dataclasses
from typing import TYPE_CHECKING, Literal

import numpy as np

from jaxgo.base import checks
from jaxgo.base.constants import BLACK, INT32_MAX, MOST_KOMI, WHITE
from jaxgo.records.library import sgf_properties

if TYPE_CHECKING:
    from jaxgo.board.position import Position

#: How people call the colours.
COLOUR_NAMES = {BLACK: "Black", WHITE: "White"}

_FOX, _OURS = "foxwq", "jaxgo"  # what Fox and jaxgo put into AP


@dataclasses.dataclass(frozen=True)
class Setup:
    """Stones that a record places or removes without a move, at one node."""

    after_move: int
    """How many moves of the main line precede it."""
    stones: tuple[tuple[int, int], ...]
    """(point, colour) pairs, colour 1 Black, -1 White, 0 to empty the point."""
    to_play: int | None
    """1 or -1 where the record names the player to move (PL), else None."""


@dataclasses.dataclass(frozen=True)
class GameRecord:
    """The main line of one game. Points are y * size + x with row 0 at the top, a pass is size * size; 1 Black, -1 White."""

    size: int
    """Rows and columns of the board, 2 to 25."""
    moves: tuple[tuple[int, int], ...]
    """(colour, point) for each move of the main line."""
    setups: tuple[Setup, ...] = ()
    """Handicap and other setup stones in the order of the record."""
    handicap: int = 0
    """Number of handicap stones the record states (HA), 0 without."""
    komi_text: str = ""
    """The record's komi (KM) as written, "" without."""
    rules: str = ""
    """The rules' name as written (RU), such as "Japanese", "" without."""
    black: str = ""
    """Black's name, "" without."""
    white: str = ""
    """White's name, "" without."""
    result: str = ""
    """The result as written, such as "B+14.0", "" without."""
    application: str = ""
    """The programs that wrote the record (AP), separated by blanks, "" without."""
    notes: tuple[str, ...] = ()
    """What the file holds beyond this game's main line, a sentence each: further games, variations, what could not be read."""

    def __post_init__(self) -> None:
        """Refuses a size, a colour or a point that is none."""
        points = checks.size(self.size) ** 2
        for what, colours, pairs, last in (
            ("moves", (BLACK, WHITE), self.moves, points),
            ("setups", (BLACK, WHITE, 0), [(c, p) for setup in self.setups for p, c in setup.stones], points - 1),
        ):
            for colour, point in pairs:
                if colour not in colours or not isinstance(point, (int, np.integer)) or not 0 <= point <= last:
                    allowed = f"colours {' '.join(map(str, colours))} and points 0 to {last}"
                    raise ValueError(f"{what} must be of {allowed}, not of colour {colour!r} and point {point!r}")
        for setup in self.setups:
            checks.one_of("to_play", setup.to_play, (BLACK, WHITE, None))

    @property
    def komi(self) -> float | None:
        """The record's komi in points, None where it states none, or one that cannot be (see `remarks`)."""
        return self._komi_and_remark[0]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What of the record was not taken as it is written, or is odd, a sentence each for people to read; mostly empty."""
        return tuple(filter(None, (self._komi_and_remark[1], self._turns_remark, *self.notes)))

    @property
    def result_points(self) -> float | None:
        """By how many points Black won, komi counted, as the record states; negative where White did, 0 for a draw.

        None where it states no points: a resignation, a loss on time, an unfinished game.
        """
        text = self.result.strip().replace(",", ".").upper()
        if text in ("0", "DRAW", "JIGO"):
            return 0.0
        winner, plus, points = text.partition("+")
        try:
            won = float(points)
        except ValueError:
            return None
        return {"B": won, "W": -won}.get(winner) if plus and 0 < won < float("inf") else None

    @property
    def _komi_and_remark(self) -> tuple[float | None, str]:
        """The komi, and what is to be said of it, "" for nothing."""
        text, points = self.komi_text.strip().replace(",", "."), self.size * self.size
        if not text:
            return None, ""
        remark = f"the game record's komi, KM[{self.komi_text}], is "
        try:
            written = sgf_properties.interpret_real(text.encode())
        except ValueError:
            return None, f"{remark}left out: it is no finite number"
        if self.application.startswith(_OURS):
            far = abs(written) > MOST_KOMI
            return (None, f"{remark}left out: it is beyond {MOST_KOMI:,.0f} points") if far else (written, "")
        komi = _from_hundredths(written, fox=_FOX in self.application.lower())
        if abs(komi) > points:
            return None, f"{remark}left out: it is beyond the {points} points of the board"
        return komi, "" if komi == written else f"{remark}taken for {komi:g} points: it is written in hundredths"

    @property
    def _turns_remark(self) -> str:
        """What is to be said of moves of one colour in a row, "" for nothing. Handicap stones may be placed as moves."""
        set_up = {setup.after_move for setup in self.setups}
        again = [
            number for number in range(max(1, self.handicap), len(self.moves))
            if self.moves[number][0] == self.moves[number - 1][0] and number not in set_up
        ]  # fmt: skip
        if not again:
            return ""
        first = again[0]
        more = f", and so {len(again) - 1} more times" if len(again) > 2 else ", and so once more" if len(again) > 1 else ""
        who = COLOUR_NAMES[self.moves[first][0]]
        return f"moves {first} and {first + 1} are both {who}'s{more}; they are played as they stand"

    def to_play(self, move: int) -> int:
        """The colour to move after `move` moves (1 Black, -1 White); see the module's text."""
        if move < len(self.moves):
            return self.moves[move][0]
        named = [setup.to_play for setup in self.setups if setup.after_move == move and setup.to_play]
        if named:
            return named[-1]
        if move:
            return -self.moves[move - 1][0]
        return WHITE if self.handicap > 1 else BLACK

    @property
    def last_in_play(self) -> int:
        """The number of moves without the passes that closed the game: the last position from which it could go on.

        A game that did not end with two passes was given up, or is not finished; then it is the number of moves.
        """
        points, last = [point for _, point in self.moves], len(self.moves)
        if not self.ended:
            return last
        while last and points[last - 1] == self.size * self.size:
            last -= 1
        return last

    @property
    def ended(self) -> bool:
        """Whether two passes end the record."""
        return [point for _, point in self.moves[-2:]] == [self.size * self.size] * 2

    def until(self, move: int) -> "GameRecord":
        """The record of the first `move` moves, 0 to all of them, with the same player to move after them."""
        checks.integer("move", move, 0, len(self.moves))
        kept = dataclasses.replace(
            self, moves=self.moves[:move], setups=tuple(setup for setup in self.setups if setup.after_move <= move)
        )  # fmt: skip
        if kept.to_play(move) == self.to_play(move):
            return kept
        return dataclasses.replace(kept, setups=(*kept.setups, Setup(move, (), self.to_play(move))))

    def position(self, move: int | Literal["all"] | None = None) -> "Position":
        """The position after `move` moves, as a batch of 1; or every position.

        Args:
          move: 0 to the number of moves; None for the last position; "all" for a batch of all of them, number k after k moves.

        Raises:
          TypeError: `move` is no number.
          ValueError: it is out of range, or a move or setup up to there is illegal (the text says which and why).
        """
        last = len(self.moves)
        if isinstance(move, str):
            if move != "all":
                raise ValueError(f'move must be a number from 0 to {last}, None or "all", not {move!r}')
            return self.positions()
        if move is None:
            move = last
        if checks.integer("move", move, -INT32_MAX) not in range(last + 1):
            raise ValueError(f"move must be from 0 to {last}, the number of moves of the game record, not {move}")
        import jax

        return jax.device_put(self.until(move).positions()[-1])

    def positions(self) -> "Position":
        """All positions, from before the first move to after the last, as a batch of `len(moves) + 1`.

        Raises:
          ValueError: a move or a setup is illegal (the text says which and why).
        """
        from jaxgo.records.replay import replay

        played = replay(self)
        if played.positions is None or played.fault:
            raise ValueError(played.fault)
        return played.positions


def _from_hundredths(written: float, *, fox: bool) -> float:
    """A komi in points, from what a record states: itself, or hundredths of points or of stones.

    Fox's are multiples of 25 (2.75, 3.25 and 3.75 stones, 0.5, 6.5 and 7.5 points); from 200 on such a number is taken for
    hundredths in any record. Of what is at most 4, quarters and what is at least 2 are stones, each worth two points.
    """
    if written % 25 or not (25 if fox else 200) <= abs(written) <= 2000:
        return written
    komi = written / 100
    return 2 * komi if abs(komi) <= 4 and (written % 50 or abs(komi) >= 2) else komi


def when(move: int) -> str:
    """Where in a record something stands."""
    return f"after move {move}" if move else "before the first move"
