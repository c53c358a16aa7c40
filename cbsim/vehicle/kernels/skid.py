"""Drive `skid`: two or three axles whose wheels scrub over the ground, steered by the speeds of the two sides.

The wheels of a side turn together. Their speed follows throttle · lever · top speed, and yields where the tyres ask for
more than the drive force or the brakes can give. A tyre's force points against its sliding,
on the brush law of `tyre` with the slip over the wheel's own speed. The three velocities of the body are found
implicitly from the secants k of the tyres, (M + dt Σ k J'J) v = M v₀ + dt Σ k J' b with b the wheels' speeds; it takes
energy whatever the substep unless the wheels give some.

In a steady turn on equal k, with n axles at x_i and the track T, the yaw rate is
(b_right − b_left) / (T + 4 Σ x_i² / (n T)): scrubbing makes a long vehicle turn slower than a short one.
See docs/theory/drives_and_tyres.md §7.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner, kernel
from cbsim.vehicle.kernels.actuators import slew, slew_levers
from cbsim.vehicle.kernels.columns import (
    ACCELERATION,
    AIR_DENSITY,
    AXLES,
    CG_HEIGHT,
    DRAG_AREA,
    DRIVE_FORCE,
    FORWARD,
    FRICTION,
    FRONT_STIFFNESS,
    HANDBRAKE,
    LEFT_SPIN,
    LEFTWARD,
    MASS,
    MAX_ACCELERATION,
    MAX_DECELERATION,
    REAR_STIFFNESS,
    RIGHT_SPIN,
    TRACK,
    WHEEL_RADIUS,
    WHEELBASE,
    YAW_INERTIA,
    YAW_RATE,
)
from cbsim.vehicle.kernels.frame import carry, pulled, turned
from cbsim.vehicle.tyre.kernels.compliance import compliance

__all__ = ["step_skid"]

SLOW = 0.05  # [m/s] least rolling velocity in a slip, which would be undefined at rest


@kernel
def grip(belt, u, w, r, side, acceleration, press, parameters):
    """Sum secants k, k x and k x² over the axles of one side (−1 left, +1 right), x [m] ahead of the middle.

    `acceleration` [m/s²] is that by the tyres, for the load transfer; `press` [m/s²] is the weight per mass.
    """
    axles = int(parameters[AXLES])
    half, mass = 0.5 * parameters[WHEELBASE], parameters[MASS]
    lean = mass * acceleration * parameters[CG_HEIGHT] / (4.0 * half)  # of the first and last axle's wheels
    slip = belt - u - side * 0.5 * parameters[TRACK] * r
    rolling = max(abs(belt), SLOW)
    k0, k1, k2 = 0.0, 0.0, 0.0
    for axle in range(axles):
        # axles at equal distances, −1 the rear and 1 the front; the load transfer is linear in x
        place = 2.0 * axle / (axles - 1) - 1.0
        x = place * half
        load = max(0.5 * mass * press / axles - place * lean, 1e-3 * mass)
        sliding = math.hypot(slip, w + x * r)
        stiffness = 0.5 * ((1.0 + place) * parameters[FRONT_STIFFNESS] + (1.0 - place) * parameters[REAR_STIFFNESS])
        k = 1.0 / compliance(stiffness * load, parameters[FRICTION] * load, rolling, sliding)
        k0 += k
        k1 += k * x
        k2 += k * x * x
    return k0, k1, k2


@inner
def side_of(belt, wanted, u, w, r, side, acceleration, press, parameters, dt):
    """Speed of a side's wheels, their force if it is limited, and the sums k, k, k x, k x².

    Wheels speed up at the largest acceleration with at most the drive force. Brakes act with half the vehicle's largest
    deceleration, and once the wheels are at rest, the drive reverses them. At a limit, the force equals it, the first
    sum is zero, and the wheels' speed follows from the force.
    """
    ground = u + side * 0.5 * parameters[TRACK] * r
    # braking where the wanted speed is below that over the ground, unless the wheels already turn the other way
    step = parameters[MAX_ACCELERATION] * dt
    turned_round = wanted * ground < 0.0 and belt * ground <= 0.0
    if (wanted - ground) * ground < 0.0 and abs(ground) > step and not turned_round:
        goal = wanted if wanted * ground > 0.0 else 0.0
        limit = 0.5 * parameters[MASS] * parameters[MAX_DECELERATION]
    else:
        goal = slew(belt if (belt - ground) * (wanted - ground) > 0.0 else ground, wanted, step)
        limit = parameters[DRIVE_FORCE]
    # the goal is reached if the force at its slip is within the limit
    k0, k1, k2 = grip(goal, u, w, r, side, acceleration, press, parameters)
    slip = goal - ground
    if k0 * abs(slip) <= limit:
        return goal, 0.0, k0, k0, k1, k2
    # else the slip at which force = limit, by one secant step from the last substep's slip if that is in between
    guess = belt - ground
    if guess * slip > 0.0 and abs(guess) < abs(slip):
        k0, k1, k2 = grip(belt, u, w, r, side, acceleration, press, parameters)
    yields = ground + math.copysign(min(limit / k0, abs(slip)), slip)
    k0, k1, k2 = grip(yields, u, w, r, side, acceleration, press, parameters)
    return yields, math.copysign(limit, slip), 0.0, k0, k1, k2


@inner
def step_skid(planar, wheel, actuator, command, parameters, pull, dt):
    """Advance a vehicle with skid wheels by a substep; see `drives.step_vehicle`."""
    want_left, want_right = slew_levers(actuator, command, parameters, dt)
    mass, inertia = parameters[MASS], parameters[YAW_INERTIA]
    half, radius = 0.5 * parameters[TRACK], parameters[WHEEL_RADIUS]

    # rotate the axes with the yaw rate; the velocity in the world is unchanged
    turn = planar[YAW_RATE] * dt
    was_u, was_w = turned(turn, planar[FORWARD], planar[LEFTWARD])
    r = planar[YAW_RATE]
    drag = 1.0 - min(0.5 * AIR_DENSITY * parameters[DRAG_AREA] * math.hypot(was_u, was_w) * dt / mass, 1.0)
    downhill, aside, press = pull
    u, w = pulled(drag * was_u, drag * was_w, downhill, aside, dt)
    given = wheel[ACCELERATION] - downhill

    left, right = wheel[LEFT_SPIN] * radius, wheel[RIGHT_SPIN] * radius
    locked = command[HANDBRAKE] > 0.0
    # if braked and slow enough, friction stops all motion in this substep: static friction
    hold = parameters[FRICTION] * press
    if not locked:
        hold = min(hold, parameters[MAX_DECELERATION])
    still = locked or (want_left == 0.0 and want_right == 0.0)
    if still and mass * math.hypot(u, w) + inertia * abs(r) / half <= mass * hold * dt:
        u, w, r, left, right = 0.0, 0.0, 0.0, 0.0, 0.0
    else:
        push_left, push_right = 0.0, 0.0
        if locked:
            left, right = 0.0, 0.0
            l0, l1, l2 = grip(left, u, w, r, -1.0, given, press, parameters)
            r0, r1, r2 = grip(right, u, w, r, 1.0, given, press, parameters)
            long_left, long_right = l0, r0
        else:
            left, push_left, long_left, l0, l1, l2 = side_of(
                left, want_left, u, w, r, -1.0, given, press, parameters, dt
            )
            right, push_right, long_right, r0, r1, r2 = side_of(
                right, want_right, u, w, r, 1.0, given, press, parameters, dt
            )
        # the matrix M + dt Σ k J'J in (u, w, r), where u and w are not coupled: eliminate both, solve for r
        uu = mass + dt * (long_left + long_right)
        ww = mass + dt * (l0 + r0)
        ur, wr = dt * half * (long_right - long_left), dt * (l1 + r1)
        rr = inertia + dt * (half * half * (long_left + long_right) + (l2 + r2))
        ask_left, ask_right = long_left * left + push_left, long_right * right + push_right
        to_u, to_w, to_r = mass * u + dt * (ask_left + ask_right), mass * w, inertia * r
        to_r += dt * half * (ask_right - ask_left)
        r = (to_r - ur * to_u / uu - wr * to_w / ww) / (rr - ur * ur / uu - wr * wr / ww)
        u, w = (to_u - ur * r) / uu, (to_w - wr * r) / ww

    # the centre moves by the mean of its velocities before and after
    carry(turn, 0.5 * dt * (was_u + u), 0.5 * dt * (was_w + w), planar)
    planar[FORWARD], planar[LEFTWARD], planar[YAW_RATE] = u, w, r
    wheel[ACCELERATION] = (u - was_u) / dt
    wheel[LEFT_SPIN], wheel[RIGHT_SPIN] = left / radius, right / radius
