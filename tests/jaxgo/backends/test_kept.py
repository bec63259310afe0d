"""Programs on disk: found again for the same thing only, and made anew where they cannot be used."""

import dataclasses
import pathlib

import jax
import numpy as np
import pytest
from jax.experimental.compilation_cache import compilation_cache

import jaxgo
from jaxgo.backends import kept, programs
from jaxgo.backends.gpu import Nvidia
from jaxgo.playing.policies.policy import PolicyForm
from jaxgo.running import jobs, ring_program
from jaxgo.running.ring_program import Shape
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
