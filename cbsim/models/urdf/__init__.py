"""Robots as mechanisms: bodies, joints, collision geometry."""

from cbsim.models.urdf.checks import count, lint
from cbsim.models.urdf.description import OPTIONS, describe

__all__ = ["OPTIONS", "count", "describe", "lint"]
