"""A kernel that is wrong or fails never plays: what is tried on first use, what is said of it, and the switch."""

import itertools
import time
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgo
from jaxgo.backends import agreement, gpu, options, remembered, xla
from jaxgo.backends.agreement import Agreement, of_kernel
from jaxgo.backends.choice import backend_of
from jaxgo.backends.gpu import SWITCH, Gpu, Nvidia
from jaxgo.base import forms, threads
from jaxgo.base.constants import MOST_LANES, max_plies
from jaxgo.playing.policies.policy import PolicyForm
from jaxgo.running import jobs

CPU = jax.local_devices(backend="cpu")[0]


class Device:
    """A device that says of itself what it is told to."""

    def __init__(self, platform: str, version: str = ""):
        self.platform, self.device_kind, self.client = platform, "Test 9000", self
        self.platform_version = version


@pytest.fixture(autouse=True)
def forgetful(monkeypatch):
    """Nothing is remembered from one test to another."""
    monkeypatch.setattr(remembered, "_in_process", {})
    monkeypatch.setattr(remembered, "_file", lambda: None)
    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.setattr(agreement, "_found", {})
    gpu._is_on.cache_clear()
    yield
    gpu._is_on.cache_clear()


def wrong_in(field: str):
    """A kernel whose playouts are XLA's but for one bit of one field of the last one."""

    def play_all(g, columns, job, **how):
        records = xla.play_all(g, columns, job, **how)
        value = getattr(records, field)
        if value is None:
            return records

        def spoil(x):
            flat = x.reshape(-1)
            return flat.at[-9 if field == "events" else -1].set(flat[-1] ^ flat[-1].dtype.type(1)).reshape(x.shape)

        return records._replace(**{field: (spoil(value[0]), *value[1:]) if isinstance(value, tuple) else spoil(value)})

    return play_all


@pytest.mark.wide
def test_xlas_own_playouts_agree():
    assert agreement.compare(CPU, 3, xla.play_all) == ""


@pytest.mark.wide
@pytest.mark.parametrize("field", ["margin", "first_white", "events"])
def test_one_wrong_bit_is_found(field):
    assert agreement.compare(CPU, 3, wrong_in(field)) == f"its playouts differ from XLA's in {field!r}"


@pytest.mark.wide
@pytest.mark.parametrize("left_out", [{"margin": None}, {"first_white": ()}])
def test_what_is_left_out_is_found(left_out):
    def play_all(g, columns, job, **how):
        return xla.play_all(g, columns, job, **how)._replace(**left_out)

    (field,) = left_out
    assert agreement.compare(CPU, 3, play_all) == f"its playouts differ from XLA's in {field!r}"


WRONG = {
    "with a seed for all": lambda job, how: job.seed is not None,
    "with seeds of their own": lambda job, how: job.seed is None,
    "without moves": lambda job, how: not how["moves"],
    "under a cap": lambda job, how: job.max_plies < how["longest"],
    "without a cap": lambda job, how: job.max_plies == how["longest"],
}


@pytest.mark.wide
@pytest.mark.parametrize("when", WRONG)
def test_what_is_wrong_at_times_is_found(when):
    def play_all(g, columns, job, **how):
        records = xla.play_all(g, columns, job, **how)
        wrong = jnp.asarray(WRONG[when](job, how)) & (records.length > np.int32(0))  # and something was played
        return records._replace(margin=records.margin + jnp.where(wrong, np.int32(2), np.int32(0)))

    assert agreement.compare(CPU, 3, play_all) == "its playouts differ from XLA's in 'margin'"


def test_the_kernel_is_tried_in_all_its_forms():
    """By a policy, after moves, and with lanes that play more than one game."""
    asked = []

    def play_all(g, columns, job, *, lanes, longest, first_plays, moves, policy, last):
        asked.append((g.size, lanes, longest, first_plays, moves, job.seed is None, type(policy), last.tolist()))
        raise NotImplementedError("only asked")

    with pytest.raises(NotImplementedError, match="only asked"):
        agreement.compare(CPU, 3, play_all, PolicyForm.of(jaxgo.Capture(0.5)))
    assert agreement.LANES < 4 * agreement.PLAYOUTS
    how = 3, agreement.LANES, max_plies(3), True
    assert sorted(asked) == [(*how, *kind, jaxgo.Capture, [jaxgo.STAY, 4, 4, 9]) for kind in agreement.KINDS]


def test_the_judge_is_the_cpu_or_else_the_device_itself(monkeypatch):
    device = Device("gpu", "cuda")
    assert agreement._judge_of(device) == CPU

    def none(backend):
        raise RuntimeError(f"Unknown backend {backend}")

    monkeypatch.setattr(jax, "local_devices", none)
    assert agreement._judge_of(device) is device


