"""A few mechanisms stepped and differentiated in every way, and what comes out as text: the same with and without JIT.

Run as a program it prints one line per number.
"""

from __future__ import annotations

import numpy as np

from cbsim.multibody import (
    Box,
    ContactConstraint,
    Drive,
    DryFriction,
    Floating,
    Mechanism,
    Motor,
    NonlinearContact,
    Origin,
    Prismatic,
    Prototype,
    Revolute,
    SolverOptions,
    SphereCapsuleCollision,
    contact_constraint,
    diagnostics,
    gallery,
    get_maximal_gradients,
    get_maximal_state,
    get_minimal_gradients,
    get_minimal_state,
    get_parameter_gradients,
    maximal_to_minimal,
    maximal_to_minimal_jacobian,
    mechanical_energy,
    minimal_to_maximal_jacobian,
    momentum,
    rollout,
    set_minimal_state,
    simulate,
    step_batch,
)


def meeting():
    """A box that runs into another."""
    origin = Origin()
    one, other = (Box(0.4, 0.4, 0.4, mass=1.0).body(name=name) for name in ("one", "other"))
    shapes = SphereCapsuleCollision((0, 0, 0), (0, -0.3, 0), (0, 0.3, 0), 0.2, 0.2)
    joints = [Floating(origin, one, name="one's"), Floating(origin, other, name="other's")]
    contact = ContactConstraint(NonlinearContact(shapes, 0.5), one, other, name="meet")
    m = Mechanism(origin, [one, other], joints, contact, gravity=0.0)
    x = np.zeros(24)
    x[:3], x[6:12] = (0.01, 0.02, 0.42), (0.1, 0.0, -3.0, 0.2, 0.1, 0.3)
    set_minimal_state(m, x)
    return m


def bent(mechanism):
    x = get_minimal_state(mechanism)
    set_minimal_state(mechanism, x + np.random.default_rng(0).uniform(-0.3, 0.3, x.size))
    return mechanism


def driven():
    """A lever with a motor, a brake and a soft stop that it is beyond, which carries a sledge with a damping drive."""
    origin = Origin()
    lever, sledge = (Box(0.4, 0.3, 0.2, mass=1.0).body(name=name) for name in ("lever", "sledge"))
    joints = [
        Revolute(origin, lever, (0, 1, 0), child_vertex=(-0.5, 0, 0), drives=[Motor(0.4), DryFriction(0.2)],
                 joint_limits=(-1, 0.2), stop_softness=(0.3, 0.01), name="hinge"),
        Prismatic(lever, sledge, (1, 0, 0), drives=Drive(np.inf, cfm=0.3, target=0.1), name="rail"),
    ]  # fmt: skip
    m = Mechanism(origin, [lever, sledge], joints)
    set_minimal_state(m, (0.25, 0.5, 0.1, -0.2))
    return m


def soft():
    """A box that slides on soft ground with friction limited by a force, and that a brake holds beside its base."""
    origin, box = Origin(), Box(0.4, 0.3, 0.2, mass=1.0).body(name="box")
    feet = [(x, y, -0.1) for x in (-0.2, 0.2) for y in (-0.15, 0.15)]
    contact_work = contact_constraint(
        box,
        (0, 0, 1),
        contact_origin=feet,
        friction_coefficient=0.4,
        contact_type="force",
        softness=(0.4, 0.02),
        name="foot",
    )
    brake = Prototype(
        "PlanarFree", origin, box, (0, 1, 0), drives=DryFriction(0.3, coordinate=1), damper=0.2, name="brake"
    )
    m = Mechanism(origin, [box], [Floating(origin, box, damper=0.01, name="base"), brake], contact_work)
    x = np.zeros(12)
    x[2], x[6:9] = 0.098, (1.0, 0.0, -0.2)
    set_minimal_state(m, x)
    return m


MECHANISMS = {
    "pendulum": lambda: gallery.pendulum(spring=1.0, damper=0.1, limits=(0.7, 2.0)),
    "fourbar": lambda: gallery.fourbar(damper=0.3),
    "orbital snake": lambda: bent(gallery.snake(3, joint="Orbital", twisted=True, spring=2.0, damper=0.3)),
    "snake of slots": lambda: bent(gallery.snake(3, joint="CylindricalFree", twisted=True, spring=2.0, damper=0.3)),
    "block": lambda: gallery.block(timestep=0.05, velocity=(2.0, 0.5, 0.0), angular_velocity=(0.0, 1.0, 0.2)),
    "pyramid": lambda: gallery.sphere(contact_type="linear", velocity=(1.0, 0.2, 0.0)),
    "pair": meeting,
    "driven": driven,
    "soft": soft,
    "quadruped": lambda: gallery.quadruped(limited=True, spring=20.0, damper=1.0),
}


def numbers(name):
    """All that comes out of a mechanism and is determined to rounding: contacts are relaxed, and solved exactly."""
    m = MECHANISMS[name]()
    z, exact = get_maximal_state(m), SolverOptions(rtol=1e-11, kappa=1e-4)
    u = 0.1 * np.cos(np.arange(len(m.inputs)))
    path = rollout(m, z, 4, u, options=exact)
    smooth = not m.touching and all(damper.order == 2 for damper in diagnostics(m).dampers)
    fourth = rollout(m, z, 1, u, options=SolverOptions(rtol=1e-11, order=4)) if smooth else path
    storage = simulate(m, 2, z, lambda *_: u, options=exact)
    x = maximal_to_minimal(m, path[2])
    parts = [
        path, fourth, storage.x, storage.pq, momentum(m, storage), mechanical_energy(m, storage),
        *get_maximal_gradients(m, path[2], u, options=exact), *get_minimal_gradients(m, x, u, options=exact),
        get_parameter_gradients(m, path[2], u, options=exact),
        get_parameter_gradients(m, path[2], u, minimal=True, options=exact),
        maximal_to_minimal_jacobian(m, z), minimal_to_maximal_jacobian(m, x),
        step_batch(m, [z, path[1]], workers=1, options=exact),
    ]  # fmt: skip
    return np.concatenate([np.ravel(part) for part in parts])


def path(name):
    """Two steps as they are usually made; which iterate is near enough to a contact's solution rounding may decide."""
    m = MECHANISMS[name]()
    return rollout(m, get_maximal_state(m), 2).ravel()


if __name__ == "__main__":
    for name in MECHANISMS:
        for what in (numbers, path):
            for number in what(name):
                print(what.__name__, name, float(number).hex(), sep="\t")
