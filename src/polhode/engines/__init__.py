"""Engines: the same steps on other numbers.  `cpu` compiles them, `python` runs them as they stand."""
