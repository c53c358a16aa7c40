"""Every symbol, keyword and field of Dojo's API page in Python spelling: it is there, documented, and does its work.

`SYMBOLS` is the inventory: name on the page (no ``!``), name here, what it is called with or has, and a check that
calls it with its documented arguments and asserts a law or a round trip. Where the page itself is at hand, its list of
symbols is held against the inventory.
"""

from __future__ import annotations

import inspect
import re
import tempfile
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

from cbsim import multibody as mb
from cbsim.geometry.pose import rotate
from cbsim.multibody.gallery import block, chain, fourbar, pendulum, snake, sphere
from cbsim.spec.mechanism.joints import PROTOTYPES
from tests.common import ROOT
from tests.multibody.common import EXACT, KINDS, X, Y, Z

SEED = ROOT.parent / "shared" / "seeds" / "dojo_api.txt"
UP = np.array([1.0, 0.0, 0.0, 0.0])


def moved(m, seed=0):
    return mb.minimal_to_maximal(m, np.random.default_rng(seed).uniform(0.0, 1.0, mb.minimal_dimension(m)))


def has(thing, *names):
    for name in names:
        assert hasattr(thing, name), f"{thing!r} has no {name}"


def takes(function, *names):
    accepted = inspect.signature(function).parameters
    assert set(names) <= set(accepted), set(names) - set(accepted)


def see_mechanism():
    m = block(timestep=0.02, gravity=-5.0)
    m.input_scaling = 1.0
    has(m, "origin", "joints", "bodies", "contacts", "system", "residual_entries", "data_matrix", "root_to_leaves",
        "timestep", "input_scaling", "gravity", "mu")  # fmt: skip
    takes(mb.Mechanism, "origin", "bodies", "joints", "contacts", "timestep", "gravity", "input_scaling")
    assert (m.timestep, m.input_scaling, m.gravity[2], len(m.contacts)) == (0.02, 1.0, -5.0, 8)
    assert m.root_to_leaves == list(range(1, 11))


def see_look_ups():
    m = block()
    for find, part in ((mb.get_node, m.origin), (mb.get_body, m.bodies[0]), (mb.get_joint, m.joints[0]),
                       (mb.get_contact, m.contacts[0])):  # fmt: skip
        assert find(m, part.name) is part
        assert find(m, part.id) is part


def see_next_state():
    m = chain(2)
    mb.set_maximal_state(m, moved(m))
    mb.mehrotra(m, options=EXACT)
    np.testing.assert_allclose(mb.get_next_state(m), mb.step(m, mb.get_maximal_state(m), options=EXACT), atol=1e-14)


def see_input():
    m = chain(2)
    mb.set_input(m, (1.0, 2.0))
    assert [list(j.input) for j in m.joints] == [[1.0], [2.0]]
    free = mb.simulate(m, 3, moved(m))
    np.testing.assert_array_equal(free.x, mb.simulate(m, 3, moved(m), [(1.0, 2.0)]).x)


def see_dimensions():
    m = snake(3, joint="Cylindrical")
    assert mb.maximal_dimension(m) == len(mb.get_maximal_state(m)) == 39
    assert mb.minimal_dimension(m) == len(mb.get_minimal_state(m)) == 2 * (6 + 2 + 2)
    assert mb.input_dimensions(m) == [6, 2, 2]
    assert sum(mb.nullspace_dimension(kind) for kind in KINDS) == sum(
        6 - (6 - s - t) for s in range(4) for t in range(4)
    )


def see_ordering():
    m = fourbar()
    takes(mb.root_to_leaves_ordering, "mechanism", "exclude_origin", "exclude_loop_joints")
    whole = mb.root_to_leaves_ordering(m, exclude_origin=False, exclude_loop_joints=False)
    assert sorted(whole) == list(range(10))
    assert mb.root_to_leaves_ordering(m, exclude_origin=True, exclude_loop_joints=True) == whole[1:-1]


def see_floating_base():
    m = snake(3, joint="Revolute")
    mb.set_maximal_state(m, moved(m))
    other = mb.set_floating_base(m, "box_3")
    assert other.joints[0].child.name == "box_3"
    z = mb.get_maximal_state(m)
    np.testing.assert_allclose(mb.step(other, z, options=EXACT), mb.step(m, z, options=EXACT), atol=1e-10)


