"""Motors, dry friction and soft stops against closed forms and what ODE does (docs/theory/drives_and_tyres.md §2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.multibody import (
    Body,
    Box,
    Drive,
    DryFriction,
    Floating,
    Mechanism,
    Motor,
    Origin,
    PlanarAxis,
    Prismatic,
    PrismaticOrbital,
    Prototype,
    Revolute,
    SolverOptions,
    Sphere,
    contact_constraint,
    get_maximal_state,
    mehrotra,
    minimal_dimension,
    minimal_to_maximal,
    momentum,
    rollout,
    set_floating_base,
    set_input,
    set_limits,
    set_minimal_state,
    simulate,
    step_minimal_coordinates,
)
from cbsim.spec.mechanism.joints import PROTOTYPES
from tests.multibody.common import X, Y, Z
from tests.multibody.differences import check

G, H = 9.81, 0.01
FINE = SolverOptions(rtol=1e-12, btol=1e-12)


def turntable(*drives, **options):
    """A cube of 1 m and 1 kg about its upright axis: inertia 1/6."""
    origin, cube = Origin(), Box(1, 1, 1, mass=1.0).body(name="cube")
    return Mechanism(origin, [cube], [Revolute(origin, cube, Z, drives=drives, name="pin", **options)], gravity=0.0)


def lever(*drives, **options):
    """A box of 0.4 m and 1 kg, a metre out on a hinge; gravity turns it to positive angles."""
    origin, box = Origin(), Box(0.4, 0.4, 0.4, mass=1.0).body(name="box")
    return Mechanism(origin, [box], [Revolute(origin, box, Y, child_vertex=-X, drives=drives, name="pin", **options)])


def sledge(*drives, mass=2.0, **options):
    """A body on a rail without gravity."""
    origin, body = Origin(), Sphere(0.1, mass=mass).body(name="body")
    return Mechanism(origin, [body], [Prismatic(origin, body, X, drives=drives, name="rail", **options)], gravity=0.0)


def walk(mechanism, x, steps, u=None, options=FINE):
    """Coordinates and velocities of a joint with one freedom, node by node."""
    out = [np.array(x, float)]
    for _ in range(steps):
        out.append(step_minimal_coordinates(mechanism, out[-1], u, options=options))
    return np.array(out)


def test_a_motor_of_limited_torque_speeds_a_body_up_evenly_and_then_holds_the_speed():
    rates = walk(turntable(Motor(2.0)), (0.0, 0.0), 60, [5.0])[:, 1]
    np.testing.assert_allclose(rates[[10, 20, 30, 40]], (1.2, 2.4, 3.6, 4.8), rtol=5e-4)  # 2 N m on 1/6 kg m²
    np.testing.assert_allclose(rates[50:], 5.0, atol=1e-9)


def test_a_motor_turns_on_for_many_turns_at_its_speed():
    m = turntable(Motor(1e3))
    path = rollout(m, minimal_to_maximal(m, (0.0, 0.0)), 1000, [-7.0], options=FINE)
    np.testing.assert_allclose(path[1:, 12], -2.0 / H * np.sin(0.5 * 7.0 * H), atol=1e-8)  # 70 rad, six wraps


def test_the_input_of_a_motor_is_a_velocity_whatever_scales_inputs():
    m = turntable(Motor(1e3))
    m.input_scaling = 3.0
    assert walk(m, (0.0, 0.0), 1, [0.5])[-1, 1] == pytest.approx(0.5, abs=1e-9)


def test_a_motor_that_is_let_go_turns_freely_and_takes_hold_again():
    m = turntable(Motor(2.0))
    u = np.array([[5.0]] * 60 + [[np.nan]] * 20 + [[0.0]] * 10)
    path = rollout(m, minimal_to_maximal(m, (0.0, 0.0)), 90, u, options=FINE)[:, 12]
    momentum_of = path * np.sqrt(1.0 - (0.5 * H * path) ** 2)  # per inertia
    np.testing.assert_allclose(momentum_of[60:81], momentum_of[60], atol=1e-9)
    np.testing.assert_allclose(np.diff(momentum_of[80:]), -0.12, rtol=1e-9)
    with pytest.raises(ModelError, match="nan at 0"):
        rollout(turntable(), minimal_to_maximal(m, (0.0, 0.0)), 1, [np.nan])


def test_a_soft_motor_gives_way_to_a_torque_in_proportion():
    """With target −(gain / 10) × degrees, as Juice has it, the droop is 10 · cfm · torque / gain degrees."""
    gain, cfm = 10.0, 0.01
    m, x = lever(Motor(100.0, cfm=cfm)), np.zeros(2)
    for _ in range(300):
        x = step_minimal_coordinates(m, x, [-gain / 10 * np.degrees(x[0])])
    assert np.degrees(x[0]) == pytest.approx(10 * cfm * G / gain, rel=1e-3)
    assert np.degrees(x[0]) == pytest.approx(0.09808, rel=1e-3)  # ODE


def test_a_servo_approaches_its_angle_by_the_same_share_in_every_step():
    m, x, seen = turntable(Motor(1e4)), np.zeros(2), []
    for _ in range(5):
        x = step_minimal_coordinates(m, x, [30.0 - np.degrees(x[0])], options=FINE)
        seen.append(np.degrees(x[0]))
    left = 1.0 - H * 180.0 / np.pi
    np.testing.assert_allclose(seen, 30.0 * (1.0 - left ** np.arange(1, 6)), atol=1e-8)
    np.testing.assert_allclose(seen, (17.06, 24.46, 27.64, 28.99, 29.57), rtol=0.02)  # ODE turns by 2 atan(w h / 2)


def test_a_soft_stop_sinks_in_proportion_to_the_torque_and_gives_back_no_more_than_it_took():
    """By cfm · h · torque / erp."""
    for erp, cfm in ((1.0, 0.01), (0.5, 0.01), (0.2, 0.003)):
        m = lever(joint_limits=(-10, np.radians(30)), stop_softness=(erp, cfm))
        path = walk(m, (0.0, 0.0), 1000)
        torque = G * np.cos(path[-1, 0])
        assert path[-1, 0] - np.radians(30) == pytest.approx(cfm * H * torque / erp, rel=1e-6)
        energy = 0.5 * (1.0 + 0.16 / 6) * path[:, 1] ** 2 - G * np.sin(path[:, 0] - 0.5 * H * path[:, 1])
        assert energy.max() < 2e-3  # it fell from rest, and is a step's error above that at most
    sunk = walk(lever(joint_limits=(-10, np.radians(30)), stop_softness=(1.0, 0.01)), (0.0, 0.0), 600)[-1, 0]
    assert np.degrees(sunk) - 30 == pytest.approx(0.04865, rel=1e-3)  # ODE


def test_erp_is_the_share_of_an_error_that_a_step_takes_away():
    m = sledge(joint_limits=(0.0, 1.0), stop_softness=(0.3, 0.0))
    seen = walk(m, (-0.1, 0.0), 20, [-1000.0])[:, 0]  # pressed on, so that it does not fly off at 3 m/s
    np.testing.assert_allclose(seen, -0.1 * 0.7 ** np.arange(21), atol=1e-9)


def test_a_drive_without_a_limit_is_an_implicit_damper_of_one_over_its_cfm():
    """Of 4 N s/m at 2 kg, and of 0.2 N m s at 1/6 kg m², whose momentum is that of sin(h w) / h."""
    path = walk(sledge(Drive(np.inf, cfm=0.25), spring=30.0), (0.3, 1.0), 300)
    x, v = 0.3, 1.0
    for k in range(300):
        v = (v - H * 15.0 * x) / (1.0 + H * 2.0)
        x += H * v
        np.testing.assert_allclose(path[k + 1], (x, v), atol=1e-11)
    turned = H * walk(turntable(Drive(np.inf, cfm=5.0)), (0.3, 1.0), 300)[:, 1]
    np.testing.assert_allclose(np.diff(np.sin(turned)), -6.0 * H * 0.2 * turned[1:], atol=1e-13)


def test_dry_friction_slows_a_body_evenly_and_stops_it_for_good():
    mass, force, v = 2.0, 3.0, 1.7
    path = walk(sledge(DryFriction(force), mass=mass), (0.0, v), 200)
    still = int(np.ceil(v * mass / force / H))
    k = np.arange(still)
    np.testing.assert_allclose(path[:still, 1], v - k * H * force / mass, atol=1e-8)
    np.testing.assert_allclose(path[still:, 1], 0.0, atol=1e-9)
    assert path[-1, 0] == pytest.approx(0.5 * mass * v * v / force, rel=0.01)


def test_dry_friction_holds_what_is_weaker_and_lets_the_rest_go():
    still = walk(sledge(DryFriction(3.0)), (0.0, 0.0), 500, [2.9], options=None)
    assert np.abs(still[:, 0]).max() < 1e-6
    gone = walk(sledge(DryFriction(3.0)), (0.0, 0.0), 100, [3.5])
    np.testing.assert_allclose(gone[:, 1], 0.25 * H * np.arange(101), atol=1e-8)  # (3.5 − 3) N on 2 kg


def test_a_block_on_a_spring_loses_the_same_swing_at_each_turn_and_sticks():
    """Coulomb's damped oscillator: every half swing ends 2 F / k nearer, about ± F / k, and it sticks inside that."""
    k, force, h = 40.0, 1.0, 0.001
    m = sledge(DryFriction(force), mass=1.0, spring=k)
    m.timestep = h
    x = rollout(m, minimal_to_maximal(m, (0.33, 0.0)), 4000, options=FINE)[:, 0]
    turns = [x[0]] + [x[i] for i in range(1, 3500) if (x[i] - x[i - 1]) * (x[i + 1] - x[i]) < 0.0]
    np.testing.assert_allclose(np.abs(turns), 0.33 - 2 * force / k * np.arange(len(turns)), atol=2e-4)
    assert abs(x[-1]) <= force / k
    assert x[-1] == pytest.approx(x[-300], abs=1e-8)
    starts = 2 * np.pi / np.sqrt(k) / 2 / h * np.arange(1, len(turns))  # half a period each
    np.testing.assert_allclose([np.abs(x - t).argmin() for t in turns[1:]], starts, atol=2)


