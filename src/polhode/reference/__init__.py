"""Judges: closed forms that a simulation is held against.  They know no steps and no engines."""
