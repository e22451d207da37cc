"""Export of motions to the formats of other programs."""
