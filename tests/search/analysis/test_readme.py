"""The client in the README, which is not written in Python, runs as it stands."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

README = pathlib.Path(__file__).parents[3] / "README.md"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_client_in_javascript(tmp_path):
    (client,) = re.findall(r"^```js\n(.*?)^```", README.read_text("utf-8"), re.S | re.M)
    assert len(client.splitlines()) <= 15
    script = tmp_path / "client.js"
    script.write_text(client)
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["node", script], capture_output=True, text=True, timeout=300, check=False, env={**os.environ, "PATH": path}
    )
    lines = done.stdout.splitlines()
    assert lines[-1] == "done, status 0", done.stderr
    assert sorted(lines[:-1])[0].startswith("after 0 moves Black leads by ")
    assert len(lines) == 5 and all(line.count(" %") == 3 for line in lines[:-1])
