"""Where the laws run: traced once into a graph, and emitted as machine code and as source in other languages."""
