"""Compiled geometry: rotations, rays against shapes, and motion along timed segments."""
