"""The README's Python examples run as they stand, one after the other."""

import pathlib
import re

README = pathlib.Path(__file__).parents[1] / "README.md"


def test_the_examples_run(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text("utf-8"), re.S | re.M)
    assert len(blocks) >= 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    printed = capsys.readouterr().out
    assert printed.startswith("Black wins 0.")
    assert names["tree"].visits > 10_000, "the move was played, and what the tree knew of it kept"
