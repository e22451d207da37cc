"""How a run proceeds: its timeline, the integrators that take it from segment to segment, and the loops they drive."""