def test_a_motor_with_a_brake_pulls_against_it():
    """3 N against 1 N of friction on 2 kg: 1 m/s² up to the speed asked for."""
    path = walk(sledge(Motor(3.0), DryFriction(1.0)), (0.0, 0.0), 100, [0.5])
    np.testing.assert_allclose(path[:50, 1], H * np.arange(50), atol=1e-8)
    np.testing.assert_allclose(path[51:, 1], 0.5, atol=1e-8)


def test_motors_in_space_keep_momentum():
    origin = Origin()
    parts = [Box(0.3, 0.4, 0.5, mass=m).body(name=f"part {i}") for i, m in enumerate((3.0, 1.0, 2.0, 0.7))]
    at = {"parent_vertex": (0.4, 0.1, 0.0), "child_vertex": (-0.3, 0.0, 0.2)}
    joints = [
        Floating(origin, parts[0]),
        Revolute(parts[0], parts[1], X + Y, drives=[Motor(0.4), DryFriction(0.1)], **at),
        Prismatic(parts[1], parts[2], Y, drives=Motor(3.0, cfm=0.1), joint_limits=(-0.1, 0.1),
                  stop_softness=(0.4, 0.01), **at),
        PlanarAxis(parts[0], parts[3], Z, drives=[Motor(0.5, coordinate=2), DryFriction(0.3, coordinate=0)], **at),
    ]  # fmt: skip
    m = Mechanism(origin, parts, joints, gravity=0.0)
    set_minimal_state(m, 0.2 * np.random.default_rng(0).normal(size=minimal_dimension(m)))
    inputs = np.zeros((200, len(m.inputs)))
    inputs[:, 6:] = 2.0, -1.0, 0.0, 0.0, 3.0
    inputs[100:, 6:] *= -1.0
    storage = simulate(m, 200, get_maximal_state(m), inputs, options=SolverOptions(rtol=1e-12))
    kept = momentum(m, storage)
    np.testing.assert_allclose(kept, np.broadcast_to(kept[0], kept.shape), atol=1e-9)
    assert np.ptp(storage.w, axis=0).max() > 1.0


