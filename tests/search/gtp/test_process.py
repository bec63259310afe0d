"""`jaxgo gtp` as clients start it: pipes, bursts, signals, the end of the input."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from jaxgo import cli
from search.gtp import engine as engine_module
from search.gtp import server
from search.gtp.engine import Engine
from search.gtp.options import EngineOptions
from tests.processes import only_on_linux, threads_of
from tests.search.gtp.client import Client, Piped
from tests.wide import wide

QUICK = ("--size", "5", "--leaves", "8", "--playouts-per-leaf", "4", "--policy", "uniform")
LONG = ("--seconds", "300")
#: Starts in half the time: for tests of pipes and signals, which no tree and no judgement have to do with.
FLAT = ("--size", "5", "--bot", "amaf", "--cleanup")


def run(*arguments: str, text: str = "", **options) -> subprocess.CompletedProcess:
    """Runs the command on a text."""
    command = [sys.executable, "-m", "jaxgo", "gtp", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, check=False, **options)


def complaint_of(capfd, *arguments: str) -> str:
    """The line that the command ends with, called in this process: it is refused before it reads anything."""
    assert cli.main(["gtp", *arguments]) == 2
    printed = capfd.readouterr()
    assert printed.out == "" and len(printed.err.strip().splitlines()) == 1
    return printed.err


def test_a_script_is_answered_to_its_end():
    """The end of the input ends the engine, when everything has been answered; the last line needs no end."""
    text = "1 name\r\n\r\n# nothing\n2 play b\tc3 # centre\r\n3 genmove w\nfoo\n4 showboard"
    done = run(*FLAT, "--visits", "64", text=text)
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if "compiling" not in line] == []  # that depends on the machine
    answers = done.stdout.split("\n\n")
    assert answers[:2] == ["=1 jaxgo", "=2 "]
    assert re.fullmatch(r"=3 [A-E][1-5]", answers[2])
    assert answers[3] == "? unknown command"
    assert answers[4].startswith("=4 MoveNum: 2")
    assert answers[5:] == [""]


def test_a_line_that_is_too_long_is_refused_and_the_next_one_answered():
    """And so is `quit`, with nothing after it."""
    done = run(text=f"1 name\n2 play b {'x' * (1 << 18)}\n3 name\nquit\nname\n")
    assert done.returncode == 0 and done.stdout == "=1 jaxgo\n\n?2 line longer than 131,072 bytes\n\n=3 jaxgo\n\n= \n\n"


def test_a_long_comment_is_not_answered():
    done = run(text=f"1 name\n# {'x' * (1 << 18)}\n{' ' * (1 << 18)}\n2 name\n")
    assert done.returncode == 0 and done.stdout == "=1 jaxgo\n\n=2 jaxgo\n\n"


def test_lines_after_the_end_are_nobodys(tmp_path):
    """Also where the conversation is written down, which has ended."""
    done = run("--log", str(tmp_path / "log"), text="quit\n" + "name\n" * 100_000)
    assert done.returncode == 0 and done.stdout == "= \n\n" and done.stderr == ""


@pytest.mark.wide
def test_input_that_is_not_there_yet_is_waited_for():
    """Whatever kind of pipe the client has left."""
    ours, its = os.pipe()
    os.set_blocking(ours, False)
    with subprocess.Popen([sys.executable, "-m", "jaxgo", "gtp"], stdin=ours, stdout=subprocess.PIPE, text=True) as engine:
        time.sleep(6)
        os.write(its, b"name\nquit\n")
        assert engine.stdout.read() == "= jaxgo\n\n= \n\n"
    os.close(ours)
    os.close(its)


def test_switches_in_a_configuration_file(tmp_path, capfd):
    path = tmp_path / "engine.toml"
    path.write_text("knowledge = true\nponder = false\n")
    done = run("--config", str(path), text="quit\n")
    assert done.returncode == 0 and done.stderr == ""
    path.write_text('knowledge = "true"\n')
    assert "knowledge must be true or false, not 'true'" in complaint_of(capfd, "--config", str(path))


@pytest.fixture(scope="module")
def patient():
    """An engine for several tests, which thinks for five minutes unless it is interrupted."""
    with Piped(*QUICK, *LONG) as engine:
        yield engine


@pytest.mark.wide
def test_a_burst_is_taken_at_once_and_answered_in_order(patient):
    """The client writes everything before it reads anything; each command takes as long as the one before."""
    patient.ok("clear_board")
    lines = [f"{i} {('play b C3', 'undo', 'name', 'play w pass', 'undo')[i % 5]}" for i in range(10_000)]
    start = time.monotonic()
    patient.send("\n".join(lines) + "\n")
    assert time.monotonic() - start < 5
    times = []
    for i in range(10_000):
        assert patient.answer().startswith(f"={i} ")
        times.append(time.monotonic())
    assert times[-1] - times[7_500] < 3 * (times[2_500] - times[0]) + 1, "no slower at the end"


@pytest.mark.wide
def test_analysis_ends_at_any_line_within_a_tenth_of_a_second(patient):
    patient.ok("clear_board")
    waits = []
    for i, interruption in enumerate(("name\n", "\n", "protocol_version\n", "# nothing\n", "17 play b A1\n", "undo\n") * 2):
        patient.send(("lz-analyze b 5\n", "kata-analyze 5 maxmoves 3\n")[i // 6])
        assert patient.line() == "="
        for _ in range(2):
            assert patient.line().startswith("info move ")
        start = time.monotonic()
        patient.send(interruption)
        while patient.line():
            pass
        waits.append(time.monotonic() - start)
        if interruption.strip() and not interruption.startswith("#"):
            assert patient.answer().startswith("=")
    assert sorted(waits)[len(waits) // 2] < 0.1, waits


@pytest.mark.wide
def test_a_signal_ends_the_thinking_with_a_move():
    """A command that has been accepted is answered, and so are those that arrived after it."""
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 0)):
        with Piped(*FLAT, *LONG, check=False) as engine:
            engine.ok("name")
            engine.send("1 genmove b\n2 name\n")
            time.sleep(0.5)
            engine.process.send_signal(number)
            assert re.fullmatch(r"=1 [A-E][1-5]\n\n", engine.answer(60))
            assert engine.answer() == "=2 jaxgo\n\n"
            assert engine.process.wait(timeout=60) == status


@pytest.mark.wide
def test_an_interrupting_line_ends_the_thinking_with_a_move(patient):
    """GoGui's comment: it is no command, and gets no answer; it means the command before it, and none after."""
    patient.ok("clear_board")
    assert patient.ok("known_command gogui-interrupt") == "true"
    for line, pattern in (
        ("genmove b", r"=1 [A-E][1-5]\n\n"), ("reg_genmove w", r"=1 [A-E][1-5]\n\n"), ("kata-search w", r"=1 [A-E][1-5]\n\n"),
        ("kata-genmove_analyze w 10000", r"=1\ninfo move .*\nplay [A-E][1-5]\n\n"),
    ):  # fmt: skip
        patient.send(f"1 {line}\n")
        time.sleep(0.3)
        start = time.monotonic()
        patient.send("# interrupt\n2 name\n")
        assert re.fullmatch(pattern, patient.answer(60))
        assert patient.answer() == "=2 jaxgo\n\n"
        assert time.monotonic() - start < 10
    patient.send("3 genmove b\n# a comment\n")
    time.sleep(0.5)
    patient.send("  #INTERRUPT \n")
    assert re.fullmatch(r"=3 [A-E][1-5]\n\n", patient.answer(60))


