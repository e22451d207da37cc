"""Volume meshes: cells read from files, checked, and integrated with any density."""
