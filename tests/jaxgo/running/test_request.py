"""What `jaxgo.evaluate` and `jaxgo.playouts` are asked: both take the common arguments through the same checks."""

import numpy as np
import pytest

import jaxgo

TOO_MANY = 2**31

BAD_ARGUMENTS = {
    "position: array": (dict(position=np.zeros((1, 5, 5), np.int8)), r"position.*ndarray"),
    "position: None": (dict(position=None), r"position.*None"),
    "streams: lists of unequal lengths": (dict(streams=[[1], [2, 3]]), r"streams must be one number or an array of them, not"),
    "num_playouts 0": (dict(num_playouts=0), r"num_playouts.*\b0\b"),
    "num_playouts -1": (dict(num_playouts=-1), r"num_playouts.*-1"),
    "num_playouts 1.5": (dict(num_playouts=1.5), r"num_playouts.*1\.5"),
    "num_playouts 1e3": (dict(num_playouts=1e3), r"num_playouts.*1000\.0"),
    "num_playouts '10'": (dict(num_playouts="10"), r"num_playouts.*10"),
    "num_playouts True": (dict(num_playouts=True), r"num_playouts.*True"),
    "num_playouts None": (dict(num_playouts=None), r"num_playouts.*None"),
    "num_playouts 2**31": (dict(num_playouts=TOO_MANY), rf"num_playouts.*{TOO_MANY}"),
    "num_playouts of each for others": (dict(num_playouts=[1, 2, 3]), r"num_playouts.*(\(2,\)|\[1, 2, 3\])"),
    "first_playout -1": (dict(first_playout=-1), r"first_playout.*-1"),
    "first_playout 0.0": (dict(first_playout=0.0), r"first_playout.*0\.0"),
    "first_playout 2**31": (dict(first_playout=TOO_MANY), rf"first_playout.*{TOO_MANY}"),
    "first_playout + num_playouts": (dict(first_playout=TOO_MANY - 5), r"first_playout.*num_playouts"),
    "max_plies 0": (dict(max_plies=0), r"max_plies.*\b0\b"),
    "max_plies -3": (dict(max_plies=-3), r"max_plies.*-3"),
    "max_plies 1.0": (dict(max_plies=1.0), r"max_plies.*1\.0"),
    "max_plies 3P + 1": (dict(max_plies=76), r"max_plies.*76"),
    "seed -1": (dict(seed=-1), r"seed.*-1"),
    "seed 2**64": (dict(seed=2**64), rf"seed.*{2**64}"),
    "seed 0.5": (dict(seed=0.5), r"seed.*0\.5"),
    "seed None": (dict(seed=None), r"seed.*None"),
    "seed: array": (dict(seed=np.zeros(3, np.uint32)), r"seed.*3"),
    "streams: shape": (dict(streams=np.arange(3)), r"streams.*3"),
    "streams: two axes": (dict(streams=np.zeros((1, 2), np.int32)), r"streams.*1, 2"),
    "streams: float": (dict(streams=np.zeros(2)), r"streams.*float64"),
    "streams -1": (dict(streams=np.array([0, -1])), r"streams.*-1"),
    "streams 2**31": (dict(streams=np.array([0, TOO_MANY])), rf"streams.*{TOO_MANY}"),
    "lanes 0": (dict(lanes=0), r"lanes.*\b0\b"),
    "lanes -8": (dict(lanes=-8), r"lanes.*-8"),
    "lanes 2**18 + 1": (dict(lanes=2**18 + 1), r"lanes must be between 1 and 262144"),
    "lanes 1.0": (dict(lanes=1.0), r"lanes.*1\.0"),
    "devices: none": (dict(devices=[]), r"devices"),
    "devices: text": (dict(devices=["cpu"]), r"devices.*cpu"),
    "progress": (dict(progress="yes"), r"progress.*(yes|str)"),
}
BAD_KOMI = {
    "nan": (float("nan"), r"komi.*nan"),
    "inf": (float("inf"), r"komi.*inf"),
    "-inf": (-float("inf"), r"komi.*-inf"),
    "huge": (10**400, r"komi must be finite, not an integer"),
    "text": ("7.5", r"komi.*7\.5"),
    "None": (None, r"komi.*None"),
    "list": ([7.5, 6.5], r"komi must be one number or have shape \(1,\), not \(2,\)"),
    "complex": (1j, r"komi.*1j"),
    "bool": (True, r"komi must be a number, not True"),
    "lists of unequal lengths": ([[1.0], [2.0, 3.0]], r"komi must be one number or an array of them, not \[\[1"),
}


