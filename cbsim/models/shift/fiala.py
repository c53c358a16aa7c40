"""Wheels of Shift models on level ground, on Fiala's tyre.

Forces by slip are those of `cbsim.vehicle.tyre`, with the numbers, names and signs of the property files of multibody
programs; here they meet a wheel and a step (docs/theory/drives_and_tyres.md §9).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry.linear import times
from cbsim.models.shift.behaviour import Grip, Moment, crossed, dot
from cbsim.spec.shift.tyres import TyreNumbers
from cbsim.vehicle.tyre.kernels.forces import aligning_torque, friction_force, lateral_force, longitudinal_force

__all__ = ["FialaTyre", "forward_force", "side_force"]

EXACT = 1e-7  # of the most force
SLOW = 0.5  # [m/s] least speed in slips, so that forces at rest are finite


def forward_force(numbers: TyreNumbers, load: float, slip: float, tangent: float) -> float:
    """Longitudinal force [N].

    Parameters
    ----------
    load : float
        [N].
    slip : float
        Slip ratio, above 0 where the tyre drives.
    tangent : float
        Of the slip angle.
    """
    capacity = friction_force(load, slip, tangent, numbers.umin, numbers.umax)
    return longitudinal_force(numbers.cslip, capacity, slip)


def side_force(numbers: TyreNumbers, load: float, slip: float, tangent: float) -> tuple[float, float]:
    """Lateral force [N], against the lateral motion, and aligning torque [N m].

    Parameters
    ----------
    load, slip
        As `forward_force`.
    tangent : float
        Of the slip angle, above 0 where it moves along its lateral axis.
    """
    capacity = friction_force(load, slip, tangent, numbers.umin, numbers.umax)
    aligning = aligning_torque(numbers.calpha, capacity, tangent, numbers.width)
    return lateral_force(numbers.calpha, capacity, tangent), aligning


class FialaTyre:
    """A tyre on a wheel that turns about the y axis of its body, on ground that is level.

    Notes
    -----
    Slip is stiff: at walking pace, a wheel's slip dies away in a fraction of a millisecond. So its forces are taken at
    the slip that they leave in the middle of the step: that before it, plus half of the change in the step. The tyre's
    share of the change is bounded by the wheel's own inertia; all other forces are taken to act as in the step before.
    This is of second order, and exact for steady slip. What carries the wheel yields less than the wheel alone, so that
    no step is too long.

    Parameters
    ----------
    wheel : Grip
        The body's own frame.
    numbers : TyreNumbers
    mass, spin : float
        Of the wheel [kg], and its moment of inertia about its axis [kg m²].
    up : ndarray, shape (3,)
        Out of the ground, which goes through ``height`` [m] along it.
    """

    def __init__(
        self, wheel: Grip, numbers: TyreNumbers, mass: float, spin: float, up: Floats, height: float = 0.0
    ) -> None:
        self.wheel, self.numbers, self.mass, self.spin, self.height = wheel, numbers, mass, spin, height
        self.up: list[float] = np.asarray(up, float).tolist()
        self.axle = wheel.rotation[:, 1]

    @property
    def memory(self) -> Floats:
        """Whether it touched in the last step, its longitudinal and lateral sliding velocities, and its forces."""
        return np.zeros(5)

    def act(self, now: Moment, memory: Floats, inputs: Floats, forces: Floats) -> None:  # noqa: ARG002 (of a Driver)
        """Add the ground's force at the contact point, and torques; plain numbers, since small arrays are slow."""
        before, memory[:] = memory.tolist(), 0.0
        row, up = self.wheel.body, self.up
        rotation = now.rotation[row]
        axle, arm = times(rotation, self.axle).tolist(), times(rotation, self.wheel.point).tolist()
        lean = dot(axle, up)
        width = math.sqrt(max(0.0, 1.0 - lean * lean))
        if width < 1e-3:
            return  # it lies on its side
        across = [(a - lean * u) / width for a, u in zip(axle, up, strict=True)]
        ahead = crossed(up, across)
        radial = [(u - lean * a) / width for a, u in zip(axle, up, strict=True)]
        height = dot(now.x[row].tolist(), up) + dot(arm, up) - self.height
        pressed = self.numbers.unloaded_radius * width - height
        radius = self.numbers.unloaded_radius - pressed / width
        if pressed <= 0.0 or radius <= 0.0:
            return  # above the ground, or its centre is below it, where a wheel is on none
        turning = now.w[row].tolist()
        speed = [v + c for v, c in zip(now.v[row].tolist(), crossed(turning, arm), strict=True)]
        load = self._load(pressed, -dot(speed, up), now.step)
        if load <= 0.0:
            return
        spin = dot(turning, axle)
        rolling = -spin * radius * dot(crossed(axle, radial), ahead)
        along, drift = dot(speed, ahead), dot(speed, across)
        gives = now.step * (1.0 / self.mass + radius * radius / self.spin), now.step / self.mass
        sliding, drifting = along + rolling, drift
        if before[0]:
            sliding += 0.5 * (sliding - before[1] - gives[0] * before[3])
            drifting += 0.5 * (drift - before[2] - gives[1] * before[4])
        pace = max(abs(along), SLOW)
        forward, lateral, aligning = self._slip(load, (sliding, drifting), pace, (0.5 * gives[0], 0.5 * gives[1]))
        memory[:] = 1.0, along + rolling, drift, forward, lateral
        resisting = math.copysign(load * self.numbers.rolling_resistance, spin) if spin else 0.0
        force = [load * u + forward * a + lateral * c for u, a, c in zip(up, ahead, across, strict=True)]
        torque = crossed([a - radius * r for a, r in zip(arm, radial, strict=True)], force)
        forces[row, :3] += force
        forces[row, 3:] += [t - aligning * u - resisting * a for t, u, a in zip(torque, up, axle, strict=True)]

    def _load(self, pressed: float, closing: float, step: float) -> float:
        """Force of the ground, damped no more than the wheel's mass can take in a step."""
        damping = min(self.numbers.vertical_damping, self.mass / step)
        return max(0.0, self.numbers.vertical_stiffness * pressed + damping * closing)

    def _slip(
        self, load: float, slides: tuple[float, float], pace: float, gives: tuple[float, float]
    ) -> tuple[float, float, float]:
        """Find the forces at the slip that they leave, first longitudinal, then lateral.

        Parameters
        ----------
        load : float
            [N].
        slides : (float, float)
            Sliding velocity of the contact point in the middle of the step without them [m/s].
        pace : float
            Reference velocity of slips [m/s].
        gives : (float, float)
            Change of the sliding velocity per force [m/(N s)].
        """
        numbers, (sliding, drift), (give_along, give_across) = self.numbers, slides, gives
        most = numbers.umax * load

        def along(force: float) -> float:
            return forward_force(numbers, load, -(sliding + give_along * force) / pace, drift / pace)

        forward = settled(along, -math.copysign(most, sliding), numbers.cslip * give_along / pace)
        slip = -(sliding + give_along * forward) / pace

        def aside(force: float) -> float:
            return side_force(numbers, load, slip, (drift + give_across * force) / pace)[0]

        lateral = settled(aside, -math.copysign(most, drift), numbers.calpha * give_across / pace)
        return forward, lateral, side_force(numbers, load, slip, (drift + give_across * lateral) / pace)[1]

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that it depends on."""
        numbers = self.numbers
        yield np.array([
            self.wheel.body, self.mass, self.spin, self.height, numbers.unloaded_radius, numbers.width,
            numbers.vertical_stiffness, numbers.vertical_damping, numbers.rolling_resistance, numbers.cslip,
            numbers.calpha, numbers.umin, numbers.umax,
        ])  # fmt: skip
        yield from (self.wheel.rotation, self.wheel.point, np.array(self.up))


def settled(force_left: Callable[[float], float], most: float, stiffness: float) -> float:
    """Solve f = F(f) for a force between 0 and ``most``, where F falls with f, by false position (Illinois).

    Parameters
    ----------
    stiffness : float
        −F′ where F is linear, for the first guess.
    """
    low, high = 0.0, most
    below, above = force_left(0.0), force_left(most) - most
    guess, side = below / (1.0 + stiffness), 0
    for _ in range(40):
        left = force_left(guess) - guess
        if abs(left) <= EXACT * abs(most):
            return guess
        if (left > 0.0) == (most > 0.0):
            above, side = (0.5 * above, 1) if side > 0 else (above, 1)
            low, below = guess, left
        else:
            below, side = (0.5 * below, -1) if side < 0 else (below, -1)
            high, above = guess, left
        guess = low + (high - low) * below / (below - above) if below != above else 0.5 * (low + high)
    return guess
