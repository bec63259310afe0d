"""Rules by KataGo's names, and what is played."""

import pytest

from search import rulesets


@pytest.mark.parametrize(
    ("name", "handicap", "komi", "warned"),
    [
        ("tromp-taylor", "0", 7.5, False),
        ("chinese", "N", 7.5, False),
        ("Chinese-OGS", "N", 7.5, False),
        ("chinese_kgs", "N", 7.5, False),
        ("japanese", "0", 6.5, True),
        ("korean", "0", 6.5, True),
        ("stone_scoring", "0", 7.5, True),
        ("aga", "N-1", 7.5, False),
        ("aga-button", "N-1", 7.0, True),
        ("bga", "N-1", 7.5, False),
        ("french", "N-1", 7.5, False),
        ("new zealand", "0", 7.5, False),
        ('{"ko": "POSITIONAL", "scoring": "AREA", "whiteHandicapBonus": "N"}', "N", 7.5, False),
    ],
)
def test_names(name, handicap, komi, warned):
    found, warning = rulesets.find(name)
    assert (found.handicap, found.komi, warning is not None) == (handicap, komi, warned)


@pytest.mark.parametrize("name", rulesets.NAMES)
def test_what_is_played_is_always_the_same_but_for_the_bonus(name):
    played = rulesets.find(name)[0].as_json()
    assert played.pop("whiteHandicapBonus") in ("0", "N", "N-1")
    assert played == {
        "friendlyPassOk": False, "hasButton": False, "ko": "POSITIONAL", "scoring": "AREA", "suicide": False, "tax": "NONE",
    }  # fmt: skip


def test_what_is_played_can_be_asked_for():
    for name in rulesets.NAMES:
        found = rulesets.find(name)[0]
        again, warning = rulesets.find(found.as_json())
        assert warning is None and again.as_json() == found.as_json()


@pytest.mark.parametrize(
    ("rules", "word"),
    [
        ({"scoring": "TERRITORY"}, "area scoring"),
        ({"score": "territory"}, "area scoring"),
        ({"ko": "SIMPLE"}, "positional superko"),
        ({"multiStoneSuicideLegal": True}, "no suicide"),
        ({"tax": "SEKI"}, "no tax"),
        ({"hasButton": True}, "no button"),
        ("japanese", "Rules japanese are not supported; played with area scoring, no tax on groups instead"),
    ],
)
def test_warnings_say_what_is_different(rules, word):
    assert word in rulesets.find(rules)[1]


@pytest.mark.parametrize("rules", ["nope", "", "{", '{"ko": 3}', {"ko": "LOOSE"}, {"suicide": 1}, {"suicide": "true"}, {"x": 1}, 3, [], True])
def test_unknown_rules(rules):
    with pytest.raises(ValueError, match="Could not parse rules: "):
        rulesets.find(rules)


def test_komi_of_a_dictionary():
    """The dictionaries that KataGo writes hold one; what is stated counts where the query says nothing."""
    assert rulesets.find({"komi": 0.5})[0].komi == 0.5
    assert rulesets.find({"komi": -3, "scoring": "TERRITORY"})[0].komi == -3.0
    assert rulesets.find('{"hasButton": true}')[0].komi == 7.0
    for komi in ("7.5", None, True, 1e7, float("nan")):
        with pytest.raises(ValueError, match="Could not parse rules: "):
            rulesets.find({"komi": komi})


BLACK, WHITE, PASS = 1, -1, 81


@pytest.mark.parametrize(
    ("set_up", "moves", "expected"),
    [
        ([], [], [0]),
        ([1, 1, 1], [], [3]),
        ([1, 1, -1], [(BLACK, 3)], [0]),
        ([], [(BLACK, 3), (WHITE, 4), (BLACK, 5)], [0, 1, 1]),
        ([1, 1], [(BLACK, 3), (BLACK, 4), (WHITE, 5), (BLACK, 6)], [2, 3, 4, 4]),
        ([], [(BLACK, 3), (WHITE, PASS), (BLACK, 4), (WHITE, PASS), (BLACK, PASS), (WHITE, 5)], [0, 1, 1, 2, 2, 2, 2]),
        ([], [(BLACK, 3), (BLACK, 4), (WHITE, 5), (WHITE, 6), (BLACK, 7)], [0, 1, 2, 2, 0]),
        ([1, 1], [(BLACK, 4), (WHITE, PASS), (WHITE, 6)], [2, 3, 3, 2]),
    ],
)  # fmt: skip
def test_handicap_stones_of_a_game(set_up, moves, expected):
    """As `computeNumHandicapStones` of KataGo counts them."""
    assert rulesets.handicap_stones(set_up, moves, PASS) == expected


@pytest.mark.parametrize(("handicap", "points"), [("0", [0, 0, 0, 0]), ("N", [0, 0, 2, 9]), ("N-1", [0, 0, 1, 8])])
def test_points_for_handicap_stones(handicap, points):
    assert [rulesets.Ruleset("", handicap).handicap_bonus(stones) for stones in (0, 1, 2, 9)] == points
