"""Wheels of vehicles: where they are, and how they steer."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cbsim.palette import PAINT
from cbsim.vehicle.parameters import WHEELBASE
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.stage import Rig
from cbsim.viewer.view import View

__all__ = ["draw_wheels", "rig_of", "steer_angle"]

Floats = NDArray[np.float64]

CRAWL = 0.3  # [m/s] below, the way does not tell how the wheels stand


def rig_of(view: View, row: int) -> Rig:
    """Wheels of a vehicle; of traffic without any, such as a road car of its size has."""
    known = view.stage.rigs.get(row)
    if known is not None:
        return known
    width, length, _ = view.stage.bodies[row].size
    return Rig(WHEELBASE * length, max(width - 0.2, 0.1), min(0.33, 0.09 * length), 0.2, math.radians(35.0), False)


def steer_angle(view: View, row: int, rig: Rig) -> float:
    """Angle of the front wheels, positive to the left [rad]: atan(wheelbase · yaw rate / speed), where none slips.

    A vehicle that stands shows what was last asked of its steering.
    """
    speed, rate = float(view.speeds[row]), float(view.moment.spin[row, 2])
    if rig.skid:
        return 0.0
    if abs(speed) < CRAWL:
        return view.moment.steering.get(row, 0.0) * rig.max_steer
    return min(max(math.atan(rig.wheelbase * rate / speed), -rig.max_steer), rig.max_steer)


def draw_wheels(canvas: Canvas, view: View, row: int, placed: Callable[[Floats], Floats]) -> None:
    """Draw four wheels, the front ones turned; `placed` gives pixels of places in the vehicle's own axes."""
    rig = rig_of(view, row)
    steer = steer_angle(view, row, rig)
    wheel = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]) * (0.5 * rig.width, rig.radius)
    cos, sin = math.cos(steer), math.sin(steer)
    turned = wheel @ np.array([(cos, sin), (-sin, cos)])
    for x in (-0.5 * rig.track, 0.5 * rig.track):
        canvas.area(placed(wheel + np.array([x, -0.5 * rig.wheelbase])), PAINT.tyre)
        canvas.area(placed(turned + np.array([x, 0.5 * rig.wheelbase])), PAINT.tyre)
