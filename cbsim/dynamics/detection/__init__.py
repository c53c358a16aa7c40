"""Collision detection: which shapes may touch in a step, and at which points."""
