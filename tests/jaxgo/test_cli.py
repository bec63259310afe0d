"""The `jaxgo` command itself: finding and loading sub-commands, exit statuses, speed of the help."""

import gc
import importlib.metadata
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

import pytest

from jaxgo import cli

JAXGO = pathlib.Path(sys.executable).parent / "jaxgo"
GAME = pathlib.Path(__file__).parents[2] / "games" / "gnugo-9x9.sgf"


def _jaxgo(*arguments: str, **options) -> subprocess.CompletedProcess:
    """Runs the installed command."""
    return subprocess.run([JAXGO, *arguments], capture_output=True, text=True, timeout=120, **options)


def _python(code: str) -> str:
    """The output of a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout


def test_help_lists_the_commands() -> None:
    done = _jaxgo("--help")
    assert done.returncode == 0 and done.stderr == ""
    assert re.search(r"^  evaluate +win rate, margin and ownership", done.stdout, re.M)
    assert "cannot be loaded" not in done.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["evaluate", "--help"], ["--version"], ["help", "evaluate"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = f"""
import sys
from jaxgo.cli import main
try:
    main({arguments!r})
except SystemExit as leaving:
    assert not leaving.code
print([name for name in ("jax", "numpy", "rich", "matplotlib", "sgfmill") if name in sys.modules])
"""
    assert _python(code).endswith("[]\n")


def test_only_the_chosen_command_is_imported() -> None:
    code = """
import sys
from jaxgo.cli import main
main(["evaluate", "no-such-file.sgf"])
print([name for name in sys.modules if name.split(".")[0] in ("bench", "search")])
"""
    assert _python(code) == "[]\n"


def test_version() -> None:
    assert _jaxgo("--version").stdout == f"jaxgo {importlib.metadata.version('jaxgo')}\n"


def test_help_of_a_command_teaches() -> None:
    done = _jaxgo("evaluate", "--help")
    assert done.returncode == 0 and "examples:" in done.stdout and "--every 10 --plot game.png" in done.stdout
    assert _jaxgo("help", "evaluate").stdout == done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evalute"], "jaxgo: error: there is no command 'evalute'; did you mean 'evaluate'?"),
        ([str(GAME)], f"jaxgo: error: there is no command '{GAME}'; did you mean `jaxgo evaluate {GAME}`?"),
        (["zzz"], "jaxgo: error: there is no command 'zzz'; there are: "),
        (["--nonsense"], "jaxgo: error: unrecognized arguments: --nonsense (see jaxgo --help)"),
        (["evaluate", "--nonsense"], "jaxgo evaluate: error: unrecognized arguments: --nonsense (see jaxgo evaluate --help)"),
    ],
)
def test_bad_usage_is_one_line(arguments: list[str], message: str) -> None:
    done = _jaxgo(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(message) and done.stderr.count("\n") == 1


def test_no_arguments_show_the_help_on_stderr() -> None:
    done = _jaxgo()
    assert done.returncode == 2 and done.stdout == "" and "commands:" in done.stderr


def _plug_in(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    """Pretends that other packages have plugged these commands in."""
    entries = [importlib.metadata.EntryPoint(name, value, cli.GROUP) for name, value in values.items()]
    plugged_in = importlib.metadata.EntryPoints(entries)
    monkeypatch.setattr(importlib.metadata, "entry_points", plugged_in.select)


def test_a_broken_plug_in_spoils_only_itself(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    _plug_in(monkeypatch, broken="no_such_module.command", evaluate="jaxgo.commands.evaluate")
    with pytest.raises(SystemExit) as leaving:
        cli.main(["--help"])
    assert not leaving.value.code
    text = capsys.readouterr().out
    assert "evaluate  win rate" in text and "cannot be loaded: No module named 'no_such_module'" in text
    assert cli.main(["broken"]) == 2
    message = "jaxgo broken: error: the command 'broken' (no_such_module.command) cannot be loaded: "
    assert capsys.readouterr().err.startswith(message)


def _command_module(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, name: str, body: str) -> None:
    """Plugs in a command whose run() is `body`."""
    arguments = "def add_arguments(parser): parser.add_argument('--n', type=int, default=3)"
    (tmp_path / f"{name}.py").write_text(f"SUMMARY = 'one line'\n{arguments}\ndef run(args):\n    {body}\n")
    monkeypatch.syspath_prepend(tmp_path)
    _plug_in(monkeypatch, mine=name)


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ("print(args.n)", 0, ""),
        ("return 7", 7, ""),
        ("from jaxgo.cli import UsageError; raise UsageError('n is odd')", 2, "jaxgo mine: error: n is odd\n"),
        ("raise KeyboardInterrupt", 130, "jaxgo mine: interrupted\n"),
    ],
)
def test_exit_statuses(tmp_path, monkeypatch, capsys, body: str, status: int, error: str) -> None:
    _command_module(tmp_path, monkeypatch, f"plugged_in_{status}", body)
    assert cli.main(["mine"]) == status
    assert capsys.readouterr().err == error


@pytest.mark.parametrize(("fault", "told"), [(AssertionError(), ""), (RuntimeError("there is none\nof them"), ": there is none")])
def test_platforms_that_are_not_there_are_told(tmp_path, monkeypatch, capsys, fault: Exception, told: str) -> None:
    """JAX says so at the first use, and of a missing GPU only that something should hold."""
    _command_module(tmp_path, monkeypatch, f"plugged_in_on_{type(fault).__name__}", "print(args.n)")

    def devices():
        raise fault

    monkeypatch.setattr("jax.devices", devices)
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    assert cli.main(["mine"]) == 2
    assert capsys.readouterr().err == f"jaxgo mine: error: JAX_PLATFORMS=cuda: JAX cannot use that here{told}\n"


def test_little_time_goes_into_looking_for_garbage():
    """Where somebody has asked for still less, or none (0), that holds."""
    before = gc.get_threshold()
    try:
        for already, expected in ((700, cli.BETWEEN_LOOKS), (2 * cli.BETWEEN_LOOKS, 2 * cli.BETWEEN_LOOKS), (0, 0)):
            gc.set_threshold(already, 7, 9)
            cli.look_for_less_garbage()
            assert gc.get_threshold()[:2] == (expected, 7)
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize("where", ["the garbage collector's callback", "an object's end"])
def test_ctrl_c_is_not_lost_where_python_only_prints_an_exception(tmp_path, monkeypatch, capsys, where: str) -> None:
    """jax has a callback of the garbage collector, and thread pools have some of objects that go."""
    name = f"interrupted_{where[:3].strip()}"
    (tmp_path / f"{name}.py").write_text(f"""
