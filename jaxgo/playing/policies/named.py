"""Policies as command lines name them."""

from jaxgo.playing.policies.advisor import Advisor
from jaxgo.playing.policies.advisor_table import AdvisorTable
from jaxgo.playing.policies.capture import Capture
from jaxgo.playing.policies.in_order import Uniform
from jaxgo.playing.policies.last_good_reply import LastGoodReply, Replies
from jaxgo.playing.policies.mercy import Mercy
from jaxgo.playing.policies.nakade import Nakade
from jaxgo.playing.policies.no_self_atari import NoSelfAtari
from jaxgo.playing.policies.patterns import Patterns
from jaxgo.playing.policies.policy import Policy

#: How policies are written, for people.
SYNTAX = (
    "capture[:Q], nakade[:P], no-self-atari[:P], patterns[:P[:save/match/capture]], replies:P[:REPLIES.npz], "
    "advisor:P[:TABLE.npz], mercy:STONES and uniform, with commas between them"
)


def policies_of(text: str) -> list[Policy]:
    """The policies that a text names, in order: those of `SYNTAX`.

    Q and P are probabilities, 1 where none is given; patterns have all their parts, or those named; the files are those that
    `AdvisorTable.save` and `Replies.save` write. Without one the policy learns, which only bots let it do.

    Raises:
      ValueError: the text names something else, or the file holds no such table.
      OSError: the file cannot be read.
    """
    return [_policy_of(part.strip(), text) for part in text.split(",")]


def _policy_of(part: str, text: str) -> Policy:
    name, *values = part.split(":", 2)
    if name == "mercy" and len(values) == 1 and values[0].isdecimal():
        return Mercy(int(values[0]))
    try:
        probability = float(values[0]) if values else 1.0
    except ValueError:
        name = ""
    if name == "uniform" and not values:
        return Uniform()
    if name == "capture" and len(values) < 2:
        return Capture(probability)
    if name == "nakade" and len(values) < 2:
        return Nakade(probability)
    if name == "no-self-atari" and len(values) < 2:
        return NoSelfAtari(probability)
    if name == "patterns":
        parts = values[1].split("/") if values[1:] else Patterns.STATIC
        if set(parts) <= set(Patterns.STATIC):
            return Patterns(probability, **{part: part in parts for part in Patterns.STATIC})
    if name == "replies" and values:
        return LastGoodReply(Replies.load(values[1]) if values[1:] else None, probability)
    if name == "advisor" and values:
        return Advisor(probability, AdvisorTable.load(values[1]) if values[1:] else None)
    raise ValueError(f"policy must be of {SYNTAX}, not {text!r}")
