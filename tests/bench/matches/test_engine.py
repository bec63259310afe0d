"""Other programs as players: whatever they do, a game ends, and says why."""

import os
import pathlib
import re
import shlex
import sys
import threading
import time

import pytest

from bench.matches import contestants, engine
from bench.matches.contestants import Conditions, Draws, Program
from bench.matches.engine import Engine, EngineError, EngineMover, NoAnswer
from bench.matches.referee import judge
from jaxgo import Position
from search.game import Game
from search.in_steps import alone
from search.selfplay import FAILURE, ILLEGAL, RESIGNATION, SCORE, TIME, Forfeit, play_game

SCRIPT = pathlib.Path(__file__).with_name("scripted_engine.py")


def command(behaviour: str = "") -> str:
    """The command line of a scripted engine."""
    return shlex.join([sys.executable, "-S", str(SCRIPT), *([behaviour] if behaviour else [])])


@pytest.fixture
def start():
    """Starts scripted engines, and ends them."""
    running = []

    def begin(behaviour: str = "", size: int = 5) -> Engine:
        running.append(Engine(command(behaviour)))
        running[-1].begin(size, 0.5)
        return running[-1]

    yield begin
    for one in running:
        one.close()


def game(start, behaviour: str, seconds: float | None = None, grace: float = 0.25):
    """A game of a quiet engine as Black against one that behaves so."""
    movers = [EngineMover(start(), None, grace), EngineMover(start(behaviour), seconds, grace)]
    return play_game(*movers, Game(Position.empty(5), 0.5), seconds=None if seconds is None else seconds + grace)


def test_engines_play_a_whole_game(start):
    """Each is told the other's moves; both fill the board row by row."""
    played = game(start, "")
    assert played.ending == SCORE and played.game.over
    assert [point for _, point in played.game.moves[:20]] == list(range(20))
    assert len(played.seconds) == len(played.choices) == 22


def test_an_engine_plays_itself_in_two_processes(monkeypatch):
    monkeypatch.setattr(contestants, "_engines", {})
    program, conditions = Program(command(), "Scripted"), Conditions(5, 0.5, None, 0.25, 1)
    movers = [program.mover(conditions, Draws(1, 1, side)) for side in range(2)]
    played = play_game(*movers, Game(Position.empty(5), 0.5))
    assert played.ending == SCORE and len(played.choices) == 22
    for mover in movers:
        mover.engine.close()


@pytest.mark.parametrize(
    ("behaviour", "ending", "remark"),
    [
        ("resigns", RESIGNATION, ""),
        ("occupied", ILLEGAL, "A5: the point is occupied"),
        ("nonsense", FAILURE, "its move 'Z99' is none"),
        ("refuses", FAILURE, "it refuses 'genmove w': [31mno such luck [31mno such luck [31m"),
        ("mumbles", FAILURE, "its answer to 'genmove w' is not GTP's: 'I think...'"),
        ("endless", FAILURE, "its answer to 'genmove w' is not GTP's: '..."),
        ("babbles", FAILURE, "'genmove w'"),  # its answer does not end, or it is ended as it is not read as fast as it talks
        ("dies", FAILURE, "it ended at 'genmove w' with exit status 3; stderr: out of matches"),
        ("closes", FAILURE, "it closed its output at 'genmove w'"),
    ],
)
def test_how_a_game_can_end(start, behaviour, ending, remark):
    played = game(start, behaviour)
    assert played.ending == ending and played.winner == 1
    assert remark in played.remark and len(played.remark) < 400 and played.remark.isprintable()
    assert len(played.game.moves) == 5, "at White's third move"
    assert played.result == {RESIGNATION: "B+R"}.get(ending, "B+F")


@pytest.mark.parametrize("behaviour", ["nonsense", "extra"])
def test_one_that_has_failed_is_started_anew(monkeypatch, behaviour):
    """So that an answer that nobody has asked for is not taken for that to each further command."""
    monkeypatch.setattr(contestants, "_engines", {})
    conditions, programs = Conditions(5, 0.5, None, 0.25, 1), [Program(command(), "Scripted"), Program(command(behaviour), "Odd")]
    processes, remarks = [], []
    for number in (1, 2):
        movers = [program.mover(conditions, Draws(1, number, side)) for side, program in enumerate(programs)]
        played = play_game(*movers, Game(Position.empty(5), 0.5))
        assert (played.ending, played.winner, movers[1].engine.running) == (FAILURE, 1, False)
        processes.append([mover.engine for mover in movers])
        remarks.append(played.remark)
    assert processes[0][0] is processes[1][0] and processes[0][1] is not processes[1][1]
    # Where the machine is busy the further answer comes only after the next command, and is found out one later.
    known = {"nonsense": "its move 'Z99' is none", "extra": "it says what it was not asked: '=A4'|it refuses '.*"}[behaviour]
    assert all(re.fullmatch(known, remark) for remark in remarks)
    processes[0][0].close()


