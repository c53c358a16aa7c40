"""Vehicle parameters of a scenario's own objects: one key for each that object files know, in the same units."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, create_model

from cbsim.formats.objects.values import PARAMETERS
from cbsim.formats.scenario.fields import Model, about
from cbsim.formats.values import Quantity

__all__ = ["VehicleParameters", "parameters_of"]

MEANINGS = {
    "wheelbase": "distance of the first and the last axle",
    "track": "distance of left and right wheels",
    "axles": "axles of a skid vehicle",
    "max_steer": "steering angle at full steering",
    "mass": "mass",
    "yaw_inertia": "moment of inertia about the vertical",
    "cg_height": "height of the centre of gravity",
    "front_load": "part of the weight on the front axle",
    "front_stiffness": "lateral force of the front tyres per load and slip",
    "rear_stiffness": "the same of the rear tyres",
    "friction": "of the tyres on the ground",
    "front_grip": "sideways friction of the front axle over that of the rear",
    "rolling_resistance": "force per load",
    "drag_area": "drag coefficient times frontal area",
    "drive_split": "part of the drive force on the front axle",
    "drive_force": "largest force of each side of a skid vehicle",
    "max_speed": "top speed",
    "max_acceleration": "at full throttle and low speed",
    "max_deceleration": "at full brakes",
    "throttle_delay": "dead time of the throttle",
    "steering_delay": "dead time of the steering",
    "throttle_lag": "time constant of the throttle",
    "steering_lag": "time constant of the steering",
    "restitution": "closing speed that comes back from a collision",
    "body_friction": "of the body in a collision",
}


def _field(quantity: Quantity) -> tuple[Any, Any]:
    """Type and description of a parameter; angles are degrees until validated."""
    bounds: dict[str, Any] = {"le": quantity.most, "allow_inf_nan": False}
    bounds |= {"ge": quantity.least} if quantity.above < quantity.least else {"gt": quantity.above}
    limits = Field(**bounds, multiple_of=quantity.grain or None)
    factor = quantity.factor
    kind: Any = Annotated[float, limits]
    if factor != 1.0:
        kind = Annotated[float, limits, AfterValidator(lambda value: value * factor)]
    return kind | None, about(MEANINGS[quantity.name], None, unit=quantity.unit)


VehicleParameters: type[Model] = create_model(
    "VehicleParameters",
    __base__=Model,
    __doc__="Vehicle parameters other than the defaults.",
    **{name: _field(quantity) for name, quantity in PARAMETERS.items()},  # type: ignore[call-overload]
)


def parameters_of(model: Model | None) -> tuple[tuple[str, float], ...]:
    """Parameters that are given, in SI units, in the order of `PARAMETERS`."""
    return tuple((name, value) for name, value in model or () if value is not None)
