"""Compiled code of the rigid-body core."""