def test_positions_that_are_tried():
    """The empty board, the middle of a game, the same with colours changed, and one that is over."""
    columns = agreement._columns(5)
    assert columns.shape == (8, 4) and columns.dtype == np.uint32
    stones = np.bitwise_count(columns[0] | columns[1])
    assert stones[0] == 0 and stones[1] == stones[2] == stones[3] >= 8
    np.testing.assert_array_equal(columns[3], [0, 0, 1, 2])
    assert 0 < columns[-1].min() < columns[-1].max() == agreement.PLAYOUTS


def finding(monkeypatch, found) -> None:
    """Has the comparison find something, or raise it."""

    def find(device, size, form):
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(agreement, "of_kernel", find)


def test_the_kernel_plays_where_it_agrees(monkeypatch):
    finding(monkeypatch, Agreement(True, ""))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Nvidia(Device("gpu", "cuda")).has_kernel(9)


def test_xla_plays_where_it_does_not_and_that_is_said(monkeypatch):
    finding(monkeypatch, Agreement(False, "its playouts differ from XLA's in 'margin'"))
    with pytest.warns(UserWarning, match="kernel is not used on Test 9000 for 9x9, XLA plays instead, .*'margin'.*JAXGO_KERNEL=off"):
        assert not Nvidia(Device("gpu", "cuda")).has_kernel(9)


def test_what_the_kernel_was_refused_for_is_in_reports(monkeypatch):
    monkeypatch.setattr(agreement, "compare", lambda device, size, play_all, form: "odd" if size == 3 else "")
    device, other = Device("gpu", "cuda"), Device("gpu", "cuda")
    for size in (2, 3):
        of_kernel(device, size)
    of_kernel(device, 3, PolicyForm.of(jaxgo.Capture(0.5)))
    assert Nvidia(device).report()["kernel_refused"] == {"3x3": "odd", "3x3 by Capture": "odd"}
    assert "kernel_refused" not in Nvidia(other).report()


def test_one_of_several_gpus_that_does_not_agree_has_xla_play_on_all(monkeypatch):
    """They run one program."""
    devices = [Device("gpu", "cuda") for _ in range(3)]
    monkeypatch.setattr(agreement, "of_kernel", lambda device, size, form: Agreement(device is not devices[1], "odd"))
    backends = {device: Nvidia(device) for device in devices}
    monkeypatch.setattr(jobs, "backend_of", backends.get)
    assert jobs._backend_of_all(devices[::2], 9, None) is backends[devices[0]]
    with pytest.warns(UserWarning, match="XLA plays instead, more slowly: odd"):
        assert jobs._backend_of_all(devices, 9, None) is backends[devices[1]]


def test_lanes_of_the_largest_gpus_are_as_many_as_may_be():
    device = Device("gpu", "cuda")
    device.core_count = 300
    assert Nvidia(device).most_lanes(9) == MOST_LANES


def test_the_switch_turns_the_kernel_off(monkeypatch):
    finding(monkeypatch, AssertionError("asked all the same"))
    monkeypatch.setenv(SWITCH, "off")
    backend = Nvidia(Device("gpu", "cuda"))
    assert not backend.has_kernel(9) and backend.report()["kernel"] is False
    monkeypatch.setenv(SWITCH, "on")
    assert not backend.has_kernel(9), "what is compiled already would not change"
    gpu._is_on.cache_clear()
    monkeypatch.setenv(SWITCH, "perhaps")
    with pytest.raises(ValueError, match="JAXGO_KERNEL must be one of 'on', 'off', not 'perhaps'"):
        backend.has_kernel(9)


def test_options_that_a_gpus_compiler_does_not_know_are_left_out():
    """This one, of a CPU, knows all, as XLA's compilers share theirs."""
    assert Nvidia(CPU).compiler_options() == gpu.OPTIONS
    assert options.known({**gpu.OPTIONS, "xla_gpu_no_such_option": 1}, CPU) == gpu.OPTIONS


def test_a_kernel_that_fails_is_not_used(monkeypatch):
    """On this machine there is no GPU to run it: trying it fails, and XLA plays."""

    class Here(Nvidia):
        def __init__(self):
            super().__init__(CPU)

    with pytest.warns(UserWarning, match="XLA plays instead, more slowly: it failed: "):
        assert not Here().has_kernel(3)


def test_findings_are_remembered_for_the_kernel_as_it_is(monkeypatch):
    from jaxgo.backends import nvidia

    asked = []
    monkeypatch.setattr(agreement, "compare", lambda device, size, play_all, form: asked.append(size) or "something")
    device = Device("gpu", "cuda 1")
    for _ in range(2):
        agreement._found.clear()
        assert of_kernel(device, 3) == Agreement(False, "something")
    assert asked == [3]
    monkeypatch.setattr(nvidia, "written", lambda *_: nvidia.Written("another kernel", (), ()))
    agreement._found.clear()
    of_kernel(device, 3)
    assert asked == [3, 3]
    monkeypatch.setattr(agreement, "_driver", lambda: "another driver")
    agreement._found.clear()
    of_kernel(device, 3)
    assert asked == [3, 3, 3]


