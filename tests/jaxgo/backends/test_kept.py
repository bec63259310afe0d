"""Programs on disk: found again for the same thing only, and made anew where they cannot be used."""

import dataclasses
import functools
import importlib.metadata
import pathlib
import platform
import sys
import time
from typing import NamedTuple

import jax
import numpy as np
import pytest
from jax.experimental.compilation_cache import compilation_cache

import jaxgo
from jaxgo.backends import kept, programs
from jaxgo.backends.cpu import Cpu
from jaxgo.backends.gpu import Nvidia
from jaxgo.base import forms, one_loop, processor
from jaxgo.playing.policies.policy import PolicyForm
from jaxgo.running import jobs, ring_program
from jaxgo.running.ring_program import Shape
from tests.processes import run_with_devices
from tests.wide import wide

POSITION = jaxgo.Position.empty(3)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> pathlib.Path:
    """Where programs are kept from now on."""
    before = jax.config.jax_compilation_cache_dir
    monkeypatch.setattr(kept, "place_of", kept.place_of.__wrapped__)
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    compilation_cache.reset_cache()
    yield tmp_path
    jax.config.update("jax_compilation_cache_dir", before)
    compilation_cache.reset_cache()


def files(folder: pathlib.Path) -> list[pathlib.Path]:
    """The programs that are kept."""
    return sorted(path for path in folder.glob("programs/*") if path.is_file())


def evaluated(monkeypatch, policy=None) -> tuple[int, np.ndarray]:
    """How many programs a process that has none yet must lower for an evaluation, and the ownership that it finds."""
    lowered = []

    def lower(*key):
        lowered.append(key)
        return jobs._lowered(*key)

    monkeypatch.setattr(jobs, "_compiled", programs.Programs(lower, "job"))
    ownership = jaxgo.evaluate(POSITION, 50, seed=3, policy=policy, devices=jax.devices()[0]).ownership
    return len(lowered), ownership


def test_another_process_lowers_nothing_and_finds_the_same(folder, monkeypatch):
    lowered, ownership = evaluated(monkeypatch)
    assert lowered == len(files(folder)) == 1
    again, same = evaluated(monkeypatch)
    assert again == 0 and (same == ownership).all()


def test_another_version_with_the_same_program_lowers_once(folder, monkeypatch):
    _, ownership = evaluated(monkeypatch)
    monkeypatch.setattr(kept, "_source", lambda: "0" * 64)
    assert evaluated(monkeypatch)[0] == 1
    again, same = evaluated(monkeypatch)
    assert again == 0 and (same == ownership).all() and len(files(folder)) == 1


@pytest.mark.wide
@pytest.mark.parametrize("damaged", [lambda data: b"", lambda data: data[:-1], lambda data: data[:99] + b"?" + data[100:]])
def test_what_is_damaged_is_made_anew(folder, monkeypatch, damaged):
    _, ownership = evaluated(monkeypatch)
    (file,) = files(folder)
    whole = file.read_bytes()
    file.write_bytes(damaged(whole))
    lowered, same = evaluated(monkeypatch)  # found by jax, which is no help: XLA would leave out half of it
    assert lowered == 1 and (same == ownership).all() and file.read_bytes() != whole
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    lowered, same = evaluated(monkeypatch)
    assert lowered == 1 and (same == ownership).all() and files(folder) == [file]
    assert evaluated(monkeypatch)[0] == 0


def test_a_folder_that_cannot_be_written_to_is_no_harm(folder, monkeypatch):
    (folder / "programs").write_text("no folder")
    assert evaluated(monkeypatch)[0] == evaluated(monkeypatch)[0] == 1


@pytest.mark.parametrize("entry", [b"", b"../../nothing", *wide(b"\0", b"\xff", b"0" * 64)])
def test_a_list_that_is_damaged_is_written_anew(folder, monkeypatch, entry):
    _, ownership = evaluated(monkeypatch)
    (listed,) = (path for path in folder.glob("programs/*/*"))
    whole = listed.read_bytes()
    listed.write_bytes(entry)
    lowered, same = evaluated(monkeypatch)
    assert lowered == 1 and (same == ownership).all() and listed.read_bytes() == whole
    assert list(folder.glob("programs/*/*")) == [listed]


