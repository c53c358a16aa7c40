"""Models and what they meet: who is near whom, all as one mechanism, its steps, and the touches that are noted."""
