"""Time steps of Shift models: bounds from the fastest rotation and the stiffest spring at the start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.elementary import square
from cbsim.geometry.linear import cholesky, eigvalsh, norm, solve, substitute, svd, times
from cbsim.models.shift.assembly import RANK, Assembled, mass_matrix
from cbsim.models.shift.behaviour import Driver
from cbsim.models.shift.build import Built
from cbsim.models.shift.fiala import FialaTyre
from cbsim.models.shift.laws import Laws
from cbsim.models.shift.network import GROUND
from cbsim.models.shift.restraints import FrameForce

__all__ = ["pace", "shares_of"]

TURN = 0.25  # [rad] that a body may turn in a step
SWING = 0.35  # [rad] of the fastest vibration in a step; steps are stable up to 2
DECAY = 0.4  # of the fastest decay by dampers that are taken from earlier velocities; steps are stable up to 1
MOST = 2_000  # parts of a step


def pace(assembled: Assembled, built: Built, laws: Mapping[int, Laws], drivers: Sequence[Driver], step: float) -> int:
    """Into how many parts a step [s] has to go."""
    chain = assembled.chain
    motion = chain.velocities(assembled.posture, assembled.poses, assembled.rates)
    turning = float(np.sqrt(square(motion[:, :3]).sum(axis=1)).max(initial=0.0))
    stiffness, damping = _strengths(assembled, list(built.bodies), laws, drivers)
    swing, decay = np.sqrt(_fastest(assembled, stiffness)), _fastest(assembled, damping)
    need = max(turning / TURN, swing / SWING, decay / DECAY) * step
    return min(MOST, max(1, math.ceil(float(need) - 1e-9)))


def shares_of(assembled: Assembled, laws: Mapping[int, Laws], step: float) -> dict[int, float]:
    """Find joints with dampers so strong that half of them on the velocity before the step would make it swing.

    With z, the damping times the step over what the coordinate moves of the mass, a step leaves
    (1 − (1 − s) z) / (1 + s z) of a velocity, s being the share on that after it: below zero for z > 2 and s = ½.
    """
    damped = {number: law.viscous for number, law in laws.items() if law.viscous}
    if not damped:
        return {}
    free = _free(assembled)
    if not free.shape[1]:
        return {}
    yielding = np.asarray(times(free, solve(times(times(free.T, mass_matrix(assembled)), free), free.T)))
    found = {}
    for number, damper in damped.items():
        at = assembled.chain.first[number]
        z = damper * step * float(yielding[at, at])
        if z > 2.0:
            found[number] = 1.0 - 1.0 / z
    return found


def _free(assembled: Assembled) -> Floats:
    """Motions that loops leave free (size, freedoms)."""
    chain = assembled.chain
    if not chain.tree.chords:
        return np.eye(chain.size)
    _, values, rows = svd(chain.slope(assembled.posture, assembled.poses))
    return np.asarray(rows[int((values > RANK * values.max(initial=0.0)).sum()) :].T)


def _fastest(assembled: Assembled, strength: Floats) -> float:
    """Largest eigenvalue of a stiffness or a damping over the mass, along motions that loops leave free."""
    if not strength.any():
        return 0.0
    mass, free = mass_matrix(assembled), _free(assembled)
    if not free.shape[1]:
        return 0.0
    half = cholesky(times(times(free.T, mass), free) + 1e-14 * np.trace(mass) * np.eye(free.shape[1]))
    scaled = substitute(half, substitute(half, times(times(free.T, strength), free)).T)
    return max(0.0, float(eigvalsh(0.5 * (scaled + scaled.T)).max()))


def _strengths(
    assembled: Assembled, bodies: Sequence[int], laws: Mapping[int, Laws], drivers: Sequence[Driver]
) -> tuple[Floats, Floats]:
    """Stiffness of all springs and tyres, and damping of all that the core does not do, by the coordinates."""
    chain = assembled.chain
    stiffness, damping = np.zeros((chain.size, chain.size)), np.zeros((chain.size, chain.size))
    for number, law in laws.items():
        at = chain.first[number]
        where, rate = float(assembled.posture.numbers[number]), float(assembled.rates[at])
        stiffness[at, at] += math.fsum(one.steepest(where) for one in law.springs)
        damping[at, at] += math.fsum(one.steepest(rate) for one in law.rest)
    motions = chain.screws(assembled.posture, assembled.poses)
    for driver in drivers:
        if isinstance(driver, FialaTyre):
            body = bodies[driver.wheel.body]
            speed = _speed(assembled, motions, body, assembled.poses[body].origin)
            along = times(speed, _down(assembled))
            stiffness += driver.numbers.vertical_stiffness * np.outer(along, along)
        elif isinstance(driver, FrameForce):
            ends = [GROUND if grip.body < 0 else bodies[grip.body] for grip in (driver.parent, driver.child)]
            along, length = _along(assembled, motions, ends, driver)
            into = damping if driver.rated else stiffness
            into += driver.law.steepest(0.0 if driver.rated else length) * np.outer(along, along)
    return stiffness, damping


def _speed(assembled: Assembled, motions: Floats, body: int, point: Floats) -> Floats:
    """Velocity (size, 3) of a point of a body, by the rates."""
    motion = motions * assembled.chain.on_way[body][:, None]
    return np.asarray(motion[:, 3:] + np.cross(motion[:, :3], point))


def _down(assembled: Assembled) -> Floats:
    gravity = np.array(assembled.network.model.gravity, float)
    size = float(norm(gravity))
    return gravity / size if size else np.array([0.0, 0.0, 1.0])


def _along(assembled: Assembled, motions: Floats, ends: Sequence[int], driver: FrameForce) -> tuple[Floats, float]:
    """Rate (size,) of the distance that a restraint is of, by the rates; and the distance."""
    points, speeds = [], []
    for end, frame in zip(ends, driver.frames, strict=True):
        points.append((assembled.poses[end] @ frame).origin)
        speeds.append(_speed(assembled, motions, end, points[-1]))
    apart = points[1] - points[0]
    length = float(norm(apart))
    way = apart / length if length > 1e-12 else np.zeros(3)
    if driver.along:
        way = (assembled.poses[ends[0]] @ driver.frames[0]).rotation[:, "xyz".index(driver.along)]
    return times(speeds[1] - speeds[0], way), length
