"""Every mistake is a `ModelError` that names the part; nothing that is no number gets anywhere."""

import numpy as np
import pytest

from cbsim.errors import ModelError, StepError
from cbsim.multibody import (
    Body,
    Box,
    Collider,
    ContactConstraint,
    Fixed,
    Floating,
    ImpactContact,
    Mechanism,
    Mesh,
    NonlinearContact,
    Orbital,
    Origin,
    Planar,
    Prismatic,
    Prototype,
    Revolute,
    Rotational,
    SolverOptions,
    Sphere,
    SphereBoxCollision,
    SphereSphereCollision,
    Spherical,
    Translational,
    close_loops,
    contact_constraint,
    get_body,
    get_joint,
    get_maximal_state,
    get_node,
    minimal_to_maximal,
    rollout,
    rollout_gradients,
    set_external_force,
    set_input,
    set_limits,
    set_maximal_state,
    set_minimal_coordinates,
    simulate,
    step,
    step_batch,
)
from cbsim.multibody.gallery import block, chain, fourbar, pendulum, snake
from tests.multibody.common import X, Y, Z

EYE = np.eye(3)


def says(*words):
    """A ModelError whose text has all the words."""
    return pytest.raises(ModelError, match="(?s)" + "".join(f"(?=.*{w})" for w in words))


def body(name="rod"):
    return Box(0.1, 0.1, 1.0, mass=1.0).body(name=name)


@pytest.mark.parametrize("mass", [0.0, -1.0, np.nan, np.inf, "heavy", None])
def test_a_body_needs_a_mass(mass):
    with says("rod", "mass"):
        Body(mass, EYE, name="rod")


@pytest.mark.parametrize(
    ("inertia", "word"),
    [
        (np.diag([1.0, 1.0, -1.0]), "principal moments"),
        (np.zeros((3, 3)), "principal moments"),
        (np.diag([1.0, 1.0, 2.1]), "sum of the other two"),
        ([[1.0, 0.2, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "symmetric"),
        (np.diag([1.0, np.nan, 1.0]), "finite"),
        ([1.0, 1.0, 1.0], "3 x 3"),
        (1.0, "3 x 3"),
    ],
)
def test_a_body_needs_an_inertia_that_a_body_can_have(inertia, word):
    with says("rod", word):
        Body(1.0, inertia, name="rod")


def test_an_effective_inertia_may_break_the_triangle_but_not_be_negative():
    assert Body(1.0, np.diag([0.03, 0.001, 0.1]), effective=True).mass == 1.0
    with says("principal moments"):
        Body(1.0, np.diag([0.03, -0.001, 0.1]), effective=True)


@pytest.mark.parametrize("size", [0.0, -1.0, np.nan])
def test_shapes_have_sizes(size):
    with says("Box", "y"):
        Box(1.0, size, 1.0)


def test_a_shape_without_mass_is_no_body():
    with says("Sphere", "mass"):
        Sphere(1.0).body()


def test_a_mesh_needs_a_volume_or_an_inertia(tmp_path):
    corners, faces = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]
    with says("Mesh", "volume"):
        Mesh(vertices=corners, faces=faces, mass=1.0).body()
    assert Mesh(vertices=corners, faces=faces, mass=1.0, inertia_matrix=EYE).body().mass == 1.0
    with says("Mesh", "faces"):
        Mesh(vertices=corners, faces=[[0, 1, 7]])
    with says("cannot be read"):
        Mesh(tmp_path / "none.obj", 1.0).body()
    (tmp_path / "junk.stl").write_bytes(b"\x00\xff nothing")
    with says("no mesh|volume"):
        Mesh(tmp_path / "junk.stl", 1.0).body()
    with says("none of obj"):
        Mesh(tmp_path / "x.exe", 1.0).body()


def test_a_body_that_nothing_holds_is_named_with_a_way_out():
    origin, rod, loose = Origin(), body(), body("loose")
    with says("loose", "no joint", "Floating"):
        Mechanism(origin, [rod, loose], [Revolute(origin, rod, X)])


def test_a_body_that_only_carries_others_is_not_reached():
    origin, rod, other = Origin(), body(), body("other")
    with says("other", "from parent to child"):
        Mechanism(origin, [rod, other], [Revolute(origin, rod, X), Revolute(other, rod, X, child_vertex=Y)])


def test_bodies_that_hold_only_one_another_are_not_reached():
    origin, a, b = Origin(), body("a"), body("b")
    with says("'a'", "no joint leads"):
        Mechanism(origin, [a, b], [Revolute(a, b, X), Revolute(b, a, X)])


def test_names_are_unique_across_kinds():
    origin, rod = Origin(), body("same")
    with says("same", "2 parts"):
        Mechanism(origin, [rod], [Revolute(origin, rod, X, name="same")])
    with says("origin", "2 parts"):
        Mechanism(origin, [body("origin")], [Revolute(origin, rod, X)])
    with says("stands 2 times"):
        Mechanism(origin, [rod, rod], [Revolute(origin, rod, X)])


def test_the_unnamed_get_names_that_nobody_has():
    origin, rod = Origin(), Box(1, 1, 1, mass=1.0).body(name="joint_1")
    m = Mechanism(origin, [rod], [Revolute(origin, rod, X)])
    assert m.joints[0].name == "joint_1_1"


def test_a_joint_joins_two():
    origin, rod = Origin(), body()
    with says("knot", "itself"):
        Revolute(rod, rod, X, name="knot")
    with says("knot", "origin"):
        Revolute(rod, origin, X, name="knot")
    with says("knot", "parent"):
        Revolute(None, rod, X, name="knot")
    with says("pin", "'stranger'", "not in the mechanism"):
        Mechanism(origin, [rod], [Revolute(body("stranger"), rod, X, name="pin")])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"parent_vertex": (1, 2)}, "parent_vertex"),
        ({"child_vertex": (1, 2, np.nan)}, "child_vertex"),
        ({"orientation_offset": (1, 1, 0, 0)}, "orientation_offset"),
        ({"orientation_offset": (0, 0, 0)}, "orientation_offset"),
        ({"spring": -1.0}, "spring"),
        ({"damper": np.nan}, "damper"),
        ({"spring_offset": (1.0, 2.0)}, "spring_offset"),
        ({"joint_limits": (1.0, 0.5)}, "low bound 1"),
        ({"joint_limits": (1.0, 1.0)}, "low bound 1"),
        ({"joint_limits": (np.nan, 0.5)}, "joint_limits"),
        ({"joint_limits": 3.0}, "joint_limits"),
        ({"joint_limits": ((0, 0), (1, 1))}, "joint_limits"),
    ],
)
def test_joints_say_which_of_their_numbers_is_wrong(options, word):
    with says("knee", word):
        Revolute(Origin(), body(), X, name="knee", **options)


