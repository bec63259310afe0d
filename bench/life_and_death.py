"""Life and death by playouts: what an advisor's learning does to evaluations that uniform playouts get wrong.

Each diagram is a 5x5 board on which Black lives with two eyes below, and whether White lives above decides the game. An advisor
begins knowing nothing and learns from batch after batch of the playouts that ask it; its evaluation after each is printed, and
drawn beside the truth and that of uniform playouts, with twice the standard error.
"""

import argparse
import sys
from typing import NamedTuple

import jaxgo
from bench import picture

#: Batches that are learned from, and playouts of each.
ROUNDS, BATCH = 10, 500
#: How likely the advisor is asked.
PROBABILITY = 0.9
#: Playouts of an evaluation.
EVALUATED = 20_000


class Diagram(NamedTuple):
    """A position of life and death."""

    name: str
    text: str
    to_play: int
    komi: float
    """Between Black's margin with White alive and with White dead."""
    truth: float
    """Black's win rate in good play: 1 where White dies, 0 where he lives."""

    def position(self) -> jaxgo.Position:
        """It."""
        return jaxgo.Position.from_ascii(self.text, to_play=self.to_play)


_FOUR = """
    . . . . O
    O O O O O
    X X X X X
    X . X . X
    X X X X X
"""
_THREE = """
    . . . O X
    O O O O X
    X X X X X
    X . X . X
    X X X X X
"""
DIAGRAMS = (
    Diagram("four in a row live, Black first", _FOUR, jaxgo.BLACK, 7.5, 0.0),
    Diagram("three in a row die, Black first", _THREE, jaxgo.BLACK, 15.5, 1.0),
    Diagram("three in a row live, White first", _THREE, jaxgo.WHITE, 15.5, 0.0),
)


def evaluations(diagram: Diagram, rounds: int = ROUNDS, batch: int = BATCH) -> list[jaxgo.Evaluation]:
    """Of uniform playouts, and then with the advisor after each round of its learning."""
    position, table, policy = diagram.position(), jaxgo.AdvisorTable(5), None
    found = [jaxgo.evaluate(position, EVALUATED, komi=diagram.komi, seed=rounds)]
    for seed in range(rounds):
        played = jaxgo.playouts(position, batch, seed=seed, moves=True, policy=policy)
        table = table.update(played, position, komi=diagram.komi)
        policy = jaxgo.Advisor(PROBABILITY, table)
        found.append(jaxgo.evaluate(position, EVALUATED, komi=diagram.komi, seed=rounds, policy=policy))
    return found


def draw(found: dict[Diagram, list[jaxgo.Evaluation]], path: str) -> None:
    """Writes the figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(found), 3.4), layout="constrained")
    panels = figure.subplots(1, len(found), sharey=True)
    for axes, (diagram, each) in zip(panels, found.items()):
        rates, errors = ([float(getattr(x, name)[0]) for x in each] for name in ("win_rate", "win_rate_error"))
        axes.axhline(diagram.truth, color="tab:green", label="truth")
        axes.axhline(rates[0], color="tab:gray", linestyle="--", label="uniform playouts")
        learned, twice = rates[1:], [2 * error for error in errors[1:]]
        axes.errorbar(range(1, len(rates)), learned, yerr=twice, marker="o", markersize=3, label=f"advisor, p = {PROBABILITY}")
        axes.set(title=diagram.name, xlabel=f"batches of {BATCH} playouts learned from", ylim=(-0.03, 1.03))
    panels[0].set_ylabel("Black's win rate")
    panels[0].legend()
    figure.savefig(path, dpi=150)


def main(arguments: list[str]) -> None:
    """Prints the evaluations, and draws them if a path is given."""
    parser = argparse.ArgumentParser(prog="python -m bench.life_and_death", description=__doc__)
    parser.add_argument("path", nargs="?", type=picture.path, metavar="OUT.png", help="draws them into a .png, .svg or .pdf")
    path = parser.parse_args(arguments).path
    found = {diagram: evaluations(diagram) for diagram in DIAGRAMS}
    for diagram, each in found.items():
        rates = " ".join(f"{x.win_rate[0]:.3f}" for x in each)
        print(f"{diagram.name}: truth {diagram.truth:.0f}, uniform and after each batch {rates}")
    print(f"standard errors at most {max(x.win_rate_error[0] for each in found.values() for x in each):.4f}")
    if path:
        draw(found, path)


if __name__ == "__main__":
    main(sys.argv[1:])
