"""What prints or compiles a graph, one module each."""
