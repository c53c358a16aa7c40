"""Collisions: contacts between all shapes in a step, how far apart objects are, and checks of planned trajectories."""

from __future__ import annotations

from cbsim.collision.separation import Separation, separation
from cbsim.collision.trajectory import first_contacts

__all__ = ["Separation", "first_contacts", "separation"]
