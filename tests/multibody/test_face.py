"""The face holds one state and one input; `step` and `rollout` know neither."""

import copy
import pickle
import re

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.geometry.pose import rotate
from cbsim.multibody import (
    Box,
    Cylindrical,
    Floating,
    Mechanism,
    Origin,
    Prismatic,
    PrismaticOrbital,
    Revolute,
    SolverOptions,
    Spherical,
    add_external_force,
    add_limits,
    contact_constraint,
    generate_storage,
    get_body,
    get_joint,
    get_maximal_state,
    get_minimal_state,
    get_next_state,
    get_node,
    get_sdf,
    input_dimensions,
    kinetic_energy,
    maximal_to_minimal,
    mechanical_energy,
    mehrotra,
    minimal_to_maximal,
    potential_energy,
    rollout,
    root_to_leaves_ordering,
    set_dampers,
    set_external_force,
    set_floating_base,
    set_input,
    set_limits,
    set_maximal_state,
    set_minimal_coordinates,
    set_minimal_velocities,
    set_springs,
    simulate,
    step,
)
from cbsim.multibody.gallery import block, chain, fourbar, pendulum, snake, sphere
from tests.common import ROOT
from tests.multibody.common import EXACT, X, Y, Z


def moving(m, seed=0):
    return minimal_to_maximal(m, np.random.default_rng(seed).uniform(0.0, 1.0, len(get_minimal_state(m))))


def test_step_is_pure():
    m = chain(3)
    z = moving(m)
    set_input(m, (1.0, 2.0, 3.0))
    set_external_force(m.bodies[0], force=(1, 2, 3))
    kept, before = z.copy(), copy.deepcopy((m.pose, m.after, m.inputs, m.external, m.own))
    first = step(m, z)
    simulate_elsewhere = rollout(m, moving(m, 3), 5)
    assert simulate_elsewhere.shape == (6, 39)
    np.testing.assert_array_equal(step(m, z), first)
    np.testing.assert_array_equal(z, kept)
    for now, then in zip((m.pose, m.after, m.inputs, m.external, *m.own), (*before[:4], *before[4]), strict=True):
        np.testing.assert_array_equal(now, then)


def test_step_returns_the_shape_it_is_given():
    m = chain(3)
    z = moving(m)
    assert step(m, z).shape == (39,)
    assert step(m, z.reshape(3, 13)).shape == (3, 13)
    np.testing.assert_array_equal(step(m, z.reshape(3, 13)).ravel(), step(m, list(z)))


@pytest.mark.parametrize(
    "make", [lambda: chain(3), lambda: block(timestep=0.05), fourbar, lambda: snake(3, joint="Orbital")]
)
def test_storage_rows_are_the_nodes_before_the_steps(make):
    m = make()
    z = get_maximal_state(m) if m.contacts else moving(m)
    if m.compiled.spanning.loop_joints:
        z = get_maximal_state(m)
    path = rollout(m, z, 10)
    s = simulate(m, 10, z)
    assert len(s) == 10
    for k in range(10):
        np.testing.assert_array_equal(s.state(k), path[k])
    np.testing.assert_array_equal(get_maximal_state(m), path[9])
    np.testing.assert_array_equal(get_next_state(m), path[10])


def test_velocities_lead_from_node_to_node():
    m = snake(3, joint="Spherical")
    s = simulate(m, 20, moving(m))
    h = m.timestep
    np.testing.assert_allclose(s.x[1:], s.x[:-1] + h * s.v[1:], atol=1e-14)
    half = 0.5 * h * s.w[1:]
    turned = s.q[:-1] * np.array([1, -1, -1, -1])
    assert np.abs(np.linalg.norm(s.q, axis=-1) - 1.0).max() < 1e-12
    from cbsim.geometry.pose import multiply

    np.testing.assert_allclose(multiply(turned, s.q[1:])[..., 1:], half, atol=1e-13)
    for name, width in (("x", 3), ("q", 4), ("v", 3), ("w", 3), ("px", 3), ("pq", 3), ("vl", 3), ("wl", 3)):
        assert getattr(s, name).shape == (20, 3, width)


