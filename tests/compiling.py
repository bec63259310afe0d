"""Compiler options for tests in which the machine code does not matter."""

#: Half the time to compile, a fraction of the speed; the results are the same, which other tests show.
LIGHT = {"xla_backend_optimization_level": 0}