def test_findings_are_of_one_device_size_form_and_jax(monkeypatch):
    from jaxgo.backends import nvidia

    asked = []
    monkeypatch.setattr(nvidia, "written", lambda *_: nvidia.Written("the same kernel", (), ()))
    monkeypatch.setattr(agreement, "compare", lambda device, size, play_all, form: asked.append((device, size, form)) or "")
    form, device = PolicyForm.of(jaxgo.Capture(0.5)), Device("gpu", "cuda 1")
    newer, another = Device("gpu", "cuda 2"), Device("gpu", "cuda 1")
    another.device_kind = "Test 9001"
    for each in ((device, 3, None), (device, 4, form), (newer, 3, form), (another, 3, form)):
        for _ in range(2):
            assert of_kernel(*each) == Agreement(True, "")
        assert asked[-1] == each
    agreement._found.clear()
    assert of_kernel(device, 3, None) == of_kernel(newer, 3, form) == of_kernel(another, 3, form) == Agreement(True, "")
    assert len(asked) == 4
    monkeypatch.setattr(jax, "__version__", "another")
    agreement._found.clear()
    of_kernel(device, 3, None)
    assert len(asked) == 5


def test_findings_are_of_all_kernels_as_gpus_have_them(monkeypatch):
    from jaxgo.backends import nvidia

    written, form = [], PolicyForm.of(jaxgo.Capture(0.5))

    def write(*how):
        assert forms.current() is forms.GPU
        written.append(how)
        return nvidia.Written("a kernel", (), ())

    monkeypatch.setattr(nvidia, "written", write)
    monkeypatch.setattr(agreement, "compare", lambda *_: "")
    assert of_kernel(Device("gpu", "cuda 1"), 3, form).agrees
    assert set(written) == {(3, True, moves, form, own_seeds) for moves, own_seeds in itertools.product((False, True), repeat=2)}


def test_a_failure_is_not_remembered(monkeypatch):
    """The next process may have more luck, or memory."""
    outcomes = iter([MemoryError("none left"), ""])

    def compare(*_):
        if error := next(outcomes):
            raise error
        return ""

    monkeypatch.setattr(agreement, "compare", compare)
    device = Device("gpu", "cuda 1")
    assert of_kernel(device, 3) == of_kernel(device, 3) == Agreement(False, "it failed: none left")
    agreement._found.clear()
    assert of_kernel(device, 3) == Agreement(True, "")


def test_a_policy_that_kernels_cannot_ask_is_left_to_xla(monkeypatch):
    from jaxgo.backends import nvidia

    def written(*_):
        raise NotImplementedError("no such thing")

    monkeypatch.setattr(nvidia, "written", written)
    found = of_kernel(Device("gpu", "cuda 1"), 3, PolicyForm.of(jaxgo.Capture(0.5)))
    assert found == Agreement(False, "it cannot ask such a policy: no such thing")


def test_threads_that_begin_together_look_at_it_once(monkeypatch):
    asked = []
    monkeypatch.setattr(agreement, "compare", lambda device, size, play_all, form: asked.append(size) or time.sleep(0.1) or "")
    device = Device("gpu", "cuda 1")
    looking = [threads.begin(of_kernel, device, 3) for _ in range(4)]
    assert {look.result() for look in looking} == {Agreement(True, "")} and asked == [3]
    with agreement._looking:  # as while another size is looked at
        assert of_kernel(device, 3) == Agreement(True, "")


def test_backends_of_gpus():
    assert type(backend_of(Device("gpu", "PJRT C API\ncuda 12090"))) is Nvidia
    assert type(backend_of(Device("gpu", "PJRT C API\nrocm 60000"))) is Gpu


@pytest.mark.wide
def test_playouts_by_a_gpus_backend_without_kernel_are_the_same():
    """The form for GPUs: no single loops, 64-bit words on large boards."""
    from jaxgo.board.geometry import geometry
    from jaxgo.playing.playout import Job

    columns = agreement._columns(3)
    job = Job(8, (jnp.uint32(1), jnp.uint32(0)), *(jnp.int32(x) for x in (4, 8, 27)))
    how = {"lanes": 16, "longest": 27, "first_plays": True, "moves": True}
    found, expected = (
        jax.jit(lambda b=backend: b.play_all(geometry(3), jnp.asarray(columns), job, **how))() for backend in (Gpu(), backend_of(CPU))
    )
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)