def test_what_was_changed_since_it_was_imported_is_not_kept(folder, monkeypatch):
    """A program that is traced now may be of the old source."""
    monkeypatch.setattr(kept, "_IMPORTED", 1.0)
    monkeypatch.setattr(kept, "_source", kept._source.__wrapped__)
    assert evaluated(monkeypatch)[0] == evaluated(monkeypatch)[0] == 1 and not files(folder)


def test_lanes_that_go_on_do_so_with_a_kept_program(folder, monkeypatch):
    found = []
    for _ in range(2):
        lowered = []

        def lower(*key, lowered=lowered):
            lowered.append(key)
            return ring_program._lowered(*key)

        monkeypatch.setattr(ring_program, "compiled", programs.Programs(lower, "ring"))
        leaves = jaxgo.Leaves(3, 4, 8, seed=5, policy=jaxgo.Patterns(), devices=jax.devices()[0])
        call = leaves.submit(*leaves.arguments_of(POSITION), [jaxgo.STAY], [0])
        results = leaves.gather(call)
        found.append((len(lowered), results))
        leaves.close()
    (first, results), (second, same) = found
    assert (first, second) == (1, 0)
    for field in dataclasses.fields(results):
        x, y = getattr(results, field.name), getattr(same, field.name)
        assert (x is None and y is None) or np.array_equal(x, y), field.name


ON_THE_SECOND = """
import jax, jaxgo
from jaxgo.backends.programs import Programs
from jaxgo.running import jobs

lowered = []
for device in jax.devices()[::-1] * 2:
    jobs._compiled = Programs(lambda *key: lowered.append(key) or jobs._lowered(*key), "job")
    ownership = jaxgo.evaluate(jaxgo.Position.empty(3), 50, seed=3, devices=device).ownership
    print(len(lowered), ownership.sum())
"""


@pytest.mark.wide
def test_each_device_has_a_program_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path))
    found = [line.split() for line in run_with_devices(2, ON_THE_SECOND, lightly=True).splitlines()]
    assert [number for number, _ in found] == ["1", "2", "2", "2"] and len({ownership for _, ownership in found}) == 1


class Elsewhere(jaxgo.Capture):
    """A policy of somebody else's, whose code may change at any time."""


def test_a_policy_from_elsewhere_is_not_kept(folder, monkeypatch):
    assert evaluated(monkeypatch, Elsewhere(0.5))[0] == 1
    assert not files(folder) and evaluated(monkeypatch, Elsewhere(0.5))[0] == 1


def test_everything_that_makes_a_program_another_is_in_its_name(folder, monkeypatch):
    device = tuple(jax.devices())[:1]
    shape = Shape(5, 16, 8, False)
    form = PolicyForm.of

    def entry(shape=shape, kind="ring"):
        return kept.place_of(kind, (shape, device)).entry

    shapes = [
        shape, dataclasses.replace(shape, size=6),
        dataclasses.replace(shape, leaves=17), dataclasses.replace(shape, playouts=9), dataclasses.replace(shape, moves=True),
        *(dataclasses.replace(shape, policy=form(policy)) for policy in (
            jaxgo.Capture(0.5), jaxgo.Patterns(), jaxgo.Patterns(save=False), jaxgo.LastGoodReply(jaxgo.Replies(5)),
            jaxgo.Advisor(0.5, jaxgo.AdvisorTable(5)), jaxgo.Advisor(0.5, jaxgo.AdvisorTable(5), suggestions=3),
        )),
    ]  # fmt: skip
    entries = [entry(each) for each in shapes] + [entry(kind="job")]
    assert None not in entries and len(set(entries)) == len(entries)
    assert entry(dataclasses.replace(shape, policy=form(jaxgo.Capture(0.7)))) == entries[5]  # its chance is an argument
    for change in (
        lambda patch: patch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false"),
        lambda patch: patch.setattr(kept, "_source", lambda: "0" * 64),
        lambda patch: patch.setattr(kept, "_machine", lambda: "an abacus"),
    ):
        with pytest.MonkeyPatch.context() as patch:
            change(patch)
            assert entry() not in entries
    assert entry() == entries[0]


