"""Real robots: all of them load, keep their masses and centres, and run."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from cbsim.dynamics.detection.solids import pieces_of
from cbsim.errors import Severity
from cbsim.formats import read_file
from cbsim.geometry.pose import rotate
from cbsim.models.urdf import count
from cbsim.multibody import Body, HalfSpace, Mechanism, get_maximal_state, read_urdf, reduce_fixed_joints, simulate
from tests.common import shared, shared_files

REAL = [path for path in shared_files("urdf") if path.suffix == ".urdf"]

# Total mass [kg] and centre of mass [m] with all joints at zero, as pinocchio 4.1 and MuJoCo 4.0 have them of the files
# without geometry and bounds, joint types that they do not know made continuous.
MASSES = {
    "ant/ant.urdf": (0.8787101739346321, (0.0, 0.0, 0.0)),
    "fourbar/fourbar.urdf": (4.0, (0.0, 0.0, 1.1)),
    "fourbar/fourbar_open.urdf": (4.0, (0.0, 0.0, 1.1)),
    "halfcheetah/halfcheetah.urdf": (14.9997, (-0.0223154120968, 0.0, -0.138554181534)),
    "hopper/hopper.urdf": (16.26499, (0.0203387582777, 0.0, -0.6126443821976)),
    "humanoid/humanoid.urdf": (40.84402, (0.0088620105318, 0.0, -0.4720790578862)),
    "quadrotor/pelican.urdf": (1.04, (0.0, 0.0, 0.0019230769231)),
    "quadrotor/pelican_fixed_rotors.urdf": (1.04, (0.0, 0.0, 0.0019230769231)),
    "quadruped/gazebo_a1.urdf": (13.5, (-0.0006550728889, 0.0018222222222, -0.0235366133333)),
    "quadruped/quadruped.urdf": (12.213000000000001, (0.0041887921887, 0.0008435779907, -0.0255725116679)),
    "quadruped/quadruped_ones.urdf": (13.0, (0.0019633076923, 0.0001681538462, -0.1029397692308)),
    "quadruped/quadruped_simple.urdf": (12.213000000000001, (0.0041887921887, 0.0008435779907, -0.0255725116679)),
    "walker/walker.urdf": (27.995690000000003, (0.0363583108686, 0.0, -0.7118706308007)),
}


def name_of(path):
    return f"{path.parent.name}/{path.name}"


def at_zero(path, tmp_path):
    """Read a robot without its bounds, so that all joints are at zero."""
    bare = tmp_path / path.name
    bare.write_text(re.sub(r"<limit[^>]*/>", "", path.read_text()))
    return read_urdf(bare)


def mass_and_centre(mechanism):
    z = get_maximal_state(mechanism).reshape(-1, 13)
    mass = np.array([body.mass for body in mechanism.bodies])
    return mass.sum(), mass @ z[:, :3] / mass.sum()


@pytest.mark.parametrize("path", REAL, ids=name_of)
def test_a_robot_keeps_its_mass_and_its_centre_of_mass(path, tmp_path):
    mechanism = at_zero(path, tmp_path)
    mass, centre = MASSES[name_of(path)]
    for made in (mechanism, reduce_fixed_joints(mechanism)):
        found = mass_and_centre(made)
        assert found[0] == pytest.approx(mass, rel=1e-12)
        np.testing.assert_allclose(found[1], centre, atol=1e-12)
    assert count(read_file(path).spec)["mass"] == pytest.approx(mass, rel=1e-12)


def plain(path):
    """Text of a robot that other readers take too: without geometry, bounds and types of their own."""
    tree = ET.parse(path)
    root = tree.getroot()
    for parent in list(root.iter()):
        for tag in ("visual", "collision", "material", "loop_joint", "limit", "dynamics", "mimic"):
            for child in parent.findall(tag):
                parent.remove(child)
    for joint in root.findall("joint"):
        if joint.get("type") != "fixed":
            joint.set("type", "continuous")
    return ET.tostring(root, encoding="unicode")


@pytest.mark.parametrize("path", REAL, ids=name_of)
def test_pinocchio_finds_the_same_mass_and_centre(path, tmp_path):
    pinocchio = pytest.importorskip("pinocchio", reason="an oracle of an environment of its own")
    model = pinocchio.buildModelFromXML(plain(path), pinocchio.JointModelFreeFlyer())
    mass, centre = mass_and_centre(at_zero(path, tmp_path))
    assert pinocchio.computeTotalMass(model) == pytest.approx(mass, abs=1e-9)
    found = pinocchio.centerOfMass(model, model.createData(), pinocchio.neutral(model))
    np.testing.assert_allclose(found, centre, atol=1e-9)


@pytest.mark.parametrize("path", REAL, ids=name_of)
def test_mujoco_finds_the_same_mass_and_centre(path, tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="an oracle of an environment of its own")
    options = '<mujoco><compiler fusestatic="false" balanceinertia="true"/></mujoco>'
    model = mujoco.MjModel.from_xml_string(re.sub(r"(<robot[^>]*>)", rf"\1{options}", plain(path), count=1))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    mass, centre = mass_and_centre(at_zero(path, tmp_path))
    assert model.body_mass.sum() == pytest.approx(mass, abs=1e-9)
    np.testing.assert_allclose(model.body_mass @ data.xipos / model.body_mass.sum(), centre, atol=1e-9)


@pytest.mark.parametrize("path", REAL, ids=name_of)
def test_a_robot_has_no_errors_and_runs_for_ten_seconds_on_the_ground_if_it_can_fall(path):
    assert not read_file(path).problems.count(Severity.ERROR)
    robot = read_urdf(path, contacts=None)
    storage = simulate(robot, 1000)
    assert storage.is_solved.all()
    assert np.isfinite(storage.x).all()
    floor = [k for k in robot.colliders if isinstance(k.shape, HalfSpace)]
    for solid in robot.colliders if floor else ():
        if not isinstance(solid.owner, Body) or not solid.meets & floor[0].group:
            continue
        i = robot.bodies.index(solid.owner)
        for k in range(0, 1000, 37):
            down = rotate(storage.q[k, i] * (1.0, -1.0, -1.0, -1.0), (0.0, 0.0, -1.0))
            deepest = max(piece.reach(down) for piece in pieces_of(solid)) - storage.x[k, i, 2]
            assert deepest < 5e-3  # rims of cylinders are twelve points


def test_a_four_bar_keeps_its_loop_closed_and_moves_with_two_freedoms(tmp_path):
    path = shared("urdf", "fourbar", "fourbar.urdf")
    assert count(read_file(path).spec)["degrees_of_freedom"] == 2
    robot: Mechanism = read_urdf(path)
    storage = simulate(robot, 500, control=lambda _m, k: np.array([5.0, 0, 0, 0, 0]) * (k < 50))
    assert np.ptp(storage.x[:, 0, 1]) > 0.05
    ends = [storage.x[:, i] - 0.5 * axis_of(storage.q[:, i]) for i in (1, 3)]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


def axis_of(q):
    """Direction of the body's z in the world."""
    w, x, y, z = q.T
    return np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)
