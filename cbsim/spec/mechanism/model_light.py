"""Lights of a model, for pictures in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["LightKind", "ModelLight"]

LightKind = Literal["point", "spot", "directional"]
Triple = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class ModelLight:
    """A light of a model.

    Attributes
    ----------
    name : str
    kind : str
        ``point``, ``spot`` or ``directional``.
    body : str
        Name of the body on which it is mounted; empty for the model's origin.
    position : tuple of float
        In the body's frame [m].
    direction : tuple of float
        Unit vector in which it shines, in the body's frame; of no effect for a point.
    ambient, diffuse : tuple of float
        Red, green and blue of the light that it adds everywhere, and of its rays; 1 is full.
    """

    name: str
    kind: LightKind
    body: str
    position: Triple
    direction: Triple
    ambient: Triple
    diffuse: Triple
