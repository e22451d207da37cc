"""The loops: steps, stages, clocks and events, in the subset of Python that is compiled."""
