"""Running a simulation: `simulate`, `ensemble`, and the automatic choice of a method."""
