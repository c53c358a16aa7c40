"""Gradients through contacts that are found, and through bounces, against central differences of the step itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cbsim.dynamics.active_contacts import active_contacts
from cbsim.dynamics.kernels import columns as c
from cbsim.multibody import (
    Body,
    Box,
    Capsule,
    Collider,
    ContactConstraint,
    ConvexHull,
    Cylinder,
    Floating,
    HalfSpace,
    HeightField,
    Mechanism,
    Mesh,
    NonlinearContact,
    Origin,
    Revolute,
    SolverOptions,
    Sphere,
    SphereSphereCollision,
    contact_constraint,
    get_maximal_gradients,
    get_minimal_gradients,
    ground,
    maximal_gradients_batch,
    maximal_to_minimal,
    minimal_gradients_batch,
    minimal_to_maximal,
    rollout,
    rollout_gradients,
    rollout_parameter_gradients,
    step,
    step_minimal_coordinates,
    with_parameters,
)
from tests.multibody.differences import check_parameters, gap, moved, slope

H, KAPPA = 0.01, 1e-4
OPTIONS = SolverOptions(rtol=1e-12, btol=1e-12, kappa=KAPPA)
FIRM = SolverOptions(rtol=1e-10, kappa=1e-9)
SOLIDS = {
    "sphere": Sphere(0.25, mass=2.0),
    "capsule": Capsule(0.15, 0.4, mass=2.0),
    "box": Box(0.4, 0.3, 0.5, mass=2.0),
    "ellipsoid": Sphere(0.2, mass=2.0, scale=(1.0, 1.5, 0.7)),
    "cylinder": Cylinder(0.2, 0.5, mass=2.0),
    "hull": ConvexHull(
        points=[[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], scale=0.3, mass=2.0
    ),
}
CELLS = np.random.default_rng(5).normal(size=(12, 12)) * 0.05
BLOCK = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
SIDES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
FACES = np.array([[[a, b, c_], [a, c_, d]] for a, b, c_, d in SIDES]).reshape(-1, 3)
WORLD = {
    "plane": HalfSpace((0.2, -0.1, 1.0)),
    "field": HeightField(heights=CELLS, spacing=0.3),
    "mesh": Mesh(vertices=np.r_[BLOCK, 0.01 * BLOCK + (50, 0, 0)], faces=np.r_[FACES, FACES + 8]),
    "box": Box(2.0, 2.0, 2.0),
}


def compare(m, z, u, *, e=2e-6, tolerance=1e-6, options=OPTIONS):
    """Hold all four matrices against differences of the step, contacts found anew in each."""
    rows, after, x = z.reshape(-1, 13), step(m, z, u, options=options), maximal_to_minimal(m, z)

    def by_bodies(d):
        k = int(np.flatnonzero(d)[0])
        return gap(step(m, moved(rows, k, d[k]).ravel(), u, options=options), after)

    pairs = [
        (
            get_maximal_gradients(m, z, u, options=options),
            slope(by_bodies, 12 * len(rows), e),
            slope(lambda d: gap(step(m, z, u + d, options=options), after), len(u), e),
        ),
        (
            get_minimal_gradients(m, x, u, options=options),
            slope(lambda d: step_minimal_coordinates(m, x + d, u, options=options), len(x), e),
            slope(lambda d: step_minimal_coordinates(m, x, u + d, options=options), len(u), e),
        ),
    ]
    for (by_state, by_input), state, given in pairs:
        np.testing.assert_allclose(by_state, state, rtol=0.0, atol=tolerance * max(1.0, np.abs(state).max()))
        np.testing.assert_allclose(by_input, given, rtol=0.0, atol=tolerance * max(1.0, np.abs(given).max()))


def turned(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def pushes(m, z):
    """Largest impulse between colliders in a nearly hard step [N s]."""
    step(m, z, options=FIRM)
    return max((contact_work.impulse for contact_work in active_contacts(m.workspaces)), default=0.0)


def brought_together(m, states):
    """First of some states whose step presses things together."""
    for z in states:
        if pushes(m, z) > 1e-2:
            return z
    raise AssertionError("nothing touches")


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations_with_replacement(SOLIDS, 2)))
@pytest.mark.parametrize("seed", [0, 1])
def test_every_pair_of_solids_in_any_place(one, other, seed):
    rng = np.random.default_rng(10 * seed + len(one) + 100 * len(other))
    origin = Origin()
    bodies = [SOLIDS[one].body(name="one"), SOLIDS[other].body(name="other")]
    solid = [Collider(b, SOLIDS[n], 0.5) for b, n in zip(bodies, (one, other), strict=True)]
    m = Mechanism(origin, bodies, [Floating(origin, b) for b in bodies], colliders=solid, timestep=H)
    way, p, q, spins = rng.normal(size=3), turned(rng), turned(rng), rng.normal(size=(2, 3))
    way /= np.linalg.norm(way)
    z = brought_together(m, (
        np.r_[0, 0, 0, 0, 0, 0, p, spins[0], far * way, -0.4 * way, q, spins[1]] for far in np.linspace(1.2, 0.1, 400)
    ))  # fmt: skip
    compare(m, z, rng.normal(size=12))


@pytest.mark.parametrize("terrain", WORLD)
@pytest.mark.parametrize("name", SOLIDS)
def test_every_solid_on_everything_that_stands(terrain, name):
    rng = np.random.default_rng(len(terrain) + 10 * len(name))
    origin, body = Origin(), SOLIDS[name].body(name="body")
    m = Mechanism(
        origin, [body], [Floating(origin, body)], timestep=H,
        colliders=[Collider(origin, WORLD[terrain], 0.7), Collider(body, SOLIDS[name], 0.4)],
    )  # fmt: skip
    q, v, w = turned(rng), rng.normal(size=3) * 0.3, rng.normal(size=3)
    z = brought_together(m, (np.r_[0.11, 0.07, s, v[:2], -0.5, q, w] for s in np.linspace(1.7, -0.2, 600)))
    compare(m, z, rng.normal(size=6))


def arm(shapes, rng, **options):
    """Return a chain of solid links on a floating base over the ground, links that meet skipped."""
    origin = Origin()
    bodies = [shape.body(name=f"link {k}") for k, shape in enumerate(shapes)]
    joints = [Floating(origin, bodies[0])]
    joints += [
        Revolute(a, b, rng.normal(size=3), parent_vertex=(0, 0, 0.3), child_vertex=(0, 0, -0.3), damper=0.1, spring=0.5)
        for a, b in itertools.pairwise(bodies)
    ]
    solid = [ground(origin), *(Collider(b, s, 0.6, **options) for b, s in zip(bodies, shapes, strict=True))]
    return Mechanism(origin, bodies, joints, colliders=solid, timestep=H)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_chain_that_lies_on_the_ground_and_on_itself(seed):
    rng = np.random.default_rng(seed)
    m = arm([SOLIDS["capsule"], SOLIDS["cylinder"], SOLIDS["box"], SOLIDS["ellipsoid"]], rng)
    x = np.r_[0.0, 0.0, 0.5, 0.3 * rng.normal(size=3), 0.2 * rng.normal(size=6), rng.normal(size=6)]
    path = rollout(m, minimal_to_maximal(m, x), 150)
    z = brought_together(m, path[30::7])
    compare(m, z, 0.1 * rng.normal(size=m.compiled.inputs), e=1e-6, tolerance=3e-6)


def test_what_lies_still_where_faces_meet():
    origin = Origin()
    low, high = Box(0.6, 0.6, 0.2, mass=3.0), Box(0.4, 0.3, 0.2, mass=1.0)
    bodies = [low.body(name="low"), high.body(name="high")]
    solid = [ground(origin), Collider(bodies[0], low), Collider(bodies[1], high)]
    m = Mechanism(origin, bodies, [Floating(origin, b) for b in bodies], colliders=solid, timestep=H)
    z = np.zeros((2, 13))
    z[:, 2], z[:, 6] = (0.1001, 0.3002), 1.0
    compare(m, z.ravel(), np.random.default_rng(0).normal(size=12))


@pytest.mark.parametrize("given", [{"softness": (0.3, 1e-3)}, {"friction_force": 2.0}, {"softness": (0.2, 0.0)}])
def test_soft_contacts_and_friction_forces_of_colliders(given):
    rng = np.random.default_rng(3)
    origin = Origin()
    shapes = [SOLIDS["box"], SOLIDS["cylinder"]]
    bodies = [s.body(name=f"body {k}") for k, s in enumerate(shapes)]
    solid = [Collider(b, s, 0.5, **given) for b, s in zip(bodies, shapes, strict=True)]
    m = Mechanism(origin, bodies, [Floating(origin, b) for b in bodies], colliders=solid, timestep=H)
    p, q = turned(rng), turned(rng)
    near = (
        np.r_[0, 0, 0, 0, 0, 0, p, 0.3, -0.2, 0.1, s, 0, 0, -0.1, 0.2, 0, q, 1, 0, 0.5]
        for s in np.linspace(1, 0.1, 300)
    )
    z = brought_together(m, near)
    z[13] -= 0.004  # into one another, so that a share of it stays
    compare(m, z, rng.normal(size=12))


def bouncing(contacts=False, restitution=0.6):
    """Return two balls that hit the ground and one another, as contacts of a description or as colliders."""
    origin = Origin()
    ball, block = Sphere(0.2, mass=1.0), Box(0.3, 0.4, 0.5, mass=2.0)
    bodies = [ball.body(name="ball"), (ball if contacts else block).body(name="block")]
    joints = [Floating(origin, b) for b in bodies]
    if contacts:
        contact_work = [
            *contact_constraint(bodies, [(0, 0, 1)] * 2, contact_radius=0.2, restitution=restitution),
            ContactConstraint(
                NonlinearContact(
                    SphereSphereCollision(radius_parent=0.2, radius_child=0.2), 0.4, restitution=restitution
                ),
                *bodies,
            ),
        ]
        return Mechanism(origin, bodies, joints, contact_work, timestep=H)
    solid = [ground(origin), *(Collider(b, s, 0.4, restitution) for b, s in zip(bodies, (ball, block), strict=True))]
    return Mechanism(origin, bodies, joints, colliders=solid, timestep=H)


@pytest.mark.parametrize("contacts", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_what_bounces_off_the_ground_and_off_something_else(contacts, seed):
    rng, m = np.random.default_rng(seed), bouncing(contacts)
    q, w = turned(rng), 2.0 * rng.normal(size=(2, 3))
    high = np.linspace(0.9, 0.3, 400) if not contacts else (0.598,)
    for s in high:
        z = np.r_[0, 0, 0.212, 0.1, 0.3, -2.0, 1, 0, 0, 0, w[0], 0.1, 0.05, s, -0.2, 0.3, -4.0, q, w[1]]
        step(m, z, options=OPTIONS)
        if (m.work.contact_work[:, c.BOUNCES] != 0.0).sum() > 1:
            break
    else:
        raise AssertionError("nothing bounces")
    compare(m, z, rng.normal(size=12), e=1e-5, tolerance=1e-8)


def test_batches_and_rollouts_have_the_gradients_of_single_steps():
    rng = np.random.default_rng(1)
    m = arm([SOLIDS["box"], SOLIDS["capsule"], SOLIDS["cylinder"]], rng)
    z = np.zeros((3, 13))
    z[:, 6] = 1.0
    x = maximal_to_minimal(m, z.ravel())
    x[2] = 0.3
    path, by_state, by_input = rollout_gradients(m, minimal_to_maximal(m, x), 12, options=OPTIONS)
    xs = np.array([maximal_to_minimal(m, row) for row in path[:-1]])
    for k, (A, B) in enumerate(zip(by_state, by_input, strict=True)):
        one, other = get_minimal_gradients(m, xs[k], options=OPTIONS)
        np.testing.assert_allclose(A, one, atol=1e-6 * np.abs(one).max())
        np.testing.assert_allclose(B, other, atol=1e-6 * np.abs(other).max())
    for workers in (1, 3):
        some = minimal_gradients_batch(m, xs, workers=workers, options=OPTIONS)
        others = maximal_gradients_batch(m, path[:-1], workers=workers, options=OPTIONS)
        for k, row in enumerate(path[:-1]):
            np.testing.assert_array_equal(some[0][k], get_minimal_gradients(m, xs[k], options=OPTIONS)[0])
            np.testing.assert_array_equal(others[0][k], get_maximal_gradients(m, row, options=OPTIONS)[0])


def test_what_is_far_from_everything_falls_as_if_nothing_were_solid():
    origin, body = Origin(), Body(1.0, np.diag([0.1, 0.2, 0.3]), name="stone")
    solid = [ground(origin), Collider(body, SOLIDS["box"])]
    z = np.r_[0, 0, 9.0, 0.1, 0.2, 0.3, 1, 0, 0, 0, 1.0, 2.0, 3.0]
    hard = Mechanism(origin, [body], [Floating(origin, body)], colliders=solid)
    free = Mechanism(Origin(), [other := Body(1.0, np.diag([0.1, 0.2, 0.3]))], [Floating(Origin(), other)])
    for one, other in zip(get_maximal_gradients(hard, z), get_maximal_gradients(free, z), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def pressed(m, z):
    """Contacts with an impulse."""
    step(m, z, options=FIRM)
    return [contact_work for contact_work in active_contacts(m.workspaces) if contact_work.impulse > 1e-2]


def parts_that_touch():
    """Return a cylinder on a box on a slope, an ellipsoid beside them."""
    origin = Origin()
    shapes = {
        "box": Box(0.6, 0.5, 0.2, mass=3.0),
        "can": Cylinder(0.1, 0.3, mass=1.0, orientation_offset=(np.cos(0.6), np.sin(0.6), 0, 0)),
        "egg": Sphere(0.2, mass=0.5, scale=(1.0, 1.4, 0.8)),
    }
    bodies = [shape.body(name=name) for name, shape in shapes.items()]
    joints = [Floating(origin, bodies[0]), Floating(origin, bodies[1])]
    joints.append(
        Revolute(origin, bodies[2], (0, 1, 0), parent_vertex=(0.5, 0, 0.5), child_vertex=(0, 0, 0.2), spring=1)
    )
    solid = [ground(origin, friction_coefficient=0.7)]
    solid += [Collider(b, s, 0.4, name=f"{b.name} solid") for b, s in zip(bodies, shapes.values(), strict=True)]
    return Mechanism(origin, bodies, joints, colliders=solid, timestep=H)


def test_parameters_of_colliders_and_of_bodies_that_carry_them():
    m = parts_that_touch()
    x = np.zeros(26)
    x[2], x[6:8] = 0.1, (0.3, 0.2)
    x[12:15], x[15:18] = (0.05, 0.1, 0.35), (0.1, -0.2, 0.1)
    x[18:21], x[24:] = (-0.2, 0.1, -0.4), (0.35, 0.2)
    z = minimal_to_maximal(m, x)
    near = (np.r_[z[:15], s, z[16:]] for s in np.linspace(0.45, 0.2, 400))
    z = brought_together(m, (row for row in near if len(pressed(m, row)) > 1))
    chosen = {"mass", "friction_coefficient", "r", "h", "x", "z", "scale", "position_offset", "center_of_mass"}
    u = 0.3 * np.random.default_rng(2).normal(size=m.compiled.inputs)
    check_parameters(m, z, u, kappa=KAPPA, e=1e-6, only=lambda p: p.quantity in chosen, tolerance=1e-5)


def test_mass_and_friction_of_a_solid_are_identified_from_a_toss():
    """Gauss and Newton on positions with noise of 1 mm, from starts that are 30 % off; forces make mass seen."""
    origin, shape = Origin(), Cylinder(0.2, 0.3, mass=1.0)
    body = shape.body(name="can")
    solid = [ground(origin, friction_coefficient=0.5), Collider(body, shape, 0.5, name="tin")]
    thrown = Mechanism(origin, [body], [Floating(origin, body)], colliders=solid)
    n, z, u = 120, np.r_[0, 0, 0.3, 2.0, 0.5, 0.3, 1, 0, 0, 0, 0.5, -0.4, 2.0], np.zeros((120, 6))
    u[:, 0], u[:, 1] = 2.0 * np.sin(0.2 * np.arange(n)), 1.5 * np.cos(0.13 * np.arange(n))
    seen = rollout(thrown, z, n, u)[:, :3].ravel() + 1e-3 * np.random.default_rng(0).normal(size=3 * (n + 1))
    names = [("can", "mass"), ("tin", "friction_coefficient")]

    def predict(p):
        model = with_parameters(thrown, dict(zip(names, p, strict=True)))
        path, slopes = rollout_parameter_gradients(
            model, z, n, u, names, minimal=False, options=SolverOptions(kappa=1e-6)
        )
        return path[:, :3].ravel() - seen, slopes[:, :3].reshape(-1, 2)

    p = np.array([1.3, 0.35])
    off, slopes = predict(p)
    for _ in range(12):
        full = -np.linalg.lstsq(slopes, off, rcond=None)[0]
        for share in (1.0, 0.5, 0.25, 0.125):
            then, steeper = predict(np.maximum(p + share * full, 0.05))
            if then @ then < off @ off:
                break
        p, off, slopes = np.maximum(p + share * full, 0.05), then, steeper
        if np.abs(full).max() < 1e-6:
            break
    # what touches has the geometric mean of 0.5, the ground's, and its own
    np.testing.assert_allclose(p, [1.0, 0.5], rtol=0.01)