def test_what_decides_how_programs_are_made_is_in_their_names(monkeypatch):
    class Device:
        """Of this computer's kind, but for what is said."""

        def __init__(self, platform="cpu", device_kind="cpu", id=0, platform_version="1", count=1):
            self.platform, self.device_kind, self.id, self.platform_version = platform, device_kind, id, platform_version
            self.client, self.devices = self, lambda: [self] * count

    class Another(Cpu):
        """Another way of playing on it."""

    monkeypatch.setattr(kept, "backend_of", lambda device: Cpu())
    device = Device()
    devices = [(device,), (device, device), *((Device(**{name: value}),) for name, value in (
        ("platform", "abacus"), ("device_kind", "soroban"), ("id", 1), ("platform_version", "2"), ("count", 2),
    ))]  # fmt: skip
    settings = [kept._settings(each) for each in devices]
    options, exchanges, trusted = Cpu().compiler_options(), Cpu().exchanges(), one_loop.trusted()
    for change in (
        lambda patch: patch.setattr(kept, "backend_of", lambda device: Another()),
        lambda patch: patch.setattr(Cpu, "form", forms.PLAIN),
        lambda patch: patch.setattr(Cpu, "compiler_options", lambda self: options | {"another": True}),
        lambda patch: patch.setattr(Cpu, "exchanges", lambda self: not exchanges),
        lambda patch: patch.setattr(one_loop, "trusted", lambda: not trusted),
        lambda patch: patch.setenv("XLA_FLAGS", "--another"),
        lambda patch: patch.setenv("LIBTPU_INIT_ARGS", "--another"),
    ):
        with monkeypatch.context() as patch:
            change(patch)
            settings.append(kept._settings(devices[0]))
    with jax.enable_x64(True):
        settings.append(kept._settings(devices[0]))
    assert len(set(settings)) == len(settings) and kept._settings((Device(),)) == settings[0]


def test_another_machine_has_programs_of_its_own(monkeypatch):
    """Other versions of what makes and runs them, too."""
    machines = [kept._machine.__wrapped__()]
    for module, name, value in (
        (jax, "__version__", "9"), (np, "__version__", "9"), (sys, "version", "9"), (importlib.metadata, "version", lambda _: "9"),
        (platform, "system", lambda: "9"), (platform, "machine", lambda: "9"), (platform, "processor", lambda: "9"),
        (processor, "abilities", lambda: "9"),
    ):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            machines.append(kept._machine.__wrapped__())
    assert len(set(machines)) == len(machines)


def test_another_source_has_programs_of_its_own(tmp_path, monkeypatch):
    """Whatever file of the package says something else, or has another name."""
    here = tmp_path / "jaxgo" / "backends" / "kept.py"
    here.parent.mkdir(parents=True)
    monkeypatch.setattr(kept, "__file__", str(here))
    monkeypatch.setattr(kept, "_IMPORTED", time.time() + 3600)
    board, rules = here.parents[1] / "board.py", here.parents[1] / "rules.py"
    digests = []
    for changed in (here, board, here, board):
        changed.write_text(f"{len(digests)}")
        digests.append(kept._source.__wrapped__())
    board.rename(rules)
    digests.append(kept._source.__wrapped__())
    assert len(set(digests)) == len(digests)
    rules.rename(board)
    assert kept._source.__wrapped__() == digests[-2]


def test_a_name_tells_apart_all_that_programs_may_be_for():
    of, shape = functools.partial, jax.ShapeDtypeStruct
    things = [
        None, True, 1, 1.0, "1", b"1", (), [], (1,), [1], (1, 2), ((1,), 2), np.dtype("int16"), np.dtype("int32"),
        shape((2,), "int16"), shape((2,), "int32"), shape((3,), "int16"), jobs.program, jobs._lowered, of(jobs.program),
        of(jobs._lowered), of(jobs.program, 1), of(jobs.program, a=1), of(jobs.program, a=2), of(jobs.program, b=1),
        Shape(5, 16, 8, False), Shape(5, 16, 8, True),
    ]  # fmt: skip
    told = [kept._told(each) for each in things]
    assert len(set(told)) == len(told)


