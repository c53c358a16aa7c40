"""What IRIT files say: objects of the data grammar, and 2N-legged walkers made of them."""
