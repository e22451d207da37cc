"""Ensembles of any size: their members computed chunk by chunk, in memory, into a store, or into reductions."""
