"""Descriptions of mechanisms: shapes, bodies, joints, contacts. Frozen, and free of numba."""