@pytest.mark.wide
def test_a_line_that_interrupts_nothing_harms_nothing(patient):
    """Commands that come after it are done in full."""
    patient.ok("clear_board")
    visits = patient.ok("kata-get-param maxVisits")
    patient.ok("kata-set-param maxVisits 64")
    patient.send("# interrupt\nkata-genmove_analyze b 10000 rootInfo true\n# nothing\n")
    assert patient.line() == "="
    assert re.search(r"rootInfo visits 64 ", patient.line())
    assert patient.line().startswith("play ") and not patient.line()
    patient.ok(f"kata-set-param maxVisits {visits}")


@only_on_linux
@pytest.mark.parametrize(
    "line", ["genmove b", *wide("lz-analyze b 100000"), pytest.param("kata-genmove_analyze b 100000", marks=pytest.mark.slow)]
)
def test_a_reader_that_is_gone_ends_the_work(line):
    """The client is killed while the engine thinks, and another process still holds its input open: nobody wants the move."""
    with Piped(*FLAT, *LONG, check=False) as engine:
        engine.ok("name")
        engine.send(f"{line}\n{line}\n")
        time.sleep(0.5)
        assert engine.process.poll() is None
        engine.stop_reading()
        assert engine.process.wait(timeout=60) == 1
    assert engine.errors == b""


