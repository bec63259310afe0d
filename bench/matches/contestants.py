"""Who plays in a match, as the command line names it: a bot with settings, such as `rave:bias=0.05,visits=4000`, or any GTP
engine, such as `gtp:gnugo --mode gtp --level 10`.

Everything that can be wrong is found when it is read, before any game begins.
"""

import argparse
import dataclasses
from typing import Any

from bench.matches import engine
from bench.matches.engine import Engine, EngineError, EngineMover
from jaxgo import Position
from jaxgo.base.constants import INT32_MAX
from jaxgo.cli import UsageError
from jaxgo.playing.policies.in_order import are_of_place, asks
from search.bots import SUMMARIES
from search.choice import Limits, Player
from search.commands.options import policy_of_argument
from search.knowledge import Knowledge
from search.lessons import any_learns
from search.players import has_tree, is_flat, make_player, rule_of
from search.round_size import suited
from search.selfplay import Limited, seed_of
from search.shared import SharedLeaves
from search.tree_needs import memory_for, needs_histories

#: Streams from one game's first to the next one's for UCB1, whose moves begin with the same: odd, so that all games' differ.
STREAMS_OF_UCB = 0x3504F333
#: Playouts of a move where neither playouts nor time are given.
DEFAULT_VISITS = 2_000

_KINDS = {int: "a whole number", float: "a number", bool: "True or False", str: "a name"}
_LIMITS = {"visits": int, "seconds": float}
_OF_TREES = {"leaves": int, "playouts_per_leaf": int}
_OF_SEARCHES = {"in_flight": int, "share": float, "virtual_losses": int}
_OF_ALL = _LIMITS | {"policy": str, "resign": float}
_OF_KNOWLEDGE = {field.name: int for field in dataclasses.fields(Knowledge) if field.name != "weights"}


@dataclasses.dataclass(frozen=True)
class Conditions:
    """Under which every game is played."""

    size: int
    komi: float
    seconds: float | None
    """For each move, None without a clock."""
    grace: float
    """Seconds that a move may take beyond these."""
    memory: int | None
    """Bytes that one tree may take; None where many games are played together in this process, and each tree has all it needs."""


@dataclasses.dataclass(frozen=True)
class Draws:
    """What names a contestant's random numbers in one game of a match."""

    match: int
    """The match's seed."""
    number: int
    """The game's, from 1 on."""
    side: int
    """0 for the first contestant, 1 for the second."""

    @property
    def own_seed(self) -> dict[str, int]:
        """A seed of its own in each game of each match: for whoever draws by a seed alone."""
        return {"seed": seed_of(self.match, self.number, self.side)}

    def own_streams(self, each: int) -> dict[str, int]:
        """The match's seed, which many games' playouts need have in common to be one batch, and the first stream of its own.

        Args:
          each: streams from one game's first to the next one's. Up to a thousand no two of a million games have one in common.
        """
        return {"seed": self.match, "stream": (2 * (self.number - 1) + self.side) * each & INT32_MAX}


#: The devices that bots with trees share in this process, where games are played side by side.
_shared: dict[tuple, SharedLeaves] = {}
#: Kinds of bots whose searches have been compiled there.
_compiled: set[tuple] = set()
#: Leaves of a call there, for each of a round.
ROUNDS = 4