@pytest.mark.parametrize("axis", [(0, 0, 0), (1, 0), None, 0.0, 1.0, (np.inf, 0, 0)])
def test_an_axis_is_a_direction(axis):
    if axis is None:
        return
    with says("knee", "axis"):
        Revolute(Origin(), body(), axis, name="knee")


def test_halves_of_joints_are_checked_too():
    with says("5"):
        Rotational(5)
    with says("sinusoidal"):
        Rotational(1, X, spring_type="sinusoidal")
    with says("two points"):
        Translational(1, X, vertices=(0.0,))
    with says("Revolut", "did you mean 'Revolute'"):
        Prototype("Revolut", Origin(), body(), X)


def test_the_two_halves_of_a_joint_share_their_spring():
    from cbsim.multibody import JointConstraint

    origin, rod = Origin(), body()
    halves = Translational(1, X, spring=1.0), Rotational(1, X, spring=2.0)
    with says("slot", "different springs", "1 and 2"):
        Mechanism(origin, [rod], [JointConstraint(origin, rod, *halves, name="slot")])


def test_a_loop_that_cannot_close_is_named():
    with says("closing", "cannot be closed"):
        fourbar(lengths=(1.0, 1.0, 1.0, 5.0))


def test_more_constraints_than_bodies_can_bear_are_named():
    origin, rod = Origin(), body()
    twice = [Fixed(origin, rod, name="one"), Fixed(origin, rod, name="two")]
    with says("two", "6 constraints", "0 freedoms"):
        Mechanism(origin, [rod], twice)
    pins = [Revolute(origin, rod, X, name="pin"), Spherical(origin, rod, parent_vertex=Y, child_vertex=Y, name="nail")]
    with says("nail", "nothing could move"):
        Mechanism(origin, [rod], pins)


def test_redundant_constraints_are_fine_where_something_moves():
    assert fourbar(closing="Revolute").root_to_leaves[-1] == 5
    assert fourbar(closing="Spherical").system.loop_joints == (5,)


def test_a_second_joint_that_constrains_nothing_is_refused():
    origin, rod = Origin(), body()
    with says("extra", "constrains nothing"):
        Mechanism(origin, [rod], [Revolute(origin, rod, X), Floating(origin, rod, name="extra")])


def test_of_two_joints_that_cannot_close_a_loop_one_is_refused_by_name():
    origin, a = Origin(), body("a")
    one = Orbital(origin, a, X, damper=1.0, name="one")
    with says("two", "damper about two axes"):
        Mechanism(origin, [a], [one, Orbital(origin, a, X, damper=1.0, name="two")])
    m = Mechanism(origin, [a], [Orbital(origin, a, X, name="plain"), one])
    assert m.joints[m.compiled.spanning.links[0]].name == "one"


