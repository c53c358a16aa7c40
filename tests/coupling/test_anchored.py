"""A light body that joints hold to the world stops a car as the world does; one that nothing holds is thrown aside."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cbsim
from cbsim.collision import separation
from cbsim.simulation.advance import advance
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Floating, Revolute
from cbsim.spec.mechanism.shapes import Box
from cbsim.vehicle.kernels.columns import MASS, RESTITUTION
from tests.coupling.test_step_islands import rolling, site

MASSES = [1e-3, 1.0, 1e3]
SPEED = 8.0
STEPS = 20

CORNERS = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-1.0, 1.0)]
FACES = [(1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)]
CUBOID = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS) + "".join(f"f {a} {b} {c} {d}\n" for a, b, c, d in FACES)


def post(mass, _folder=None, side=0.0):
    """A post of 1 x 1 x 2 m on an upright hinge that is fixed to the ground, so far beside its middle [m]."""
    origin, body = Origin(), Box(1, 1, 2).body(mass=mass, name="post")
    hinge = Revolute(origin, body, (0, 0, 1), parent_vertex=(side, 0, 1), child_vertex=(side, 0, 0), name="hinge")
    return ModelDescription(MechanismSpec(origin, [body], [hinge], gravity=0.0))


def shift(mass, folder):
    """The same post as a Shift model, revolving about an axis of `fixed`."""
    (folder / "post.obj").write_text(CUBOID)
    moment = {key: mass * value / 12.0 for key, value in (("Ixx", 5.0), ("Iyy", 5.0), ("Izz", 2.0))}
    body = {"name": "post", "mass": mass, "moment_of_inertia": moment, "definition": ["post.obj"]}
    joint = {"name": "hinge", "type": "Rz", "body_frame_pairs": [["fixed", "above"], ["post", "origin"]]}
    model = {
        "model_parameters": {"gravity": [0, 0, 0]},
        "fixed": {"frames": [{"name": "above", "T": [0, 0, 1]}]},
        "assemblies": [{"name": "a", "bodies": [body], "joints": [joint]}],
    }
    path = folder / "post.json"
    path.write_text(json.dumps(model))
    return figure_in(path)


def urdf(mass, folder):
    """The same post as a robot whose root is the link `world`."""
    x, z = 5.0 * mass / 12.0, 2.0 * mass / 12.0
    path = folder / "post.urdf"
    path.write_text(f"""<robot name="post"><link name="world"/>
      <link name="post">
        <inertial><mass value="{mass}"/><inertia ixx="{x}" iyy="{x}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial>
        <visual><geometry><box size="1 1 2"/></geometry></visual>
      </link>
      <joint name="hinge" type="continuous"><parent link="world"/><child link="post"/>
        <origin xyz="0 0 1"/><axis xyz="0 0 1"/></joint>
    </robot>""")
    return figure_in(path)


def figure_in(path):
    return cbsim.load(path).scene.models[0].description


def klann(mass, _folder=None):
    """A leg after Klann across the road: a crank, two rockers, a rod and a leg, in two loops that leave one freedom."""
    at = {
        "O": (0.0, 1.0), "M": (0.3, 1.1), "A": (-0.8, 1.5), "B": (-0.7, 0.7), "C": (-0.4, 0.9), "D": (-0.9, 1.15),
        "E": (-1.3, 1.6), "F": (-1.5, 0.4),
    }  # fmt: skip
    bars = {"crank": "OM", "rod": "MCD", "lower rocker": "BC", "upper rocker": "AE", "leg": "EDF"}
    pins = [
        ("", "crank", "O"), ("crank", "rod", "M"), ("", "lower rocker", "B"), ("lower rocker", "rod", "C"),
        ("", "upper rocker", "A"), ("upper rocker", "leg", "E"), ("rod", "leg", "D"),
    ]  # fmt: skip
    origin, bodies, middles = Origin(), {}, {"": np.zeros(2)}
    for name, points in bars.items():
        corners = np.array([at[p] for p in points])
        middles[name] = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        x, z = np.ptp(corners, axis=0) + 0.05
        bodies[name] = Box(x, 0.1, z).body(mass=mass / len(bars), name=name)
    joints = []
    for parent, child, point in pins:
        one, other = (np.insert(at[point] - middles[name], 1, 0.0) for name in (parent, child))
        holder = bodies[parent] if parent else origin
        joints.append(Revolute(holder, bodies[child], (0, 1, 0), parent_vertex=one, child_vertex=other, name=point))
    return ModelDescription(MechanismSpec(origin, list(bodies.values()), joints, gravity=0.0))


KINDS = {"hinge": post, "shift": shift, "urdf": urdf, "klann": klann}


def driven_at(description, x=0.0, speed=SPEED):
    """A car that rolls at a model 5 m ahead, x aside [m]; what it becomes, and what there is to tell."""
    world = site(description, at=(x, 5.0, 0.0))
    snapshot, diagnostics = rolling(world, (0.0, speed, 0.0)), []
    for _ in range(STEPS):
        before = float(snapshot.columns.velocity[0, 1])
        advance(world, snapshot, 1, diagnostics=diagnostics)
        if float(snapshot.columns.velocity[0, 1]) < 0.5 * before:
            break
    return world, snapshot, before, diagnostics


@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_car_bounces_off_a_light_body_that_is_held_as_off_a_wall(kind, mass, tmp_path):
    """v' = -e v, whatever it weighs; a post of 1 kg once took 4545 N s and let it through, one of 1 g 5 N s."""
    world, snapshot, before, diagnostics = driven_at(KINDS[kind](mass, tmp_path), x=0.9 if kind == "klann" else 0.0)
    assert not diagnostics
    bounce = float(world.constants.vehicle_parameters[0, RESTITUTION])
    assert before > 0.9 * SPEED
    assert snapshot.columns.velocity[0, 1] == pytest.approx(-bounce * before, rel=0.02)
    for body in world.instances[0].rows.tolist():
        gap = separation(world, snapshot, "Car", world.bodies[body].name).distance
        assert gap > -0.02


