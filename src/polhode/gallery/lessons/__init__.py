"""What the models of the gallery teach, one module for each: formulas, steps to try, sources."""
