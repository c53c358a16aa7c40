"""Lights of a Shift model, on the bodies of its mechanism."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.linear import times
from cbsim.models.shift.assembly import Assembled
from cbsim.models.shift.build import Built
from cbsim.models.shift.network import GROUND, HERE, Network, Place
from cbsim.spec.mechanism.model_light import LightKind, ModelLight
from cbsim.spec.shift.model import Light, Reference

__all__ = ["lights_of"]

Triple = tuple[float, float, float]

AXIS = np.array([0.0, 0.0, -1.0])  # of the frame: real files turn z of a light's frame away from what it shines at
AMBIENT, DIFFUSE = (0.2, 0.2, 0.2), (0.8, 0.8, 0.8)  # of lights without colors
KINDS: dict[str, LightKind] = {"point": "point", "spot": "spot", "directional": "directional"}


def lights_of(assembled: Assembled, built: Built, turn: Floats) -> tuple[ModelLight, ...]:
    """Place the active lights of a model.

    Parameters
    ----------
    assembled : Assembled
    built : Built
        Bodies of the mechanism. A light on a link that is not one of them stays where it is at the start.
    turn : ndarray, shape (3, 3)
        From the file's axes to the world's.

    Notes
    -----
    A light whose frame is missing is left out; `external_references` reports it. A light without a parent is at the
    origin.
    """
    lights = (light for light in assembled.network.model.lights if light.active)
    return tuple(light for item in lights for light in _placed(item, assembled, built, turn))


def _placed(light: Light, assembled: Assembled, built: Built, turn: Floats) -> Iterator[ModelLight]:
    network = assembled.network
    number = GROUND if light.parent is None else _body(network, light.parent)
    frame = HERE if light.parent is None or number is None else network.frame(number, light.parent.frame)
    if number is None or frame is None:
        return
    body = built.bodies.get(number)
    if body is not None:
        place = Place(frame.rotation, frame.origin - built.centers[number])
    else:
        above = HERE if number == GROUND else assembled.poses[number]
        place = Place(turn, np.zeros(3)) @ above @ frame
    yield ModelLight(
        light.name, KINDS[light.kind], body.name if body is not None else "", _triple(place.origin),
        _triple(times(place.rotation, AXIS)), _color(light, "Ka", AMBIENT), _color(light, "Kd", DIFFUSE),
    )  # fmt: skip


def _body(network: Network, parent: Reference) -> int | None:
    """Find an active body, which may be named by the end of its path: its number, `GROUND`, or None."""
    if parent.path == ("fixed",):
        return GROUND
    ends = (number for path, number in network.numbers.items() if path[-len(parent.path) :] == parent.path)
    return next((number for number in ends if number is not None), None)


def _color(light: Light, key: str, usual: Triple) -> Triple:
    """Color of a light, which nothing checks; the usual one where the file has no three numbers."""
    values = json.loads(dict(light.kept).get(key, "null"))
    if not isinstance(values, list) or sum(isinstance(value, int | float) for value in values[:3]) < 3:
        return usual
    red, green, blue = (min(max(float(value), 0.0), 1.0) for value in values[:3])
    return red, green, blue


def _triple(values: Floats) -> Triple:
    x, y, z = values.tolist()
    return x, y, z
