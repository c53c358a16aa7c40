"""Kernels of collision detection."""
