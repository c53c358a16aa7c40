"""A hopper on a leg of five bars: two driven cranks at the base, whose shins meet in a loop above the foot.

Masses, inertias, lengths, bounds and contacts are those of the public URDF description of REx Hopper that Dojo's
environments of 2022 use, the one without reaction wheels.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.gallery.assembly import Assembly, Link, about, limb
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.prototypes import Revolute
from cbsim.spec.mechanism.shapes import Sphere

__all__ = ["rexhopper"]

BASE = Link(
    5.59607837933863, (-0.0040821970689855, 0.000379301018317304, 0.0170557032108192),
    (0.00377267223926865, -3.22269145542781e-06, 5.32612485392243e-05, 0.00604204097244965, 8.35702196039236e-06,
     0.00442179153407034),
)  # fmt: skip
REAR_CRANK = Link(
    0.256385566503952, (0.0121851264299085, 0.0180889013941849, 0.00112690392742547),
    (3.84650100874964e-05, 1.5379784060096e-05, -8.48318798628566e-06, 0.00017263374747093, 1.08260201375488e-06,
     0.000148822440720501),
)  # fmt: skip
REAR_SHIN = Link(
    0.0631473819780702, (0.133101645966312, 0.00652998365271682, -1.77401555945256e-09),
    (2.55548531328563e-06, 6.97718053328316e-12, -1.43600149958696e-12, 0.000104301911822778, 7.2290806785004e-12,
     0.000104301119173831),
)  # fmt: skip
FRONT_CRANK = Link(
    0.288845046277886, (0.0389032293637952, -0.0169313660252965, -0.000627148519961443),
    (3.46488303623413e-05, -3.25958928897371e-07, 5.24928685528962e-06, 0.000245584747760095, 3.01080375580465e-08,
     0.000226676363063251),
)  # fmt: skip
FRONT_SHIN = Link(
    0.12485760282637, (0.10143817132357, -0.00251001068107951, -0.0148532860322689),
    (1.60742534228895e-05, -5.54606266030352e-07, 1.00368247557172e-06, 0.000116506434688955, 1.0713044107916e-07,
     0.000112946754183162),
)  # fmt: skip
SHORT, LONG = 0.1, 0.27  # [m] of a crank and a shin, and the other way round in front
REAR, FRONT = math.pi / 6.0, math.pi - 0.553232742319403  # angles of the cranks about y [rad]
KNEE = math.pi - 1.0768315178335
BOUNDS = {"rear_shin": (-0.7597, 1.8295), "front_shin": (-1.8295, 0.7597)}
AXIS = (0, -1, 0)
FOOT, FOOT_RADIUS = FRONT_SHIN.centre + np.array([0.1685, 0.0025, -0.0055]), 0.0203
ANKLE_RADIUS, BODY_RADIUS = 0.025, 0.14


def rexhopper(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float = 1.0,
    friction: float = 1.0,
    limited: bool = False,
    ground: bool = True,
    body_contacts: bool = False,
    height: float = 0.0,
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a base with a closed leg: rear crank and shin, front crank and shin, which reaches on to the foot.

    The cranks are what a controller drives: joints ``rear_crank_joint`` and ``front_crank_joint``, about −y.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    spring, damper : float
        Of the four joints of the leg's tree [N m/rad], [N m s/rad]; springs pull towards the pose it is built in.
    friction : float
        Coefficient at every contact.
    limited : bool
        Give the knees their bounds: −0.76 to 1.83 rad behind, mirrored in front.
    ground : bool
        Let the foot touch the plane z = 0.
    body_contacts : bool
        Let both ankles and two balls around the base touch it too: five contacts in place of one.
    height : float
        Of the foot above the ground [m].
    contact_type : str
        Law of the contacts.
    """
    robot = Assembly(spring=spring, damper=damper, limited=limited, friction=friction, contact_type=contact_type)
    robot.base("body", BASE, looks=[Sphere(0.5 * BODY_RADIUS)])
    for side, first, second, start, crank, shin, bend in (
        ("rear", REAR_CRANK, REAR_SHIN, REAR, SHORT, LONG, KNEE),
        ("front", FRONT_CRANK, FRONT_SHIN, FRONT, LONG, SHORT, 2.0 * math.pi - KNEE),
    ):
        end = FOOT if side == "front" else np.array([shin, 0.0, 0.0])
        tip = np.array([crank, 0.0, 0.0])
        robot.add(
            f"{side}_crank", first, "body", np.zeros(3), AXIS, turned=about("y", start),
            looks=[limb(np.zeros(3), tip, 0.012)],
        )  # fmt: skip
        robot.add(
            f"{side}_shin", second, f"{side}_crank", tip, AXIS, turned=about("y", bend), limits=BOUNDS[f"{side}_shin"],
            looks=[limb(np.zeros(3), end, 0.012)],
        )  # fmt: skip
    one, other = robot.bodies["rear_shin"], robot.bodies["front_shin"]
    robot.joints.append(
        Revolute(
            one, other, AXIS, parent_vertex=np.array([LONG, 0.0, 0.0]) - robot.centres["rear_shin"],
            child_vertex=np.array([SHORT, 0.0, 0.0]) - robot.centres["front_shin"],
            orientation_offset=about("y", FRONT - REAR + 2.0 * (math.pi - KNEE)), name="loop_joint",
        )
    )  # fmt: skip
    robot.touch("front_shin", FOOT, FOOT_RADIUS, "foot", foot=True)
    robot.touch("front_shin", FRONT_SHIN.centre + np.array([-0.10, -0.002, 0.01]), ANKLE_RADIUS, "rear_ankle")
    robot.touch("front_crank", FRONT_CRANK.centre + np.array([0.24, 0.007, 0.005]), ANKLE_RADIUS, "front_ankle")
    robot.touch("body", BASE.centre + np.array([0.0, 0.075, 0.03]), BODY_RADIUS, "body_left")
    robot.touch("body", BASE.centre + np.array([0.0, -0.075, 0.03]), BODY_RADIUS, "body_right")
    return robot.mechanism(
        timestep=timestep, gravity=gravity, ground=ground, body_contacts=body_contacts, height=height
    )
