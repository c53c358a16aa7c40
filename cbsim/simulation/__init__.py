"""Simulation: the loop that senses, plans and steps a World, its compiled kernels, and observers of a run."""
