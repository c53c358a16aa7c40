"""Servos: positions of joints with motors, and velocities that bring them to requested positions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import times
from cbsim.geometry.pose import rotate
from cbsim.models.juice.build import Servo, stops_of
from cbsim.models.juice.program import Ask
from cbsim.spec.juice import JointKind

__all__ = ["Servos", "most_turn"]

LET_GO = math.nan
MOST_TURN = 1.0  # [rad] in a step
MOST_SPIN = 100.0  # [rad/s] limit of the spin of thin parts, and of the targets of motors


def most_turn(step: float) -> float:
    """Return the angle [rad] by which what spins turns in a step [s] at most."""
    return min(MOST_TURN, MOST_SPIN * step)


class Servos:
    """The motors of a model, with all hinges vectorised.

    Notes
    -----
    With offset o and axis a, a hinge's child is turned by r = (q₁ o)⁻¹ q₂ against its place at the start, and its angle
    is 2 atan2(a · r, r₀). Both are bilinear in the bodies' quaternions: q₁ᵀ S q₂ and q₁ᵀ C q₂.
    """

    def __init__(self, servos: list[Servo]) -> None:
        self.servos = servos
        self.hinges = [k for k, servo in enumerate(servos) if servo.joint.kind is JointKind.HINGE]
        self.sliders = [k for k, servo in enumerate(servos) if servo.joint.kind is not JointKind.HINGE]
        self.forms = np.array([_forms(servos[k]) for k in self.hinges]).reshape(-1, 2, 4, 4)
        self.parents = np.array([servos[k].parent for k in self.hinges], int)
        self.children = np.array([servos[k].child for k in self.hinges], int)
        self.gains = [0.1 * float(servo.joint.gain) for servo in servos]
        self.stops = [stops_of(servo.joint) for servo in servos]
        self.inputs = [servo.input for servo in servos]

    def __len__(self) -> int:
        return len(self.servos)

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that it follows from."""
        yield self.forms
        yield np.array([self.gains, self.inputs], float)
        yield np.array(self.stops, float)
        for k in self.sliders:
            servo = self.servos[k]
            yield from (servo.axis, servo.arms)

    def coordinates(self, state: Floats) -> list[float]:
        """Where the joints are, from the pose at the start: hinges from −180 to 180 [degrees], sliders [m]."""
        found = [0.0] * len(self)
        if self.hinges:
            turned = state[:, 6:10]
            pairs = times(self.forms, turned[self.children][:, None, :, None])[..., 0]
            both = times(pairs, turned[self.parents][:, :, None])[..., 0].tolist()
            for k, (cosine, sine) in zip(self.hinges, both, strict=True):
                found[k] = math.degrees(
                    2.0 * (math.atan2(sine, cosine) if cosine >= 0.0 else math.atan2(-sine, -cosine))
                )
        for k in self.sliders:
            found[k] = _slid(self.servos[k], state)
        return found

    def drive(self, state: Floats, ask: Ask, inputs: Floats, step: float = 0.0) -> None:
        """Write requests as target velocities of the motors [rad/s or m/s]; NaN without a request.

        A motor turns by its velocity times the step [s]; a body that turns so far spins with 2/h sin(wh/2), and rolls
        as fast. Where a velocity is asked, that one is meant. Hinges are asked for no more than `most_turn` in a step.
        """
        where: list[float] | None = None
        most = most_turn(step) / step if step > 0.0 else MOST_SPIN
        for k, place in enumerate(self.inputs):
            velocity, position = ask.velocities[k], ask.positions[k]
            if velocity is None and position is not None:
                where = where or self.coordinates(state)
                low, high = self.stops[k]
                error = min(max(position, low), high) - where[k]
                if self.servos[k].joint.kind is JointKind.HINGE:
                    error -= 360.0 * round(error / 360.0)
                velocity = self.gains[k] * error
            elif velocity is not None and abs(velocity) * step < 2.0 and step > 0.0:
                velocity = 2.0 / step * math.asin(0.5 * velocity * step)
            if velocity is not None and self.servos[k].joint.kind is JointKind.HINGE:
                velocity = min(max(velocity, -most), most)
            inputs[place] = LET_GO if velocity is None else velocity


def _forms(servo: Servo) -> Floats:
    """Matrices C, S (2, 4, 4) of a hinge."""
    w, x, y, z = servo.offset
    after = np.array([[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]])  # q ↦ q o
    a, b, c = servo.axis
    # a · vec(p* q) for unit quaternions p, q, as pᵀ B q
    along = np.array([[0.0, a, b, c], [-a, 0.0, -c, b], [-b, c, 0.0, -a], [-c, -b, a, 0.0]])
    return np.array([after.T, times(after.T, along)])


def _slid(servo: Servo, state: Floats) -> float:
    """How far a slider's child has moved along the axis [m]."""
    parent, child = state[servo.parent], state[servo.child]
    above = rotate(parent[6:10], np.array([servo.arms[0], servo.axis]))
    away = child[:3] + rotate(child[6:10], servo.arms[1]) - parent[:3] - above[0]
    return float(times(away, above[1]))