def test_a_controller_an_array_and_a_held_input_do_the_same():
    m = chain(2)
    z, u = moving(m), np.random.default_rng(4).normal(size=(30, 2))
    by_array = simulate(m, 30, z, u)
    by_call = simulate(m, 30, z, lambda _, k: u[k])
    by_setting = simulate(m, 30, z, lambda mechanism, k: set_input(mechanism, u[k]))
    assert [k for k in "xqvw" if not np.array_equal(getattr(by_array, k), getattr(by_call, k))] == []
    np.testing.assert_array_equal(by_array.x, by_setting.x)
    np.testing.assert_array_equal(m.inputs, u[-1])
    set_input(m, u[0])
    np.testing.assert_array_equal(simulate(m, 30, z).x, simulate(m, 30, z, np.tile(u[0], (30, 1))).x)
    set_input(m, u[1, 1], "joint_2")
    np.testing.assert_array_equal(get_joint(m, "joint_2").input, u[1, 1:])
    set_input(m.joints[0], 0.25)
    np.testing.assert_array_equal(m.inputs, (0.25, u[1, 1]))


def test_contacts_come_out_the_same_with_a_controller():
    m = block(timestep=0.05)
    z = np.array([0, 0, 0.26, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0.5])
    free = simulate(m, 40, z)
    np.testing.assert_array_equal(simulate(m, 40, z, lambda *_: None).x, free.x)


def test_a_controller_sees_the_node_and_its_number():
    m = chain(2)
    seen = []

    def watch(mechanism, k):
        seen.append((k, get_maximal_state(mechanism)))

    s = simulate(m, range(5, 9), moving(m), watch)
    assert [k for k, _ in seen] == [5, 6, 7, 8]
    for row, (_, z) in enumerate(seen):
        np.testing.assert_array_equal(s.state(row), z)


def test_a_controller_can_hold_a_pendulum_up():
    m = pendulum()
    up = np.array([np.pi, 0.0])

    def limit_work(mechanism, k):
        angle, rate = get_minimal_state(mechanism) - up
        return [-40.0 * angle - 6.0 * rate]

    simulate(m, 500, minimal_to_maximal(m, up + np.array([0.3, 0.0])), limit_work)
    np.testing.assert_allclose(get_minimal_state(m), up, atol=1e-3)


def test_without_recording_only_the_last_node_is_kept():
    m = chain(2)
    z = moving(m)
    whole, last = simulate(m, 10, z), simulate(m, 10, z, record=False)
    assert len(last) == 1
    np.testing.assert_array_equal(last.state(0), whole.state(9))


def test_verbose_tells_how_steps_went(capsys):
    m = pendulum()
    simulate(m, 2, verbose=True)
    mehrotra(m, options=SolverOptions(verbose=True))
    step(m, get_maximal_state(m), options=SolverOptions(verbose=True))
    simulate(m, range(7, 8), options=SolverOptions(verbose=True))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["step 0", "step 1", "step 0", "step 0", "step 7"]
    assert all("success" in line for line in lines)


def test_mehrotra_solves_the_own_step_and_takes_it_not():
    m = chain(2)
    set_maximal_state(m, moving(m))
    set_input(m, (0.3, -0.2))
    z = get_maximal_state(m)
    coasting = get_next_state(m)
    np.testing.assert_allclose(coasting.reshape(2, 13)[:, :3], m.pose[:, :3] + m.timestep * m.pose[:, 3:6])
    assert mehrotra(m, options=EXACT) == "success"
    np.testing.assert_array_equal(get_maximal_state(m), z)
    np.testing.assert_allclose(get_next_state(m), step(m, z, (0.3, -0.2), options=EXACT), atol=1e-15)
    state = m.bodies[1].state
    np.testing.assert_array_equal(state.vsol, [state.v15, get_next_state(m)[16:19]])
    np.testing.assert_array_equal(state.wsol, [state.w15, get_next_state(m)[23:26]])
    assert np.abs(state.d).max() < 1e-12
    assert mehrotra(m, options=SolverOptions(max_iter=0, rtol=1e-15)) == "failed"