import gc, signal, time, weakref
SUMMARY = "is interrupted"
def add_arguments(parser): pass
class Thing: pass
def run(args):
    times = []
    def callback(*_):
        if not times:
            times.append(time.monotonic())
            signal.raise_signal(signal.SIGINT)
    thing = Thing()
    kept = weakref.ref(thing, callback)
    if "object" in {where!r}:
        del thing
    gc.callbacks.append(callback)
    try:
        gc.collect()
        time.sleep(60)
    finally:
        gc.callbacks.remove(callback)
""")
    monkeypatch.syspath_prepend(tmp_path)
    entry = importlib.metadata.EntryPoint("mine", name, cli.GROUP)
    monkeypatch.setattr(cli, "_entries", lambda: {"mine": entry})
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert cli.main(["mine"]) == cli.EXIT_INTERRUPTED
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "jaxgo mine: interrupted\n"


def test_a_reader_that_leaves_early_is_no_error() -> None:
    code = "import sys\nfrom jaxgo import cli\nsys.exit(cli.main(['evaluate', '--size', '5', '--playouts', '100', '--json']))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait(120) == 1
    assert "Traceback" not in error and "BrokenPipe" not in error


def _evaluate(redirection: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    code = "import sys\nfrom jaxgo import cli\nsys.exit(cli.main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "evaluate", "--playouts", "20", *arguments]
    line = f"{shlex.join(command)} {redirection}"
    return subprocess.run(line, shell=True, capture_output=True, text=True, timeout=120, env=os.environ | environment)


@pytest.mark.wide
def test_a_full_disk_is_told_in_a_line(tmp_path) -> None:
    """What can be written is."""
    games, out = tmp_path / "games", tmp_path / "out"
    games.mkdir()
    out.mkdir()
    for name in ("a.sgf", "b.sgf"):
        (games / name).write_text("(;SZ[2])")
    (out / "a.sgf").symlink_to("/dev/full")
    done = _evaluate("", str(games), "--sgf", str(out))
    assert done.returncode == 1 and "Traceback" not in done.stderr and "a.sgf" in done.stdout
    assert f"jaxgo: error: {out / 'a.sgf'} cannot be written: No space left on device" in done.stderr
    assert f"jaxgo: wrote {out / 'b.sgf'}" in done.stderr and (out / "b.sgf").read_bytes().startswith(b"(;")
    for unbuffered in ("", "1"):
        done = _evaluate("> /dev/full", "--size", "2", PYTHONUNBUFFERED=unbuffered)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1] == "jaxgo evaluate: error: [Errno 28] No space left on device"


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["evaluate", "--help"]], ids=" ".join)
def test_help_that_cannot_be_written_is_told(arguments) -> None:
    code = f"import sys\nfrom jaxgo import cli\nsys.exit(cli.main({arguments}))"
    for where in ("> /dev/full", ">&-"):
        line = f"{shlex.join([sys.executable, '-c', code])} {where}"
        done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=120)
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and "error: " in done.stderr, done.stderr


def test_a_result_that_has_nowhere_to_go_is_told(tmp_path) -> None:
    for arguments in ([], ["--json"]):
        done = _evaluate(">&-", "--size", "2", *arguments)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1] == "jaxgo evaluate: error: stdout is closed, and what was to be printed there is lost"


def test_a_closed_stdin_is_an_empty_one() -> None:
    done = _evaluate("<&-", "-")
    assert done.returncode == 2 and "Traceback" not in done.stderr and "no SGF data found" in done.stderr


def test_letters_that_stdout_does_not_have_are_spelled(tmp_path) -> None:
    """The playouts are not lost for a name."""
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[2]CA[UTF-8]PB[李])", "utf-8")
    done = _evaluate("", str(path), PYTHONIOENCODING="latin-1")
    assert done.returncode == 0 and "\\u674e" in done.stdout


def test_messages_do_not_land_among_the_results(tmp_path) -> None:
    """With stderr closed there is nowhere for them to go."""
    done = _evaluate("2>&-", "--size", "2", "--json", "--sgf", str(tmp_path / "out.sgf"))
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 1 and json.loads(done.stdout)


EVALUATE = ("evaluate", "--size", "2", "--playouts", "100")


def environment(**changes: str) -> dict[str, str]:
    """The environment without the tests' own cache."""
    kept = {k: v for k, v in os.environ.items() if k not in ("JAX_COMPILATION_CACHE_DIR", "JAXGO_CACHE", "XDG_CACHE_HOME")}
    return kept | changes