def see_external_force():
    m = snake(1, joint="Fixed", gravity=0.0)
    (body,) = m.bodies
    takes(mb.set_external_force, "body", "force", "torque", "vertex")
    takes(mb.add_external_force, "body", "force", "torque", "vertex")
    mb.set_external_force(body, force=X, torque=Y, vertex=Z)
    np.testing.assert_allclose(body.state.tauext, Y + np.cross(Z, X))
    mb.add_external_force(body, force=X, torque=-2 * Y, vertex=-Z)
    np.testing.assert_allclose(body.state.Fext, 2 * X)
    np.testing.assert_allclose(body.state.tauext, -Y)
    after = mb.simulate(m, 2)
    np.testing.assert_allclose(after.v[1, 0], 2 * X * m.timestep)


def see_body():
    body = mb.Body(2.0, np.diag([1, 2, 2.5]), mb.Sphere(0.3), name="b")
    has(body, "id", "name", "mass", "inertia", "state", "shape")
    origin = mb.Origin()
    m = mb.Mechanism(origin, [body], [mb.Floating(origin, body)])
    assert (body.id, m.bodies[0], origin.id, origin.name) == (2, body, 0, "origin")
    has(origin, "id", "name", "state", "shape")
    assert isinstance(origin.shape, mb.EmptyShape)
    assert not origin.state.v15.any()


SIZES = {
    "Box": ((0.1, 0.2, 0.3), "xyz"),
    "Cylinder": ((0.1, 0.2), "rh"),
    "Capsule": ((0.1, 0.2), "rh"),
    "Sphere": ((0.1,), "r"),
    "Pyramid": ((0.1, 0.2), "wh"),
}


def see_shapes():
    for name, (sizes, field) in SIZES.items():
        shape = getattr(mb, name)(
            *sizes, mass=2.0, position_offset=X, orientation_offset=UP, scale=2.0, color=(1, 0, 0, 1)
        )
        has(shape, "position_offset", "orientation_offset", "scale", "color", field)
        np.testing.assert_array_equal(np.ravel(getattr(shape, field)), sizes)
        plain = getattr(mb, name)(*(2.0 * s for s in sizes))
        np.testing.assert_allclose(shape.body(name="a").inertia, plain.inertia(2.0), atol=1e-15)
    assert isinstance(mb.FrameShape(color=(0, 0, 0, 1)), mb.Shape)
    both = mb.CombinedShapes([mb.Box(1, 1, 1, mass=1.0), mb.Sphere(1, mass=1.0)], xyz=(1, 1, 1))
    has(both, "position_offset", "orientation_offset", "shape", "xyz")
    np.testing.assert_allclose(both.inertia(), mb.Box(1, 1, 1).inertia(1.0) + mb.Sphere(1).inertia(1.0))


def see_mesh():
    corners = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]
    mesh = mb.Mesh(vertices=corners, faces=faces, mass=3.0)
    has(mesh, "path", "position_offset", "orientation_offset", "scale", "color")
    np.testing.assert_allclose(mesh.inertia(), mb.Box(1, 1, 1, mass=3.0).inertia(), atol=1e-12)


HALF = ("axis", "axis_mask1", "axis_mask2", "axis_mask3", "spring", "damper", "spring_offset", "joint_limits",
        "spring_type")  # fmt: skip


def see_halves():
    origin, body = mb.Origin(), mb.Box(1, 1, 1, mass=1.0).body(name="b")
    shared = {"spring": 4.0, "damper": 0.5}
    slide = mb.Translational(1, Y, spring_offset=(0.1,), joint_limits=(-1, 1), vertices=(X, Z), **shared)
    spin = mb.Rotational(1, Y, spring_offset=(0.2,), joint_limits=(-2, 2), orientation_offset=UP, **shared)
    has(slide, "vertices", *HALF)
    has(spin, "orientation_offset", *HALF)
    assert isinstance(slide, mb.Joint)
    joint = mb.JointConstraint(origin, body, slide, spin, name="j")
    has(joint, "id", "name", "translational", "rotational", "spring", "damper", "parent_id", "child_id")
    m = mb.Mechanism(origin, [body], [joint])
    mb.set_input(m, (1.0, 2.0))
    assert (list(joint.input), joint.id, joint.parent_id, joint.child_id) == ([1.0, 2.0], 1, 0, 2)
    np.testing.assert_allclose(slide.input, 0.01 * Y)
    np.testing.assert_allclose(spin.input, 0.02 * Y)
    assert joint.minimal_index == (slice(0, 2), slice(2, 4))
    assert len(joint.impulses) == 4
    twin = mb.Cylindrical(origin, body, Y, parent_vertex=X, child_vertex=Z, spring=4.0, damper=0.5,
                          spring_offset=(0.1, 0.2), joint_limits=((-1, -2), (1, 2)))  # fmt: skip
    z = mb.minimal_to_maximal(m, (0.2, 0.3, 0.4, 0.5))
    other = mb.Mechanism(origin, [body], [twin])
    np.testing.assert_array_equal(mb.step(m, z), mb.step(other, z))


