"""Pictures of a motion at one time, and the frames of films."""
