"""Shift multibody models as mechanisms: assembly of loops, joints, restraints, controllers and tyres."""

from cbsim.models.shift.checks import check, count, lint
from cbsim.models.shift.description import OPTIONS, describe

__all__ = ["OPTIONS", "check", "count", "describe", "lint"]
