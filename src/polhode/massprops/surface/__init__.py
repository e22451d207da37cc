"""Closed surfaces of triangles: read, looked over, mended when asked, and integrated."""
