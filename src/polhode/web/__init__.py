"""The interactive page of a motion: the record that it displays, and the self-contained HTML file."""
