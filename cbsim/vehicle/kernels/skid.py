"""Drive `skid`: two or three axles whose wheels scrub over the ground, steered by the speeds of the two sides.

The wheels of a side turn together. Their speed follows throttle · lever · top speed at the largest acceleration and
deceleration, and yields where the tyres ask for more than the drive force. A tyre's force points against its sliding,
on the brush law of `tyre` with the slip over the wheel's own speed. The three velocities of the body are found
implicitly from the secants k of the tyres, (M + dt Σ k J'J) v = M v₀ + dt Σ k J' b with b the wheels' speeds; it takes
energy whatever the substep unless the wheels give some.

In a steady turn on equal k, with n axles at x_i and the track T, the yaw rate is
(b_right − b_left) / (T + 4 Σ x_i² / (n T)): scrubbing makes a long vehicle turn slower than a short one.
"""

from __future__ import annotations

import math

from cbsim.jit import kernel
from cbsim.vehicle.kernels.actuators import slew, slew_levers
from cbsim.vehicle.kernels.columns import (
    AIR_DENSITY,
    AXLES,
    CG_HEIGHT,
    DRAG_AREA,
    DRIVE_FORCE,
    FRICTION,
    FRONT_STIFFNESS,
    GRAVITY,
    MASS,
    MAX_ACCELERATION,
    MAX_DECELERATION,
    REAR_STIFFNESS,
    TRACK,
    WHEEL_RADIUS,
    WHEELBASE,
    YAW_INERTIA,
)
from cbsim.vehicle.kernels.tyre import compliance, turned

__all__ = ["step_skid"]

SLOW = 0.05  # [m/s] slowest rolling that a slip is taken over; at rest the tyres hold by friction alone


@kernel
def govern(belt, wanted, ground, parameters, dt):
    """Speed [m/s] of a side's wheels after dt; one that slows down never pushes the vehicle on."""
    slows = (wanted - belt) * belt < 0.0
    rate = parameters[MAX_DECELERATION] if slows else parameters[MAX_ACCELERATION]
    belt = slew(belt, wanted, rate * dt)
    if slows and belt > 0.0:
        return min(belt, max(ground, wanted, 0.0))
    if slows and belt < 0.0:
        return max(belt, min(ground, wanted, 0.0))
    return belt


@kernel
def grip(belt, u, w, r, side, acceleration, parameters):
    """Sum k, k x and k x² over the axles of one side (−1 left, +1 right), x [m] ahead of the middle."""
    axles = int(parameters[AXLES])
    half, mass = 0.5 * parameters[WHEELBASE], parameters[MASS]
    lean = mass * acceleration * parameters[CG_HEIGHT] / (4.0 * half)  # of the first and last axle's wheels
    slip = belt - u - side * 0.5 * parameters[TRACK] * r
    rolling = max(abs(belt), SLOW)
    k0, k1, k2 = 0.0, 0.0, 0.0
    for axle in range(axles):
        place = 2.0 * axle / (axles - 1) - 1.0
        x = place * half
        load = max(0.5 * mass * GRAVITY / axles - place * lean, 1e-3 * mass)
        sliding = math.hypot(slip, w + x * r)
        stiffness = 0.5 * ((1.0 + place) * parameters[FRONT_STIFFNESS] + (1.0 - place) * parameters[REAR_STIFFNESS])
        k = 1.0 / compliance(stiffness * load, parameters[FRICTION] * load, rolling, sliding)
        k0 += k
        k1 += k * x
        k2 += k * x * x
    return k0, k1, k2


@kernel
def yielding(belt, ground, k, force):
    """Speed of a side's wheels where the drive can push with `force` [N] at most."""
    slip = belt - ground
    if slip * belt > 0.0 and k * abs(slip) > force:
        return ground + math.copysign(force / k, slip)
    return belt


@kernel
def step_skid(planar, wheel, actuator, command, parameters, dt):
    """Carry a vehicle with skid wheels through a substep; see `drives.step_vehicle`."""
    want_left, want_right = slew_levers(actuator, command, parameters, dt)
    mass, inertia = parameters[MASS], parameters[YAW_INERTIA]
    half, radius = 0.5 * parameters[TRACK], parameters[WHEEL_RADIUS]

    # axes turn with the body; the velocity stays where it is
    turn = planar[5] * dt
    was_u, was_w = turned(turn, planar[3], planar[4])
    r = planar[5]
    drag = 1.0 / (1.0 + 0.5 * AIR_DENSITY * parameters[DRAG_AREA] * math.hypot(was_u, was_w) * dt / mass)
    u, w = drag * was_u, drag * was_w

    # speeds of the sides
    left, right = 0.0, 0.0
    if command[5] <= 0.0:
        left = govern(wheel[1] * radius, want_left, u - half * r, parameters, dt)
        right = govern(wheel[2] * radius, want_right, u + half * r, parameters, dt)

    friction = parameters[FRICTION] * mass * GRAVITY * dt
    if left == 0.0 and right == 0.0 and mass * math.hypot(u, w) + inertia * abs(r) / half <= friction:
        u, w, r = 0.0, 0.0, 0.0
    else:
        l0, l1, l2 = grip(left, u, w, r, -1.0, wheel[0], parameters)
        yields = yielding(left, u - half * r, l0, parameters[DRIVE_FORCE])
        if yields != left:
            left = yields
            l0, l1, l2 = grip(left, u, w, r, -1.0, wheel[0], parameters)
        r0, r1, r2 = grip(right, u, w, r, 1.0, wheel[0], parameters)
        yields = yielding(right, u + half * r, r0, parameters[DRIVE_FORCE])
        if yields != right:
            right = yields
            r0, r1, r2 = grip(right, u, w, r, 1.0, wheel[0], parameters)
        uu = mass + dt * (l0 + r0)
        ww = uu
        ur, wr = dt * half * (r0 - l0), dt * (l1 + r1)
        rr = inertia + dt * (half * half * (l0 + r0) + l2 + r2)
        to_u = mass * u + dt * (l0 * left + r0 * right)
        to_w = mass * w
        to_r = inertia * r + dt * half * (r0 * right - l0 * left)
        r = (to_r - ur * to_u / uu - wr * to_w / ww) / (rr - ur * ur / uu - wr * wr / ww)
        u, w = (to_u - ur * r) / uu, (to_w - wr * r) / ww

    # the centre moves by the mean of its velocities before and after
    planar[2] += turn
    along, across = 0.5 * dt * (was_u + u), 0.5 * dt * (was_w + w)
    sin_h, cos_h = math.sin(planar[2]), math.cos(planar[2])
    planar[0] -= along * sin_h + across * cos_h
    planar[1] += along * cos_h - across * sin_h
    planar[3], planar[4], planar[5] = u, w, r
    wheel[0] = (u - was_u) / dt
    wheel[1], wheel[2] = left / radius, right / radius
