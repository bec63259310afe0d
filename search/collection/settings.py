"""What a collection is evaluated by: what all runs that work on one folder have in common. Imports the standard library only."""

import dataclasses
import json

from jaxgo.base.source import version

#: Of the tables and of the folder.
FORMAT = 1
DEFAULT_KOMI = 7.5
#: Playouts of a part on a 9x9 board, about: seconds of a core. They are fewer on larger boards, where a playout takes longer.
PLAYOUTS_OF_PART = 1 << 21
#: Positions of a part, at most.
MOST_POSITIONS = 1024


@dataclasses.dataclass(frozen=True)
class Settings:
    """Everything that the tables depend on, the inputs and jaxgo's version apart."""

    playouts: int
    """Of each position, 1 to 2**31 - 1."""
    bot: str | None = None
    """The tree bot that searches each position with so many playouts; None for playouts from the position itself."""
    policy: str | None = None
    """Whom playouts ask for their moves, as `jaxgo.playing.policies.named` writes it; None for uniform playouts."""
    seed: int = 0
    """0 to 2**63."""
    komi: float | None = None
    """Points for White in all games; None for each record's own, and `DEFAULT_KOMI` where it has none."""
    every: int = 1
    """The positions after 0, `every`, 2 `every`, ... moves, and the last in play."""
    first_move: int = 0
    """Only positions after at least so many moves."""
    last_move: int | None = None
    """Only positions after at most so many moves; None for all."""
    best: int = 5
    """How many moves of each position are told of, at most."""
    batch: int | None = None
    """Positions of a part; None for as many as suit `playouts` and the board."""

    def positions_of_part(self, size: int) -> int:
        """How many positions a part has, at most."""
        if self.batch is not None:
            return self.batch
        fitting = PLAYOUTS_OF_PART * 81 // (self.playouts * size * size)
        return min(MOST_POSITIONS, 1 << max(fitting, 1).bit_length() - 1)

    def plies(self, first: int, last: int, last_in_play: int) -> list[int]:
        """The plies wanted of a line whose own positions are those after `first` to `last` moves.

        Args:
          first, last: both included.
          last_in_play: the last ply before the passes that closed the game (see `GameRecord.last_in_play`).
        """
        first, last = max(first, self.first_move), last if self.last_move is None else min(last, self.last_move)
        chosen = range(first + -first % self.every, last + 1, self.every)
        return sorted({*chosen, last_in_play}) if first <= last_in_play <= last else list(chosen)

    def as_document(self) -> dict:
        """Ready for JSON; with what the settings mean for this version of jaxgo."""
        return {"format": FORMAT, "jaxgo": version(), **dataclasses.asdict(self)}


def difference(held: dict, given: dict) -> str:
    """How a document of `Settings.as_document` differs from another, "" where it does not."""
    given = json.loads(json.dumps(given))
    for name in sorted({*held, *given}):
        if held.get(name) != given.get(name):
            return f"{name.replace('_', ' ')} {held.get(name)!r}, not {given.get(name)!r}"
    return ""
