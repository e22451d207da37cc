"""Every law once: plain functions on tuples of numbers of any kind, importing nothing but each other."""
