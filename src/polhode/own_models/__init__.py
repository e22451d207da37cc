"""Models of the user's own: from a function of knobs, or from a scenario file that declares them."""