class Named(NamedTuple):
    """A tuple of somebody else's."""

    number: int


def of_ours(thing):
    """A class or function, as if it were of this package."""
    thing.__module__ = kept.__name__
    return thing


def test_kinds_with_the_same_parts_are_told_apart():
    one, other = (of_ours(dataclasses.make_dataclass(name, [("number", int)])) for name in ("One", "Other"))
    assert len({kept._told(each) for each in (one(1), one(2), other(1), (1,))}) == 4


def closed_over(value):
    """A function that has it, named as one of ours."""
    return functools.wraps(jobs.program)(lambda: value)


UNKNOWN = {
    "a function from elsewhere": evaluated, "one of Python's": len, "a lambda": of_ours(lambda: 1),
    "a function that closes over something": closed_over(1),
    "a policy from elsewhere": PolicyForm.of(Elsewhere(0.5)), "a tuple from elsewhere": Named(1), "a dictionary": {1: 2},
    "an object of ours": kept.Place(pathlib.Path(), "", "", "", ()), "any object": object(),
}  # fmt: skip


@pytest.mark.parametrize("thing", UNKNOWN)
def test_what_is_not_known_has_no_name(thing):
    for each in (UNKNOWN[thing], (UNKNOWN[thing],), functools.partial(jobs.program, UNKNOWN[thing])):
        with pytest.raises(kept._Unknown):
            kept._told(each)


def test_programs_are_told_apart(folder, monkeypatch):
    """By what they do, what they take and give, and how they are compiled; and found by what they are for."""
    x, devices, least = np.float32(3), tuple(jax.devices())[:1], jax.config.jax_persistent_cache_min_compile_time_secs
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    monkeypatch.setitem(kept._counts.__dict__, kept._FOUND, 5)  # what this thread has found before does not matter
    asked = [
        (lambda x, y: x + y, (x, x)), (lambda x, y: x * y, (x, x)), (lambda xy: xy[0] + xy[1], ((x, x),)),
        (lambda x, y: [x + y], (x, x)), (lambda x, y: x + y, (x, x)),
    ]  # fmt: skip
    try:
        for i, (fn, given) in enumerate(asked):
            for path in folder.iterdir():
                if path.is_file():
                    path.unlink()  # what jax finds cannot be kept
            if i == len(asked) - 1:
                monkeypatch.setenv("XLA_FLAGS", "--another")  # which XLA has read long since
            place = kept.place_of("job", (i, devices))
            assert place.found() is None
            assert place.compiled(jax.jit(fn).lower(*given))(*given) == fn(*given)
            assert len(files(folder)) == i + 1 and place.found()(*given) == fn(*given)
    finally:
        jax.config.update("jax_persistent_cache_min_compile_time_secs", least)


def test_what_a_gpus_kernel_decides_is_not_kept(folder, monkeypatch):
    """Whether it is on, and agrees, is found out where a program is traced."""
    key = 1, tuple(jax.devices())
    assert kept.place_of("job", key) is not None
    monkeypatch.setattr(kept, "backend_of", Nvidia)
    assert kept.place_of("job", key) is None


def test_nothing_is_kept_where_jax_keeps_nothing(folder):
    key = 1, tuple(jax.devices())
    assert kept.place_of("job", key) is not None
    jax.config.update("jax_compilation_cache_max_size", 1 << 20)  # which jax keeps to, by what it has written itself
    assert kept.place_of("job", key) is None
    jax.config.update("jax_compilation_cache_max_size", -1)
    jax.config.update("jax_compilation_cache_dir", "gs://bucket/cache")
    assert kept.place_of("job", key) is None
    jax.config.update("jax_compilation_cache_dir", None)
    assert kept.place_of("job", key) is None
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        assert kept.place_of("job", key) is None
    finally:
        jax.config.update("jax_enable_compilation_cache", True)


def test_programs_of_several_processes_are_not_kept(folder, monkeypatch):
    key = 1, tuple(jax.devices())
    assert kept.place_of("job", key) is not None
    monkeypatch.setattr(jax, "process_count", lambda: 2)
    assert kept.place_of("job", key) is None