@pytest.mark.parametrize("function", [jaxgo.evaluate, jaxgo.playouts], ids=["evaluate", "playouts"])
@pytest.mark.parametrize("wrong, match", BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS.keys())
def test_bad_arguments_are_refused_by_name_and_value(function, wrong, match):
    arguments = dict(position=jaxgo.Position.empty(5, 2), num_playouts=10) | wrong
    with pytest.raises((ValueError, TypeError), match=f"(?is){match}") as caught:
        function(arguments.pop("position"), arguments.pop("num_playouts"), **arguments)
    last = str(caught.traceback[-1].path)
    assert "jaxgo" in last and "site-packages" not in last, f"raised in {last}"


@pytest.mark.parametrize("komi, match", BAD_KOMI.values(), ids=BAD_KOMI.keys())
def test_bad_komi_is_refused(komi, match):
    with pytest.raises((ValueError, TypeError), match=f"(?is){match}"):
        jaxgo.evaluate(jaxgo.Position.empty(5), 10, komi=komi)


def test_bad_moves_flag_is_refused():
    with pytest.raises((ValueError, TypeError), match="moves.*yes"):
        jaxgo.playouts(jaxgo.Position.empty(5), 10, moves="yes")


@pytest.mark.parametrize("komi", [7, np.float32(6.5), np.int64(3), -361.0, 1e6])
def test_numbers_of_all_kinds_are_komi(komi):
    evaluation = jaxgo.evaluate(jaxgo.Position.empty(5), 100, komi=komi)
    assert evaluation.komi == float(komi)
    if abs(komi) > 25:
        assert evaluation.win_rate[0] == (0.0 if komi > 0 else 1.0)


@pytest.mark.parametrize("count", [np.int32(50), np.int64(50)])
def test_numpy_integers_are_counts(count):
    assert jaxgo.evaluate(jaxgo.Position.empty(5), count).num_playouts.tolist() == [50]


@pytest.mark.parametrize(("wrong", "match"), [
    (dict(num_playouts=[5, 0]), r"num_playouts must be between 1 and 2147483647, not 0"),
    (dict(num_playouts=[5.0, 1.0]), "num_playouts must hold integers, not float64"),
    (dict(num_playouts=[[5, 1]]), r"num_playouts must be one integer or have shape \(2,\), not \(1, 2\)"),
    (dict(num_playouts=[[5], [1, 2]]), "num_playouts must be one number or an array of them"),
    (dict(first_playout=[0, -1]), "first_playout must be between 0 and 2147483647, not -1"),
    (dict(first_playout=[0, TOO_MANY - 5]), r"first_playout \+ num_playouts must be between 1 and 2147483647, not 2147483653"),
])  # fmt: skip
def test_bad_numbers_of_each_position_are_refused(wrong, match):
    arguments = dict(num_playouts=10) | wrong
    for function in (jaxgo.evaluate, jaxgo.evaluations):
        with pytest.raises((ValueError, TypeError), match=match):
            function(jaxgo.Position.empty(5, 2), **arguments)


@pytest.mark.parametrize("wrong", [dict(komi=6.5), dict(each_its_own=True), dict(statistics=[])], ids=str)
def test_there_are_no_options_but_those_that_are_shown(wrong):
    for function in (jaxgo.playouts, jaxgo.move_statistics):
        if function is jaxgo.playouts or "komi" not in wrong:
            with pytest.raises(TypeError, match=f"options must be of policy, seed, .*, not {next(iter(wrong))}"):
                function(jaxgo.Position.empty(5), 10, **wrong)


def test_only_sums_may_be_of_different_numbers():
    for function in (jaxgo.playouts, jaxgo.move_statistics):
        with pytest.raises(TypeError, match=r"num_playouts must be an integer, not \[5, 6\]"):
            function(jaxgo.Position.empty(5, 2), [5, 6])