@pytest.mark.slow
@pytest.mark.parametrize("mass", [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3])
@pytest.mark.parametrize("speed", [1.0, 8.0, 30.0])
def test_a_car_bounces_off_a_post_at_any_speed(mass, speed):
    _, snapshot, before, diagnostics = driven_at(post(mass), speed=speed)
    assert not diagnostics
    assert before < 1.01 * speed
    if speed > 4.0:  # slower ones are still on their way
        assert snapshot.columns.velocity[0, 1] == pytest.approx(-0.2 * before, rel=0.05)


@pytest.mark.parametrize("mass", MASSES)
def test_a_car_pushes_a_light_gate_open(mass):
    """Hinged at its side it weighs I / r² where it is hit, and a car that hits it loses that share of its momentum."""
    gate = post(mass, side=0.4)
    world = site(gate, at=(1.2, 5.0, 0.0))
    snapshot = rolling(world, (0.0, SPEED, 0.0))
    for _ in range(STEPS):
        advance(world, snapshot, 1)
    assert abs(snapshot.columns.angular_velocity[1, 2]) > 0.5
    if mass <= 1.0:
        assert snapshot.columns.velocity[0, 1] > 0.9 * SPEED


@pytest.mark.parametrize("mass", [1e-2, 1.0, 100.0])
def test_a_light_body_that_nothing_holds_is_thrown_aside(mass):
    origin, body = Origin(), Box(1, 1, 2).body(mass=mass, name="post")
    free = ModelDescription(MechanismSpec(origin, [body], [Floating(origin, body, name="free")], gravity=0.0))
    world = site(free, at=(0.0, 5.0, 1.0))
    snapshot = rolling(world, (0.0, SPEED, 0.0))
    for _ in range(STEPS):
        advance(world, snapshot, 1)
    car, velocity = float(world.constants.vehicle_parameters[0, MASS]), snapshot.columns.velocity
    assert velocity[1, 1] == pytest.approx(1.2 * SPEED * car / (car + mass), rel=0.03)
    assert velocity[0, 1] > 0.9 * SPEED


@pytest.mark.parametrize("mass", MASSES)
def test_a_car_that_is_in_a_light_post_comes_out_of_it_and_never_goes_through(mass):
    """The contact is soft for it to come out slowly; by the mass of the post alone, 1 kg let it through."""
    world = site(post(mass), at=(0.0, 2.29, 0.0))
    snapshot = rolling(world, (0.0, SPEED, 0.0))
    deep = -separation(world, snapshot, "Car", "it/post").distance
    assert 0.01 < deep < 0.1
    for _ in range(STEPS):
        advance(world, snapshot, 1)
        assert -separation(world, snapshot, "Car", "it/post").distance < deep + 0.02
    assert snapshot.columns.position[0, 1] < 0.0
