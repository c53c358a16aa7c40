"""PID controllers of a Shift model: their measured quantities and efforts on joints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import times
from cbsim.models.shift.behaviour import Grip, JointForces, Moment

__all__ = ["Pid", "Watch"]


class Watch(NamedTuple):
    """Measured quantity of a controller.

    Attributes
    ----------
    joint : JointForces or None
        One joint's coordinate.
    frame : Grip or None
        A frame.
    dof : int
        0 to 2 along, 3 to 5 about x, y, z.
    local : bool
        Of the frame's own axes, not of the ground's.
    rated : bool
        A velocity.
    turn : ndarray, shape (3, 3)
        From the file's axes to the world's.
    """

    joint: JointForces | None
    frame: Grip | None
    dof: int
    local: bool
    rated: bool
    turn: Floats


class Pid:
    """A controller: u = p e + i ∫e dt + d ė, e = target − what it watches, added to a joint's force.

    The memory has the integral, the error a step before, whether there was one, and a joint's coordinate.
    """

    def __init__(self, gains: tuple[float, float, float], target: float, watch: Watch, place: int) -> None:
        self.gains, self.target, self.watch, self.place = gains, target, watch, place

    @property
    def memory(self) -> Floats:
        """Initial memory: no integral, no previous error, the joint's start coordinate."""
        start = [] if self.watch.joint is None else [self.watch.joint.lines[0].start]
        return np.array([0.0, 0.0, 0.0, *start])

    def _value(self, now: Moment, memory: Floats) -> float:
        watch = self.watch
        if watch.joint is not None:
            here = watch.joint.coordinates(now.x, now.rotation)
            if watch.rated:
                change = float((here - watch.joint.coordinates(now.x_before, now.rotation_before))[0])
                whole = 2.0 * np.pi * round(change / (2.0 * np.pi)) if watch.joint.turning[0] else 0.0
                return (change - whole) / now.step
            turns = round((memory[3] - float(here[0])) / (2.0 * np.pi)) if watch.joint.turning[0] else 0
            memory[3] = float(here[0]) + 2.0 * np.pi * turns
            return float(memory[3])
        assert watch.frame is not None
        return self._of_frame(now, watch.frame)

    def _of_frame(self, now: Moment, grip: Grip) -> float:
        watch = self.watch
        base = times(now.rotation[grip.body], grip.rotation)
        axes = base if watch.local else watch.turn
        arm = times(now.rotation[grip.body], grip.point)
        if watch.rated:
            turning = now.w[grip.body]
            vector = turning if watch.dof >= 3 else now.v[grip.body] + np.cross(turning, arm)
            return float(times(axes[:, watch.dof % 3], vector))
        if watch.dof < 3:
            return float(times(watch.turn[:, watch.dof], now.x[grip.body] + arm))
        rotation = times(watch.turn.T, base)
        row, column = ((2, 1), (0, 2), (1, 0))[watch.dof - 3]
        return float(math.atan2(rotation[row, column], 0.5 * (np.trace(rotation) - 1.0)))

    def act(self, now: Moment, memory: Floats, inputs: Floats, forces: Floats) -> None:  # noqa: ARG002 (of a Driver)
        """Add to the joint's input."""
        error = self.target - self._value(now, memory)
        before = float(memory[1]) if memory[2] else error
        memory[0] += 0.5 * now.step * (error + before)
        memory[1], memory[2] = error, 1.0
        p, i, d = self.gains
        inputs[self.place] += p * error + i * memory[0] + d * (error - before) / now.step

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that it depends on."""
        yield np.array([*self.gains, self.target, self.place, self.watch.dof, self.watch.local, self.watch.rated])
        if self.watch.joint is not None:
            yield from self.watch.joint.tables()
        if self.watch.frame is not None:
            yield from (np.array([self.watch.frame.body]), self.watch.frame.rotation, self.watch.frame.point)
