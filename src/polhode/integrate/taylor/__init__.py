"""Taylor series: the equations of a scenario for heyoka, and a run by its integrator."""
