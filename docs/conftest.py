"""What pytest, which runs the examples of these pages, leaves to Sphinx."""

collect_ignore = ["conf.py"]
collect_ignore_glob = ["_ext/*", "_build/*", "reference/generated/*"]
