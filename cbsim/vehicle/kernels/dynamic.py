"""Drive `dynamic`: a single track on slipping tyres, from standstill to top speed and back without a switch.

One substep: turn the axes with the yaw rate; add drive, drag and the pull of a slope; take brakes and rolling
resistance, which never reverse a motion; then find the two lateral impulses P of the axles from

    (c / dt + N' M⁻¹ N) P = N' v,    v ← v − M⁻¹ N P,

where N holds the lateral directions of the axles, M mass and yaw inertia, and c is the compliance of each tyre on what
the friction circle leaves it. That is implicit Euler with the secant of the tyre law: the lateral forces take energy
whatever the substep, and as the speed goes to zero so does c, and the axles roll without slip: the kinematic model.
Derivation: docs/theory/drives_and_tyres.md §6.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner, kernel
from cbsim.vehicle.kernels.actuators import slew
from cbsim.vehicle.kernels.columns import (
    ACCELERATION,
    AIR_DENSITY,
    CG_HEIGHT,
    DRAG_AREA,
    DRIVE_SPLIT,
    FORWARD,
    FRICTION,
    FRONT_GRIP,
    FRONT_LOAD,
    FRONT_SPIN,
    FRONT_STIFFNESS,
    GRAVITY,
    HANDBRAKE,
    LEFTWARD,
    LEVER_RATE,
    MASS,
    MAX_ACCELERATION,
    MAX_DECELERATION,
    MAX_SPEED,
    MAX_STEER,
    REAR_SPIN,
    REAR_STIFFNESS,
    REVERSE,
    ROLLING_RESISTANCE,
    STEERING,
    THROTTLE,
    THROTTLE_RATE,
    WHEEL_RADIUS,
    WHEELBASE,
    YAW_ACCELERATION,
    YAW_INERTIA,
    YAW_RATE,
)
from cbsim.vehicle.kernels.frame import carry, pulled, turned
from cbsim.vehicle.tyre.kernels.compliance import compliance, cut

__all__ = ["step_dynamic"]

DUST = 1e-100  # [m/s], [rad/s] smaller velocities are set to zero, as arithmetic on subnormal numbers is slow
SPARE_GRIP = 1e-3  # least share of the capacity left for lateral force, so that the compliance stays finite


@kernel
def drive_force(u, throttle, gear, parameters):
    """Force [N] of the engine at the wheels, forward positive.

    Full throttle gives the largest acceleration at rest, tapers to none at the top speed, and makes up for drag and
    rolling resistance.
    """
    if throttle <= 0.0:
        return 0.0
    top = parameters[MAX_SPEED]
    # a force that tapers linearly to the resistances, so that the top speed is reached on level ground
    along = min(max(gear * u, 0.0), top)
    full = parameters[MASS] * (
        parameters[MAX_ACCELERATION] * (1.0 - along / top) + parameters[ROLLING_RESISTANCE] * GRAVITY
    )
    return gear * throttle * (full + 0.5 * AIR_DENSITY * parameters[DRAG_AREA] * along * along)


@kernel
def holds(need, brake_front, brake_rear, slide_front, slide_rear, gram, limits):
    """Return whether friction can stop all motion within one substep.

    `need` is the longitudinal impulse [N s] that this takes, and `brake_*` are the largest of the brakes; `gram` is
    N' M⁻¹ N (ff, rr, fr, and the determinant), and `limits` are the impulses of the friction circles.
    """
    have = brake_front + brake_rear
    if need > have:
        return False
    g_ff, g_rr, g_fr, determinant = gram
    # lateral impulses that stop both axles (Cramer's rule); brakes share the longitudinal impulse in proportion
    share = need / have if have > 0.0 else 0.0
    front = (g_rr * slide_front - g_fr * slide_rear) / determinant
    rear = (g_ff * slide_rear - g_fr * slide_front) / determinant
    return math.hypot(front, share * brake_front) <= limits[0] and math.hypot(rear, share * brake_rear) <= limits[1]


@inner
def step_dynamic(planar, wheel, actuator, command, parameters, pull, dt):
    """Advance a vehicle with conventional wheels by a substep; see `drives.step_vehicle`."""
    actuator[THROTTLE] = slew(actuator[THROTTLE], command[THROTTLE], parameters[THROTTLE_RATE] * dt)
    actuator[STEERING] = slew(actuator[STEERING], command[STEERING], parameters[LEVER_RATE] * dt)
    mass, inertia, base = parameters[MASS], parameters[YAW_INERTIA], parameters[WHEELBASE]
    to_rear = parameters[FRONT_LOAD] * base
    to_front = base - to_rear
    ahead = to_rear - 0.5 * base  # of the centre of gravity, before the body's centre
    handbrake, throttle = command[HANDBRAKE] > 0.0, actuator[THROTTLE]
    gear = -1.0 if command[REVERSE] > 0.0 else 1.0
    steer = actuator[STEERING] * parameters[MAX_STEER]
    sin, cos = math.sin(steer), math.cos(steer)
    downhill, aside, press = pull

    # rotate the axes with the mean yaw rate of the substep, extrapolated; the velocity in the world is unchanged
    turn = (planar[YAW_RATE] + 0.5 * dt * wheel[YAW_ACCELERATION]) * dt
    was_u, was_w = turned(turn, planar[FORWARD], planar[LEFTWARD])
    u, w = turned(turn, planar[FORWARD], planar[LEFTWARD] + ahead * planar[YAW_RATE])  # of the centre of gravity
    r = planar[YAW_RATE]
    entry = u
    # axle loads with transfer by the last substep's acceleration; both stay positive, as the car does not tip over
    weight = mass * press
    front = weight * parameters[FRONT_LOAD] - mass * (wheel[ACCELERATION] - downhill) * parameters[CG_HEIGHT] / base
    front = min(max(front, 1e-3 * weight), 0.999 * weight)
    rear = weight - front
    grip_front, grip_rear = parameters[FRICTION] * front, parameters[FRICTION] * rear
    drag = 1.0 - min(0.5 * AIR_DENSITY * parameters[DRAG_AREA] * math.hypot(u, w) * dt / mass, 1.0)
    u, w = pulled(drag * u, drag * w, downhill, aside, dt)
    # drive force of each axle, limited by its grip; that of the front wheels acts along the steered direction
    push = 0.0 if handbrake else drive_force(entry, throttle, gear, parameters)
    push_front = min(max(parameters[DRIVE_SPLIT] * push, -grip_front), grip_front)
    push_rear = min(max((1.0 - parameters[DRIVE_SPLIT]) * push, -grip_rear), grip_rear)
    u += dt / mass * (push_front * cos + push_rear)
    w += dt / mass * push_front * sin
    r += dt / inertia * to_front * push_front * sin
    # largest forces of brakes and rolling resistance; the handbrake locks the rear wheels
    strength = min(max(-throttle, 0.0), 1.0)
    hold = strength * parameters[MAX_DECELERATION] / press + (1.0 - strength) * parameters[ROLLING_RESISTANCE]
    brake_front = min(hold * front, grip_front)
    brake_rear = grip_rear if handbrake else min(hold * rear, grip_rear)
    # N' M⁻¹ N: velocity of each axle along its lateral direction per lateral impulse at either axle
    g_ff = 1.0 / mass + (to_front * cos) ** 2 / inertia
    g_rr = 1.0 / mass + to_rear * to_rear / inertia
    g_fr = cos / mass - to_front * to_rear * cos / inertia
    # the determinant without the cancellation that ff · rr − fr² suffers on a short wheelbase
    determinant = (sin / mass) ** 2 + ((cos * base) ** 2 + (sin * to_rear) ** 2) / (mass * inertia)
    gram, limits = (g_ff, g_rr, g_fr, determinant), (grip_front * dt, grip_rear * dt)
    slide_front, slide_rear = cos * (w + to_front * r) - sin * u, w - to_rear * r
    roll_front, roll_rear = cos * u + sin * (w + to_front * r), u
    if holds(mass * abs(u), brake_front * dt, brake_rear * dt, slide_front, slide_rear, gram, limits):
        u, w, r, roll_front, roll_rear = 0.0, 0.0, 0.0, 0.0, 0.0
    else:
        # brakes never reverse an axle's rolling: each axle is given the impulse at most that stops its share of it
        brake_front = cut(brake_front, grip_front, roll_front, slide_front)
        brake_rear = cut(brake_rear, grip_rear, roll_rear, slide_rear)
        total = brake_front + brake_rear
        part = brake_front / total if total > 0.0 else 0.5
        stop_front = part * abs(roll_front) / (1.0 / mass + (to_front * sin) ** 2 / inertia)
        stop_rear = (1.0 - part) * abs(roll_rear) * mass
        brake_front = math.copysign(min(brake_front * dt, stop_front), roll_front)
        brake_rear = math.copysign(min(brake_rear * dt, stop_rear), roll_rear)
        u -= (brake_front * cos + brake_rear) / mass
        w -= brake_front * sin / mass
        r -= to_front * brake_front * sin / inertia
        # lateral impulses with the rest of the friction circles: implicit in velocity, secant of the tyre law
        spare_front = max(grip_front**2 - (push_front - brake_front / dt) ** 2, (SPARE_GRIP * grip_front) ** 2)
        spare_rear = max(grip_rear**2 - (push_rear - brake_rear / dt) ** 2, (SPARE_GRIP * grip_rear) ** 2)
        slide_front, slide_rear = cos * (w + to_front * r) - sin * u, w - to_rear * r
        roll_front, roll_rear = cos * u + sin * (w + to_front * r), u
        stiff_front, stiff_rear = parameters[FRONT_STIFFNESS] * front, parameters[REAR_STIFFNESS] * rear
        most_front = parameters[FRONT_GRIP] * math.sqrt(spare_front)
        c_front = compliance(stiff_front, most_front, abs(roll_front), abs(slide_front)) / dt
        c_rear = compliance(stiff_rear, math.sqrt(spare_rear), abs(roll_rear), abs(slide_rear)) / dt
        # determinant of the matrix with the compliances on its diagonal, expanded to avoid cancellation
        determinant += c_front * g_rr + c_rear * g_ff + c_front * c_rear
        g_ff += c_front
        g_rr += c_rear
        side_front = (g_rr * slide_front - g_fr * slide_rear) / determinant
        side_rear = (g_ff * slide_rear - g_fr * slide_front) / determinant
        u += side_front * sin / mass
        w -= (side_front * cos + side_rear) / mass
        r -= (to_front * cos * side_front - to_rear * side_rear) / inertia
    if abs(w) < DUST and abs(r) < DUST:
        w, r = 0.0, 0.0
    # the centre moves by the mean of its velocities before and after
    carry(turn, 0.5 * dt * (was_u + u), 0.5 * dt * (was_w + w - ahead * r), planar)
    wheel[ACCELERATION] = (u - entry) / dt  # for the load transfer of the next substep
    wheel[YAW_ACCELERATION] = (r - planar[YAW_RATE]) / dt if r != 0.0 else 0.0
    planar[FORWARD], planar[LEFTWARD], planar[YAW_RATE] = u, w - ahead * r, r
    # spin of the wheels, 0 where brakes exceed the grip and lock them
    wheel[FRONT_SPIN] = roll_front / parameters[WHEEL_RADIUS] if hold * front < grip_front else 0.0
    wheel[REAR_SPIN] = roll_rear / parameters[WHEEL_RADIUS] if hold * rear < grip_rear and not handbrake else 0.0