def any_mechanism(rng):
    """A tree of joints with every kind of drive and stop; a state of it, and inputs that suit its masses."""
    origin, bodies, joints, fed = Origin(), [], [], []
    scale = 10.0 ** rng.uniform(-2, 1.5)
    kinds = ("Revolute", "Prismatic", "Cylindrical", "Planar", "PlanarAxis", "PrismaticOrbital", "Spherical")
    for i in range(rng.integers(1, 7)):
        bodies.append(Box(*rng.uniform(0.3, 1.0, 3), mass=scale * 10.0 ** rng.uniform(-0.5, 0.5)).body(name=f"b{i}"))
        kind = rng.choice(kinds) if i or rng.random() < 0.7 else "Floating"
        slides, turns = PROTOTYPES[kind]
        drives = []
        for k in range(slides + (turns == 1)):
            if rng.random() < 0.5:
                soft = 0.0 if rng.random() < 0.5 else 10.0 ** rng.uniform(-4, 0) / scale
                drives.append(Motor(scale * 10.0 ** rng.uniform(-3, 1), coordinate=k, cfm=soft))
            if rng.random() < 0.5:
                drives.append(DryFriction(scale * 10.0 ** rng.uniform(-3, 1), coordinate=k))
        joints.append(
            Prototype(
                kind, origin if i == 0 else bodies[rng.integers(0, i)], bodies[i], rng.normal(size=3),
                parent_vertex=rng.uniform(-0.5, 0.5, 3), child_vertex=rng.uniform(-0.5, 0.5, 3), drives=drives,
                joint_limits=None if kind == "Floating" else (-rng.uniform(0.3, 1.0), rng.uniform(0.3, 1.0)),
                stop_softness=(rng.uniform(0.1, 1.0), 10.0 ** rng.uniform(-4, -1) / scale),
            )
        )  # fmt: skip
        motors = {drive.coordinate for drive in drives if drive.is_fed}
        fed += [1.0 if k in motors else 0.3 * scale for k in range(slides + turns)]
    m = Mechanism(origin, bodies, joints)
    return m, 0.2 * rng.normal(size=minimal_dimension(m)), 3.0 * rng.normal(size=len(fed)) * fed


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_driven_is_solved(seed):
    m, x, u = any_mechanism(np.random.default_rng(seed))
    path = rollout(m, minimal_to_maximal(m, x), 100, u)
    assert np.isfinite(path).all()
    for j, joint in enumerate(m.joints):  # of the state that the mechanism holds
        most = [H * drive.max_force for drive in joint.drives]
        set_input(m, u)
        mehrotra(m)
        assert (np.abs(m.drive_impulses(j)) <= most).all()


