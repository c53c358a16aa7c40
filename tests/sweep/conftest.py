"""Fixtures of the tests of sweeps."""

from tests.sweep.gap import gap
from tests.sweep.small import small

__all__ = ["gap", "small"]
