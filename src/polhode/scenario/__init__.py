"""The input of a simulation: states, forces, events, scenarios, and their validation."""