def test_a_state_in_which_a_loop_is_open_is_refused_until_it_is_closed():
    m = fourbar()
    x = np.zeros(8)
    x[0] = 0.4
    z = minimal_to_maximal(m, x)
    for go in (simulate, rollout):
        with says("closing", "open by"):
            go(m, *((5, z) if go is simulate else (z, 5)))
    set_maximal_state(m, z)
    close_loops(m)
    assert simulate(m, 5).is_solved.all()
    with says("closing", "closes a loop"):
        set_minimal_coordinates(m, "closing", 0.1)


def test_a_state_in_which_bodies_are_not_where_joints_hold_them_is_refused():
    m = chain(2, angle=0.0)
    z = get_maximal_state(m)
    z[13 + 1] += 0.1
    for go in (simulate, rollout):
        with says("joint_2", "violated by 0.1"):
            go(m, *((5, z) if go is simulate else (z, 5)))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"timestep": 0.0}, "timestep"),
        ({"timestep": np.nan}, "timestep"),
        ({"gravity": (1.0, 2.0)}, "gravity"),
        ({"gravity": np.nan}, "gravity"),
        ({"input_scaling": 0.0}, "input_scaling"),
    ],
)
def test_a_mechanism_says_which_of_its_numbers_is_wrong(arguments, word):
    origin, rod = Origin(), body()
    with says(word):
        Mechanism(origin, [rod], [Revolute(origin, rod, X)], **arguments)


def test_a_mechanism_says_which_of_its_parts_is_none():
    origin, rod = Origin(), body()
    joint = Revolute(origin, rod, X)
    for arguments, word in (
        ((rod, [rod], [joint]), "origin"),
        ((origin, [joint], [joint]), "bodies"),
        ((origin, [rod], [rod]), "joints"),
        ((origin, [rod], [joint], [rod]), "contacts"),
        ((origin, [], []), "no bodies"),
        ((origin, 7, []), "bodies"),
    ):
        with says(word):
            Mechanism(*arguments)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("column", range(13))
@pytest.mark.parametrize("make", [pendulum, fourbar, block, lambda: snake(3, joint="Orbital", damper=1.0)])
def test_a_state_with_what_is_no_number_names_its_body(make, column, value):
    m = make()
    z = get_maximal_state(m)
    z[column] = value
    with says(m.bodies[0].name, "its"):
        step(m, z)
    with says(m.bodies[0].name, "its"):
        set_maximal_state(m, z)
    with says(m.bodies[0].name, "its"):
        rollout(m, z, 2)


def test_states_inputs_and_coordinates_have_their_lengths():
    m = chain(3)
    z = get_maximal_state(m)
    with says("state", "39"):
        step(m, z[:-1])
    with says("state"):
        step(m, "nowhere")
    with says("input", "\\(3,\\)"):
        step(m, z, [1.0, 2.0])
    with says("input", "nan"):
        step(m, z, [1.0, np.nan, 0.0])
    with says("inputs"):
        rollout(m, z, 3, np.zeros((3, 2)))
    with says("inputs"):
        rollout(m, z, 3, np.full((3, 3), np.nan))
    with says("minimal state"):
        minimal_to_maximal(m, np.zeros(5))
    with says("joint_2", "coordinates"):
        set_minimal_coordinates(m, "joint_2", (1.0, 2.0))
    with says("joint_2", "input"):
        set_input(m, (1.0, 2.0), "joint_2")
    with says("rod_2", "force"):
        set_external_force(m.bodies[1], force=(1.0, 2.0))
    for steps in (0, 0.5, "ten", range(0)):
        with says("steps"):
            simulate(m, steps)


def test_what_cannot_move_is_looked_at_too():
    origin, rod = Origin(), body()
    m = Mechanism(origin, [rod], [Fixed(origin, rod)])
    z = get_maximal_state(m)
    np.testing.assert_array_equal(step(m, z), z)
    z[3] = np.nan
    with says("rod", "velocity"):
        step(m, z)


def test_orientations_are_unit_quaternions():
    m = pendulum()
    z = get_maximal_state(m)
    for scale in (0.0, 1.001):
        z[6] = scale
        for go in (set_maximal_state, step):
            with says("rod", "unit quaternion"):
                go(m, z)
    with says("q2"):
        m.bodies[0].state.q2 = (0, 0, 0, 0)


def test_what_turns_more_than_half_round_in_a_step_says_so():
    m = snake(1, joint="Fixed")
    z = get_maximal_state(m)
    z[12] = 250.0
    with says("box_1", "half a turn"):
        set_maximal_state(m, z)


def test_look_ups_suggest_the_nearest_name():
    m = chain(2)
    with says("rud_2", "did you mean 'rod_2'"):
        get_body(m, "rud_2")
    with says("rod_2", "no joint"):
        get_joint(m, "rod_2")
    with says("99"):
        get_node(m, 99)
    with says("joint_8"):
        set_limits(m, {"joint_8": (0, 1)})


