"""Collisions: contacts between all shapes in a step, and checks of planned trajectories."""