def test_a_joint_tells_the_impulses_of_its_drives():
    m = lever(Motor(100.0), DryFriction(0.0))
    set_input(m, [0.0])
    mehrotra(m)
    motor, friction = m.joints[0].drive_impulses
    assert motor == pytest.approx(-G * H, rel=1e-5)
    assert friction == 0.0
    assert m.own.limit_work.shape[0] == 2


@pytest.mark.parametrize("kappa", [1e-3, 1e-5])
def test_gradients_of_drives_are_differences(kappa):
    rng = np.random.default_rng(4)
    origin = Origin()
    parts = [Body(1.0 + 0.2 * i, np.diag([0.05, 0.06, 0.07])) for i in range(5)]
    at = {"parent_vertex": (0.5, 0.1, 0.0), "child_vertex": (-0.5, 0.0, 0.1)}
    joints = [
        Floating(origin, parts[0], drives=[DryFriction(2.0, coordinate=1)]),
        Revolute(parts[0], parts[1], rng.normal(size=3), drives=[Motor(3.0), DryFriction(0.5)], **at),
        Prismatic(parts[1], parts[2], rng.normal(size=3), drives=Motor(5.0, cfm=0.03), **at),
        PlanarAxis(parts[0], parts[3], rng.normal(size=3), damper=0.3, spring=5.0,
                   drives=[Motor(4.0, coordinate=2), DryFriction(1.0, coordinate=0)], **at),
        PrismaticOrbital(parts[3], parts[4], rng.normal(size=3), drives=Drive(np.inf, cfm=0.2, target=0.4), **at),
    ]  # fmt: skip
    m = Mechanism(origin, parts, joints, timestep=0.02)
    x = rng.normal(size=minimal_dimension(m)) * 0.3
    check(m, x, rng.normal(size=len(m.inputs)), kappa=kappa, e=5e-6, tolerance=2e-6)


