"""A short game analysed by KaTrain's own engine class, without KaTrain's windows. Prints what it saw as JSON.

    python tests/clients/katrain_game.py FOLDER_OF_KATRAIN COMMAND
"""

import json
import sys
import threading
import time
import types

folder, command = sys.argv[1:]
sys.path.insert(0, folder)


def stand_in(name: str, **values) -> None:
    """A module in place of one that needs a display."""
    module = types.ModuleType(name)
    vars(module).update(values)
    sys.modules[name] = module


class _Anything(type):
    def __getattr__(cls, name):
        return None


stand_in("kivy")
stand_in("kivy.utils", platform="linux")
stand_in("katrain.gui")
stand_in("katrain.gui.theme", Theme=_Anything("Theme", (), {}))
stand_in("katrain.core.lang", i18n=types.SimpleNamespace(_=lambda text: text))

from katrain.core.constants import OUTPUT_ERROR  # noqa: E402
from katrain.core.engine import KataGoEngine  # noqa: E402
from katrain.core.game_node import GameNode  # noqa: E402
from pysgf import Move  # noqa: E402

seen = {"errors": [], "popups": [], "warnings": 0}


class KaTrain:
    """What the engine class needs of the program."""

    def log(self, message, level=None):
        if level == OUTPUT_ERROR:
            seen["errors"].append(str(message))
        seen["warnings"] += "'warning':" in str(message)

    def __call__(self, *popup):
        seen["popups"].append(popup)


config = {"backend": "custom", "altcommand": command, "max_visits": 500, "fast_visits": 25, "max_time": 8.0, "wide_root_noise": 0.04,
          "_enable_ownership": True}  # fmt: skip
engine = KataGoEngine(KaTrain(), config)
root = node = GameNode(properties={"SZ": ["9"], "KM": ["6.5"], "RU": ["japanese"]})


def analyse(node: GameNode, **options) -> None:
    def take(analysis, partial):
        node.set_analysis(analysis, partial_result=partial)

    engine.request_analysis(node, take, **options)


def settled() -> None:
    """Waits until the engine has nothing left to do."""
    deadline = time.monotonic() + 120
    while not engine.is_idle():
        assert time.monotonic() < deadline and engine.check_alive(), seen
        time.sleep(0.01)


moves = []
for number in range(8):
    analyse(node)
    settled()
    best = node.candidate_moves[0]
    moves.append(best["move"])
    assert node.analysis_complete and len(node.ownership) == 81 and len(node.policy) == 82, node.analysis
    assert -81 < node.score < 81 and 0 <= node.winrate <= 1 and best["pv"][0] == best["move"]
    assert len(best["ownership"]) == 81
    node = node.play(Move.from_gtp("pass" if number > 5 else best["move"], player=node.next_player))
analyse(node)  # after two passes
settled()
seen["moves"], seen["after the end"] = moves, len(node.candidate_moves)

# As the user browses: quickly, other moves, a part of the board.
analyse(root, analyze_fast=True)
settled()
known = set(root.analysis["moves"])
alternatives = []
engine.request_analysis(root, lambda a, partial: alternatives.extend(m["move"] for m in a["moveInfos"]), find_alternatives=True)
settled()
assert alternatives and not known & set(alternatives), (known, alternatives)
region = []
engine.request_analysis(root, lambda a, partial: region.extend(m["move"] for m in a["moveInfos"]), region_of_interest=[0, 2, 0, 2])
settled()
assert region and set(region) <= {f"{c}{r}" for c in "ABC" for r in (1, 2, 3)}, region

# An illegal move, with somebody who listens and without, as in a sweep over all moves.
first = root.children[0]
illegal, errors = Move.from_gtp(moves[0], player=first.next_player), []
engine.request_analysis(first, None, errors.append, next_move=illegal)
engine.request_analysis(first, None, None, next_move=illegal)
settled()
seen["illegal"] = [error["error"] for error in errors]

# Pondering: reports without end, until it is stopped.
reports, enough = [], threading.Event()


def ponder(analysis, partial):
    reports.append(analysis["rootInfo"]["visits"])
    if len(reports) >= 4:
        enough.set()


engine.request_analysis(first, ponder, ponder=True)
assert enough.wait(60)
engine.stop_pondering()
settled()
seen["pondered"] = reports

# A new game while the old one is still being analysed.
for _ in range(10):
    analyse(root, visits=1_000_000, time_limit=False)
time.sleep(0.3)
engine.on_new_game()
fresh = GameNode(properties={"SZ": ["9"], "KM": ["7"], "RU": ["new zealand"]})
analyse(fresh)
settled()
seen["fresh"] = fresh.analysis_complete
engine.shutdown(finish=True)
print(json.dumps(seen))
