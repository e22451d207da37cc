"""A motion in the formats of other programs."""