def test_the_slope_of_a_body_is_that_of_its_momentum():
    m = snake(1, joint="Fixed", gravity=0.0)
    z = get_maximal_state(m)
    z[3:6], z[10:] = (1, 2, 3), (3.0, -2.0, 1.0)
    set_maximal_state(m, z)
    mehrotra(m, options=EXACT)
    slope, h = m.bodies[0].state.D, m.timestep
    np.testing.assert_allclose(slope[:3, :3], np.eye(3) / h)
    push = 1e-3
    for k in range(3):  # a small torque about axis k of the world turns node 3 by D⁻¹ of its impulse
        torque = rotate(z[6:10] * (1, -1, -1, -1), np.eye(3)[k]) * push
        base = get_next_state(m)
        set_external_force(m.bodies[0], torque=torque)
        mehrotra(m, options=EXACT)
        turned = get_next_state(m)
        from cbsim.geometry.pose import multiply

        moved = 2.0 * multiply(turned[6:10], base[6:10] * (1, -1, -1, -1))[1:]
        np.testing.assert_allclose(slope[3:, 3:] @ moved, np.eye(3)[k] * push * h, atol=1e-9)
        set_external_force(m.bodies[0])
        mehrotra(m, options=EXACT)


def test_states_can_be_read_and_set_body_by_body():
    m = pendulum()
    state = get_body(m, "rod").state
    z = moving(m)
    set_maximal_state(m, z)
    before = rollout(m, z, 1, options=EXACT)
    set_maximal_state(m, before[1])
    np.testing.assert_allclose(state.x1, before[0, :3], atol=1e-14)
    np.testing.assert_allclose(state.q1, before[0, 6:10], atol=1e-14)
    state.x2, state.v15, state.w15, state.q2 = (1, 2, 3), (4, 5, 6), (7, 8, 9), (0, 2, 0, 0)
    np.testing.assert_array_equal(get_maximal_state(m), [1, 2, 3, 4, 5, 6, 0, 1, 0, 0, 7, 8, 9])
    assert "x2" in repr(state)


def test_an_outside_force_is_in_the_bodys_frame_and_acts_for_one_step():
    m = snake(1, joint="Fixed", gravity=0.0, timestep=0.1)
    z = get_maximal_state(m)
    z[6:10] = np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4)
    body = m.bodies[0]
    set_maximal_state(m, z)
    set_external_force(body, force=(2.0, 0, 0), vertex=(0, 0, 0.5))
    add_external_force(body, force=(3.0, 0, 0), torque=(0, 0, 0.1))
    np.testing.assert_allclose(body.state.Fext, (0, 5.0, 0), atol=1e-15)
    np.testing.assert_allclose(body.state.tauext, (0, 1.0, 0.1))
    s = simulate(m, 3)
    np.testing.assert_allclose(s.v[:, 0, 1], (0.0, 0.5, 0.5), atol=1e-9)
    assert not body.state.external.any()
    body.state.Fext, body.state.tauext = (0, 7, 0), (0.01, 0.02, 0.03)
    np.testing.assert_allclose(
        body.state.external[:3], rotate(m.pose[0, 6:10] * (1, -1, -1, -1), (0, 7, 0)), atol=1e-12
    )
    np.testing.assert_array_equal(body.state.external[3:], (0.01, 0.02, 0.03))
    z = get_maximal_state(m)
    mehrotra(m)
    assert np.abs(get_next_state(m)[3:6] - z[3:6]).max() > 0.5
    assert body.state.external.any()


def test_a_controller_can_push_in_every_step():
    m = snake(1, joint="Fixed", gravity=0.0, timestep=0.1)
    push = simulate(m, 4, None, lambda mechanism, _: set_external_force(mechanism.bodies[0], force=(1, 0, 0)))
    np.testing.assert_allclose(push.v[:, 0, 0], 0.1 * np.arange(4), atol=1e-9)


def test_inputs_are_forces_or_impulses_by_their_scaling():
    z, u = moving(pendulum()), [0.7]
    force, impulse = pendulum(), pendulum()
    impulse.input_scaling = 1.0
    np.testing.assert_allclose(step(force, z, u), step(impulse, z, np.array(u) * force.timestep), atol=1e-15)
    assert force.input_scaling == force.timestep == 0.01
    force.input_scaling = 1.0
    np.testing.assert_array_equal(step(force, z, u), step(impulse, z, u))


