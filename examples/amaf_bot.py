"""An "all moves as first" bot that plays by GTP: point a Go program at
`/home/me/jaxgo/.venv/bin/python /home/me/jaxgo/examples/amaf_bot.py`.

The best move is the one whose playouts did best in which its player made it, at any time, before the other player did.
"""

import math
import sys

import numpy as np

import jaxgo

PLAYOUTS = 5000
#: Answers that never change.
FIXED = {"name": "AMAF", "protocol_version": "2", "version": "1", "quit": ""}
COMMANDS = ["boardsize", "clear_board", "komi", "play", "genmove", "list_commands", "known_command", *FIXED]
COLOURS = {"b": jaxgo.BLACK, "black": jaxgo.BLACK, "w": jaxgo.WHITE, "white": jaxgo.WHITE}


def choose(position: jaxgo.Position, komi: float) -> int:
    """The best useful point, or P, the pass, where there is none."""
    useful = np.asarray(position.useful())[0]
    if not useful.any():
        return position.size**2
    found = jaxgo.move_statistics(position, PLAYOUTS, rule="amaf", komi=komi)
    return int(np.argmax(np.where(useful & (found.weight[0] > 0), found.value[0], -1.0)))


def with_turn(position: jaxgo.Position, colour: str) -> jaxgo.Position:
    """The position with this colour to move, as clients may set up any."""
    to_play = COLOURS[colour.lower()]
    return position if int(position.to_play[0]) == to_play else jaxgo.Position.from_array(position.to_array(), to_play=to_play)


def main() -> None:
    position, komi = jaxgo.Position.empty(9), 7.5
    for line in sys.stdin:
        words = line.partition("#")[0].split()
        if not words:  # nothing is asked
            continue
        number = words.pop(0) if words[0].isdigit() else ""
        answer, sign = "", "="
        try:
            match words:
                case ["boardsize", size]:
                    position = jaxgo.Position.empty(int(size))
                case ["clear_board"]:
                    position = jaxgo.Position.empty(position.size)
                case ["komi", value]:
                    if not math.isfinite(float(value)):
                        raise ValueError(f"komi must be finite, not {value}")
                    komi = float(value)
                case ["play", colour, point]:
                    position = with_turn(position, colour).play(jaxgo.point(point, position.size))
                case ["genmove", colour]:
                    position = with_turn(position, colour)
                    move = choose(position, komi)
                    position, answer = position.play(move), jaxgo.coordinate(move, position.size)
                case ["list_commands"]:
                    answer = "\n".join(COMMANDS)
                case ["known_command", name]:
                    answer = str(name in COMMANDS).lower()
                case [name] if name in FIXED:
                    answer = FIXED[name]
                case _:
                    raise ValueError("unknown command")
        except (KeyError, ValueError) as error:  # what it cannot do, it says, and goes on
            answer, sign = f"{error}", "?"
        print(f"{sign}{number} {answer}\n", flush=True)
        if words == ["quit"]:
            return


if __name__ == "__main__":
    main()
