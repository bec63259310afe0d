"""The log of a conversation, on a disk that is full too."""

import pytest

from search.log import Log


def test_it_goes_on_behind_what_the_file_holds(tmp_path):
    path = tmp_path / "log"
    for lines in (("a", "b"), ("ä\ud800",)):
        log = Log(str(path), pytest.fail)
        log(*lines)
        assert path.read_bytes().endswith(f"{lines[-1]}\n".encode(errors="replace")), "at once"
        log.close()
        log("after its end")
    assert path.read_bytes() == "a\nb\nä?\n".encode()


def test_a_full_disk_is_said_once_and_ends_nothing():
    said: list[str] = []
    log = Log("/dev/full", said.append)
    for _ in range(3):
        log("line")
    log.close()
    assert said == ["the log '/dev/full' cannot be written: No space left on device; going on without"]