@pytest.mark.wide
def test_compiled_programs_are_kept(tmp_path) -> None:
    """In the user's caches by default, in a folder that is named, or nowhere."""
    folder, found = tmp_path / "caches" / "jaxgo", []
    for where in ({"XDG_CACHE_HOME": str(tmp_path / "caches")}, {"JAXGO_CACHE": str(folder)}):
        document = json.loads(_jaxgo(*EVALUATE, "--json", env=environment(**where)).stdout)
        found.append((document["positions"], {path.name: path.stat().st_size for path in folder.glob("*-cache")}))
    (said, kept), (said_again, kept_then) = found
    assert said == said_again
    # The second has taken what the first has left. On a busy machine, small programs may take long enough to be kept, too.
    large = {name for name, size in kept_then.items() if "in_form" in name and size > 100_000}
    assert large and large <= {*kept} <= {*kept_then}
    done = _jaxgo(*EVALUATE, env=environment(JAXGO_CACHE="off", XDG_CACHE_HOME=str(tmp_path / "none")))
    assert done.returncode == 0
    assert not (tmp_path / "none" / "jaxgo").exists()


def test_a_cache_that_cannot_be_written_is_refused(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    done = _jaxgo(*EVALUATE, env=environment(JAXGO_CACHE=str(tmp_path / "file" / "x")))
    assert done.returncode == 2
    assert "cannot be written to" in done.stderr


def test_help_and_a_games_name_lead_to_the_command(tmp_path, monkeypatch, capsys) -> None:
    """A record that is not there, too."""
    assert cli.main(["no.sgf"]) == 2
    assert capsys.readouterr().err == "jaxgo: error: there is no command 'no.sgf'; did you mean `jaxgo evaluate no.sgf`?\n"
    _command_module(tmp_path, monkeypatch, "plugged_in_for_help", "return 0")
    with pytest.raises(SystemExit) as leaving:
        cli.main(["help", "mine"])
    assert not leaving.value.code and capsys.readouterr().out.startswith("usage: jaxgo mine")


def test_a_command_may_read_its_defaults(tmp_path, monkeypatch, capsys) -> None:
    """From what its own arguments name."""
    _command_module(tmp_path, monkeypatch, "plugged_in_with_defaults", "print(args.n)")
    with (tmp_path / "plugged_in_with_defaults.py").open("a") as file:
        file.write("def read_defaults(parser, arguments): parser.set_defaults(n=len(arguments) + 40)\n")
    assert cli.main(["mine"]) == 0 and capsys.readouterr().out == "40\n"
    assert cli.main(["mine", "--n", "7"]) == 0 and capsys.readouterr().out == "7\n"


@pytest.mark.parametrize(("said", "told"), [("", "there is not enough memory"), ("'no room for 9 GB'", "no room for 9 GB")])
def test_too_little_memory_is_told_in_a_line(tmp_path, monkeypatch, capsys, said: str, told: str) -> None:
    _command_module(tmp_path, monkeypatch, f"plugged_in_large_{len(said)}", f"raise MemoryError({said})")
    assert cli.main(["mine"]) == 1
    assert capsys.readouterr().err == f"jaxgo mine: error: {told}\n"
