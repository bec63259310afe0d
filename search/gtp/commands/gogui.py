"""Maps for GoGui, https://github.com/Remi-Coulom/gogui : what its menu of analysis commands shows on the board."""

import numpy as np

from jaxgo import evaluate
from jaxgo.board.coordinates import coordinate
from search.gtp.commands.play import last_thought
from search.ownership import Samples

#: Playouts of the map of first plays.
AMAF_PLAYOUTS = 2_000
#: Moves of the map of visits.
MOST_LABELS = 30


def analyze_commands(engine) -> str:
    """GoGui's menu: type/label/command."""
    return "\n".join(
        [
            "dboard/Ownership/jaxgo-ownership",
            "dboard/All moves as first/jaxgo-amaf",
            "gfx/Visits of the last move/jaxgo-visits",
            "gfx/Expected line of the last move/jaxgo-variation",
            "string/Black's score of the last move/ref-score",
            "string/Moves in the playouts of the last move/ref-nodes",
            "string/Final score/final_score",
            "plist/Dead stones/final_status_list dead",
        ]
    )


def ownership(engine) -> str:
    """Who owns each point at the end of playouts: 1 Black, -1 White."""
    game = engine.table.game
    samples = Samples.without_tree(game.turn(game.to_play), engine.options.seed)  # dead stones may be there after two passes
    return _rows(samples.ownership(engine.options.threads)[0])


def amaf(engine) -> str:
    """All moves as first: how much better than his average the player to move does where he is the first at a point, -1 to 1.

    The differences are scaled so that the largest is 1; stones and points that nobody reached are 0.
    """
    position = engine.table.game.turn(engine.table.game.to_play)
    options = engine.options
    found = evaluate(position, AMAF_PLAYOUTS, komi=engine.table.komi, seed=options.seed, devices=options.threads)
    side = 0 if engine.table.game.to_play == 1 else 1
    visits, wins = found.amaf_visits[0, side], found.amaf_wins[0, side]
    average = found.win_rate[0] if side == 0 else 1 - found.win_rate[0]
    better = np.where(visits > 0, wins / np.maximum(visits, 1) - average, 0.0)
    return _rows(better / max(np.abs(better).max(), 1e-9))


def visits(engine) -> str:
    """How often the last genmove tried each move."""
    choice, size = last_thought(engine).choice, engine.table.size
    order = sorted(np.flatnonzero(choice.visits[:-1] > 0), key=lambda m: (-choice.visits[m], m))
    if not order:
        return ""
    most = choice.visits[order[0]]
    influence = " ".join(f"{coordinate(int(m), size)} {choice.visits[m] / most:.3f}" for m in order)
    labels = " ".join(f"{coordinate(int(m), size)} {choice.visits[m]:.0f}" for m in order[:MOST_LABELS])
    return f"INFLUENCE {influence}\nLABEL {labels}\nTEXT {choice.playouts} playouts"


def variation(engine) -> str:
    """What the last genmove expected."""
    thought = last_thought(engine)
    colours = "bw" if int(np.asarray(thought.position.to_play)[0]) == 1 else "wb"
    line = (f"{colours[i % 2]} {coordinate(int(p), engine.table.size)}" for i, p in enumerate(thought.choice.variation))
    return "VAR " + " ".join(line)


def interrupt(engine) -> None:
    """Says that a line `# interrupt` ends the command that is being done: moves are chosen from what there is."""


def _rows(values: np.ndarray) -> str:
    """A board of numbers, a row of it a line."""
    return "\n".join(" ".join(f"{value:.3f}" for value in row) for row in values.tolist())


COMMANDS = {
    "gogui-analyze_commands": analyze_commands, "gogui-interrupt": interrupt, "jaxgo-ownership": ownership, "jaxgo-amaf": amaf,
    "jaxgo-visits": visits, "jaxgo-variation": variation,
}  # fmt: skip
