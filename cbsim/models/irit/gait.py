"""Gait of a walker, step by step: swinging feet, footholds, and motion of the body.

The state of a walk is one vector of numbers (`Layout`), so that it can be stopped and resumed at any time. A step of
the gait is planned when it begins (`Gait.plan`) and evaluated at any fraction of it (`Gait.at`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import times
from cbsim.models.irit.anatomy import Anatomy
from cbsim.models.irit.ground import Ground
from cbsim.models.irit.limbs import Limbs
from cbsim.models.irit.poses import rotation_of
from cbsim.models.irit.trajectory import Course, Stride

__all__ = [
    "FLAG",
    "LANDING",
    "LIMIT",
    "MODE",
    "POSE",
    "READY",
    "RESTING",
    "SETTLING",
    "TICK",
    "WALKING",
    "Gait",
    "Layout",
    "Moment",
]

LANDING, READY, WALKING, SETTLING, RESTING = 0.0, 1.0, 2.0, 3.0, 4.0
"""Phases: feet go down to the ground; half a swing of one group; steps; feet come to rest; nothing moves."""

MODE, TICK, STEPS, GROUP, FLAG, LIMIT, POSE = 0, 1, 2, 3, 4, 6, 7
"""Columns: phase, ticks of this step, steps made, which group swings, the flag (2), most steps, poses and feet."""

WIDTH = 6  # numbers of a pose: x, y, z of the body's origin, heading, and x, y of its up vector
MOST = 1e15  # default number of steps after which it stops
LIFT = 0.25


class Layout(NamedTuple):
    """Layout of the memory: poses (6,) and feet (legs, 3) at the start and the end of a step."""

    poses: slice
    feet: slice
    size: int

    @classmethod
    def of(cls, legs: int) -> Layout:
        """Layout for a number of legs."""
        poses, feet = 2 * WIDTH, 6 * legs
        return cls(slice(POSE, POSE + poses), slice(POSE + poses, POSE + poses + feet), POSE + poses + feet)


class Moment(NamedTuple):
    """Poses of a walker at some times.

    Attributes
    ----------
    place : ndarray (n, 3)
        Of the body's origin: the point that is above the file's [m].
    rotation : ndarray (n, 3, 3)
        Body to world.
    feet : ndarray (n, legs, 3)
        In the world [m].
    """

    place: Floats
    rotation: Floats
    feet: Floats


@dataclass(frozen=True, eq=False)
class Gait:
    """Gait of a walker.

    Attributes
    ----------
    anatomy : Anatomy
    ground : Ground
    kind : str
        ``cross`` or ``parallel``.
    tilt : (bool, bool)
        Whether the body rolls, and pitches, with the ground.
    flag : (float, float)
        Initial target [m]; nan for straight on.
    lift : float
        Lift of a swinging foot, as a share of the body's height.
    """

    anatomy: Anatomy
    ground: Ground
    kind: str
    tilt: tuple[bool, bool]
    flag: tuple[float, float]
    lift: float = LIFT

    @property
    def limbs(self) -> Limbs:
        """Legs of the walker."""
        return self.anatomy.limbs

    @cached_property
    def layout(self) -> Layout:
        """Layout of the memory."""
        return Layout.of(len(self.limbs.root))

    @cached_property
    def course(self) -> Course:
        """Course of the walker."""
        made = self.anatomy
        return Course(made.stride(turning=False), made.stride(turning=True), float(np.radians(made.walker.angle)))

    @cached_property
    def groups(self) -> NDArray[np.bool_]:
        """Which legs (2, legs) swing in even steps, and which in odd ones."""
        pairs = self.anatomy.walker.pairs
        odd = np.arange(pairs) % 2 == 0
        first = np.concatenate([odd, ~odd if self.kind == "cross" else odd])
        return np.stack([first, ~first])

    @cached_property
    def start(self) -> Floats:
        """Initial memory (n,): the pose of the file, above the ground."""
        memory = np.zeros(self.layout.size)
        memory[[MODE, TICK, LIMIT]] = LANDING, -1.0, MOST
        memory[FLAG : FLAG + 2] = self.flag
        pose = self._pose(0.0, 0.0, 0.0)
        feet = self._world(pose, self.limbs.foot)
        self._write(memory, pose, pose, feet, feet)
        return memory

    # --- planning -----------------------------------------------------------------------------------------------------
    def plan(self, memory: Floats) -> None:
        """Plan the next step in place: it begins where the last one ended."""
        pose, feet = self._ends(memory)
        mode = memory[MODE]
        if memory[TICK] < 0.0:
            end = feet.copy()
            end[:, 2] = self.ground.height(feet[:, 0], feet[:, 1])
            if np.abs(end - feet).max() > 1e-9 * self.anatomy.height:
                self._settle(memory, LANDING, pose, pose, feet, end)
                return
            feet, mode = end, LANDING
        if mode in (LANDING, RESTING):
            self._begin(memory, pose, feet)
        else:
            self._go_on(memory, pose, feet)

    def _begin(self, memory: Floats, pose: Floats, feet: Floats) -> None:
        """Start from rest if there is a target: the second group takes half a stride while the body waits."""
        stride = self._stride(memory, pose)
        if stride is None:
            self._settle(memory, RESTING, pose, pose, feet, feet)
            return
        memory[GROUP] = 1.0
        self._settle(memory, READY, pose, pose, feet, self._landed(memory, pose, feet, stride))

    def _go_on(self, memory: Floats, pose: Floats, feet: Floats) -> None:
        memory[GROUP] = 1.0 - memory[GROUP]
        stride = self._stride(memory, pose) if memory[MODE] != SETTLING else None
        if stride is not None:
            after = self._pose(*self.course.after(pose[0], pose[1], pose[3], stride))
            memory[STEPS] += 1.0
            ahead = self._stride(memory, after) or Stride(0.0, 0.0)
            end = self._landed(memory, after, feet, ahead)
            after[2] = self._height(after, end)
            self._settle(memory, WALKING, pose, after, feet, end)
            return
        end = self._landed(memory, pose, feet, Stride(0.0, 0.0))
        if np.abs(end - feet).max() > 1e-9 * self.anatomy.height:
            self._settle(memory, SETTLING, pose, pose, feet, end)
            return
        memory[GROUP] = 1.0 - memory[GROUP]
        end = self._landed(memory, pose, feet, Stride(0.0, 0.0))
        done = np.abs(end - feet).max() <= 1e-9 * self.anatomy.height
        self._settle(memory, RESTING if done else SETTLING, pose, pose, feet, feet if done else end)

    def _stride(self, memory: Floats, pose: Floats) -> Stride | None:
        if memory[STEPS] >= memory[LIMIT]:
            return None
        x, y, heading = float(pose[0]), float(pose[1]), float(pose[3])
        return self.course.stride(x, y, heading, (float(memory[FLAG]), float(memory[FLAG + 1])))

    def _landed(self, memory: Floats, pose: Floats, feet: Floats, stride: Stride) -> Floats:
        """Return feet after a swing: at rest below the body as it will be in the middle of their time on the ground."""
        swinging = self.groups[int(memory[GROUP])]
        middle = self._pose(*self.course.after(pose[0], pose[1], pose[3], stride, 0.5))
        end = feet.copy()
        end[swinging] = self._world(middle, self.limbs.foot * (1.0, 1.0, 0.0))[swinging]
        end[swinging, 2] = self.ground.height(end[swinging, 0], end[swinging, 1])
        return end

    def anchor(self, memory: Floats, place: tuple[float, float, float], feet: Floats) -> None:
        """Continue planning from the actual position, heading and feet (legs, 3) of a walker."""
        pose = self._pose(*place)
        pose[2] = self._height(pose, feet)
        self._write(memory, pose, pose, feet, feet)

    # --- poses --------------------------------------------------------------------------------------------------------
    def _pose(self, x: float, y: float, heading: float) -> Floats:
        """Pose (6,) above the ground; what is up is normal to the plane through the ground below the feet at rest."""
        foot = self.limbs.foot
        c, s = math.cos(heading), math.sin(heading)
        east, north = c * foot[:, 0] - s * foot[:, 1], s * foot[:, 0] + c * foot[:, 1]
        heights = self.ground.height(x + east, y + north)
        base = float(self.ground.height(np.array([x]), np.array([y]))[0])
        slope = _slope(east, north, heights)
        across, along = c * slope[0] + s * slope[1], -s * slope[0] + c * slope[1]
        across, along = across * self.tilt[0], along * self.tilt[1]
        up = np.array([-(c * across - s * along), -(s * across + c * along), 1.0])
        up /= np.sqrt(times(up, up))
        return np.array([x, y, base, heading, up[0], up[1]])

    def _height(self, pose: Floats, feet: Floats) -> float:
        """Height of the body's origin above which all legs reach their feet, nearest to that of the ground below it."""
        rotation = rotation_of(pose[None, 3], pose[None, 4:6])[0]
        place = np.array([pose[0], pose[1], pose[2] + self.anatomy.height])
        roots = times(self.limbs.root - self._middle, rotation.T) + place
        low, high = self.limbs.reach
        flat = math.square((feet - roots)[:, :2]).sum(axis=1)
        most = np.sqrt(np.maximum(high * high - flat, 0.0)) + feet[:, 2] - roots[:, 2]
        least = np.sqrt(np.maximum(low * low - flat, 0.0)) + feet[:, 2] - roots[:, 2]
        ceiling, floor = float(most.min()), float(least.max())
        shift = 0.5 * (floor + ceiling) if floor > ceiling else min(max(0.0, floor), ceiling)
        return float(pose[2] + (shift if abs(shift) > 1e-9 * self.anatomy.height else 0.0))

    @cached_property
    def _middle(self) -> Floats:
        """Point (3,) of the body that keeps its height above the ground, and about which it tilts."""
        return np.array([0.0, 0.0, self.anatomy.height])

    def _world(self, pose: Floats, points: Floats) -> Floats:
        rotation = rotation_of(pose[None, 3], pose[None, 4:6])[0]
        return np.asarray(times(points - self._middle, rotation.T) + pose[:3] + self._middle)

    # --- memory -------------------------------------------------------------------------------------------------------
    def _ends(self, memory: Floats) -> tuple[Floats, Floats]:
        poses, feet = memory[self.layout.poses], memory[self.layout.feet]
        return poses[WIDTH:].copy(), feet[feet.size // 2 :].reshape(-1, 3).copy()

    def _settle(self, memory: Floats, mode: float, pose: Floats, after: Floats, feet: Floats, end: Floats) -> None:
        memory[MODE], memory[TICK] = mode, 0.0
        self._write(memory, pose, after, feet, end)

    def _write(self, memory: Floats, pose: Floats, after: Floats, feet: Floats, end: Floats) -> None:
        memory[self.layout.poses] = np.concatenate([pose, after])
        memory[self.layout.feet] = np.concatenate([feet.ravel(), end.ravel()])

    def at(self, memory: Floats, shares: Floats) -> Moment:
        """Evaluate a step at fractions (n,) of it, from 0 to 1."""
        start, end = memory[self.layout.poses].reshape(2, WIDTH)
        feet, landed = memory[self.layout.feet].reshape(2, -1, 3)
        s = shares[:, None]
        poses = start + (end - start) * s
        place = poses[:, :3] + self._middle
        rotation = rotation_of(poses[:, 3], poses[:, 4:6])
        eased = s - math.sin(2.0 * np.pi * s) / (2.0 * np.pi)
        arc = self.lift * self.anatomy.height * math.square(math.sin(np.pi * s)) if memory[MODE] != LANDING else 0.0 * s
        paths = np.broadcast_to(feet, (len(shares), *feet.shape)).copy()
        moving = (landed != feet).any(axis=1)
        paths[:, moving] += eased[:, :, None] * (landed - feet)[moving]
        paths[:, moving, 2] += arc
        at_end = shares >= 1.0
        paths[at_end] = landed  # exact: a standing foot is where it landed
        return Moment(place, rotation, paths)


def _slope(x: Floats, y: Floats, z: Floats) -> tuple[float, float]:
    """Slope of the plane nearest to points (n,) by least squares; of those in a line along it, of one place 0."""
    x, y, z = x - x.mean(), y - y.mean(), z - z.mean()
    xx, xy, yy, xz, yz = (float(times(*pair)) for pair in ((x, x), (x, y), (y, y), (x, z), (y, z)))
    total, area = xx + yy, xx * yy - xy * xy
    if area > 1e-12 * total * total:
        return (yy * xz - xy * yz) / area, (xx * yz - xy * xz) / area
    return (xz / total, yz / total) if total > 0.0 else (0.0, 0.0)
