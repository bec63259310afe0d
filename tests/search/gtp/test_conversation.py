"""A whole conversation as a golden file, and its shapes beside those of KataGo's.

`JAXGO_WRITE_GOLDEN=1 pytest tests/search/gtp/test_conversation.py` writes the file anew.
"""

import json
import os
import pathlib
import re

import pytest

from tests.search.gtp.client import Client

GOLDEN = pathlib.Path(__file__).with_name("conversation.txt")
COMMANDS = """
name
protocol_version
known_command play
known_command foo
foo
1 boardsize 5
boardsize 30
clear_board
komi 0.5
kata-get-rules
play b c3
play b c3
play w Z9
play purple a1
3 genmove w
undo
play w c2
final_score
final_status_list dead
time_settings 60 0 0
time_left b 30 0
kata-time_settings none
lz-genmove_analyze b 10000 maxmoves 2
kata-genmove_analyze w 10000 maxmoves 2 rootInfo true
cgos-genmove_analyze b maxmoves 1
showboard
ref-score
ref-nodes
jaxgo-variation
set_free_handicap
fixed_handicap 2
boardsize 9
fixed_handicap 2
showboard
undo
kata-list_time_settings
gogui-analyze_commands
kata-set-rules japanese
kata-list-params
kata-get-param maxVisits
kata-set-param maxVisits 160
kata-get-param maxVisits
kata-set-param maxVisits few
kata-get-param lagBuffer
kata-get-models
boardsize 4
komi 3.5
gogui-interrupt
reg_genmove w
gogui-play_sequence b B4 b A3 b B2 w C4 w D3 w C2 w B3 b C3
play w B3
gogui-play_sequence w pass b pass
play w B3
showboard
printsgf
undo
gogui-play_sequence b A1 w
set_position b A1 w B2 b C3
kata-search w
kata-search_analyze b 10000 maxmoves 1
showboard
printsgf
set_position b A1 w A1
quit
"""


def conversation() -> str:
    """Each command after ">> ", and its reply."""
    client = Client(None, visits=400, seed=1)
    client.engine.prepare = lambda: None  # no move is asked for on the board of 9x9
    said = "".join(f">> {line}\n{client(line)}" for line in COMMANDS.split("\n") if line)
    return re.sub(r"AP\[jaxgo:[^]]*\]", "AP[jaxgo:(version)]", said)


@pytest.fixture(scope="module")
def said() -> str:
    return conversation()


def test_the_conversation_is_the_golden_one(said):
    if os.environ.get("JAXGO_WRITE_GOLDEN"):
        GOLDEN.write_text(said)
    assert said == GOLDEN.read_text()


def reply(said: str, line: str) -> str:
    """The reply to the first such command."""
    return said.partition(f">> {line}\n")[2].partition("\n>> ")[0].rstrip("\n")


def keys(line: str) -> list[str]:
    """The keys of the first move of a report."""
    words = line.split(" info ")[0].split()
    return [word for word in words[: words.index("pv") + 1] if re.fullmatch(r"[a-z][A-Za-z]+", word)]


def test_reports_have_the_shape_of_katagos(said):
    """As KataGo 1.18.1 answers the same commands."""
    kata = reply(said, "kata-genmove_analyze w 10000 maxmoves 2 rootInfo true").split("\n")
    assert kata[0] == "="
    assert keys(kata[1]) == (
        "info move visits edgeVisits utility winrate scoreMean scoreStdev scoreLead scoreSelfplay prior lcb utilityLcb weight "
        "order pv"
    ).split()
    assert re.fullmatch(r"play [A-E][1-5]", kata[2])
    lz = reply(said, "lz-genmove_analyze b 10000 maxmoves 2").split("\n")
    assert keys(lz[1]) == "info move visits winrate prior lcb order pv".split()
    numbers = re.findall(r"(?:visits|winrate|prior|lcb|order) (\S+)", lz[1])
    assert all(re.fullmatch(r"-?\d+", number) for number in numbers) and len(numbers) == 10
    floats = re.findall(r"(?:utility|winrate|scoreLead|prior|lcb) (\S+)", kata[1])
    assert all(-30 < float(number) < 30 for number in floats)


def test_the_rest_has_the_shape_of_katagos(said):
    assert [reply(said, line)[0] for line in ("foo", "boardsize 30", "play w Z9", "play purple a1")] == ["?"] * 4
    assert json.loads(reply(said, "kata-get-rules")[2:]).keys() == {
        "friendlyPassOk", "hasButton", "ko", "scoring", "suicide", "tax", "whiteHandicapBonus",
    }  # fmt: skip
    board = reply(said, "showboard").split("\n")
    assert board[0] == "= MoveNum: 5"
    assert board[1] == "   A B C D E"
    assert all(re.fullmatch(r" [1-5] ([.XO][ 123]){4}[.XO][123]?", row) for row in board[2:7])
    assert re.fullmatch(r"Next player: (Black|White)", board[7])
    assert json.loads(board[8].removeprefix("Rules: "))["komi"] == 0.5
    assert re.fullmatch(r"B stones captured: \d+", board[9]) and re.fullmatch(r"W stones captured: \d+", board[10])
