"""Engines: run a scenario.  "cpu" compiles the kernels with Numba, "python" interprets them, "taylor" uses heyoka."""
