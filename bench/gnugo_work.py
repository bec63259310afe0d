"""GNU Go's Monte Carlo mode, timed by its own clock.

`gnugo --monte-carlo` (3.8, boards of up to 9x9) chooses a move by a tree search whose simulations go on at random below the tree.
Its number of games is that of moves added to the tree, one by a simulation; one that meets a position which is known from another
order of moves goes on and adds one more, so that there are at most so many simulations. Before the search it reads the position
as it always does, which takes milliseconds. On an empty board the search ends at once, because GNU Go takes all points for
settled: so there is a stone of each colour.
"""

import shlex

from bench import children
from bench.measure import NotMeasured, Work
from bench.native_work import cpu_seconds

#: Smaller boards are soon searched to their ends, and then fewer simulations are made than were asked for.
SMALLEST, LARGEST = 7, 9
#: Where the two stones are.
_STONES = ("play black D4", "play white E5")
#: Simulations of a run: its clock ticks every hundredth of a second, and a node and an arc of each take some 100 bytes.
FEWEST, MOST = 2_000, 2_000_000
#: Seconds that a run may take.
LIMIT = 600.0


def command() -> list[str]:
    """How it is called; empty where it is not installed."""
    from bench.matches.engine import find_gnugo, located  # which need jax

    found = find_gnugo()
    return located(shlex.split(found)) if found else []


class Simulations:
    """The search of a move."""

    def __init__(self, size: int, komi: float, patterns: str):
        """Makes the command.

        Args:
          size: of the board, `SMALLEST` to `LARGEST`.
          komi: points that White gets.
          patterns: by which moves are chosen below the tree, a name of `gnugo --mc-list-patterns`.
        """
        self._words = [
            *command(), "--monte-carlo", "--mc-patterns", patterns, "--level", "1", "--nofuseki", "--nofusekidb",
            "--never-resign",
        ]  # fmt: skip
        self._begin = (f"boardsize {size}", "clear_board", f"komi {komi}", *_STONES)
        self._seed = 0

    def run(self, count: int) -> Work:
        """Searches by so many simulations at most, but at least `FEWEST`.

        Raises:
          NotMeasured: it fails, or has not searched.
        """
        self._seed += 1
        count = max(count, FEWEST)
        commands = (*self._begin, "cputime", "reg_genmove black", "cputime", "quit")
        words = [*self._words, "--mc-games-per-level", str(count), "--seed", str(self._seed)]
        ran = children.run(words, LIMIT, "".join(f"{command}\n" for command in commands))
        replies = [reply.strip() for reply in ran.output.strip().split("\n\n")]
        refused = next((reply for reply in replies if not reply.startswith("=")), None)
        if refused is not None or len(replies) != len(commands):
            raise NotMeasured(f"GNU Go answered {refused or ran.output.strip()!r}")
        before, move, after = (reply[1:].strip() for reply in replies[-4:-1])
        seconds = float(after) - float(before)
        if move == "PASS" or seconds <= 0:
            raise NotMeasured(f"GNU Go has not searched: it chose {move} in {seconds:.2f} s")
        return Work(count, wall=seconds, cpu=cpu_seconds(seconds, ran))
