"""Vehicles: drives and collisions in a step, and who steers them along trajectories and ways."""