def processor_seconds(pid: int) -> float:
    """What a process has used of all cores."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_people_are_told_of_a_long_compilation(monkeypatch, capfd):
    """And nothing where it is short."""
    engine = Engine(EngineOptions(), lambda text: None)
    for seconds, silence, told in ((0.2, 0.01, True), (0.0, 60.0, False)):
        monkeypatch.setattr(engine_module, "SILENCE", silence)
        monkeypatch.setattr(engine.thinker, "compile", lambda size, seconds=seconds: bool(time.sleep(seconds)))
        engine.obey("boardsize 7")
        assert ("compiling for 7x7" in capfd.readouterr().err) == told


def test_a_signal_ends_analysis():
    with Piped(*FLAT) as engine:
        engine.send("lz-analyze 10\n")
        assert engine.line() == "="
        engine.process.send_signal(signal.SIGTERM)
        assert engine.process.wait(timeout=60) == 0


@pytest.mark.wide
@only_on_linux
def test_a_signal_to_another_thread_ends_waiting_too():
    """Then the main thread, which handles signals, is not woken by it."""
    with Piped() as engine:
        engine.ok("name")
        os.kill(max(threads_of(engine.process.pid)), signal.SIGTERM)
        assert engine.process.wait(timeout=60) == 0


def test_a_client_that_goes_away_ends_the_engine():
    with Piped(*FLAT) as engine:
        engine.send("lz-analyze 5\n")
        assert engine.line() == "="
        engine.process.stdin.close()
        assert engine.process.wait(timeout=60) == 0


@pytest.mark.wide
@only_on_linux
def test_pondering_is_worth_something_and_stops_for_any_line_and_for_a_reader_that_is_gone():
    with Piped(*QUICK, "--visits", "200", "--ponder", check=False) as engine:
        move = engine.ok("genmove b")
        time.sleep(1)
        start = time.monotonic()
        assert engine.ok("name") == "jaxgo"
        assert time.monotonic() - start < 10
        engine.ok(f"play w {'C3' if move != 'C3' else 'C4'}")
        # What was pondered counts: the move has more playouts behind it than it was allowed to make.
        engine.send("kata-genmove_analyze b 1 rootInfo true\n")
        assert engine.line() == "="
        assert int(re.search(r"rootInfo visits (\d+)", engine.line())[1]) > 300
        while engine.line():
            pass
        before = processor_seconds(engine.process.pid)
        time.sleep(0.5)
        assert processor_seconds(engine.process.pid) > before, "it ponders"
        engine.stop_reading()
        time.sleep(0.5)
        before = processor_seconds(engine.process.pid)
        time.sleep(0.5)
        assert processor_seconds(engine.process.pid) - before < 0.2
        engine.send("name\n")
        assert engine.process.wait(timeout=60) == 1


def test_options_come_from_a_file_and_the_command_line_goes_before_it(tmp_path, monkeypatch, capfd):
    """What the command would serve with, and what an engine of these options answers."""
    path = tmp_path / "engine.toml"
    options = ('bot = "uct"', "size = 5", "visits = 640", "leaves = 8", "playouts_per_leaf = 4", "ponder = true", "komi = 0.5")
    path.write_text("\n".join((*options, 'memory = "256M"')))
    served = []
    monkeypatch.setattr(server, "serve", lambda options, *_: served.append(options))
    for arguments, visits, ponder in (
        (("--config", str(path)), "640", "true"),
        (("--visits", "64", "--no-ponder", f"--config={path}"), "64", "false"),
    ):
        with open(os.devnull) as nothing:
            monkeypatch.setattr(sys, "stdin", nothing)
            assert cli.main(["gtp", *arguments]) == 0
        (chosen,) = served
        served.clear()
        client = Client(None)
        client.engine = Engine(chosen, client.written.append)
        assert client.ok("version").endswith("(uct)")
        assert client.ok("get_komi") == "0.5"
        assert client.ok("kata-get-param maxVisits") == visits
        assert client.ok("kata-get-param ponderingEnabled") == ponder
        assert "MoveNum: 0\n   A B C D E\n" in client.ok("showboard")
        assert (chosen.leaves, chosen.playouts_per_leaf, chosen.memory) == (8, 4, 256 << 20)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        ("visits = ", "is not TOML: Invalid value (at end of document)"),
        ("\xff", "is not TOML: "),
        ("maxVisits = 5", "has the key 'maxVisits'; there are: bot, cleanup, knowledge, komi, leaves, log, memory, playouts-per-leaf,"),
        ('config = "x"', "has the key 'config'; there are: bot"),
        ("[search]\nvisits = 5", "has the key 'search'; there are: bot"),
        ("visits = true", "visits must be a text or a number, not True"),
        ("visits = [5]", "visits must be a text or a number, not [5]"),
        ('ponder = "yes"', "ponder must be true or false, not 'yes'"),
        ("visits = 0", "argument --visits: must be between 1 and 2147483647, not 0"),
        ('bot = "gnugo"', "argument --bot: there is no bot 'gnugo'"),
        ("leaves = 65537", "leaves must be between 1 and 65536, not 65537"),
    ],
)
def test_a_file_of_options_that_is_no_good_is_refused(tmp_path, text, message, capfd):
    path = tmp_path / "engine.toml"
    if text is not None:
        path.write_text(text, encoding="latin-1")
    complaint = complaint_of(capfd, "--config", str(path))
    assert message in complaint
    assert str(path) in complaint or text == "leaves = 65537"


def test_the_conversation_is_logged_with_times_and_a_signal_ends_waiting(tmp_path):
    log = tmp_path / "game.log"
    with Piped("--log", str(log)) as engine:
        engine.ok("5 name")
        lines = log.read_text().splitlines()
        assert [line.split(" ", 1)[1] for line in lines] == [">> 5 name", "<< =5 jaxgo"], "up to date while it goes on"
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3} ", lines[0])
        engine.process.send_signal(signal.SIGTERM)
        assert engine.process.wait(timeout=60) == 0

    with Piped("--log", str(log)) as engine:
        engine.ok("6 version")
        assert log.read_text().splitlines()[:2] == lines, "the log goes on: servers start their engine for each game"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--bot", "gnugo"), "there is no bot 'gnugo'"),
        (("--size", "26"), "must be between 2 and 25, not 26"),
        (("--rules", "nope"), "there are no rules 'nope'; there are: tromp-taylor"),
        (("--log", "/nonexistent/x.log"), "the log '/nonexistent/x.log' cannot be written: No such file"),
        (("--leaves", "1200", "--playouts-per-leaf", "16000"), "leaves times playouts_per_leaf must be between 1 and 262144, not"),
        (("--visits", "0"), "must be between 1"),
        (("--threads", "0"), "argument --threads: must be between 1 and 1024, not 0"),
        (("--memory", "lots"), "argument --memory: must be a size such as 512M or 2G, not 'lots'"),
        (("--config",), "argument --config: expected one argument"),
        (("--resign", "2"), "must be between 0 and 1"),
        (("--policy", "best"), "--policy best: policy must be of capture[:Q], nakade[:P]"),
        (("game.sgf",), "unrecognized arguments: game.sgf"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(arguments, message, capfd):
    assert message in complaint_of(capfd, *arguments)


def test_the_help_teaches():
    done = run("--help")
    assert done.returncode == 0
    for word in ("examples:", "jaxgo gtp --size 9 --cleanup --log game.log", "bots:", "--ponder", "lz-analyze"):
        assert word in done.stdout


def test_the_help_imports_nothing_heavy():
    code = """
import sys
from jaxgo.cli import main
try:
    main(["gtp", "--help"])
except SystemExit as leaving:
    assert not leaving.code
print([name for name in ("jax", "numpy", "sgfmill", "search.players") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.endswith("[]\n")
