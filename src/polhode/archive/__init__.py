"""Archives: motions, ensembles and checkpoints on disk, in one format (docs/reference/archive.md)."""
