"""Numbers of the columns of a parameter row, in the order of `cbsim.vehicle.parameters.PARAMETERS`.

A test ties the two. Codes of drives are numbered in the order of `cbsim.spec.drives.DRIVES`.
"""

from __future__ import annotations

__all__: list[str] = []

WHEELBASE, TRACK, MAX_STEER, THROTTLE_RATE, LEVER_RATE, MAX_ACCELERATION, MAX_DECELERATION, MAX_SPEED = range(8)
MASS, YAW_INERTIA, CG_HEIGHT, FRONT_LOAD, FRONT_STIFFNESS, REAR_STIFFNESS, FRICTION, WHEEL_RADIUS = range(8, 16)
AXLES, DRIVE_SPLIT, ROLLING_RESISTANCE, DRAG_AREA, DRIVE_FORCE, THROTTLE_DELAY, STEERING_DELAY = range(16, 23)
THROTTLE_LAG, STEERING_LAG, RESTITUTION, BODY_FRICTION, FRONT_GRIP = range(23, 28)

# motion in the plane: place of the body's centre [m], heading [rad], velocity ahead and to the left [m/s], [rad/s]
CENTRE_X, CENTRE_Y, HEADING, FORWARD, LEFTWARD, YAW_RATE = range(6)
# command; an actuator has the first four after their slew rates, and then what comes out of the dead times
THROTTLE, STEERING, LEFT_LEVER, RIGHT_LEVER, REVERSE, HANDBRAKE = range(6)
HEARD_THROTTLE, HEARD_STEERING = 4, 5
# wheel: forward acceleration [m/s²], speeds of wheels front and rear, or left and right [rad/s], and of the yaw rate
ACCELERATION, FRONT_SPIN, REAR_SPIN, YAW_ACCELERATION = range(4)
LEFT_SPIN, RIGHT_SPIN = FRONT_SPIN, REAR_SPIN

PLANAR = 12
"""Width of a row of planar motion with what the drives without slip computed last: heading, its sine and cosine;
steering angle [rad] and its tangent. The same argument then gets the same bits without computing them again. Then
whether nothing can touch the vehicle in this step."""
KNOWN_HEADING, KNOWN_SINE, KNOWN_COSINE, KNOWN_ANGLE, KNOWN_TANGENT, ALONE = range(6, PLANAR)

KINEMATIC, DELAYED, DYNAMIC, SKID_KINEMATIC, SKID = range(5)
GRAVITY = 9.81  # [m/s²]
AIR_DENSITY = 1.225  # [kg/m³] at sea level, 15 °C
