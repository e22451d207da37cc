"""Ensembles of any size: sampling, chunks, reductions, stores."""
