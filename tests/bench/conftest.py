"""What tests of benchmarks share: workers, and the document of the default benchmark."""

import functools
import os
from collections.abc import Iterator

import pytest

from bench.worker import Worker, environment
from tests.bench.running import LITTLE, result_of


@pytest.fixture(scope="module")
def few_workers() -> Iterator[None]:
    """Has workers stay for the next benchmark of a module that wants some like them, and keep what they compile where the tests do.

    Otherwise most of the time would go into beginning processes. What workers are is tested in `test_worker.py`.
    """
    begin, end = Worker.__init__, Worker.__exit__
    cache, kept = environment(cache=os.environ["JAX_COMPILATION_CACHE_DIR"]), {}

    def begin_or_find(self, *, cores=None, environment=None) -> None:
        environment = {**(environment or {}), **cache}
        key = repr((cores, sorted(environment.items())))
        if key in kept:
            vars(self).update(vars(kept[key]))
        else:
            begin(self, cores=cores, environment=environment)
            kept[key] = self

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Worker, "__init__", begin_or_find)
        patch.setattr(Worker, "__exit__", lambda self, *_: None)
        yield
    for one in kept.values():
        end(one)


@functools.cache
def _of_default() -> dict:
    return result_of("--sizes", "2,3", *LITTLE)


@pytest.fixture(scope="module")
def throughput_document(few_workers: None) -> dict:
    """Of the default benchmark, which is run once."""
    return _of_default()
