"""Servos of a walker's joints: motors whose target velocities track the angles of its gait.

Every step of the gait is planned from the actual pose of the body, so that slip of feet does not accumulate. Within a
step, a motor's target velocity is that of its target angle, plus a share of the angle's error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm, times
from cbsim.geometry.pose import rotate
from cbsim.models.irit.gait import MODE, RESTING, TICK
from cbsim.models.irit.limbs import cross
from cbsim.models.irit.motion import Walk

__all__ = ["Servo"]

LAG = 0.03  # [s] in which the error of an angle falls to a third


@dataclass(frozen=True, eq=False)
class Servo:
    """Drives the joints of a walker after its walk.

    Attributes
    ----------
    walk : Walk
        Walk that it follows; inputs are those of a floating joint, then yaw, lift and knee of each leg.
    step : float
        Of the model [s].
    """

    walk: Walk
    step: float

    @property
    def memory(self) -> Floats:
        """Memory (n,) at the start: that of the walk."""
        return self.walk.memory

    @property
    def controls(self) -> Mapping[str, int]:
        """Those of the walk."""
        return self.walk.controls

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that it follows from."""
        yield from self.walk.tables()
        yield np.array([self.step, LAG])

    def act(self, time: float, state: Floats, memory: Floats, inputs: Floats, forces: Floats) -> None:  # noqa: ARG002
        """Set the speeds of the motors (`cbsim.spec.mechanism.behaviour.Behaviour.act`)."""
        gait, ticks = self.walk.gait, self.walk.ticks(self.step)
        if memory[TICK] < 0.0 or memory[TICK] >= ticks:
            if memory[TICK] > 0.0 and memory[MODE] != RESTING:
                gait.anchor(memory, *self._stance(state))
            gait.plan(memory)
        tick = float(memory[TICK])
        wanted = self.angles(memory, np.array([tick, tick + 1.0]) / ticks)
        memory[TICK] += 1.0
        lack = wanted[0] - self.measured(state)
        lack -= 2.0 * math.pi * np.round(lack / (2.0 * math.pi))
        speed = (wanted[1] - wanted[0]) / self.step + lack * (-math.expm1(-self.step / LAG) / self.step)
        inputs[6:] = speed.ravel()

    def _stance(self, state: Floats) -> tuple[tuple[float, float, float], Floats]:
        """Place and heading of the body as they are, and where the feet (legs, 3) are."""
        gait, centres = self.walk.gait, self.walk.centres
        turned = state[:, 6:10]
        middle = np.array([0.0, 0.0, gait.anatomy.height])
        at = state[0, :3] + rotate(turned[0], middle - centres[0])
        ahead = rotate(turned[0], np.array([0.0, 1.0, 0.0]))
        shins = state[3::3]
        feet = shins[:, :3] + rotate(shins[:, 6:10], gait.limbs.foot - centres[2::2])
        return (float(at[0]), float(at[1]), math.atan2(-ahead[0], ahead[1])), feet

    def angles(self, memory: Floats, shares: Floats) -> Floats:
        """Angles (n, legs, 3) of yaw, lift and knee from rest [rad] at shares (n,) of a step."""
        gait, limbs = self.walk.gait, self.walk.gait.limbs
        moment = gait.at(memory, shares)
        middle = np.array([0.0, 0.0, gait.anatomy.height])
        feet = times(moment.feet - moment.place[:, None], moment.rotation) + middle
        return self._chain(feet - limbs.root)

    def _chain(self, arm: Floats) -> Floats:
        """Angles of an upright axis, and two normal to the leg's plane at rest, that put feet at (n, legs, 3)."""
        limbs = self.walk.gait.limbs
        normal = limbs.rest.hip[:, :, 1]
        flat, across = math.hypot(arm[..., 0], arm[..., 1]), math.hypot(normal[:, 0], normal[:, 1])
        # arm · Rz(yaw) normal = 0: of the two yaws the one on the leg's own side
        cosine = np.clip(-arm[..., 2] * normal[:, 2] / np.maximum(flat * across, 1e-12), -1.0, 1.0)
        facing = math.atan2(arm[..., 1], arm[..., 0]) - math.atan2(normal[:, 1], normal[:, 0])
        yaw = facing + self._side * math.acos(cosine)
        yaw -= 2.0 * math.pi * np.round(yaw / (2.0 * math.pi))
        c, s = math.cos(yaw), math.sin(yaw)
        turned = np.stack([c * arm[..., 0] + s * arm[..., 1], c * arm[..., 1] - s * arm[..., 0], arm[..., 2]], axis=-1)
        a, b = limbs.upper, limbs.lower
        low, high = limbs.reach
        d = np.clip(np.sqrt((arm * arm).sum(axis=-1)), np.maximum(low, 1e-12 * high), high)
        at_root = math.acos(np.clip((a * a + d * d - b * b) / (2.0 * a * d), -1.0, 1.0))
        bend = math.acos(np.clip((a * a + b * b - d * d) / (2.0 * a * b), -1.0, 1.0))
        rest, along = self._rest
        x, y = (turned * along).sum(axis=-1), (turned * cross(normal, along)).sum(axis=-1)
        lift = math.atan2(y, x) + at_root - rest[0]
        return np.stack([yaw, lift - 2.0 * math.pi * np.round(lift / (2.0 * math.pi)), bend - rest[1]], axis=-1)

    @cached_property
    def _side(self) -> Floats:
        """Which of two yaws (legs,) a leg has: that of its rest."""
        limbs = self.walk.gait.limbs
        arm, normal = limbs.foot - limbs.root, limbs.rest.hip[:, :, 1]
        turn = normal[:, 0] * arm[:, 1] - normal[:, 1] * arm[:, 0]
        return np.where(turn >= 0.0, -1.0, 1.0)

    @cached_property
    def _rest(self) -> tuple[Floats, Floats]:
        """Angles at root and knee (2, legs), and the direction (legs, 3) of the foot from the root, at rest."""
        limbs = self.walk.gait.limbs
        arm = limbs.foot - limbs.root
        d, a, b = norm(arm, axis=1), limbs.upper, limbs.lower
        at_root = math.acos(np.clip((a * a + d * d - b * b) / (2.0 * a * d), -1.0, 1.0))
        bend = math.acos(np.clip((a * a + b * b - d * d) / (2.0 * a * b), -1.0, 1.0))
        return np.stack([at_root, bend]), arm / d[:, None]

    def measured(self, state: Floats) -> Floats:
        """Angles (legs, 3) of yaw, lift and knee as they are [rad]."""
        turned = state[:, 6:10]
        body, coxa, hip, shin = turned[:1], turned[1::3], turned[2::3], turned[3::3]
        normal = self.walk.gait.limbs.rest.hip[:, :, 1]
        upright = np.array([0.0, 0.0, 1.0])
        pairs = ((body, coxa, upright), (coxa, hip, normal), (hip, shin, normal))
        return np.stack([_angle(*pair) for pair in pairs], axis=-1)


def _angle(parent: Floats, child: Floats, axis: Floats) -> Floats:
    """Angle (n,) of children against parents (n, 4) about axes (n, 3) that both share."""
    w = (parent * child).sum(axis=-1)
    p, q = parent[..., 1:], child[..., 1:]
    vector = parent[..., :1] * q - child[..., :1] * p - cross(p, q)
    angle = 2.0 * math.atan2((vector * axis).sum(axis=-1), w)
    return np.asarray(angle - 2.0 * math.pi * np.round(angle / (2.0 * math.pi)))
