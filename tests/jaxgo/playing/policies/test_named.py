"""Policies as command lines name them."""

import pytest

import jaxgo
from jaxgo.playing.policies.named import SYNTAX, policies_of


@pytest.mark.parametrize(("text", "policies"), [
    ("capture:0.9, patterns", [jaxgo.Capture(0.9), jaxgo.Patterns()]),
    ("no-self-atari:0.5,nakade,mercy:20,uniform", [jaxgo.NoSelfAtari(0.5), jaxgo.Nakade(), jaxgo.Mercy(20), jaxgo.Uniform()]),
    ("patterns:0.8:match", [jaxgo.Patterns(0.8, save=False, capture=False)]),
    ("patterns:1:capture/save", [jaxgo.Patterns(match=False)]),
    ("replies:0.5,advisor:0.25", [jaxgo.LastGoodReply(None, 0.5), jaxgo.Advisor(0.25)]),
])  # fmt: skip
def test_they_are_told_by_name_and_numbers(text, policies):
    assert repr(policies_of(text)) == repr(policies)


@pytest.mark.parametrize("text", [
    "", "best", "capture:x", "capture:1:2", "patterns:1:", "patterns:1:best", "patterns:1:match/", "patterns:1:match:save", "mercy", "mercy:-1", "uniform:1", "replies", "nakade,", "mercy:9:1",
    "nakade:1:2", "no-self-atari:1:2", "advisor", "mercy:0x9", "capture:",
])  # fmt: skip
def test_what_names_none_is_refused(text):
    with pytest.raises(ValueError) as refused:
        policies_of(text)
    assert str(refused.value) == f"policy must be of {SYNTAX}, not {text!r}"


def test_a_chance_that_is_none_is_refused():
    with pytest.raises(ValueError, match="^p must be between 0 and 1, not 2.0$"):
        policies_of("patterns:2:match")
