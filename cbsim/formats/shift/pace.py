"""How short steps have to be for a Shift model: for its fastest turning and its stiffest spring at the start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from cbsim.formats.shift.assembly import RANK, Assembled, mass_matrix
from cbsim.formats.shift.behaviour import Driver
from cbsim.formats.shift.build import Built
from cbsim.formats.shift.fiala import FialaTyre
from cbsim.formats.shift.kinematics import Array
from cbsim.formats.shift.laws import Laws

__all__ = ["fastest", "pace"]

TURN = 0.25  # [rad] that a body may turn in a step
SWING = 0.35  # [rad] of the fastest vibration in a step; steps are stable up to 2
MOST = 10_000  # parts of a step


def pace(assembled: Assembled, built: Built, laws: Mapping[int, Laws], drivers: Sequence[Driver], step: float) -> int:
    """Into how many parts a step [s] has to go."""
    chain = assembled.chain
    motion = chain.velocities(assembled.posture, assembled.poses, assembled.rates)
    turning = float(np.sqrt((motion[:, :3] ** 2).sum(axis=1)).max(initial=0.0))
    need = max(turning / TURN, fastest(assembled, built, laws, drivers) / SWING) * step
    return min(MOST, max(1, math.ceil(need - 1e-9)))


def fastest(assembled: Assembled, built: Built, laws: Mapping[int, Laws], drivers: Sequence[Driver]) -> float:
    """Fastest vibration [rad/s] of springs along joints and of tyres, from masses and stiffnesses at the start."""
    chain = assembled.chain
    stiffness = np.zeros((chain.size, chain.size))
    for number, law in laws.items():
        at = chain.first[number]
        stiffness[at, at] += sum(one.steepest(float(assembled.posture.numbers[number])) for one in law.springs)
    for driver in drivers:
        if isinstance(driver, FialaTyre):
            stiffness += _tyre(assembled, list(built.bodies)[driver.wheel.body], driver)
    if not stiffness.any():
        return 0.0
    mass = mass_matrix(assembled)
    free: Array = np.eye(chain.size)
    if chain.tree.chords:
        _, values, rows = np.linalg.svd(chain.slope(assembled.posture, assembled.poses))
        free = rows[int((values > RANK * values.max(initial=0.0)).sum()) :].T
    if not free.shape[1]:
        return 0.0
    half = np.linalg.cholesky(free.T @ mass @ free + 1e-14 * np.trace(mass) * np.eye(free.shape[1]))
    scaled = np.linalg.solve(half, np.linalg.solve(half, free.T @ stiffness @ free).T)
    return float(np.sqrt(max(0.0, float(np.linalg.eigvalsh(0.5 * (scaled + scaled.T)).max()))))


def _tyre(assembled: Assembled, body: int, tyre: FialaTyre) -> Array:
    """Stiffness of the ground under a wheel, by the coordinates."""
    chain = assembled.chain
    motion = chain.screws(assembled.posture, assembled.poses) * chain.on_way[body][:, None]
    speed = motion[:, 3:] + np.cross(motion[:, :3], assembled.poses[body].origin)
    gravity = np.array(assembled.network.model.gravity, float)
    size = float(np.linalg.norm(gravity))
    along = speed @ (gravity / size if size else np.array([0.0, 0.0, 1.0]))
    return np.asarray(tyre.numbers.vertical_stiffness * np.outer(along, along))
