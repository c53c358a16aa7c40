"""Wheels of vehicles and their steering angles."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cbsim.arrays import Floats
from cbsim.palette import PAINT
from cbsim.vehicle.parameters import WHEELBASE
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.scene.stage import WheelLayout
from cbsim.viewer.view import View

__all__ = ["draw_wheels", "steer_angle", "wheel_layout_of"]

CRAWL = 0.3  # [m/s] below, motion does not reveal the steering angle


def wheel_layout_of(view: View, row: int) -> WheelLayout:
    """Wheels of a vehicle; other traffic gets those of a road car of its size."""
    known = view.stage.wheel_layouts.get(row)
    if known is not None:
        return known
    width, length, _ = view.stage.bodies[row].size
    return WheelLayout(
        WHEELBASE * length, max(width - 0.2, 0.1), min(0.33, 0.09 * length), 0.2, math.radians(35.0), False
    )


def steer_angle(view: View, row: int, layout: WheelLayout) -> float:
    """Steering angle of the front wheels [rad], left positive: atan(wheelbase · yaw rate / speed) without slip.

    Near standstill it is the last steering command.
    """
    speed, rate = float(view.speeds[row]), float(view.state.spin[row, 2])
    if layout.skid:
        return 0.0
    if abs(speed) < CRAWL:
        return view.state.steering.get(row, 0.0) * layout.max_steer
    return min(max(math.atan(layout.wheelbase * rate / speed), -layout.max_steer), layout.max_steer)


def draw_wheels(canvas: Canvas, view: View, row: int, placed: Callable[[Floats], Floats]) -> None:
    """Draw four wheels, the front ones steered; `placed` converts positions in the vehicle's frame to pixels."""
    layout = wheel_layout_of(view, row)
    steer = steer_angle(view, row, layout)
    wheel = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]) * (0.5 * layout.width, layout.radius)
    cos, sin = math.cos(steer), math.sin(steer)
    turned = wheel @ np.array([(cos, sin), (-sin, cos)])
    for x in (-0.5 * layout.track, 0.5 * layout.track):
        canvas.area(placed(wheel + np.array([x, -0.5 * layout.wheelbase])), PAINT.tyre)
        canvas.area(placed(turned + np.array([x, 0.5 * layout.wheelbase])), PAINT.tyre)
