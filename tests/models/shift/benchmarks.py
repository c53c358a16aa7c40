"""Published benchmark problems as Shift models: plane four-bars, Andrews's squeezer, the flyball governor."""

from __future__ import annotations

import math

from cbsim.spec.objects import Triple
from cbsim.spec.shift.forces import Restraint
from cbsim.spec.shift.model import Assembly, Body, Frame, Joint, Placement, Reference, ShiftModel

X, Y, Z = Triple(1.0, 0.0, 0.0), Triple(0.0, 1.0, 0.0), Triple(0.0, 0.0, 1.0)


def at(*point):
    return Placement(translation=Triple(*point))


def frame(name, *point):
    return Frame(name, at(*point))


def on(body, name="origin"):
    return Reference((body,), name)


def four_bars(count):
    """A02: count + 1 uprights and count couplers, rods of 1 m and 1 kg; the first upright's tip moves at 1 m/s."""
    rod = (1e-3, 1.0 / 12.0, 1.0 / 12.0, 0.0, 0.0, 0.0)
    tip = (frame("tip", 1.0, 0.0, 0.0),)
    bodies, joints = [], []
    for k in range(count + 1):
        bodies.append(Body(f"upright{k}", 1.0, Triple(0.5, 0.0, 0.0), rod, tip))
        spin = Joint(f"foot{k}", "revolute", on("fixed", f"foot{k}"), on(f"upright{k}"), Z, math.pi / 2, rates=(-1.0,))
        joints.append(spin)
    for k in range(count):
        bodies.append(Body(f"coupler{k}", 1.0, Triple(0.5, 0.0, 0.0), rod, tip))
        left, right = on(f"upright{k}", "tip"), on(f"upright{k + 1}", "tip")
        joints += [
            Joint(f"left{k}", "revolute", left, on(f"coupler{k}"), Z, -math.pi / 2, rates=(1.0,)),
            Joint(f"right{k}", "revolute", on(f"coupler{k}", "tip"), right, Z, math.pi / 2, rates=(-1.0,)),
        ]
    feet = tuple(frame(f"foot{k}", float(k), 0.0, 0.0) for k in range(count + 1))
    assembly = Assembly("four_bars", tuple(bodies), tuple(joints))
    return ShiftModel(gravity=Triple(0.0, -9.81, 0.0), frames=feet, assemblies=(assembly,))


def squeezer():
    """A03: Andrews's squeezer (Schiehlen 1990; Hairer and Wanner II, VI.8), seven bodies in a plane, three loops."""
    xa, ya, xb, yb, xc, yc = -0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072
    c0, l0, d, da, e, ea = 4530.0, 0.07785, 0.028, 0.0115, 0.02, 0.01421
    rr, ra, ss, sa, sb, sc, sd = 0.007, 0.00092, 0.035, 0.01874, 0.01043, 0.018, 0.02
    ta, tb, u, ua, ub, zf, zt, fa, torque = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421, 0.033
    beta, theta, gamma = -0.0617138900142764496, 0.0, 0.455279819163070380
    phi, delta, omega, eps = 0.222668390165885885, 0.487364979543842550, -0.222668390165885885, 1.23054744454982119

    def plate(name, mass, moment, center, **frames):
        inertia = (moment, moment, moment, 0.0, 0.0, 0.0)
        named = tuple(frame(key, *point, 0.0) for key, point in frames.items())
        return Body(name, mass, Triple(*center, 0.0), inertia, named)

    bodies = (
        plate("K1", 0.04325, 2.194e-6, (ra, 0.0), tip=(rr, 0.0)),
        plate("K2", 0.00365, 4.410e-7, (-da, 0.0), tip=(-d, 0.0)),
        plate("K3", 0.02373, 5.255e-6, (sb, -sa), tip=(0.0, -ss), hook=(sd, -sc)),
        plate("K4", 0.00706, 5.667e-7, (0.0, -(e - ea)), tip=(0.0, -e)),
        plate("K5", 0.07050, 1.169e-5, (ta, tb), tip=(zt, 0.0)),
        plate("K6", 0.00706, 5.667e-7, (zf - fa, 0.0), tip=(zf, 0.0)),
        plate("K7", 0.05498, 1.912e-5, (-ub, -ua), tip=(0.0, -u)),
    )

    def hinge(name, parent, child, angle, **more):
        return Joint(name, "revolute", parent, child, Z, angle, rates=(0.0,), **more)

    joints = (
        hinge("beta", on("fixed"), on("K1"), beta, stiffness=(-torque,)),
        hinge("theta", on("K1", "tip"), on("K2"), theta),
        hinge("gamma", on("fixed", "B"), on("K3"), gamma),
        hinge("delta", on("fixed", "A"), on("K5"), delta),
        hinge("phi", on("K5", "tip"), on("K4"), phi),
        hinge("epsilon", on("fixed", "A"), on("K7"), eps),
        hinge("omega", on("K7", "tip"), on("K6"), omega),
        hinge("P3", on("K2", "tip"), on("K3", "tip"), gamma - beta - theta),
        hinge("P4", on("K2", "tip"), on("K4", "tip"), delta + phi - beta - theta),
        hinge("P6", on("K2", "tip"), on("K6", "tip"), eps + omega - beta - theta),
    )
    spring = Restraint("spring", "spring", pair=(on("fixed", "C"), on("K3", "hook")), pieces=((c0, -c0 * l0),))
    ground = tuple(frame(n, *p, 0.0) for n, p in {"A": (xa, ya), "B": (xb, yb), "C": (xc, yc)}.items())
    return ShiftModel(frames=ground, assemblies=(Assembly("squeezer", bodies, joints, (spring,)),))


