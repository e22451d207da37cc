"""Benchmarks, beside other packages: `make bench`, or `polhode bench` in a checkout."""
