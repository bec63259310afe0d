"""Players and their searches: what the engine thinks with."""

import collections
import dataclasses
import time
from collections.abc import Callable

from jaxgo import BLACK, WHITE, Position
from jaxgo.backends.choice import workers_of
from jaxgo.base import threads
from jaxgo.playing.policies.in_order import Policies
from search.choice import Choice, Limits, Player
from search.game import Game
from search.gtp import scoring
from search.gtp.options import DEFAULT_VISITS, EngineOptions
from search.ownership import Samples
from search.players import TreePlayer, make_player
from search.restrictions import Restrictions
from search.round_size import ON_CPUS, for_visits

#: How long to ponder, seconds; a search that nobody wants any more should not run for ever.
LONGEST_PONDERING = 600.0
#: What a move is thought to take beyond the time it is given: before any has been measured, and at least, seconds.
FIRST_OVERHEAD, LEAST_OVERHEAD = 0.3, 0.2
#: The part of the memory for trees, one in so many, that is kept for a search under restrictions beside the game's own.
RESTRICTED_SHARE = 4
#: So many moves' overheads are remembered, of which the largest but one is reckoned with: a machine that stalls once is not slow.
OVERHEADS_KEPT = 8
#: As a machine that is busy may get busier, this much more than was measured is reckoned with.
OVERHEAD_GROWN = 1.25


@dataclasses.dataclass(frozen=True, eq=False)
class Thought:
    """The last move that was chosen."""

    position: Position
    """Where."""
    choice: Choice
    komi: float
    seed: int
    """Of a flat bot's playouts."""
    stream: int
    """Likewise."""
    policy: Policies
    """Whom playouts asked: a flat bot's; a tree's where it does not learn."""