def test_contacts_say_what_is_wrong_with_them():
    a, b = body("a"), body("b")
    with says("nonlinera", "did you mean 'nonlinear'"):
        contact_constraint(a, Z, contact_type="nonlinera")
    with says("contact_normal"):
        contact_constraint(a, (0, 0, 0))
    with says("friction_coefficient"):
        contact_constraint(a, Z, friction_coefficient=-1.0)
    with says("contact_radius", "numbers"):
        contact_constraint(a, Z, contact_radius="wide")
    with says("contact_radius"):
        contact_constraint(a, Z, contact_radius=-1.0)
    with says("rows", "1 or 3"):
        contact_constraint([a, b], Z, contact_radius=[1, 2, 3])
    with says("bump", "itself"):
        ContactConstraint(ImpactContact(SphereSphereCollision()), a, a, name="bump")
    with says("bump", "a body as its child"):
        ContactConstraint(ImpactContact(SphereSphereCollision()), a, name="bump")
    with says("bump", "no other body"):
        ContactConstraint(contact_constraint(a, Z)[0].model, a, b, name="bump")
    with says("volume"):
        NonlinearContact(SphereBoxCollision(0.0, (0, 0, 0), (1, 1, 0)), 0.5)
    origin = Origin()
    with says("bump", "not in the mechanism"):
        contact = ContactConstraint(ImpactContact(SphereSphereCollision()), a, b, name="bump")
        Mechanism(origin, [a], [Floating(origin, a)], contact)


@pytest.mark.parametrize(
    "wrong",
    [
        {"rtol": 0.0},
        {"btol": np.nan},
        {"max_iter": -1},
        {"max_ls": 1.5},
        {"ls_scale": 1.0},
        {"kappa": -1.0},
        {"order": 3},
    ],
)
def test_options_are_checked(wrong):
    with says("SolverOptions", next(iter(wrong))):
        SolverOptions(**wrong)


def test_options_are_options():
    m = pendulum()
    with says("SolverOptions"):
        step(m, get_maximal_state(m), options=7)


def test_a_step_that_fails_tells_time_residuals_and_the_worst_constraint():
    m = chain(3, timestep=0.1)
    z = minimal_to_maximal(m, (2.0, 3.0, 1.0, -9.0, 2.0, 9.0))
    never = SolverOptions(rtol=1e-12, max_iter=0)
    with pytest.raises(StepError) as caught:
        simulate(m, range(7, 12), z, options=never)
    assert caught.value.time == pytest.approx(0.7)
    assert caught.value.residual > 1e-3
    assert "joint" in caught.value.worst
    assert caught.value.worst in str(caught.value)
    assert np.isfinite(get_maximal_state(m)).all()
    short = simulate(m, 5, z, options=never, abort_upon_failure=False)
    assert len(short) == 1
    assert not short.is_solved.any()
    np.testing.assert_array_equal(short.state(0), z)


def test_a_step_that_fails_names_both_colliders_of_the_worst_contact():
    origin, shape = Origin(), Box(0.4, 0.4, 0.4, mass=0.01)
    parts = [shape.body(name=name) for name in ("lower", "upper")]
    solid = [Collider(part, shape, name=f"skin of {part.name}") for part in parts]
    m = Mechanism(origin, parts, [Floating(origin, part) for part in parts], colliders=solid)
    z = get_maximal_state(m).reshape(-1, 13)
    z[1, 2] = 0.3
    never = SolverOptions(max_iter=0, max_depenetration_speed=np.inf)
    for fails in (lambda: step(m, z.ravel(), options=never), lambda: simulate(m, 1, z.ravel(), options=never)):
        with pytest.raises(StepError) as caught:
            fails()
        assert caught.value.worst == "contact of collider 'skin of lower' (lower) and 'skin of upper' (upper)"


def test_prismatic_and_planar_joints_name_their_bounds():
    origin, rod = Origin(), body()
    m = Mechanism(origin, [rod], [Planar(origin, rod, Z, joint_limits=((-1, -np.inf), (1, np.inf)), name="table")])
    assert len(m.compiled.model.row_link) == 2
    with says("rail", "numbers"):
        Prismatic(origin, rod, Z, joint_limits=((0, 1, 2), 5), name="rail")


@pytest.mark.parametrize("count", ["a", -1, 2.5, True])
def test_a_number_of_steps_is_a_whole_number(count):
    mechanism = pendulum()
    z = get_maximal_state(mechanism)
    for call in (rollout, rollout_gradients):
        with pytest.raises(ModelError, match=r"n is .*, expected a whole number of at least"):
            call(mechanism, z, count)
    with pytest.raises(ModelError, match=r"steps is .*, expected a whole number"):
        step_batch(mechanism, [z], steps=count)
