"""Contents of IRIT files: objects of the data grammar, and 2N-legged walkers."""
