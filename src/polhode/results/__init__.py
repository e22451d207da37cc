"""What a simulation returns: the motion, what is derived from it, its audit, and how it is stored."""
