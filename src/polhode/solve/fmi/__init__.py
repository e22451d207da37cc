"""A scenario as an FMU: what its variables are, its C code, its description, and its binary."""
