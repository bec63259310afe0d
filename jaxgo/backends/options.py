"""Options of XLA's compilers, which no documentation promises: those that a compiler knows are found by trying them."""

from collections.abc import Mapping

import jax
import numpy as np

from jaxgo.base.trials import tried

#: As `jax.jit(..., compiler_options=...)` takes them.
Options = dict[str, bool | int | float | str]


def known(options: Mapping[str, bool | int | float | str], device: jax.Device) -> Options:
    """Those that a device's compiler knows."""
    if _compiles(options, device):
        return dict(options)
    return {name: value for name, value in options.items() if _compiles({name: value}, device)}


def _compiles(options: Mapping[str, bool | int | float | str], device: jax.Device) -> bool:
    def trial():
        with jax.default_device(device):
            jax.jit(lambda x: x + np.int32(1), compiler_options=dict(options)).lower(np.int32(0)).compile()

    try:
        tried(trial)
    except Exception:  # whatever a compiler may raise
        return False
    return True
