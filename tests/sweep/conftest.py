"""Fixtures of the tests of sweeps."""

from tests.sweep.small import small

__all__ = ["small"]
