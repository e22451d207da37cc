"""Where the laws run: traced once into a graph, and emitted as machine code, C, CUDA and JavaScript."""