def test_a_referee_that_has_failed_is_started_anew(monkeypatch):
    monkeypatch.setattr(contestants, "_engines", {})
    played = Game(Position.empty(5), 0.5)
    played.play(7)
    first, second = (judge(played, f"gtp:{command('scores=none')}", Conditions(5, 0.5, None, 0.25, 1)) for _ in range(2))
    assert first == second and (first.score, first.referee) == (24.5, "own")
    assert first.remark == "the referee has failed: its final_score is 'none'"
    assert not any(one.running for one in contestants._engines.values())


def test_one_that_does_not_answer_is_ended(start):
    began = time.monotonic()
    played = game(start, "hangs", seconds=1.0)
    assert (played.ending, played.winner, played.result) == (TIME, 1, "B+T")
    assert "no answer to 'genmove w'" in played.remark
    assert time.monotonic() - began < 60, "it would sleep for ten minutes"
    assert len(played.seconds) == len(played.choices) + 1 and played.seconds[-1] >= 1.0, "what the move that never came took"


def test_one_that_answers_too_late_loses_on_time(start):
    """The clock of the game counts, not the wait alone."""
    mover = EngineMover(start("slow"), None, 0.0)
    played = play_game(EngineMover(start(), None, 0.0), mover, Game(Position.empty(5), 0.5), seconds=0.3)
    assert (played.ending, played.winner) == (TIME, 1)
    assert "a move took 0." in played.remark


def test_an_engine_is_told_the_time(start):
    white = start()
    play_game(EngineMover(start(), None, 1.0), EngineMover(white, 2.0, 1.0), Game(Position.empty(5), 0.5), max_moves=4)
    seen = white.ask("seen").split("; ")
    assert "time_settings 0 2 1" in seen
    assert seen[-3:] == ["play b C5", "time_left w 2 1", "genmove w"]


def test_one_that_does_not_take_the_time_plays_all_the_same(start):
    assert game(start, "timeless", seconds=5.0).ending == SCORE


def test_noise_on_stderr_blocks_nothing(start):
    assert game(start, "noisy").ending == SCORE


@pytest.mark.parametrize("by_itself", [False, True])
def test_a_process_ends_with_all_that_it_has_started(tmp_path, by_itself):
    """Where it is ended, and where it has ended before."""
    script = tmp_path / "wrapper"
    started = f"sleep 600 > {tmp_path}/said 2>&1 &\necho $! > {tmp_path}/child"
    script.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/parent\n{started}\n{command('dies')}\n")
    script.chmod(0o755)
    one = Engine(str(script))
    if by_itself:
        with pytest.raises(EngineError, match="exit status 3"):
            for _ in range(3):
                one.ask("genmove b")
    else:
        one.close()
    assert not one.running
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not pathlib.Path(f"/proc/{child}").exists():
            break
        time.sleep(0.05)
    else:
        pytest.fail("what the engine had started still runs")


def test_all_are_killed_whatever_the_process_is_in_the_middle_of(start):
    """As by a signal that comes while it looks whether an engine still runs."""
    one = start()
    with one._process._waitpid_lock:
        killing = threading.Thread(target=engine.kill_all, daemon=True)
        killing.start()
        killing.join(10)
        assert not killing.is_alive()
    with pytest.raises(EngineError, match="it ended at 'name' with exit status -9"):
        one.ask("name", 10.0)


def test_one_that_speaks_something_else_is_told_of_while_it_is_waited_for(monkeypatch, capfd):
    """As `gnugo` does without `--mode gtp`."""
    monkeypatch.setattr(engine, "SILENCE", 0.1)
    monkeypatch.setattr(engine, "PATIENCE", 1.0)
    with pytest.raises(EngineError, match="^no answer to 'list_commands' in 1 s: does it speak GTP, as `gnugo --mode gtp` does?"):
        Engine("sleep 100")
    assert capfd.readouterr().err == "waiting for the engine 'sleep 100' to answer\n"


