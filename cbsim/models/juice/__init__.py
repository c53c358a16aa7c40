"""Juice walkers and vehicles as mechanisms: bodies, joints, servos, networks and clockworks."""

from cbsim.models.juice.checks import count, lint
from cbsim.models.juice.description import OPTIONS, describe

__all__ = ["OPTIONS", "count", "describe", "lint"]
