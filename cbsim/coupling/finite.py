"""Errors of steps with non-finite results, or that leave the World: the object, the time, and a likely cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.errors import StepError
from cbsim.formats.objects.values import PARAMETERS as QUANTITIES
from cbsim.geometry import elementary as math
from cbsim.vehicle.parameters import PARAMETERS, vehicle_parameters
from cbsim.world.motion import ABSENT_BELOW
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

__all__ = ["is_sound", "model_error", "require_finite", "vehicle_error"]


def is_sound(states: Floats) -> NDArray[np.bool_]:
    """Whether states (..., 13) of bodies of models are finite, and not so low that the bodies would count as absent."""
    return np.asarray(np.isfinite(states).all(axis=-1) & (states[..., 2] >= ABSENT_BELOW))


def vehicle_error(world: World, vehicle: int, snapshot: Snapshot | None, time: float) -> StepError:
    """Make the error of a step after which the motion of a vehicle is not finite.

    Parameters
    ----------
    world : World
    vehicle : int
        Row in the table of vehicles.
    snapshot : Snapshot or None
        Before the step, where it was kept.
    time : float
        At which the step begins [s].
    """
    row = int(world.constants.vehicle_body[vehicle])
    message = f"the motion of vehicle '{world.bodies[row].name}' is not finite after this step"
    location = world.scene.actors[row].item.location
    return StepError(message + _far_out(world, row), time=time, snapshot=snapshot, location=location)


def model_error(world: World, number: int, state: Floats, time: float) -> StepError:
    """Make the error of a step after which the motion of a model is not finite, or a body of it too low.

    Parameters
    ----------
    world : World
    number : int
        Of the model.
    state : ndarray, shape (bodies, 13)
        After the step.
    time : float
        At which the step begins [s].
    """
    model = world.scene.models[number]
    row = int(is_sound(state).argmin())
    body = f"body '{model.description.bodies[row].name}' of model '{model.name}'"
    message = f"the motion of {body} is not finite after this step"
    if np.isfinite(state[row]).all():
        message = f"{body} falls below {ABSENT_BELOW:g} m, where it would count as absent; nothing holds it up"
    return StepError(message, time=time, location=model.location)


def require_finite(world: World, snapshot: Snapshot, states: Mapping[int, Floats], time: float) -> None:
    """Raise the error of the first model or vehicle with a non-finite motion after a coupled step, or too low a model.

    Parameters
    ----------
    world : World
    snapshot : Snapshot
        With the vehicles after the step.
    states : mapping
        Number of a model → states of its bodies (n, 13) after the step.
    time : float
        At which the step began [s].
    """
    for number, state in states.items():
        if not is_sound(state).all():
            raise model_error(world, number, state, time)
    rows, columns = world.constants.vehicle_body, snapshot.columns
    sound = np.isfinite(columns.position[rows]).all(axis=1) & np.isfinite(columns.velocity[rows]).all(axis=1)
    sound &= np.isfinite(columns.orientation[rows]).all(axis=1) & np.isfinite(columns.angular_velocity[rows]).all(
        axis=1
    )
    if not sound.all():
        raise vehicle_error(world, int(sound.argmin()), None, time)


def _far_out(world: World, row: int) -> str:
    """Name the given parameter that differs most from its default, as the likeliest cause."""
    item = world.scene.actors[row].item
    usual = dict(zip(PARAMETERS, vehicle_parameters(replace(item, parameters=())).tolist(), strict=True))
    apart = {name: _decades(float(value), usual[name]) for name, value in item.parameters}
    if max(apart.values(), default=0.0) < 1.0:
        return ""
    name = max(apart, key=apart.__getitem__)
    quantity, given = QUANTITIES[name], float(dict(item.parameters)[name])
    here, there = (f"{value / quantity.factor:g} {quantity.unit}".strip() for value in (given, usual[name]))
    return f"; its {name} is {here}, by default {there}"


def _decades(one: float, other: float) -> float:
    """Orders of magnitude between two numbers; 0 where one is 0."""
    return abs(math.log10(one) - math.log10(other)) if one > 0.0 and other > 0.0 else 0.0