@dataclasses.dataclass(frozen=True)
class Bot:
    """A bot with its settings."""

    name: str
    """As it was named."""
    bot: str
    limits: Limits
    options: dict[str, Any]
    """Of `search.make_player`."""

    @property
    def what(self) -> str:
        """What it may take for a move, in words."""
        limits = f"{self.limits} by {self.options['policy']}" if "policy" in self.options else str(self.limits)
        if not has_tree(self.bot):
            return limits
        return f"{limits}, {self.options['leaves']} leaves of {self.options['playouts_per_leaf']} playouts a round"

    @property
    def has_tree(self) -> bool:
        """Whether it searches."""
        return has_tree(self.bot)

    @property
    def in_batches(self) -> bool:
        """Whether its moves in many games can be chosen together: no clock runs, and its playouts ask the same in all of them."""
        policy = self.options.get("policy")
        return self.limits.seconds is None and not any_learns(policy) and not are_of_place(policy)

    def random(self, draws: Draws, size: int) -> dict[str, int]:
        """What names its random numbers, as `search.make_player` takes it.

        A flat bot has a stream for each move, of which a side has half of three times the points at most; UCB1 one for each leaf.
        """
        if not is_flat(self.bot):
            return draws.own_seed
        return draws.own_streams(STREAMS_OF_UCB if has_tree(self.bot) else (3 * size * size + 1) // 2)

    def mover(self, conditions: Conditions, draws: Draws) -> Limited:
        """One that is ready for a game; compiled, so that no clock runs meanwhile.

        Args:
          conditions: of the game.
          draws: names its random numbers.
        """
        player = self._player(conditions, draws)
        if conditions.memory is not None and (self.has_tree or self.limits.seconds is not None):
            player.compile(conditions.size)
        return Limited(player, self.limits)

    def compile(self, conditions: Conditions) -> None:
        """Compiles its search, where movers side by side do not, so that it is not among what their moves take."""
        if not self.has_tree:
            return
        how, rule = (self.options.get(name) for name in ("leaves", "playouts_per_leaf")), self._rule
        kind = conditions.size, self.bot, type(rule), rule.credit, rule.knowledge is None, *how, id(self.options.get("policy"))
        if kind not in _compiled:
            self._player(conditions, Draws(0, 1, 0)).compile(conditions.size)
            _compiled.add(kind)

    def _player(self, conditions: Conditions, draws: Draws) -> Player:
        size = conditions.size
        of_game: dict[str, Any] = self.random(draws, size) | {"memory": conditions.memory}
        if self.has_tree and self.limits.seconds is None:
            of_game["visits"] = self.limits.visits  # so that rounds are the same on a device of its own and on a shared one
        if conditions.memory is None and self.has_tree:
            of_game |= {"memory": self.memory(size), "device": self._device(size)}
        return make_player(self.bot, komi=conditions.komi, **self.options, **of_game)

    def least_memory(self, size: int) -> int:
        """Bytes that its tree must have, 0 without one."""
        return memory_for(size, self._rule, 0) if self.has_tree else 0

    def memory(self, size: int) -> int:
        """Bytes with which its tree never has to forget anything; 0 without a tree, and where a clock runs, on which its games
        depend anyway."""
        if not self.has_tree or self.limits.seconds is not None:
            return 0
        assert self.limits.visits is not None
        leaves = -(-self.limits.visits // self.options["playouts_per_leaf"]) + 2 * self.options["leaves"]
        return memory_for(size, self._rule, leaves)

    @property
    def _rule(self):
        return self.options.get("rule", rule_of(self.bot))

    def _device(self, size: int) -> SharedLeaves:
        """What its searches share."""
        leaves, playouts, policy = self.options["leaves"], self.options["playouts_per_leaf"], self.options.get("policy")
        moves = needs_histories(self._rule)
        key = size, leaves, playouts, moves, id(policy)
        if key not in _shared:
            _shared[key] = SharedLeaves(size, ROUNDS * leaves, playouts, moves=moves, policy=policy)
        return _shared[key]


@dataclasses.dataclass(frozen=True)
class Program:
    """A GTP engine."""

    command: str
    """Its command line."""
    name: str
    """What it calls itself, with its version."""

    @property
    def what(self) -> str:
        """How it is started."""
        return self.command

    in_batches = False

    def least_memory(self, size: int) -> int:
        """Its memory is its own affair."""
        return 0

    memory = least_memory

    def random(self, draws: Draws, size: int) -> dict[str, int]:
        """What names its random numbers, where it takes a seed."""
        return draws.own_seed

    def mover(self, conditions: Conditions, draws: Draws) -> EngineMover:
        """One that has begun a game.

        Raises:
          EngineError: it has not.
        """
        engine = engine_for(self.command, conditions, role=f"player {draws.side}", **self.random(draws, conditions.size))
        return EngineMover(engine, conditions.seconds, conditions.grace)


Contestant = Bot | Program

#: The engines of this process by their command lines. They play one game after the other; those that have ended are started anew.
_engines: dict[str, Engine] = {}


def engine_for(command: str, conditions: Conditions, seed: int, role: str) -> Engine:
    """An engine that has begun a game.

    Args:
      command: its command line.
      conditions: of the game.
      seed: of its random numbers, where it takes one.
      role: engines of different roles are different processes: the players of a game, who may be of one command, and its referee.

    Raises:
      EngineError: it cannot be started, or does not play under these conditions.
    """
    found = _engines.get(role + command)
    if found is None or not found.running:
        found = _engines[role + command] = Engine(command)
    try:
        found.begin(conditions.size, conditions.komi, seed)
    except EngineError:
        found.close()
        raise
    return found


def read(text: str, args: argparse.Namespace) -> Contestant:
    """Reads `BOT[:NAME=VALUE,...]` or `gtp:COMMAND LINE`.

    Args:
      text: what was given.
      args: of the command; see `read_bot` and `read_program`.

    Raises:
      UsageError: there is no such bot or setting, a value cannot be, or the engine cannot be started.
    """
    return read_program(text, args) if text.startswith(engine.PREFIX) else read_bot(text, args)


def read_program(text: str, args: argparse.Namespace) -> Program:
    """Reads `gtp:COMMAND LINE`: starts the engine once, and begins a game of this `size` and `komi`."""
    command = text.removeprefix(engine.PREFIX).strip()
    try:
        started = Engine(command)
        try:
            started.begin(args.size, 7.5 if args.komi is None else args.komi)
        finally:
            started.close()
    except EngineError as error:
        raise UsageError(f"{text}: {error}") from None
    return Program(command, started.name)


def read_bot(text: str, args: argparse.Namespace) -> Bot:
    """Reads `BOT[:NAME=VALUE,...]`.

    Args:
      text: what was given.
      args: of the command, for what is not set: `visits`, `seconds`, `leaves`, `playouts_per_leaf`, `knowledge`, `cleanup`; and
        `size`.

    Raises:
      UsageError: there is no such bot or setting, or a value cannot be.
    """
    bot, _, rest = text.partition(":")
    if bot not in SUMMARIES:
        raise UsageError(f"there is no bot {bot!r}; there are: {', '.join(SUMMARIES)}")
    fields: dict[str, Any] = {field.name: field.type for field in dataclasses.fields(rule_of(bot))} if has_tree(bot) else {}
    fields |= {"knowledge": bool} if fields else {}
    kinds = _OF_ALL | (_OF_TREES | _OF_SEARCHES | fields | _OF_KNOWLEDGE if has_tree(bot) else {})
    settings = _settings(text, bot, rest, kinds)
    options: dict[str, Any] = {"cleanup": args.cleanup}
    if "resign" in settings:
        options["resign"] = settings["resign"]
    if "policy" in settings:
        try:
            options["policy"] = policy_of_argument(str(settings["policy"]).replace("+", ","), args.size, learning=True)
        except UsageError as error:
            reason = str(error.__cause__).replace("with commas between them", "with + between them")
            raise UsageError(f"{text}: policy={settings['policy']}: {reason}") from None
    if has_tree(bot):
        options |= {name: settings[name] for name in _OF_SEARCHES if name in settings}
    visits, seconds = (settings.get(name, getattr(args, name)) for name in _LIMITS)
    if visits is None and seconds is None:
        visits = DEFAULT_VISITS
    try:
        if has_tree(bot):  # rounds as on CPUs, so that matches are the same on all machines
            given = [settings.get(name, getattr(args, name)) for name in _OF_TREES]
            options |= dict(zip(_OF_TREES, suited(args.size, None, *given, policy=asks(options.get("policy")))))
        knowledge = settings.pop("knowledge", args.knowledge)
        of_rule, of_knowledge = ({k: v for k, v in settings.items() if k in names} for names in (fields, _OF_KNOWLEDGE))
        if has_tree(bot) and (of_rule or of_knowledge or knowledge is not None):
            options["rule"] = _rule(bot, knowledge, of_rule, of_knowledge)
        found = Bot(text, bot, Limits(visits=visits, seconds=seconds), options)
        player = make_player(bot, **options)
        if has_tree(bot):  # its options are looked at when a search begins
            player.prepare(Position.empty(args.size), None).close()
    except ValueError as error:
        raise UsageError(f"{text}: {error}") from None
    return found


def _rule(bot: str, knowledge: bool | None, of_rule: dict[str, Any], of_knowledge: dict[str, Any]) -> object:
    """A bot's rule with other settings; those of knowledge bring it in."""
    rule = rule_of(bot, True if of_knowledge and knowledge is None else knowledge)
    if of_knowledge:
        if rule.knowledge is None:
            raise ValueError(f"without knowledge there is nothing for {', '.join(of_knowledge)} to set")
        of_rule["knowledge"] = dataclasses.replace(rule.knowledge, **of_knowledge)
    return dataclasses.replace(rule, **of_rule)


def _settings(text: str, bot: str, rest: str, kinds: dict[str, type]) -> dict[str, Any]:
    """The settings behind a bot's name."""
    settings: dict[str, Any] = {}
    for part in rest.split(",") if ":" in text else ():
        name, _, value = part.partition("=")
        if name not in kinds:
            raise UsageError(f"{text}: {bot} has no setting {name!r}; it has: {', '.join(kinds)}")
        if name in settings:
            raise UsageError(f"{text}: {name} is given twice")
        try:
            settings[name] = {"True": True, "False": False}[value] if kinds[name] is bool else kinds[name](value)
        except (KeyError, ValueError):
            raise UsageError(f"{text}: {name} must be {_KINDS[kinds[name]]}, not {value!r}") from None
    return settings