@pytest.mark.parametrize("kind", ["Revolute", "Cylindrical", "Orbital", "Spherical", "PlanarFree"])
def test_gradients_of_soft_stops_that_are_passed_are_differences(kind):
    rng = np.random.default_rng(11)
    origin, dof = Origin(), sum(PROTOTYPES[kind])
    parts = [Body(1.0, np.diag([0.05, 0.06, 0.07])), Body(1.3, np.diag([0.06, 0.04, 0.05]))]
    x = rng.normal(size=12 + 2 * dof) * 0.3
    now = x[12 : 12 + dof]
    bounds = now - rng.uniform(-0.05, 0.03, dof), now + rng.uniform(0.06, 0.2, dof)
    joints = [
        Floating(origin, parts[0]),
        Prototype(kind, parts[0], parts[1], rng.normal(size=3), parent_vertex=(0.5, 0.1, 0.0),
                  child_vertex=(-0.5, 0.0, 0.1), joint_limits=bounds, stop_softness=(0.35, 0.02)),
    ]  # fmt: skip
    m = Mechanism(origin, parts, joints, timestep=0.02)
    assert (now < bounds[0]).any()
    check(m, x, rng.normal(size=len(m.inputs)), kappa=1e-3, e=5e-6)


def test_drives_and_softness_stay_with_a_joint_that_is_changed():
    origin = Origin()
    a, b = (Box(0.3, 0.3, 0.3, mass=1.0).body(name=name) for name in "ab")
    hinge = Revolute(a, b, X, parent_vertex=Z, child_vertex=-Z, joint_limits=(-1, 1), stop_softness=(0.5, 0.1),
                     drives=[Motor(2.0, cfm=0.1), DryFriction(0.3)], name="hinge")  # fmt: skip
    m = Mechanism(origin, [a, b], [Floating(origin, a), hinge])
    set_limits(m, {"hinge": (-0.5, 0.5)})
    assert (m.joints[1].drives, m.joints[1].stop_softness) == (hinge.drives, (0.5, 0.1))
    other = set_floating_base(m, "b")
    assert (other.joints[1].drives, other.joints[1].stop_softness) == (hinge.drives, (0.5, 0.1))
    u = np.zeros(7)
    u[6] = 1.5
    one, two = (rollout(k, get_maximal_state(k), 60, u, options=FINE)[-1] for k in (m, other))
    np.testing.assert_allclose(two, one, atol=1e-7)
    copied = Mechanism.of(replace(m.spec))
    assert copied.joints[1].drives == hinge.drives


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"drives": 3}, "drives are 3, expected a sequence of Drive"),
        ({"drives": [3]}, "drives hold 3, expected a Drive"),
        ({"drives": [Motor(1.0, coordinate=1)]}, "a Motor is on coordinate 1, but it has 1"),
        ({"drives": [Motor(1.0), Motor(2.0)]}, "coordinate 0 has 2 motors, expected one"),
        ({"stop_softness": 1}, "stop_softness is 1, expected (erp, cfm)"),
        ({"stop_softness": (0, 0)}, "erp of stop_softness is 0, expected more than 0 and at most 1"),
        ({"stop_softness": (1.5, 0)}, "erp of stop_softness is 1.5"),
        ({"stop_softness": (1, -1)}, "cfm of stop_softness is -1.0, expected a finite number of at least 0"),
    ],
)
def test_wrong_drives_are_named_with_their_joint(arguments, text):
    with pytest.raises(ModelError) as told:
        Revolute(Origin(), Sphere(1.0, mass=1.0).body(), Z, name="pin", **arguments)
    assert "joint 'pin'" in str(told.value)
    assert text in str(told.value)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (lambda: Motor(-1.0), "Motor: max_force is -1.0"),
        (lambda: Motor(np.nan), "max_force is nan"),
        (lambda: Motor(np.inf), "neither a limit nor cfm"),
        (lambda: Motor(1.0, coordinate=-1), "coordinate is -1"),
        (lambda: DryFriction("a"), "DryFriction: max_force is 'a'"),
        (lambda: Drive(1.0, cfm=-1), "cfm is -1.0"),
        (lambda: Prototype("Spherical", Origin(), Sphere(1.0, mass=1.0).body(), drives=[DryFriction(1.0)]),
         "on one of 3 free rotations"),
    ],
)  # fmt: skip
def test_wrong_numbers_of_drives_are_named(arguments, text):
    with pytest.raises(ModelError) as told:
        arguments()
    assert text in str(told.value)


