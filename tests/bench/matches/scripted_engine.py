"""A GTP engine for tests, without any knowledge of Go: `scripted_engine.py [BEHAVIOUR]`.

It plays the first point of the board that nobody has played yet, and passes after ten moves of its own. What else it does:

- `resigns`, `occupied` (plays a point that is taken), `nonsense` (answers with no move), `mumbles` (not GTP): at its third move;
- `dies` (exit status 3 and a word on stderr), `hangs`, `slow` (0.5 s), `closes` (its output, and lives on): at its third move;
- `extra` (answers twice), `refuses` (with a long text of lines and escapes): at its third move;
- `endless` (a line without an end, not GTP), `babbles` (an answer of lines without an end): at its third move;
- `noisy`: a megabyte on stderr before every answer;
- `absent`: ends when a game begins, unless it is the first;
- `small`: knows boards of 7x7 only;
- `scores=B+3`: its final_score.
"""

import os
import sys
import time

behaviour = sys.argv[1] if len(sys.argv) > 1 else ""
size, taken, own, games, seen = 19, [], 0, 0, []


def name(point: int) -> str:
    return f"{'ABCDEFGHJKLMNOPQRSTUVWXYZ'[point % size]}{size - point // size}"


def genmove(colour: str) -> str:
    global own
    own += 1
    if own == 3:
        if behaviour == "dies":
            print("\nout of matches\n", file=sys.stderr, flush=True)
            sys.exit(3)
        if behaviour == "closes":
            os.close(1)
            time.sleep(600)
        if behaviour == "mumbles":
            print("I think...", flush=True)
        while behaviour == "endless":
            print("." * 10_000, end="")
        while behaviour == "babbles":
            print("= ...")
        if behaviour == "extra":
            print("= A1\n")  # with the other
        if behaviour in ("hangs", "slow"):
            time.sleep(600 if behaviour == "hangs" else 0.5)
        if behaviour in ("resigns", "occupied", "nonsense"):
            return {"resigns": "resign", "occupied": taken[0], "nonsense": "Z99"}[behaviour]
    free = [name(p) for p in range(size * size) if name(p) not in taken]
    move = free[0] if own <= 10 and free else "pass"
    taken.append(move)
    return move


def answer(command: str, arguments: list[str]) -> str:
    global size, taken, own, games
    if command == "boardsize":
        size = int(arguments[0])
        if behaviour == "small" and size != 7:
            return "?unacceptable size"
    elif command == "clear_board":
        taken, own, games = [], 0, games + 1
        if behaviour == "absent" and games > 1:
            sys.exit(1)
    elif command == "play":
        if arguments[1].upper() in taken and arguments[1].upper() != "PASS":
            return "? illegal move"
        taken.append(arguments[1].upper())
    elif command == "genmove":
        if behaviour == "refuses" and own == 2:
            return "? " + "\x1b[31mno such luck\n" * 1000
        return f"={genmove(arguments[0])}"
    elif command == "final_score":
        return f"= {behaviour.partition('=')[2] or 'W+2.5'}"
    elif command in ("name", "version"):
        return {"name": "= Scripted", "version": f"= {behaviour or '1'}"}[command]
    elif command == "list_commands":
        known = "name version list_commands boardsize clear_board komi play genmove final_score time_settings time_left seen quit"
        return "= " + known.replace(" ", "\n")
    elif command == "seen":
        return "= " + "; ".join(seen)
    elif command == "time_left" and behaviour == "timeless":
        return "? not while a game goes on"
    elif command not in ("komi", "time_settings", "time_left"):
        return "? unknown command"
    return "="


for line in sys.stdin:
    words = line.split()
    if words == ["quit"]:
        break
    if behaviour == "noisy":
        print("x" * 79 + "\n" * 10_000, "y" * 1_000_000, file=sys.stderr, flush=True)
    text = answer(words[0], words[1:])
    seen.append(line.strip())
    print(f"{text}\n", flush=True)
