"""What a law becomes: a graph of operations, the passes that rewrite it, and the targets that print or compile it."""
