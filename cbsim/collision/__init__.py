"""Collisions: contacts in a step, distances between objects, and collision checks of planned trajectories."""

from __future__ import annotations

from cbsim.collision.separation import Separation, separation
from cbsim.collision.trajectory import first_contacts

__all__ = ["Separation", "first_contacts", "separation"]
