"""Pictures of a motion at one instant, and the frames of films."""