def test_inputs_push_bodies_as_their_states_tell():
    m = snake(2, joint="Cylindrical", gravity=0.0)
    set_maximal_state(m, moving(m))
    u = np.random.default_rng(2).normal(size=8)
    u[:6] = 0.0
    set_input(m, u)
    pushes = [(b.state.JF2, rotate(b.state.q2, b.state.Jtau2), b.state.x2) for b in m.bodies]
    np.testing.assert_allclose(pushes[0][0], -pushes[1][0], atol=1e-15)
    total = sum(torque + np.cross(x, force) for force, torque, x in pushes)
    np.testing.assert_allclose(total, 0.0, atol=1e-15)
    assert np.linalg.norm(pushes[0][0]) == pytest.approx(m.timestep * abs(u[6]))


def test_impulses_of_a_joint_are_what_it_takes_to_hold_it():
    m = pendulum()
    set_maximal_state(m, minimal_to_maximal(m, (0.0, 0.0)))
    mehrotra(m, options=EXACT)
    np.testing.assert_allclose(m.joints[0].impulses, [0, 0, 9.81 * 0.01, 0, 0], atol=1e-12)
    origin, rod = Origin(), Box(1, 1, 1, mass=2.0).body(name="rod")
    rail = Mechanism(origin, [rod], [Prismatic(origin, rod, X, parent_vertex=-X)])
    mehrotra(rail, options=EXACT)
    # the point of the joint is the rod's centre: its weight is held there, and asks for no torque
    want = rail.joints[0].translational.masks.constrained @ (0, 0, 2.0 * 9.81 * 0.01)
    np.testing.assert_allclose(rail.joints[0].impulses, [*want, 0, 0, 0], atol=1e-12)
    f = fourbar()
    mehrotra(f)
    assert f.joints[4].impulses.shape == (5,)


def test_look_ups_find_parts_by_name_number_and_themselves():
    m = block()
    cube = m.bodies[0]
    assert get_node(m, "origin") is get_node(m, 0) is m.origin
    assert get_body(m, "cube") is get_body(m, 2) is cube is get_body(m, cube)
    assert get_body(m, "origin") is m.origin
    assert [n.id for n in (m.origin, *m.joints, *m.bodies, *m.contacts)] == list(range(11))
    assert (m.joints[0].parent_id, m.joints[0].child_id) == (0, 2)
    assert (m.contacts[3].parent_id, m.contacts[3].child_id) == (2, 0)
    assert m.origin.state.x2.tolist() == [0, 0, 0]


def test_the_graph_runs_from_the_origin_to_the_leaves():
    m = fourbar()
    assert root_to_leaves_ordering(m) == [1, 6, 2, 7, 3, 8, 4, 9]
    assert root_to_leaves_ordering(m, exclude_origin=False, exclude_loop_joints=False) == [0, 1, 6, 2, 7, 3, 8, 4, 9, 5]
    assert m.root_to_leaves == root_to_leaves_ordering(m, exclude_loop_joints=False)
    ties = m.system.adjacency
    assert (ties == ties.T).all()
    assert ties.sum() == 20
    assert input_dimensions(m) == [1, 1, 1, 1, 1]


def test_residuals_and_data_stand_by_the_names_of_their_nodes():
    m = block()
    simulate(m, 5)
    left = m.residual_entries
    assert set(left) == {"base", "cube", *(k.name for k in m.contacts)}
    assert max(np.abs(v).max() for v in left.values()) < 1e-3
    assert m.mu < 1e-4
    data = m.data_matrix
    assert len(data["cube"]) == 20
    assert len(data["corner_1"]) == 5
    assert len(data["base"]) == 8


def test_steps_gravity_and_scaling_may_be_changed():
    m = pendulum()
    z = moving(m)
    m.timestep = 0.02
    np.testing.assert_array_equal(step(m, z), step(pendulum(timestep=0.02), z))
    m.gravity = -1.62
    np.testing.assert_array_equal(step(m, z), step(pendulum(timestep=0.02, gravity=-1.62), z))
    np.testing.assert_array_equal(m.gravity, (0, 0, -1.62))
    assert "1 bodies" in repr(m)


