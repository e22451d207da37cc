"""Matter: from shapes to bodies."""