def see_prototype(kind):
    slides, turns = PROTOTYPES[kind]
    make = getattr(mb, kind)
    keywords = {"orientation_offset", "spring", "damper", "spring_offset", "joint_limits", "name"}
    keywords |= {"drives", "stop_softness", "implicit_spring"}  # beyond the page
    keywords |= {"parent_vertex", "child_vertex"} if slides < 3 else set()
    axis = (X + Y,) if {slides, turns} & {1, 2} else ()
    assert set(inspect.signature(make).parameters) == {"parent", "child", *keywords, *(["axis"] if axis else [])}
    origin, body = mb.Origin(), mb.Box(1, 1, 1, mass=1.0).body(name="b")
    options = {"orientation_offset": (0.8, 0.6, 0, 0), "spring": 1.0, "damper": 0.1, "name": "j"}
    options |= {"parent_vertex": X, "child_vertex": Y} if slides < 3 else {}
    options |= {"spring_offset": np.full(slides + turns, 0.1), "joint_limits": (-9.0, 9.0)} if slides + turns else {}
    joint = make(origin, body, *axis, **options)
    assert (joint.prototype, joint.dof) == (kind, slides + turns)
    m = mb.Mechanism(origin, [body], [joint])
    x = 0.3 * np.ones(2 * joint.dof)
    # whatever it does, it stays on its own manifold: both states say the same
    z = mb.step(m, mb.minimal_to_maximal(m, x), np.ones(joint.dof), options=EXACT)
    back = mb.minimal_to_maximal(m, mb.maximal_to_minimal(m, z))
    np.testing.assert_allclose(back, z, atol=1e-9)


def see_contacts():
    for name in ("ImpactContact", "LinearContact", "NonlinearContact"):
        law = getattr(mb, name)
        collision = mb.SphereHalfSpaceCollision(Z, X, 0.1)
        model = law(collision) if name == "ImpactContact" else law(collision, 0.3)
        assert isinstance(model, mb.Contact)
        has(model, "collision", "contact_tangent", "contact_normal", "contact_origin", "contact_radius")
        assert name == "ImpactContact" or model.friction_coefficient == 0.3
        kind = name.removesuffix("Contact").lower()
        assert isinstance(mb.contact_constraint(sphere().bodies[0], Z, contact_type=kind)[0].model, law)


