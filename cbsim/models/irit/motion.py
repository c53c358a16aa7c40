"""Kinematic walk, as in the original, without dynamics: a `Motion` that follows the gait.

A step of the gait is a whole number of steps of the model. They are computed 256 at a time, for all bodies together,
and cached; the cache depends on the memory only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry.linear import times
from cbsim.models.irit.gait import FLAG, LIMIT, MODE, POSE, TICK, Gait
from cbsim.models.irit.poses import quaternion_of, rate_between

__all__ = ["Walk"]

STRETCH = 256  # steps of the model that are computed together


@dataclass(frozen=True, eq=False)
class Walk:
    """Kinematic walk.

    Attributes
    ----------
    gait : Gait
    period : float
        Duration of a step of the gait [s], rounded to steps of the model.
    centres : ndarray, shape (1 + 2 legs, 3)
        Centre of mass of each part at rest, in our axes: of the body, then of hip and shin of each leg.
    """

    gait: Gait
    period: float
    centres: Floats
    _kept: list[tuple[tuple[float, int, float, bytes], Floats]] = field(default_factory=list, repr=False)

    @property
    def memory(self) -> Floats:
        """Memory (n,) at the start."""
        return self.gait.start.copy()

    @property
    def controls(self) -> Mapping[str, int]:
        """Position of the flag, and number of steps after which it stops."""
        return {"flag.x": FLAG, "flag.y": FLAG + 1, "steps": LIMIT}

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that the walk follows from."""
        limbs, course = self.gait.limbs, self.gait.course
        yield from (limbs.root, limbs.knee, limbs.foot, self.centres, self.gait.groups)
        yield np.array([course.walk, course.rotate, course.angle, self.period, self.gait.anatomy.height])
        yield np.array([*self.gait.tilt, self.gait.lift])
        yield from self.gait.ground.tables()

    def move(self, time: float, step: float, state: Floats, memory: Floats) -> None:  # noqa: ARG002
        """Continue by one step of the model (`cbsim.spec.mechanism.behaviour.Motion.move`)."""
        ticks = self.ticks(step)
        if memory[TICK] < 0.0 or memory[TICK] >= ticks:
            self.gait.plan(memory)
        memory[TICK] += 1.0
        state[:] = self._rows(memory, int(memory[TICK]) - 1, ticks, step)

    def ticks(self, step: float) -> int:
        """Return the number of steps of the model in one of the gait."""
        return max(1, round(self.period / step))

    def _rows(self, memory: Floats, tick: int, ticks: int, step: float) -> Floats:
        first = tick - tick % STRETCH
        key = float(memory[MODE]), first, step, memory[POSE:].tobytes()
        kept = self._kept[0] if self._kept else None
        if kept is None or kept[0] != key:
            count = min(STRETCH, ticks - first)
            kept = key, self.states(memory, (first + np.arange(count + 1)) / ticks, step)
            self._kept[:] = [kept]
        return np.asarray(kept[1][tick - first])

    def states(self, memory: Floats, shares: Floats, step: float) -> Floats:
        """States (n, bodies, 13) at shares (n + 1,) of a step; the first only says how the next one moves."""
        places, turned = self.poses(memory, shares)
        states = np.empty((len(shares) - 1, len(self.centres), 13))
        states[..., :3], states[..., 6:10] = places[1:], turned[1:]
        states[..., 3:6] = (places[1:] - places[:-1]) / step
        states[..., 10:] = rate_between(turned[:-1], turned[1:], step)
        return states

    def poses(self, memory: Floats, shares: Floats) -> tuple[Floats, Floats]:
        """Places (n, bodies, 3) of the centres of mass, and orientations (n, bodies, 4), at shares (n,) of a step."""
        limbs = self.gait.limbs
        moment = self.gait.at(memory, shares)
        turn, origin = moment.rotation, moment.place
        middle = np.array([0.0, 0.0, self.gait.anatomy.height])
        feet = times(moment.feet - origin[:, None], turn) + middle
        now, rest = limbs.posture(feet), limbs.rest
        legs = len(limbs.root)
        own = np.empty((len(shares), 1 + 2 * legs, 3, 3))
        own[:, 0] = np.eye(3)
        own[:, 1::2] = times(now.hip, np.swapaxes(rest.hip, 1, 2))
        own[:, 2::2] = times(now.shin, np.swapaxes(rest.shin, 1, 2))
        pivots = np.zeros((len(shares), 1 + 2 * legs, 3))
        pivots[:, 1::2], pivots[:, 2::2] = limbs.root, now.knee
        local = pivots + times(own, self._arms[:, :, None])[..., 0]
        places = times(local - middle, np.swapaxes(turn, 1, 2)) + origin[:, None]
        return places, quaternion_of(times(turn[:, None], own))

    @cached_property
    def _arms(self) -> Floats:
        """From the point that a part turns about to its centre of mass, at rest."""
        arms = self.centres.copy()
        arms[1::2] -= self.gait.limbs.root
        arms[2::2] -= self.gait.limbs.knee
        return arms

    @cached_property
    def first(self) -> Floats:
        """State (bodies, 13) at the start."""
        places, turned = self.poses(self.gait.start, np.zeros(1))
        state = np.zeros((len(self.centres), 13))
        state[:, :3], state[:, 6:10] = places[0], turned[0]
        return state
