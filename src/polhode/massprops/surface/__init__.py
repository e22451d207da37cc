"""Triangle meshes: reading, checks, repairs and exact integrals."""
