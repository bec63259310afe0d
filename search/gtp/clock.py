"""Time control: how long a move may take, so that the game is never lost on time. Pure arithmetic, no clock is read here.

A player has *main time*, and perhaps *overtime*. Under Canadian overtime, so many stones must be played in each period; under
Japanese byo-yomi there are so many periods, and one is lost only by a move that takes longer; under Fischer's system, each move
adds an increment to the main time. Without overtime (absolute), the main time is all.
"""

import dataclasses

#: What kata-time_settings knows.
KINDS = ("none", "absolute", "byoyomi", "canadian", "fischer", "fischer-capped")
#: More seconds are no limit: nobody lives to see them, and sums of greater numbers are infinite.
FOR_EVER = 1e9
#: Seconds of each move that are left to the network and the client.
LAG = 0.2
#: The part of its share that a move has even where delays could take it all, as long as so many delays in a row would not lose.
FLOOR, DELAYS = 0.25, 4
#: What a move that is hard to choose may take beyond its budget, and what of the main time in all.
MORE, MORE_OF_MAIN = 0.5, 0.2
#: Main time that is kept for each of the moves of the longest imaginable game, seconds.
RESERVE = 0.05


@dataclasses.dataclass(frozen=True)
class System:
    """A time control; times in seconds."""

    kind: str = "none"
    """One of KINDS."""
    main: float = 0.0
    period: float = 0.0
    """Of overtime."""
    count: int = 0
    """Canadian: stones of a period. Byo-yomi: periods."""
    increment: float = 0.0
    """Fischer: what a move adds."""
    most_main: float = float("inf")
    """Fischer, capped: main time never grows beyond."""
    most_move: float = float("inf")
    """Fischer, capped: what a move may take at most."""


@dataclasses.dataclass
class Left:
    """What a player has left."""

    main: float
    period: float
    """Of the present overtime period."""
    count: int
    """Canadian: stones still to be played in the period. Byo-yomi: periods, the present one included."""


class Clock:
    """Both players' clocks, as far as the engine knows them.

    Args:
      system: the time control, None where the client has set none; what it says is left tells then.
    """

    def __init__(self, system: System | None = None):
        self.system, self._set = System() if system is None else system, system is not None
        self.begin()

    def begin(self) -> None:
        """Gives both players their full times, for another game."""
        self._left = {colour: self._full() for colour in (1, -1)}
        # Under Canadian overtime, whether a player's first period has begun by the client's clock just when it did by this one,
        # which takes what the network may have taken for spent: else the stones of a period are not these.
        self._in_step = dict.fromkeys((1, -1), not self.system.main)

    def left(self, colour: int) -> Left:
        """What a player has left."""
        return self._left[colour]

    def report(self, colour: int, seconds: float, count: int) -> None:
        """Notes what the client says is left (time_left): of the main time if `count` is 0, else of an overtime period."""
        self._in_step[colour] = bool(count)
        if not self._set and (self.system.kind == "none" or (count and self.system.kind == "absolute")):
            # Nobody has set a clock, and there is one: what is said of one player is all that is known of the other.
            self.system = System("canadian", 0.0, seconds, count) if count else System("absolute", seconds)
            for either, left in self._left.items():
                self._left[either] = dataclasses.replace(self._full(), main=max(left.main, self.system.main))
        if count and self.system.kind in ("byoyomi", "canadian"):
            self._left[colour] = Left(0.0, seconds, count)
        else:
            self._left[colour] = dataclasses.replace(self._full(), main=seconds)

    def spend(self, colour: int, seconds: float) -> None:
        """Takes the time of a move off a player's clock."""
        system, left = self.system, self._left[colour]
        # What the network took beside it is not known, and adds up; but where a period begins anew with each move. Where moves
        # are shorter than that they would not be made by such a network, and there would be no time left to use.
        unknown = 0.0 if system.kind == "byoyomi" else min(LAG, seconds)
        left.main -= seconds + unknown
        if system.kind.startswith("fischer"):
            left.main = min(max(left.main, 0.0) + system.increment, system.most_main)
        over, left.main = max(-left.main, 0.0), max(left.main, 0.0)
        if left.main > 0:
            return
        if system.kind == "byoyomi":
            while over >= left.period and left.count > 1:
                over, left.count = over - left.period, left.count - 1
            left.period = system.period  # a move within the period starts it anew
        elif system.kind == "canadian":
            left.period, left.count = max(left.period - over, 0.0), left.count - 1
            if left.count <= 0:
                left.period, left.count = system.period, system.count

    def budget(self, colour: int, points: int, moves: int, overhead: float = 0.0) -> float | None:
        """Seconds that the next move may think; None without a limit.

        Args:
          colour: the player.
          points: of the board.
          moves: plies of the game so far.
          overhead: seconds that a move may take beyond what it is given.
        """
        system, left, late = self.system, self._left[colour], LAG + overhead
        if system.kind == "none":
            return None
        mine = own_moves_left(points, moves)
        reserve = min(RESERVE * max((3 * points - moves) / 2, mine), left.main / 2)
        of_main, most = (left.main - reserve) / mine, left.main
        shared = left.main  # what a slow move takes from the next ones
        if system.kind == "byoyomi":
            # Main time flows into the first period, which is won back with every move that ends within it.
            allowed, most = max(of_main, min(left.period, left.main + left.period)), left.main + left.period
            shared = 0.0  # a period that is overrun is lost
        elif system.kind == "canadian":
            of_period = left.period / max(left.count, 1)
            if not self._in_step[colour]:  # so that each stone is made within its share, whichever of a period it is
                of_period = min(of_period, system.period / max(system.count, 1))
            allowed, most, shared = max(of_main, of_period), left.main + of_period, left.main + left.period
        elif system.kind.startswith("fischer"):
            allowed = min(of_main + 0.9 * system.increment, left.main - reserve, system.most_move)
        else:
            allowed = of_main
        # Delays as long as a move's share are rare, and once they come there is less to share: a part of it is used all the same.
        floor = min(allowed * FLOOR, shared - DELAYS * late, system.most_move - late)
        return max(min(allowed, most) - late, floor, 0.0)

    def more(self, colour: int, budget: float) -> float:
        """Seconds beyond its budget that a move may have which is hard to choose: half as much again, of a fraction of the main
        time; none of overtime, which ends."""
        main = self._left[colour].main if self.system.kind != "none" else 0.0
        return max(min(MORE * budget, main * MORE_OF_MAIN - budget, self.system.most_move - LAG - budget), 0.0)

    def _full(self) -> Left:
        return Left(self.system.main, self.system.period, self.system.count)


def own_moves_left(points: int, moves: int) -> float:
    """How many moves of his own a player should expect: games last about as many plies as nine tenths of the board's points."""
    return max((0.9 * points - moves) / 2, 5 + points / 24)
