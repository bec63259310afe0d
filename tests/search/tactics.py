"""Tactical positions with one right move, as diagrams; the counting that shows it stands beside each."""

import dataclasses

from jaxgo import Position


@dataclasses.dataclass(frozen=True)
class Problem:
    """A position, Black (X) to play, and the only moves that win with this komi."""

    name: str
    rows: str
    komi: float
    answers: tuple[str, ...]

    @property
    def position(self) -> Position:
        return Position.from_ascii(self.rows)


#: C4 in the diagrams' terms: A1 is at the bottom left.
PROBLEMS = [
    # Five white and four black stones stand in mutual atari at E4. Black takes: +7. White takes: 18 points against 31.
    Problem(
        "take the winning capture",
        """
        . . . . . . .
        X X X X X X .
        O O O O O X .
        X X X X . X X
        O O O O O O O
        . O . O . O .
        O O O O O O O
        """,
        0.5,
        ("E4",),
    ),
    # Three black stones in atari; D5 connects them. Saved, Black has 20 points against 29; lost, 16 against 33.
    Problem(
        "save the stones in atari",
        """
        . X . X . X .
        X X X X X X X
        X O O . O O X
        O O X X X O O
        . O O O O O .
        O O O O O O O
        . O . O . O .
        """,
        -12.5,
        ("D5",),
    ),
    # Three points in a row: the middle one makes two eyes. Alive, Black has 8 points and loses by 33; dead, by 49.
    Problem(
        "make the second eye",
        """
        . . . X O . .
        X X X X O . .
        O O O O O O O
        O O O O O O O
        O . O O . O O
        O O O O O O O
        O O O . O O O
        """,
        -40.5,
        ("B7",),
    ),
    # The last ko is worth two points each way; White has no threat. Won, Black is ahead by 9; lost, by 5.
    Problem(
        "win the ko that decides",
        """
        . . X X O . .
        X X X X O O O
        X X X X O O O
        X X X O . O O
        X X X X O O O
        X X X X O O O
        . X X X O O .
        """,
        7.0,
        ("E4",),
    ),
]

#: Both inner groups live in seki; whoever plays at A4 or G4 dies. As it stands White has one point more.
SEKI = """
    X . X . X X X
    X X X X X X X
    O O O O O O O
    . O O O X X .
    X X X X X X X
    O O O O O O O
    O . O . O O O
"""
