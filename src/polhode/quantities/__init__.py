"""What can be known of a motion: a table of quantities with unit, axes and law, and those of a user's own."""