def test_what_can_not_be_started_is_named():
    with pytest.raises(EngineError, match="^'no-such-engine' cannot be started: No such file"):
        Engine("no-such-engine --mode gtp")
    with pytest.raises(EngineError, match="there is no command line"):
        Engine(" ")
    with pytest.raises(EngineError, match="No closing quotation"):
        Engine("gnugo 'x")
    with pytest.raises(EngineError, match="it ended at 'list_commands' with exit status 0"):
        Engine("true")


def test_no_wait_is_without_a_bound(start):
    one = start("hangs")
    for _ in range(2):
        one.ask("genmove b")
    with pytest.raises(NoAnswer, match=r"no answer to 'genmove b' in 0\.2 s"):
        one.ask("genmove b", 0.2)
    assert not one.running
    with pytest.raises(EngineError, match="it ended"):
        one.ask("name", 5.0)


@pytest.mark.parametrize(
    ("text", "score"), [("B+3.5", 3.5), ("W+0.5", -0.5), ("0", 0.0), ("jigo", 0.0), ("B+12", 12.0), ("w+7.", -7.0)]
)
def test_scores(start, text, score):
    assert start(f"scores={text}").final_score() == score


@pytest.mark.parametrize("text", ["?", "B+Resign", "unknown"])
def test_what_is_no_score_is_refused(start, text):
    with pytest.raises(EngineError, match="its final_score is"):
        start(f"scores={text}").final_score()


def test_the_one_who_repeats_a_position_may_not_know_superko():
    assert EngineMover.knows_superko is False


def test_gnugo_is_found_where_debian_has_it(monkeypatch, tmp_path):
    (tmp_path / "gnugo").write_text("#!/bin/sh\n")
    os.chmod(tmp_path / "gnugo", 0o755)
    monkeypatch.setattr(engine, "_PATH", str(tmp_path))
    assert engine.find_gnugo() == "gnugo --mode gtp --chinese-rules"
    monkeypatch.setattr(engine, "_PATH", "")
    assert engine.find_gnugo() is None


class Said:
    """In an engine's place: notes what it is asked, with the seconds that it has; says or raises what it is to.

    Args:
      move: its answer to genmove, or what it raises.
      refuses: a command, with its arguments, that it does not take.
    """

    commands, running = frozenset({"time_settings", "time_left", "set_random_seed"}), True

    def __init__(self, move: str | Exception = "C3", refuses: str = ""):
        self.move, self.refuses, self.asked = move, refuses, {}

    def ask(self, command: str, seconds: float = 0.0) -> str:
        self.asked[command] = seconds
        if command == self.refuses:
            raise EngineError("it refuses")
        if command.startswith("genmove") and isinstance(self.move, Exception):
            raise self.move
        return self.move

    def close(self) -> None:
        """Nothing runs."""


def moved(said: Said, seconds: float | None, grace: float = 1.0):
    """The first move of a game."""
    return alone(EngineMover(said, seconds, grace).move_in_steps(Game(Position.empty(5), 0.5)))


def test_a_game_begins_with_all_digits_of_the_komi_and_a_seed_that_engines_take():
    said, begun = Said(), Engine.__new__(Engine)
    begun.ask, begun.commands = said.ask, said.commands
    begun.begin(9, -1234.125, 2**40 + 3)
    assert list(said.asked) == ["boardsize 9", "komi -1234.125", "clear_board", "set_random_seed 3"]
    begun.commands = frozenset()
    said.asked.clear()
    begun.begin(9, 7.0)
    assert list(said.asked) == ["boardsize 9", "komi 7", "clear_board"]


def test_an_engine_that_has_whole_seconds_only_is_told_the_next_one():
    """GTP's times are whole numbers, and none would be no time at all."""
    said = Said(refuses="time_settings 0 0.5 1")
    moved(said, 0.5)
    assert list(said.asked) == ["time_settings 0 0.5 1", "time_settings 0 1 1", "time_left b 1 1", "genmove b"]


def test_a_move_may_take_the_grace_too():
    said = Said()
    moved(said, 2.0, grace=3.0)
    assert 4.0 < said.asked["genmove b"] <= 5.0


@pytest.mark.parametrize(("seconds", "ending"), [(None, FAILURE), (2.0, TIME)])
def test_no_answer_is_a_loss_on_time_where_a_clock_runs(seconds, ending):
    with pytest.raises(Forfeit) as lost:
        moved(Said(NoAnswer("no answer")), seconds)
    assert (lost.value.ending, str(lost.value)) == (ending, "no answer")


@pytest.mark.parametrize("word", ["resign", "RESIGN", "Resign"])
def test_resignations_in_any_case(word):
    assert moved(Said(word), None).resign
