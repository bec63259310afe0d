"""The client in `examples/` that is not written in Python runs as it stands."""

import pathlib
import shutil
import subprocess
import sys

import pytest

CLIENT = pathlib.Path(__file__).parents[3] / "examples" / "client.js"


@pytest.mark.wide
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_client_in_javascript(tmp_path):
    # As the README sets things up: a virtual environment in the folder, which nobody has activated.
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "jaxgo").symlink_to(pathlib.Path(sys.executable).parent / "jaxgo")
    done = subprocess.run(["node", CLIENT], capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert lines[-1] == "done, status 0", done.stderr
    assert [line.partition(" Black leads by ")[0] for line in lines[:-1]] == [f"after {turn} moves" for turn in range(4)]
    assert all(line.count(" %") == 3 for line in lines[:-1])
