"""What is tried of XLA on CPUs: its options, and whether it makes vectors of ticks."""

import subprocess
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgo
from jaxgo.backends import cpu, remembered, xla
from jaxgo.backends.programs import Programs
from jaxgo.base import forms, one_loop, trials
from jaxgo.board.geometry import geometry
from jaxgo.playing import draws, playout
from jaxgo.running import jobs
from tests.processes import run_with_devices
from tests.wide import wide


def test_ticks_are_vectors_here():
    """Speed by ratio: without vectors ticks take more than five times as long as a plain vector loop of as much work."""
    code = "from jaxgo.backends import cpu; print(*(cpu._vector_ratio(cpu.known_options()) for _ in range(3)))"
    ratios = [float(ratio) for ratio in run_with_devices(1, code).split()]
    assert len(ratios) == 3 and min(ratios) < cpu.SLOW, ratios


@pytest.mark.skipif(jax.__version_info__ < (0, 12), reason="XLA's pass that undoes the vectors came with jax 0.12")
def test_the_ratio_tells_when_there_are_no_vectors():
    without = {name: value for name, value in cpu.OPTIONS.items() if name != "xla_disable_hlo_passes"}
    ratios = run_with_devices(1, f"from jaxgo.backends import cpu; print(*(cpu._vector_ratio({without}) for _ in range(2)))")
    assert min(map(float, ratios.split())) > cpu.SLOW


def test_programs_with_the_options_are_not_made_whole(monkeypatch):
    """The sign that XLA leaves in a program whose loop it compiles whole, without vectors."""
    monkeypatch.setattr(jobs, "_compiled", Programs(jobs._lowered))
    jaxgo.evaluate(jaxgo.Position.empty(3), 10)
    texts = [program.as_text() for program in jobs._compiled.programs()]
    assert texts and not any('xla_cpu_small_call="true"' in text for text in texts)


def test_sums_over_lanes_are_one_loop_with_the_options():
    def text(options):
        return jax.jit(jnp.any, compiler_options=options).lower(np.zeros(272, bool)).compile().as_text()

    assert "reduce-window" in text({}), "XLA takes sums in one loop by itself: the option is not needed any more"
    assert "reduce-window" not in text(cpu.known_options())


def test_slowness_is_said_once(monkeypatch):
    monkeypatch.setattr(remembered, "_held", dict)
    monkeypatch.setattr(remembered, "_in_process", {})
    monkeypatch.setattr(remembered, "_file", lambda: None)
    monkeypatch.setattr(cpu, "_vector_ratio", lambda options: 12.0)
    cpu.vector_ratio.cache_clear()
    try:
        with pytest.warns(UserWarning, match="does not make vectors of playouts on the CPU"):
            assert cpu.vector_ratio() == 12.0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert cpu.Cpu().report()["vectors"] is False
    finally:
        cpu.vector_ratio.cache_clear()


def test_options_that_this_xla_does_not_know_are_left_out(monkeypatch):
    monkeypatch.setattr(cpu, "OPTIONS", {**cpu.OPTIONS, "xla_cpu_no_such_option": 1})
    expected = dict(cpu.known_options())
    cpu.known_options.cache_clear()
    try:
        with pytest.warns(UserWarning, match="does not know xla_cpu_no_such_option; playouts on the CPU may be slower"):
            assert cpu.known_options() == expected
    finally:
        cpu.known_options.cache_clear()


def test_findings_are_kept_beside_the_compile_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(remembered, "_file", lambda: tmp_path / "new" / remembered.FILE)
    monkeypatch.setattr(remembered, "_in_process", {})
    assert remembered.recall("a") is None
    remembered.keep("a", 1.5)
    remembered.keep("b", "")
    monkeypatch.setattr(remembered, "_in_process", {})
    assert (remembered.recall("a"), remembered.recall("b")) == (1.5, "")
    assert [path.name for path in (tmp_path / "new").iterdir()] == [remembered.FILE]
    for broken in ("[1]", "{", ""):
        (tmp_path / "new" / remembered.FILE).write_text(broken)
        assert remembered.recall("a") is None


def test_findings_that_cannot_be_kept_are_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(remembered, "_file", lambda: tmp_path / "file" / remembered.FILE)
    monkeypatch.setattr(remembered, "_in_process", {})
    remembered.keep("a", 1)
    assert remembered.recall("a") == 1


def test_a_trial_does_not_see_the_callers_settings():
    def trial():
        return jax.config.jax_disable_jit, jax.config.jax_transfer_guard

    with jax.disable_jit(), jax.transfer_guard("disallow"):
        assert trials.tried(trial) == (False, "allow")
    traced = []
    jax.jit(lambda x: (traced.append(trials.tried(lambda: int(jax.numpy.int32(3) + 4))), x)[1])(1)
    assert traced == [7]
    with pytest.raises(ZeroDivisionError):
        trials.tried(lambda: 1 // 0)


@pytest.mark.parametrize(
    "setting", ["jax.disable_jit()", *wide("jax.transfer_guard('disallow')"), pytest.param("jax.debug_nans()", marks=pytest.mark.slow)]
)
def test_the_first_use_may_be_under_any_setting(setting):
    """In a process of its own, so that nothing has been tried before; inside a trace too."""
    code = f"""
import jax, jaxgo
from tests.wide import wide
position = jaxgo.Position.empty(3)
with {setting}:
    print(jaxgo.evaluate(position, 20, komi=0.5, seed=1, max_plies=6).sums.wins[0], jax.device_get(position.score())[0])
    print(int(jax.device_get(jax.jit(lambda p: (jaxgo.simulate(p, 20, seed=1, max_plies=6).margin > 0.5).sum())(position))))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    wins, score, traced = done.stdout.split()
    assert (wins, score) == (traced, "0")


def test_a_loop_that_is_not_trusted_is_not_used(monkeypatch):
    """Playouts are the same without it."""
    expected = jaxgo.playouts(jaxgo.Position.empty(3), 20, seed=3).margin
    monkeypatch.setattr(one_loop, "trusted", lambda: False)
    found = jax.jit(lambda p: jaxgo.simulate(p, 20, seed=3).margin)(jaxgo.Position.empty(3))
    assert (jax.device_get(found) == expected).all()


@pytest.mark.parametrize("size", [5, 13])
def test_two_ticks_of_a_kernel_are_two_of_one(size):
    """Where registers are few there is one tick in a kernel: the lanes after twelve ticks are the same, bit for bit."""
    g, numbers, found = geometry(size), jnp.arange(48, dtype=jnp.uint32), []
    for pairs in (True, False):
        form = forms.CPU._replace(pairs=pairs)

        def play(numbers, form=form):
            positions = [jnp.zeros_like(numbers) for _ in range(2 * g.num_words)]
            rows = [*positions, *(jnp.zeros_like(numbers) + np.uint32(x) for x in (2**32 - 1, 0, 1)), numbers, *(jnp.zeros_like(numbers) + np.uint32(x) for x in (0, 1))]
            job = playout.Job(1, draws.seed_words(3), *map(jnp.int32, (48, 1, 60)))
            first = playout.ready(g, job, numbers.astype(jnp.int32), rows)
            return xla.ticks(g, playout.fresh_lanes(g, first, jnp.int32(60), True, 1), 12)

        with forms.within(form):
            assert xla.ticks_of_kernel(g) == 1 + pairs
        found.append(jax.device_get(jax.jit(forms.written(form, play))(numbers)))
    for one, two in zip(*map(jax.tree.leaves, found), strict=True):
        np.testing.assert_array_equal(one, two)
    assert (found[0].plies > 5).all() and len(np.unique(found[0].own[0])) > 20