def test_a_driven_wheel_rolls_at_its_speed():
    """10 rad/s on a wheel of 1 m drive a cart at 10 m/s, as Juice's sixpack."""
    origin = Origin()
    cart = Box(1.0, 3.0, 0.5, mass=4.0).body(name="cart")
    wheels, joints = [], [Prototype("Planar", origin, cart, X)]
    for i, y in enumerate((-1.5, 1.5)):
        wheels.append(Sphere(1.0, mass=1.0).body(name=f"wheel {i}"))
        joints.append(Revolute(cart, wheels[-1], X, parent_vertex=(0, y, 0), drives=[Motor(400.0)]))
    contact_work = contact_constraint(
        wheels, Z, friction_coefficient=1.0, contact_radius=1.0, contact_offset=(0, 0, -1)
    )
    m = Mechanism(origin, [cart, *wheels], joints, contact_work)
    z = rollout(m, get_maximal_state(m), 300, [0, 0, -10.0, -10.0]).reshape(-1, 3, 13)
    np.testing.assert_allclose(z[-1, :, 4], 10.0, rtol=5e-3)


@pytest.mark.parametrize("force", [10.0, 1.0, 0.1, 0.01])
@pytest.mark.parametrize("cfm", [1.0, 0.1, 1e-3])
def test_a_soft_stop_gives_way_as_it_should_under_light_loads_with_default_options(force, cfm):
    """Beside a weight of 10 N, which is what the default tolerance goes by."""
    origin, body = Origin(), Sphere(0.1, mass=1.0).body(name="body")
    rail = Prismatic(origin, body, X, joint_limits=(-1.0, 1.0), stop_softness=(0.2, cfm), damper=5.0, name="rail")
    m = Mechanism(origin, [body], [rail])
    path = rollout(m, minimal_to_maximal(m, (-1.0, 0.0)), 600, [-force])
    assert -1.0 - path[-1, 0] == pytest.approx(cfm * H * force / 0.2, rel=5e-3)
