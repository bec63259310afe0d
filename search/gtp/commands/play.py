"""Commands that have the engine choose a move."""

import dataclasses
import time

from jaxgo import Evaluation, evaluate
from jaxgo.board.coordinates import coordinate
from search.choice import Choice
from search.gtp import arguments, manners, scoring
from search.gtp.protocol import Failure
from search.gtp.thinker import Thought
from search.root import RootStatistics

#: Playouts by which the length of a tree bot's playouts is estimated.
SAMPLE = 1_000
#: A judgement may take one part in so many of a move's time.
JUDGED = 5


def genmove(engine, colour: str) -> str:
    """Chooses a move and plays it."""
    return choose(engine, arguments.colour(colour))


def reg_genmove(engine, colour: str) -> str:
    """Chooses a move and does not play it; no clock runs."""
    mover, table = arguments.colour(colour), engine.table
    choice = engine.thinker.genmove(table.game, mover, table.komi, stop=engine.hurried)
    engine.count_no_time()
    return said(choice, table.size)


def search(engine, colour: str | None = None) -> str:
    """Chooses a move, of the player to move if no colour is named, as if it was to be played; it is not."""
    return choose(engine, engine.table.game.to_play if colour is None else arguments.colour(colour), play=False)


def genmove_cleanup(engine, colour: str) -> str:
    """Chooses a move and plays it; passes only when all dead stones of the opponent are captured."""
    return choose(engine, arguments.colour(colour), cleanup=True)


def choose(engine, colour: int, *, play: bool = True, **options) -> str:
    """Chooses a move within the time on the clock, which has run since the command came.

    Args:
      engine: whose game it is.
      colour: who is to move.
      play: whether to play the move, and take its time off the clock.
      **options: those of `Thinker.genmove`.
    """
    engine.prepare()  # for clients that send no board size first
    table, clock = engine.table, engine.clock
    budget = clock.budget(colour, table.size**2, len(table.game.moves), engine.thinker.overhead)
    deadline = None if budget is None else engine.received + budget
    more = 0.0 if budget is None else clock.more(colour, budget)
    polite = not (options.get("cleanup") or options.get("restrictions") or engine.options.cleanup)
    wanted = manners.may_be_settled(table, colour) if polite else manners.may_end(table, colour)
    # A judgement is part of what the clock counts; so it comes before the thinking, which has the rest of the time, or not at
    # all: a pass that loses on time is no better than one that loses.
    judged = None
    if wanted and (budget is None or engine.is_judged or budget > JUDGED * engine.judging):
        judged = engine.judgement()
    choice = engine.thinker.genmove(table.game, colour, table.komi, deadline, stop=engine.hurried, more=more, **options)
    if judged is not None and _ends_in_a_loss(engine, colour, choice, judged):
        options["cleanup"] = True
        choice = engine.thinker.genmove(table.game, colour, table.komi, deadline, stop=engine.hurried, **options)
    elif polite and judged is not None:
        choice = manners.politely(table, colour, choice, judged)
    if play:
        choice = dataclasses.replace(choice, resign=engine.resignation(table, colour, choice))
        settle(engine, colour, None if choice.resign else choice.move)
    return said(choice, table.size)


def settle(engine, colour: int, move: int | None) -> None:
    """Takes a move's time off the clock and plays it; None resigns."""
    engine.clock.spend(colour, time.monotonic() - engine.received)
    engine.count_no_time()
    if move is not None:
        engine.table.game.play(move, colour)
        engine.played_own_move()


def _ends_in_a_loss(engine, colour: int, choice: Choice, judged: scoring.Judgement) -> bool:
    """Whether a pass would end a game that is won as it stands, but lost once dead stones are taken off."""
    table = engine.table
    ends = choice.move == table.size**2 and manners.may_end(table, colour)
    return ends and colour * scoring.score(table) > 0 > colour * scoring.score(table, judged)


def said(choice: Choice, size: int) -> str:
    """A move as the protocol has it."""
    return "resign" if choice.resign else coordinate(choice.move, size)


def ref_nodes(engine) -> str:
    """Moves made in the playouts of the last genmove, final passes included.

    Of bots without a tree the exact number, counted by playing the same playouts once more. Of bots with a tree an estimate: the
    playouts of its last search, those kept from earlier moves included, times the mean length from its position.
    """
    thought = last_thought(engine)
    if not thought.choice.playouts:
        return "0"
    of_tree = isinstance(thought.choice.statistics, RootStatistics)
    again = _play_again(engine, thought, SAMPLE if of_tree else thought.choice.playouts)
    return f"{thought.choice.playouts * again.length_mean[0]:.0f}"


def ref_score(engine) -> str:
    """The share of the last genmove's playouts that Black won, draws half, for all moves together."""
    thought = last_thought(engine)
    if not thought.choice.playouts:
        raise Failure("the last move was chosen without playouts")
    found = thought.choice.statistics
    if isinstance(found, RootStatistics):
        return f"{found.root_win_rate if found.black else 1 - found.root_win_rate:.6f}"
    return f"{_play_again(engine, thought, thought.choice.playouts).win_rate[0]:.6f}"


def last_thought(engine) -> Thought:
    """What the last genmove thought."""
    if engine.thinker.last is None:
        raise Failure("no move has been chosen in this game")
    return engine.thinker.last


def _play_again(engine, thought: Thought, playouts: int) -> Evaluation:
    return evaluate(
        thought.position, playouts, komi=thought.komi, seed=thought.seed, streams=[thought.stream], policy=thought.policy,
        devices=engine.options.threads,
    )  # fmt: skip


COMMANDS = {
    "genmove": genmove, "reg_genmove": reg_genmove, "kata-search": search, "kgs-genmove_cleanup": genmove_cleanup,
    "ref-nodes": ref_nodes, "ref-score": ref_score,
}  # fmt: skip
