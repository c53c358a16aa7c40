"""Saved mechanisms, which need no building."""

from cbsim.models.mechanism.counts import count
from cbsim.models.mechanism.description import OPTIONS, describe

__all__ = ["OPTIONS", "count", "describe"]