def test_springs_dampers_and_bounds_may_be_changed():
    m = snake(3, joint="Cylindrical")
    z = moving(m)
    set_springs(m, 4.0)
    set_dampers(m, [9.0, 0.5, 0.5])
    np.testing.assert_array_equal(step(m, z), step(snake(3, joint="Cylindrical", spring=4.0, damper=0.5), z))
    assert m.joints[1].spring
    assert m.joints[1].damper
    assert not m.joints[0].damper
    set_limits(m, {"joint_1": ((-1, -2), (1, 2))})
    add_limits(m, "joint_2", (-3.0, 3.0))
    assert len(m.compiled.model.row) == 8
    assert m.joints[1].rotational.joint_limits[0] == -2
    set_limits(m, {"joint_1": None, "joint_2": None})
    np.testing.assert_array_equal(step(m, z), step(snake(3, joint="Cylindrical", spring=4.0, damper=0.5), z))


def test_a_part_knows_the_mechanism_that_was_made_last_of_it():
    m = pendulum()
    again = Mechanism(m.origin, m.bodies, m.joints, timestep=0.5)
    again.pose[0, 0] = 7.0
    assert m.bodies[0].state.x2[0] == 7.0
    assert get_maximal_state(m)[0] == 0.0


@pytest.mark.parametrize("how", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_has_the_same_state_and_parts_of_its_own(how):
    m = block(timestep=0.05)
    m.pose[0, 2] = 0.3
    set_input(m, 0.1 * np.arange(6.0))
    other = how(m)
    assert other.bodies[0] is not m.bodies[0]
    assert other.bodies[0].state.x2[2] == 0.3
    np.testing.assert_array_equal(simulate(other, 5).x, simulate(m, 5).x)
    other.bodies[0].state.x2 = (7, 7, 7)
    assert m.pose[0, 0] != 7.0


def test_springs_of_loop_joints_count_too():
    origin = Origin()
    rod = Box(0.1, 0.1, 1.0, mass=1.0).body(name="rod")
    pins = [Revolute(origin, rod, X, spring=s, child_vertex=(0, 0, 0.5), name=f"pin {s}") for s in (2.0, 3.0)]
    m = Mechanism(origin, [rod], pins, gravity=0.0)
    s = simulate(m, 5, minimal_to_maximal(m, (0.4, 0.0)))
    assert potential_energy(m, s)[0] == pytest.approx(0.5 * 5.0 * 0.4**2)


def test_the_page_of_mechanisms_runs(capsys):
    codes = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "multibody.md").read_text(), re.DOTALL)
    said = []
    for code in codes:
        exec(compile(code, "multibody.md", "exec"), {})  # the page is ours
        said.append(capsys.readouterr().out.strip())
    assert float(said[0]) == pytest.approx(6e-4, rel=0.1)
    assert "(64, 101, 13) True" in said


def test_every_origin_is_the_world():
    rod = Box(0.1, 0.1, 1.0, mass=1.0).body(name="rod")
    pin = Revolute(Origin(), rod, X, parent_vertex=(0, 0, 1.1), child_vertex=(0, 0, 0.5))
    m = Mechanism(Origin(), [rod], [pin])
    z = minimal_to_maximal(m, (0.3, 0.2))
    np.testing.assert_array_equal(step(m, z), step(pendulum(), z))
    assert set_floating_base(snake(1, joint="Fixed"), "box_1").origin == Origin()


def test_a_joint_is_found_by_itself_though_its_springs_were_changed():
    m = chain(2)
    old = m.joints[1]
    set_springs(m, 2.0)
    assert m.joints[1] is not old
    assert get_joint(m, old) is m.joints[1]
    set_minimal_coordinates(m, old, 0.3)
    assert get_minimal_state(m)[2] == pytest.approx(0.3)


def test_parts_of_two_mechanisms_have_their_places_in_each():
    origin = Origin()
    a, b = (Box(1, 1, 1, mass=1.0).body(name=n) for n in "ab")
    feet = contact_constraint([a, b], Z, name=("left", "right"))
    joints = [Floating(origin, a), Floating(origin, b)]
    one = Mechanism(origin, [a, b], joints, feet)
    Mechanism(origin, [b, a], joints, feet)
    z = get_maximal_state(one)
    z[2], z[15] = 1.0, 2.0
    assert [gap[0] for gap in get_sdf(one, simulate(one, 1, z))] == [1.0, 2.0]