class Thinker:
    """Makes players when they are needed, and has them think.

    Args:
      options: what they are made of.
    """

    def __init__(self, options: EngineOptions):
        self.options = options
        self.last: Thought | None = None
        """The last move chosen by `genmove`."""
        self.overhead = FIRST_OVERHEAD
        """Seconds that a move takes beyond the time it is given."""
        self._overheads: collections.deque[float] = collections.deque(maxlen=OVERHEADS_KEPT)
        """Of the last moves."""
        self._players: dict[tuple[float, bool], Player] = {}
        self._compiled: set[tuple] = set()
        self._cleanup = False  # of the last move
        self._games, self._used = 0, False

    def new_game(self) -> None:
        """Forgets all trees. Each game in which moves were chosen is followed by one with other random numbers."""
        self._games, self._used = self._games + self._used, False
        self.last, self.overhead = None, FIRST_OVERHEAD
        self._overheads.clear()
        self.forget()

    def forget(self) -> None:
        """Forgets all trees."""
        for player in self._players.values():
            close(player)
        self._players.clear()

    def compile(self, size: int) -> bool:
        """Compiles all that `genmove` and analysis need on a board of this size; whether that had not been done yet with such
        options."""
        if self._kind(size) in self._compiled:
            return False
        player, game, devices = self._make(0.0, False), Game(Position.empty(size), 0.0), self.options.threads

        def what_judges() -> None:
            Samples.without_tree(game.position).ownership(devices)
            scoring.judge(game.position, all_live=self.options.cleanup, devices=devices)

        also = threads.begin(what_judges)  # compilers can use a second core
        player.compile(size)
        also.result()
        # A few moves touch what lies around the search: legality, superko, the score, how the tree follows the game.
        few = Limits(visits=4 * (self.options.playouts_per_leaf or ON_CPUS.playouts))
        for point in (None, None, size * size):
            game.play(player.genmove(game.turn(game.to_play), game.history, few).move if point is None else point, game.to_play)
        for colour in (BLACK, WHITE):  # one of them out of turn
            player.genmove(game.turn(colour), game.history, few)
        scoring.judge(game.position, all_live=self.options.cleanup, devices=devices)
        close(player)
        self._compiled.add(self._kind(size))
        return True

    def _kind(self, size: int) -> tuple:
        """What programs are for: GPUs have others where searches are of few visits."""
        threads = self.options.threads
        return size, threads, for_visits(self.options.visits, workers_of(threads)) is None

    def has_compiled(self, size: int) -> bool:
        """Whether anything was compiled for a board of this size."""
        return any(kind[0] == size for kind in self._compiled)

    def player(self, komi: float, cleanup: bool = False, restrictions: Restrictions | None = None) -> Player:
        """The player for a komi; one that has to obey restrictions is new each time, and the caller's to close."""
        cleanup = cleanup or self.options.cleanup
        if restrictions is not None:
            return self._make(komi, cleanup, memory=self.options.memory // RESTRICTED_SHARE, restrictions=restrictions)
        key = (komi, cleanup)
        if key not in self._players:
            self.forget()  # one tree at a time: they are large
            self._players[key] = self._make(komi, cleanup)
        return self._players[key]

    def genmove(
        self, game: Game, colour: int, komi: float, deadline: float | None = None, *, cleanup: bool = False,
        restrictions: Restrictions | None = None, report: Callable[[Player, bool], None] | None = None,
        stop: Callable[[], bool] | None = None, more: float = 0.0,
    ) -> Choice:  # fmt: skip
        """Chooses a move.

        Args:
          game: so far.
          colour: who is to move.
          komi: points for White.
          deadline: when to have chosen, on `time.monotonic`; None without a clock.
          cleanup: whether to capture dead stones before passing.
          restrictions: moves to avoid or to keep to.
          report: called with the player now and then, and once more, with True, when the move is chosen.
          stop: asked often whether to choose from what there is.
          more: seconds that may be added to the deadline where the choice is hard.
        """
        position, player = game.turn(colour), self.player(komi, cleanup, restrictions)
        say = None if report is None else lambda _: report(player, False)
        limits = self._limits(player, None if deadline is None else deadline - time.monotonic())
        if isinstance(player, TreePlayer):  # a large tree takes its time to follow the game, which the clock counts too
            player.prepare(position, game.history, limits.seconds)
            limits = self._limits(player, None if deadline is None else deadline - time.monotonic())
        try:
            choice = player.genmove(position, game.history, limits, say, stop)
            late = deadline is not None and time.monotonic() >= deadline and not (stop is not None and stop())
            if deadline is not None and late and more > 0 and isinstance(player, TreePlayer) and player.torn:
                deadline += more
                choice = player.genmove(position, game.history, self._limits(player, deadline - time.monotonic()), say, stop)
            self._cleanup, self._used = cleanup, True
            if isinstance(player, TreePlayer):
                self.last = Thought(position, choice, komi, 0, 0, player.fixed_policy(position))
            else:
                self.last = Thought(position, choice, komi, player.search.seed, player.search.stream, player.search.policy)
            if report is not None and choice.playouts:
                report(player, True)
        finally:
            if restrictions is not None:
                close(player)
        if deadline is not None:
            self._overheads.append(time.monotonic() - deadline)
            largest = sorted(self._overheads)[-2:]
            self.overhead = max(OVERHEAD_GROWN * largest[0] if len(largest) > 1 else FIRST_OVERHEAD, LEAST_OVERHEAD)
        return choice

    def ponder(self, game: Game, komi: float, stop: Callable[[], bool]) -> None:
        """Searches the position in which the opponent is thinking, until `stop` says so; only players with a tree do."""
        player = self.player(komi, self._cleanup)
        if isinstance(player, TreePlayer) and not game.over:
            player.prepare(game.position, game.history).run(seconds=LONGEST_PONDERING, stop=stop)

    def _limits(self, player: Player, budget: float | None) -> Limits:
        """What limits a move: visits and seconds as set, and the clock; the clock alone where it is all there is. Without
        any, the default, and where devices want many playouts of a leaf, as many leaves."""
        visits, seconds = self.options.visits, self.options.seconds
        if budget is not None:
            seconds = max(0.001, budget if seconds is None else min(seconds, budget))
        if visits is None and seconds is None:
            visits = DEFAULT_VISITS
            if self.options.playouts_per_leaf is None and isinstance(player, TreePlayer) and player.search is not None:
                visits = visits * max(1, player.search.playouts_per_leaf // ON_CPUS.playouts)
        return Limits(visits=visits, seconds=seconds)

    def _make(self, komi: float, cleanup: bool, *, memory: int | None = None, **more) -> Player:
        options = self.options
        if memory is None:
            memory = options.memory - options.memory // RESTRICTED_SHARE
        return make_player(
            options.bot, komi=komi, seed=options.seed + self._games, cleanup=cleanup, memory=memory, early=True,
            leaves=options.leaves, playouts_per_leaf=options.playouts_per_leaf, visits=options.visits, devices=options.threads,
            policy=options.policy, knowledge=options.knowledge, **more,
        )  # fmt: skip


def close(player: Player) -> None:
    """Ends what a player's search still runs."""
    if player.search is not None:
        player.search.close()
        player.search = None