def see_contact_constraint():
    m = sphere(friction=0.3)
    (k,) = m.contacts
    has(k, "id", "name", "model", "parent_id", "child_id", "impulses", "impulses_dual")
    assert (k.id, k.parent_id, k.child_id) == (3, 2, 0)
    assert isinstance(k, mb.ContactConstraint)
    takes(mb.contact_constraint, "friction_coefficient", "contact_origin", "contact_radius", "contact_offset", "name",
          "contact_type")  # fmt: skip
    s = mb.simulate(m, 30, [0, 0, 0.5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    assert k.impulses[0] * k.impulses_dual[0] == pytest.approx(0.0, abs=1e-4)
    assert k.impulses[0] == pytest.approx(9.81 * 0.01, rel=1e-2)
    assert mb.get_sdf(m, s)[0][-1] == pytest.approx(mb.get_sdf(k, s.x[-1, 0], s.q[-1, 0]))


def see_points():
    k = sphere().contacts[0]
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(mb.contact_location(k, x, UP), x - 0.5 * Z)
    assert mb.get_sdf(k, x, UP) == pytest.approx(2.5)


COLLISIONS = {
    "SphereHalfSpaceCollision": ("contact_tangent", "contact_normal", "contact_origin", "contact_radius"),
    "SphereSphereCollision": ("origin_parent", "origin_child", "radius_parent", "radius_child"),
    "SphereCapsuleCollision": (
        "origin_sphere",
        "origin_capsule_a",
        "origin_capsule_b",
        "radius_sphere",
        "radius_capsule",
    ),
    "SphereBoxCollision": ("origin_sphere", "origin_box_a", "origin_box_b", "radius_sphere", "width", "depth"),
    "StringCollision": ("origin_parent", "origin_child", "length"),
}


def see_collision(name):
    made = getattr(mb, name)(*([Z] if name.startswith("SphereHalf") else []))
    has(made, *COLLISIONS[name])
    places = (np.array([0.3, 0.2, 1.4]), UP, np.array([0.1, 0, -0.2]), np.array([0.6, 0, 0.8, 0]))
    normal, tangents = mb.contact_normal(made, *places), mb.contact_tangent(made, *places)
    frame = np.concatenate([[normal], tangents])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-14)
    ahead = mb.get_sdf(made, places[0] + 1e-6 * normal, *places[1:]) - mb.get_sdf(made, *places)
    assert ahead == pytest.approx(1e-6, rel=1e-4)


def see_state():
    m = pendulum()
    mb.set_maximal_state(m, moved(m))
    state = m.bodies[0].state
    assert isinstance(state, mb.State)
    shapes = {"x1": 3, "q1": 4, "v15": 3, "w15": 3, "x2": 3, "q2": 4, "JF2": 3, "Jtau2": 3, "Fext": 3, "tauext": 3,
              "vsol": (2, 3), "wsol": (2, 3), "d": 6, "D": (6, 6)}  # fmt: skip
    for name, shape in shapes.items():
        assert getattr(state, name).shape == (shape if isinstance(shape, tuple) else (shape,)), name
    mb.set_input(m, (2.0,))
    np.testing.assert_allclose(rotate(state.q2, state.Jtau2)[0], 0.01 * 2.0, atol=1e-15)
    mb.mehrotra(m, options=EXACT)
    np.testing.assert_allclose(state.x2 + 0.01 * state.vsol[1], mb.get_next_state(m)[:3])


def see_maps():
    m = snake(3, joint="PlanarOrbital")
    x = np.random.default_rng(1).uniform(0.0, 1.0, mb.minimal_dimension(m))
    np.testing.assert_allclose(mb.maximal_to_minimal(m, mb.minimal_to_maximal(m, x)), x, atol=1e-10)


def see_mechanics():
    m = snake(3, joint="Revolute", spring=2.0, gravity=0.0)
    s = mb.simulate(m, 50, moved(m), options=EXACT)
    kept = mb.momentum(m, s)
    assert kept.shape == (50, 6)
    np.testing.assert_allclose(kept, np.tile(kept[0], (50, 1)), atol=1e-10)
    total = mb.kinetic_energy(m, s) + mb.potential_energy(m, s)
    np.testing.assert_array_equal(mb.mechanical_energy(m, s), total)
    assert np.ptp(total) < 0.02 * total[0]


def see_simulation():
    m = chain(2)
    takes(mb.simulate, "mechanism", "steps", "z", "control", "record", "verbose", "abort_upon_failure", "options")
    takes(mb.step, "mechanism", "z", "u", "options")
    takes(mb.step_minimal_coordinates, "mechanism", "x", "u", "options")
    z = moved(m)
    s = mb.simulate(m, range(2), z, lambda *_: (0.1, 0.2), record=True, verbose=False, abort_upon_failure=True,
                    options=mb.SolverOptions())  # fmt: skip
    assert isinstance(s, mb.Storage)
    has(s, "x", "q", "v", "w", "px", "pq", "vl", "wl")
    np.testing.assert_array_equal(s.state(1), mb.step(m, z, (0.1, 0.2)))
    x = mb.maximal_to_minimal(m, z)
    after = mb.step_minimal_coordinates(m, x, (0.1, 0.2), options=EXACT)
    np.testing.assert_allclose(after, mb.maximal_to_minimal(m, mb.step(m, z, (0.1, 0.2), options=EXACT)), atol=1e-9)


def see_gradients():
    m = chain(2)
    z, u = moved(m), np.array([0.3, -0.2])
    takes(mb.get_maximal_gradients, "mechanism", "z", "u", "options")
    takes(mb.get_minimal_gradients, "mechanism", "x", "u", "options")
    a, b = mb.get_maximal_gradients(m, z, u, options=EXACT)
    assert (a.shape, b.shape) == ((24, 24), (24, 2))
    x = mb.maximal_to_minimal(m, z)
    a, b = mb.get_minimal_gradients(m, x, u, options=EXACT)
    e = 1e-6 * np.eye(4)
    ahead = [mb.step_minimal_coordinates(m, x + d, u, options=EXACT) for d in e]
    behind = [mb.step_minimal_coordinates(m, x - d, u, options=EXACT) for d in e]
    np.testing.assert_allclose(a, np.subtract(ahead, behind).T / 2e-6, atol=1e-5)


OPTIONS = {"rtol": 1e-6, "btol": 1e-4, "ls_scale": 0.5, "max_iter": 50, "max_ls": 10, "undercut": np.inf,
           "no_progress_max": 3, "no_progress_undercut": 10, "verbose": False, "kappa": None}  # fmt: skip


def see_options():
    defaults = mb.SolverOptions()
    assert {name: getattr(defaults, name) for name in OPTIONS} == OPTIONS
    m = pendulum()
    z = moved(m)
    loose = mb.step(m, z, options=mb.SolverOptions(**{**OPTIONS, "rtol": 1e-3}))
    tight = mb.step(m, z, options=EXACT)
    np.testing.assert_allclose(loose, tight, atol=1e-3)


def see_mehrotra():
    m = block()
    assert mb.mehrotra(m, options=mb.SolverOptions()) == "success"
    weight = sum(k.impulses[0] for k in m.contacts)
    # one step from rest on the ground: the corners give the weight back, to what the solver leaves of it
    assert weight == pytest.approx(9.81 * 0.01, abs=2e-3)


def see_visualize():
    m = pendulum()
    takes(mb.visualize, "mechanism", "storage", "vis", "build", "show_contact", "animation", "color", "name")
    takes(mb.build_robot, "mechanism", "vis", "show_contact", "name", "color")
    vis = mb.build_robot(m, vis=mb.Visualizer(), show_contact=True, name="one", color=(0, 0, 1, 1))
    s = mb.simulate(m, 4)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        again = mb.visualize(m, s, vis=vis, build=False, name="one", html=page)
        other = mb.visualize(m, name="two", animation=dict(vis.scene.tracks), html=page)
    assert again is vis
    np.testing.assert_array_equal(vis.scene.poses()[0], s.x)
    assert list(other.scene.tracks) == ["one"]


def see_surroundings():
    vis = mb.Visualizer()
    takes(mb.set_camera, "vis", "zoom", "cam_pos")
    takes(mb.set_light, "vis", "ambient", "fill", "point_x", "point_x_shadow", "direction")
    takes(mb.set_surface, "vis", "f", "xlims", "ylims", "color", "n")
    takes(mb.set_floor, "vis", "x", "y", "z", "origin", "normal", "color", "tilepermeter", "imagename", "axis", "grid")
    takes(mb.set_arrow, "vis", "origin", "direction", "color", "shaft_radius", "max_head_radius", "scaling", "name")
    mb.set_camera(vis, zoom=2.0, cam_pos=X)
    mb.set_light(vis, ambient=0.5, fill=0.1, point_x=0.7, point_x_shadow=False, direction="Negative")
    mb.set_surface(vis, lambda x, y: x * y, xlims=(-1, 1), ylims=(-2, 2), color=(0, 1, 0), n=5)
    mb.set_floor(vis, x=2, y=3, z=0.2, origin=Z, normal=X, color=(1, 1, 1, 1), tilepermeter=4, axis=True, grid=False)
    mb.set_arrow(vis, X, Z, color=(1, 0, 0), shaft_radius=0.02, max_head_radius=0.04, scaling=0.5, name="push")
    mb.set_background(vis, top_color=(0, 0, 1), bottom_color=(1, 1, 1))
    scene = vis.scene
    assert (scene.camera.zoom, scene.camera.position) == (2.0, (1.0, 0.0, 0.0))
    assert (scene.light.ambient, scene.light.fill, scene.light.lamp, scene.light.shadow) == (0.5, 0.1, 0.7, False)
    assert scene.light.direction[0] < 0.0
    assert (scene.floor.size, scene.floor.origin, scene.floor.normal) == (
        (2.0, 3.0, 0.2),
        (0.0, 0.0, 1.0),
        (1.0, 0.0, 0.0),
    )
    assert (scene.floor.tile, scene.floor.grid) == (0.25, False)
    np.testing.assert_allclose(scene.solids["push"].triangles.vertices.max(0)[2], 0.5)
    x, y, z = scene.solids["surface"].triangles.vertices.T
    np.testing.assert_allclose(z, x * y)
    assert scene.background.top == (0.0, 0.0, 1.0)


SYMBOLS = {
    "Mechanism": see_mechanism,
    "get_node": see_look_ups,
    "get_body": see_look_ups,
    "get_joint": see_look_ups,
    "get_contact": see_look_ups,
    "get_next_state": see_next_state,
    "set_input": see_input,
    "maximal_dimension": see_dimensions,
    "minimal_dimension": see_dimensions,
    "input_dimensions": see_dimensions,
    "root_to_leaves_ordering": see_ordering,
    "set_floating_base": see_floating_base,
    "set_external_force": see_external_force,
    "add_external_force": see_external_force,
    "Body": see_body,
    "Origin": see_body,
    "Shape": see_shapes,
    "Mesh": see_mesh,
    "Box": see_shapes,
    "Cylinder": see_shapes,
    "Capsule": see_shapes,
    "Sphere": see_shapes,
    "Pyramid": see_shapes,
    "FrameShape": see_shapes,
    "CombinedShapes": see_shapes,
    "Joint": see_halves,
    "Rotational": see_halves,
    "Translational": see_halves,
    "JointConstraint": see_halves,
    **{kind: lambda kind=kind: see_prototype(kind) for kind in KINDS},
    "Contact": see_contacts,
    "ImpactContact": see_contacts,
    "LinearContact": see_contacts,
    "NonlinearContact": see_contacts,
    "ContactConstraint": see_contact_constraint,
    "contact_constraint": see_contact_constraint,
    "contact_location": see_points,
    "get_sdf": see_points,
    **{name: lambda name=name: see_collision(name) for name in COLLISIONS},
    "contact_normal": see_points,
    "contact_tangent": see_points,
    "State": see_state,
    "minimal_to_maximal": see_maps,
    "maximal_to_minimal": see_maps,
    "mechanical_energy": see_mechanics,
    "kinetic_energy": see_mechanics,
    "potential_energy": see_mechanics,
    "momentum": see_mechanics,
    "Storage": see_simulation,
    "step": see_simulation,
    "step_minimal_coordinates": see_simulation,
    "simulate": see_simulation,
    "get_maximal_gradients": see_gradients,
    "get_minimal_gradients": see_gradients,
    "SolverOptions": see_options,
    "mehrotra": see_mehrotra,
    "visualize": see_visualize,
    "build_robot": see_visualize,
    **dict.fromkeys(("set_camera", "set_light", "set_surface", "set_floor", "set_arrow"), see_surroundings),
}


@pytest.mark.parametrize("name", SYMBOLS)
def test_a_symbol_is_there_documented_and_does_its_work(name):
    symbol = getattr(mb, name)
    assert name in mb.__all__
    assert inspect.getdoc(symbol)
    SYMBOLS[name]()


@pytest.mark.parametrize("name", sorted(mb.__all__))
def test_every_public_name_is_documented_with_all_its_arguments_typed(name):
    symbol = getattr(mb, name)
    assert inspect.getdoc(symbol), name
    if inspect.isfunction(symbol) and symbol.__module__.startswith("cbsim.multibody"):
        hints = inspect.signature(symbol)
        assert hints.return_annotation is not inspect.Signature.empty
        assert all(p.annotation is not inspect.Parameter.empty for p in hints.parameters.values())
    assert not is_dataclass(symbol) or fields(symbol) is not None


def test_the_inventory_has_every_symbol_of_the_page_and_no_other():
    if not SEED.exists():
        pytest.skip("the page of seeds/ is not here")
    listed = set(re.findall(r"^Dojo\.(\w+?)!?(?:Type|Function)$", SEED.read_text(), re.MULTILINE))
    assert listed == set(SYMBOLS) - {"StringCollision"}