def test_energies_are_sums_over_bodies_and_springs():
    m = pendulum(spring=3.0, spring_offset=0.2)
    s = simulate(m, 50, moving(m))
    angle = np.array([maximal_to_minimal(m, s.state(k))[0] for k in range(50)])
    want = 9.81 * s.x[:, 0, 2] + 1.5 * (angle - 0.2) ** 2
    np.testing.assert_allclose(potential_energy(m, s), want, atol=1e-12)
    inertia = np.diag(m.bodies[0].inertia)
    np.testing.assert_allclose(kinetic_energy(m, s), 0.5 * ((s.vl**2).sum((1, 2)) + (inertia * s.wl**2).sum((1, 2))))
    np.testing.assert_allclose(mechanical_energy(m, s), kinetic_energy(m, s) + potential_energy(m, s))


def test_a_storage_can_be_made_of_states():
    m = chain(2)
    path = rollout(m, moving(m), 10)
    made, s = generate_storage(m, path), simulate(m, 10, path[0])
    np.testing.assert_array_equal(made.px[:10], s.px)
    assert len(made) == 11
    with pytest.raises(ModelError):
        generate_storage(m, path[:, :-1])


@pytest.mark.parametrize("target", ["box_3", "box_4"])
def test_with_another_base_the_same_mechanism_moves_the_same(target):
    turned = np.array([0.8, 0.2, -0.4, 0.4])
    m = snake(4, axes=(X + Y, Z, Y), spring=2.0, damper=0.3, orientation_offset=turned, gravity=-3.0)
    set_maximal_state(m, moving(m))
    other = set_floating_base(m, target)
    assert other.joints[0].child.name == target
    assert other.bodies[0] is not m.bodies[0]
    z = get_maximal_state(m)
    np.testing.assert_allclose(rollout(other, z, 20, options=EXACT), rollout(m, z, 20, options=EXACT), atol=1e-9)
    for k in (1, 2, 3):
        mine, its = m.joints[k].minimal_index[0], other.joints[k].minimal_index[0]
        np.testing.assert_allclose(get_minimal_state(other)[its], get_minimal_state(m)[mine], atol=1e-12)
    back = set_floating_base(other, "box_1")
    np.testing.assert_allclose(step(back, z), step(m, z), atol=1e-12)


def test_bounds_and_contacts_go_with_a_new_base():
    origin = Origin()
    a, b = (Box(1, 1, 1, mass=1.0).body(name=n) for n in "ab")
    joints = [
        Floating(origin, a),
        Cylindrical(a, b, Y, spring_offset=(1, 2), joint_limits=((-1, -2), (1, 3)), name="rail"),
    ]
    other = set_floating_base(Mechanism(origin, [a, b], joints), "b")
    rail = get_joint(other, "rail")
    assert rail.parent.name == "b"
    np.testing.assert_allclose(rail.rotational.joint_limits, ([-2], [3]))
    np.testing.assert_allclose(rail.translational.spring_offset, [1])
    crooked = [Floating(origin, a), PrismaticOrbital(a, b, Y, name="slot")]
    with pytest.raises(ModelError, match=r"slot.*turned round"):
        set_floating_base(Mechanism(origin, [a, b], crooked), "b")
    balls = [Floating(origin, a), Spherical(a, b, joint_limits=(-1, 1), name="ball")]
    with pytest.raises(ModelError, match=r"Floating"):
        set_floating_base(pendulum(), "rod")
    assert set_floating_base(Mechanism(origin, [a, b], balls), "b").joints[1].rotational.joint_limits is not None
    copied = set_floating_base(sphere(), "ball")
    assert copied.contacts[0].parent is copied.bodies[0]


def test_single_joints_move_what_hangs_on_them():
    m = chain(3)
    set_minimal_coordinates(m, "joint_1", 0.5)
    set_minimal_velocities(m, "joint_3", 1.0)
    np.testing.assert_allclose(get_minimal_state(m), (0.5, 0, 0, 0, 0, 1.0), atol=1e-12)


def test_a_revolute_joint_winds_up_to_two_turns():
    m = pendulum()
    for angle in (-6.0, -3.0, 3.0, 6.0):
        np.testing.assert_allclose(maximal_to_minimal(m, minimal_to_maximal(m, (angle, 0.0))), (angle, 0.0), atol=1e-12)
    assert isinstance(m.joints[0].prototype, str)
    assert Revolute.__doc__.startswith("Revolute joint: no free translations, one free rotation")
