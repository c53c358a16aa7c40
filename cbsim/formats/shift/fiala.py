"""Fiala's tyre on level ground: slip forces up to friction, with a parabola of contact pressure.

E. Fiala, "Seitenkräfte am rollenden Luftreifen", VDI-Z 96 (1954); in the form, with the signs and the numbers' names,
of the property files of multibody programs: the longitudinal force by slip ratio S and slip angle α with friction
U = Umax − (Umax − Umin) √(S² + tan²α), each a force that grows to U Fz.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.formats.shift.behaviour import Floats, Grip, Moment

__all__ = ["FialaTyre", "TyreNumbers", "slip_forces"]

SLOW = 0.5  # [m/s] below which slip is taken against this speed, so that a standing wheel has forces that are finite


@dataclass(frozen=True, slots=True)
class TyreNumbers:
    """Numbers of a tyre; the defaults are those of a passenger car's.

    Attributes
    ----------
    unloaded_radius, width : float
        [m].
    vertical_stiffness, vertical_damping : float
        [N/m], [N s/m].
    rolling_resistance : float
        Lever arm of the normal force [m].
    cslip, calpha : float
        Longitudinal force by slip ratio [N], lateral force by slip angle [N/rad].
    umin, umax : float
        Coefficient of friction at full slip and at none.
    """

    unloaded_radius: float = 0.355
    width: float = 0.235
    vertical_stiffness: float = 2.1e5
    vertical_damping: float = 500.0
    rolling_resistance: float = 0.0
    cslip: float = 1.0e5
    calpha: float = 4.5e4
    umin: float = 0.9
    umax: float = 1.0


def slip_forces(numbers: TyreNumbers, load: float, slip: float, tangent: float) -> tuple[float, float, float]:
    """Longitudinal and lateral force [N], and how much the aligning torque turns the heading to where it moves [N m].

    Parameters
    ----------
    slip : float
        Slip ratio, above 0 where the tyre drives.
    tangent : float
        Of the slip angle, above 0 where it moves along its lateral axis; the force is against that.
    """
    whole = min(1.0, math.hypot(slip, tangent))
    grip = (numbers.umax - (numbers.umax - numbers.umin) * whole) * load
    if grip <= 0.0:
        return 0.0, 0.0, 0.0
    if abs(slip) <= grip / (2.0 * numbers.cslip):
        forward = numbers.cslip * slip
    else:
        forward = math.copysign(grip - grip * grip / (4.0 * abs(slip) * numbers.cslip), slip)
    if abs(tangent) >= 3.0 * grip / numbers.calpha:
        return forward, -math.copysign(grip, tangent), 0.0
    left = 1.0 - numbers.calpha * abs(tangent) / (3.0 * grip)
    aligning = math.copysign(grip * numbers.width * (1.0 - left) * left**3, tangent)
    return forward, -math.copysign(grip * (1.0 - left**3), tangent), aligning


class FialaTyre:
    """A tyre on a wheel that turns about the y axis of its body, on ground that is level.

    Notes
    -----
    Slip is stiff: at walking pace, a wheel's slip dies away in a fraction of a millisecond. So its forces are taken at
    the slip that they leave at the end of the step, as far as the wheel's own inertia goes: implicit in what is stiff.

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
        self.wheel, self.numbers, self.mass, self.spin, self.up, self.height = wheel, numbers, mass, spin, up, height

    @property
    def memory(self) -> Floats:
        """It keeps nothing."""
        return np.zeros(0)

    def act(self, now: Moment, memory: Floats, inputs: Floats, forces: Floats) -> None:  # noqa: ARG002 (of a Driver)
        """Add the ground's force at the contact point, and torques."""
        row, up = self.wheel.body, self.up
        rotation = now.rotation[row]
        axle = rotation @ self.wheel.rotation[:, 1]
        arm = rotation @ self.wheel.point
        lean = float(axle @ up)
        across = axle - lean * up
        width = float(np.sqrt(across @ across))
        if width < 1e-3:
            return  # it lies on its side
        across /= width
        ahead = np.array([up[1] * across[2] - up[2] * across[1], up[2] * across[0] - up[0] * across[2],
                          up[0] * across[1] - up[1] * across[0]])  # fmt: skip
        radial = (up - lean * axle) / width
        center = now.x[row] + arm
        pressed = self.numbers.unloaded_radius * width - (float(center @ up) - self.height)
        if pressed <= 0.0:
            return
        radius = self.numbers.unloaded_radius - pressed / width
        speed = now.v[row] + np.cross(now.w[row], arm)
        load = self._load(pressed, -float(speed @ up), now.step)
        if load <= 0.0:
            return
        spin = float(now.w[row] @ axle)
        forward, lateral, aligning = self._slip(
            load, float(speed @ ahead), float(speed @ across), spin * float(np.cross(axle, -radius * radial) @ ahead),
            radius, now.step,
        )  # fmt: skip
        force = load * up + forward * ahead + lateral * across
        reach = arm - radius * radial
        forces[row, :3] += force
        forces[row, 3:] += np.cross(reach, force) - aligning * up
        if spin and self.numbers.rolling_resistance:
            forces[row, 3:] -= math.copysign(load * self.numbers.rolling_resistance, spin) * axle

    def _load(self, pressed: float, closing: float, step: float) -> float:
        """Force of the ground, damped no more than the wheel's mass can take in a step."""
        damping = min(self.numbers.vertical_damping, self.mass / step)
        return max(0.0, self.numbers.vertical_stiffness * pressed + damping * closing)

    def _slip(
        self, load: float, ahead: float, across: float, rolling: float, radius: float, step: float
    ) -> tuple[float, float, float]:
        """Find forces at the slip that they leave: by bisection, since each force falls where its slip is taken away.

        ``rolling`` is the speed of the contact point by the wheel's turning, −``ahead`` where it rolls.
        """
        pace = max(abs(ahead), SLOW)
        give_along = step * (1.0 / self.mass + radius * radius / self.spin)
        give_across = step / self.mass
        sliding, drift = ahead + rolling, across
        along = _settle(lambda f: slip_forces(self.numbers, load, -(sliding + give_along * f) / pace, drift / pace)[0],
                        -math.copysign(self.numbers.umax * load, sliding))  # fmt: skip
        slip = -(sliding + give_along * along) / pace
        side = _settle(lambda f: slip_forces(self.numbers, load, slip, (drift + give_across * f) / pace)[1],
                       -math.copysign(self.numbers.umax * load, drift))  # fmt: skip
        aligning = slip_forces(self.numbers, load, slip, (drift + give_across * side) / pace)[2]
        return along, side, aligning

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """Its numbers and where it is."""
        numbers = self.numbers
        yield np.array([
            self.wheel.body, self.mass, self.spin, self.height, numbers.unloaded_radius, numbers.width,
            numbers.vertical_stiffness, numbers.vertical_damping, numbers.rolling_resistance, numbers.cslip,
            numbers.calpha, numbers.umin, numbers.umax,
        ])  # fmt: skip
        yield from (self.wheel.rotation, self.wheel.point, self.up)


def _settle(force_left: object, most: float) -> float:
    """Solve f = F(f) for a force between 0 and ``most``, where F takes it away."""
    assert callable(force_left)
    low, high = 0.0, most
    for _ in range(30):
        middle = 0.5 * (low + high)
        if (float(force_left(middle)) - middle) * math.copysign(1.0, most) > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