def governor():
    """A05: a shaft with two rods that carry balls, and a slider that springs and dampers tie to the rods' middles."""
    density, angle, k, c, slack = 3000.0, math.radians(30.0), 8.0e5, 4.0e4, 0.5

    def box(x, y, z):
        mass = density * x * y * z
        return mass, (
            mass / 12 * (y * y + z * z),
            mass / 12 * (x * x + z * z),
            mass / 12 * (x * x + y * y),
            0.0,
            0.0,
            0.0,
        )

    shaft_mass, shaft = box(0.01, 0.01, 1.0)
    slider_mass, slider = box(0.1, 0.1, 0.1)
    rod_mass, rod = box(1.0, 0.01, 0.01)
    total = rod_mass + 5.0
    middle = (0.5 * rod_mass + 5.0) / total  # of rod and ball together, from the hinge
    apart = rod_mass * (middle - 0.5) ** 2 + 5.0 * (1.0 - middle) ** 2
    arm = (rod[0], rod[1] + apart, rod[2] + apart, 0.0, 0.0, 0.0)
    half = (frame("middle", 0.5, 0.0, 0.0),)
    bodies = (
        Body("shaft", shaft_mass, Triple(0.0, 0.0, 0.5), shaft, (
            Frame("right", Placement(translation=Triple(0.05, 0.0, 1.0))),
            Frame("left", Placement((-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0), Triple(-0.05, 0.0, 1.0))),
        )),
        Body("slider", slider_mass, Triple(0.0, 0.0, 0.0), slider,
             (frame("right", 0.05, 0.0, 0.0), frame("left", -0.05, 0.0, 0.0))),
        Body("right", total, Triple(middle, 0.0, 0.0), arm, half),
        Body("left", total, Triple(middle, 0.0, 0.0), arm, half),
    )  # fmt: skip
    joints = (
        Joint("spin", "revolute", on("fixed"), on("shaft"), Z, rates=(2.0 * math.pi,)),
        Joint("s", "prismatic", on("shaft"), on("slider"), Z, 0.5, rates=(0.0,)),
        Joint("right", "revolute", on("shaft", "right"), on("right"), Y, angle, rates=(0.0,)),
        Joint("left", "revolute", on("shaft", "left"), on("left"), Y, angle, rates=(0.0,)),
    )
    restraints = []
    for side in ("right", "left"):
        pair = (on(side, "middle"), on("slider", side))
        restraints.append(Restraint(f"spring {side}", "spring", pair=pair, pieces=((k, -k * slack),)))
        restraints.append(Restraint(f"damper {side}", "damper", pair=pair, pieces=((c, 0.0),)))
    assembly = Assembly("governor", bodies, joints, tuple(restraints))
    return ShiftModel(gravity=Triple(0.0, 0.0, -9.81), assemblies=(assembly,))
