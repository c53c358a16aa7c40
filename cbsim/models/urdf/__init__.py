"""Robots as mechanisms: bodies, joints, collision geometry."""

from cbsim.models.urdf.checks import lint
from cbsim.models.urdf.counts import count
from cbsim.models.urdf.description import OPTIONS, describe

__all__ = ["OPTIONS", "count", "describe", "lint"]
