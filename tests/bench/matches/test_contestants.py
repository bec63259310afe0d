"""Who plays in a match, as the command line names it."""

import argparse

import pytest

from bench.matches.contestants import Draws, read_bot
from jaxgo.cli import UsageError
from search import Knowledge, Limits, Rave

ARGS = argparse.Namespace(visits=None, seconds=None, leaves=16, playouts_per_leaf=8, knowledge=None, cleanup=False, size=5)


def test_settings_are_read():
    bot = read_bot("rave:bias=0.05,visits=4000,schedule=hand,strict=False,leaves=32", ARGS)
    assert bot.bot == "rave" and bot.limits == Limits(visits=4000)
    assert bot.options == {
        "cleanup": False, "leaves": 32, "playouts_per_leaf": 8, "rule": Rave(bias=0.05, schedule="hand", strict=False),
    }  # fmt: skip
    assert bot.what == "4,000 playouts a move, 32 leaves of 8 playouts a round"


@pytest.mark.parametrize(
    ("given", "leaves", "playouts"),
    [("", 256, 8), ("policy=capture", 256, 4), ("policy=capture,playouts_per_leaf=8", 256, 8), ("policy=uniform,leaves=64", 64, 8)],
)
def test_rounds_are_those_of_cpus(given, leaves, playouts):
    """As elsewhere, whatever the machine, so that a match is the same on all of them."""
    nothing = argparse.Namespace(**vars(ARGS) | {"leaves": None, "playouts_per_leaf": None})
    options = read_bot(f"rave:visits=9{given and ','}{given}", nothing).options
    assert (options["leaves"], options["playouts_per_leaf"]) == (leaves, playouts)


@pytest.mark.parametrize("name", ["rave", "amaf"])
def test_playouts_may_ask_a_policy(name):
    bot = read_bot(f"{name}:policy=capture:0.25+patterns,visits=9", ARGS)
    assert repr(bot.options["policy"]) == "[Capture(q=0.25), Patterns(p=1.0, save=True, match=True, capture=True)]"
    assert bot.what.startswith("9 playouts a move by [Capture(q=0.25), Patterns(")


def test_knowledge_is_switched_and_set():
    """Off and on, by the setting, the match's own switch, or weights of its own, which bring it in."""
    by_default = read_bot("rave:bias=0.01", ARGS).options["rule"]
    with_it, without = (read_bot(f"rave:knowledge={on}", ARGS).options["rule"] for on in (True, False))
    assert with_it.knowledge == Knowledge() and without.knowledge is None and by_default in (with_it, without)
    assert read_bot("uct:likely=3,even=0", ARGS).options["rule"].knowledge == Knowledge(likely=3, even=0)
    for on in (True, False):
        args = argparse.Namespace(**vars(ARGS) | {"knowledge": on})
        assert read_bot("rave", args).options["rule"] == (with_it if on else without)
        assert read_bot("rave:knowledge=True", args).options["rule"] == with_it
        assert "rule" not in read_bot("mc", args).options


@pytest.mark.parametrize("size", [2, 25])
def test_random_numbers_of_games_side_by_side_are_of_one_seed_and_not_in_common(size):
    """Each side of each game has its own streams, enough for its half of the most moves."""
    wamaf, ucb = (read_bot(bot, ARGS) for bot in ("wamaf", "ucb"))
    all_draws = [Draws(5, number, side) for number in (1, 2, 3, 999_999, 10**6) for side in (0, 1)]
    streams = [wamaf.random(draws, size)["stream"] for draws in all_draws]
    apart = {b - a for a, b in zip(streams, streams[1:])}
    assert min(apart) == (3 * size**2 + 1) // 2 and streams[-1] + min(apart) <= 2**31
    assert {wamaf.random(draws, size)["seed"] for draws in all_draws} == {5}
    assert len({ucb.random(draws, size)["stream"] for draws in all_draws}) == 10


def test_trees_have_seeds_of_their_own_in_each_game_of_each_match():
    """So matches of different seeds can be put together, without random openings too."""
    uct = read_bot("uct", ARGS)
    draws = [Draws(match, number, side) for match in (0, 1, 2, 4) for number in range(1, 101) for side in (0, 1)]
    seeds = [uct.random(each, 9)["seed"] for each in draws]
    assert len(set(seeds)) == len(seeds) and all(0 <= seed < 2**63 for seed in seeds)


@pytest.mark.parametrize("name", ["rave", "amaf"])
def test_bots_may_resign(name):
    assert read_bot(f"{name}:resign=0.03", ARGS).options["resign"] == 0.03
    assert "resign" not in read_bot(name, ARGS).options


def test_what_is_not_set_is_the_matchs():
    args = argparse.Namespace(**vars(ARGS) | {"seconds": 2.0, "cleanup": True})
    assert read_bot("amaf", args).limits == Limits(seconds=2.0)
    assert read_bot("amaf:visits=9", args).limits == Limits(visits=9, seconds=2.0)
    assert read_bot("amaf:seconds=0.5", args).what == "0.5 s a move"
    assert read_bot("amaf", args).options == {"cleanup": True}
    assert read_bot("amaf", ARGS).limits == Limits(visits=2000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raves", "there is no bot 'raves'; there are: rave, grave,"),
        ("rave:speed=3", "rave:speed=3: rave has no setting 'speed'; it has: visits, seconds, policy, resign, leaves, playouts_per_leaf,"),
        ("mc:bias=1", "mc:bias=1: mc has no setting 'bias'; it has: visits, seconds, policy"),
        ("mc:leaves=8", "mc has no setting 'leaves'"),
        ("uct:bias=1", "uct has no setting 'bias'; it has: visits, seconds, policy, resign, leaves, playouts_per_leaf, in_flight, share, "),
        ("rave:bias=much", "rave:bias=much: bias must be a number, not 'much'"),
        ("rave:bias=2", "rave:bias=2: bias must be a number from 0 to 1, not 2.0"),
        ("rave:resign=2", "resign must be a number from 0 to 1, not 2.0"),
        ("mc:resign=nan", "resign must be a number from 0 to 1, not nan"),
        ("rave:visits=", "visits must be a whole number, not ''"),
        ("rave:visits=0", "visits must be between 1 and 1125899906842624, not 0"),
        ("rave:strict=no", "strict must be True or False, not 'no'"),
        ("rave:k=1,k=2", "k is given twice"),
        ("rave:", "rave:: rave has no setting ''; it has: visits"),
        ("rave:k=1,", "rave:k=1,: rave has no setting ''"),
        ("rave:schedule=best", "schedule must be one of 'mse', 'hand', not 'best'"),
        ("rave:leaves=70000", "leaves must be between 1 and 65536, not 70000"),
        ("rave:policy=best", "rave:policy=best: policy=best: policy must be of capture[:Q]"),
        ("rave:policy=capture+best", "rave:policy=capture+best: policy=capture+best: policy must be of capture[:Q]"),
        ("rave:policy=best", "with + between them"),
        ("rave:even=-1", "even must be between 0 and 255, not -1"),
        ("rave:knowledge=maybe", "knowledge must be True or False, not 'maybe'"),
        ("rave:knowledge=False,even=1", "without knowledge there is nothing for even to set"),
        ("mc:knowledge=True", "mc has no setting 'knowledge'"),
        ("rave:seconds=inf", "seconds must be a positive finite number, not inf"),
    ],
)
def test_wrong_settings_are_refused_with_what_is_allowed(text, message):
    with pytest.raises(UsageError, match="^.*$") as caught:
        read_bot(text, ARGS)
    assert message in str(caught.value)
