"""IRIT's 2N-legged walkers as mechanisms: gait, limbs, servos, ground."""

from cbsim.models.irit.checks import check, count
from cbsim.models.irit.description import OPTIONS, describe

__all__ = ["OPTIONS", "check", "count", "describe"]
