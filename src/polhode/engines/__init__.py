"""Engines: run a scenario.  "cpu" compiles its program, "python" interprets it; Taylor series are heyoka's."""
