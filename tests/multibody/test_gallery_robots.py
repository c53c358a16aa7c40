"""Robots of the gallery against their public descriptions, and against their own mirror images."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from cbsim.geometry.pose import multiply, rotate
from cbsim.multibody import (
    SolverOptions,
    gallery,
    get_body,
    get_maximal_state,
    get_minimal_state,
    minimal_to_maximal,
    rollout,
    simulate,
    zero_coordinates,
)
from cbsim.spec.mechanism.shapes import matrix
from tests.common import shared


def turned(rpy):
    """Rotation matrix of roll, pitch and yaw about fixed axes."""
    q = np.array([1.0, 0.0, 0.0, 0.0])
    for k in (2, 1, 0):
        half = np.zeros(4)
        half[0], half[1 + k] = np.cos(0.5 * rpy[k]), np.sin(0.5 * rpy[k])
        q = multiply(q, half)
    return matrix(q)


def numbers(element, name, default="0 0 0"):
    return np.array(
        [float(word) for word in (default if element is None else element.attrib.get(name, default)).split()]
    )


class Description:
    """Masses, centres, inertias and joint axes of a description in the world, with all coordinates zero."""

    def __init__(self, *path):
        root = ET.parse(shared("urdf", *path)).getroot()
        links = {link.attrib["name"]: link for link in root.findall("link")}
        joints = {joint.find("child").attrib["link"]: joint for joint in root.findall("joint")}
        self.axes, self.mass, self.centre, self.inertia = {}, {}, {}, {}
        self.carried = {child: joint.find("parent").attrib["link"] for child, joint in joints.items()}
        self.tied = {child for child, joint in joints.items() if joint.attrib["type"] == "fixed"}
        for name, link in links.items():
            at, rotation = self.frame(joints, name)
            inertial = link.find("inertial")
            if inertial is None:
                continue
            told, pose = inertial.find("inertia").attrib, inertial.find("origin")
            own = rotation @ turned(numbers(pose, "rpy"))
            xx, xy, xz, yy, yz, zz = (float(told[key]) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
            self.mass[name] = float(inertial.find("mass").attrib["value"])
            self.centre[name] = at + rotation @ numbers(pose, "xyz")
            self.inertia[name] = own @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ own.T
            if name in joints and joints[name].find("axis") is not None:
                self.axes[name] = rotation @ numbers(joints[name].find("axis"), "xyz")

    def frame(self, joints, name):
        """Where a link's frame is."""
        if name not in joints:
            return np.zeros(3), np.eye(3)
        joint = joints[name]
        at, rotation = self.frame(joints, joint.find("parent").attrib["link"])
        origin = joint.find("origin")
        return at + rotation @ numbers(origin, "xyz"), rotation @ turned(numbers(origin, "rpy"))

    def merged(self, names):
        """Mass, centre and inertia of several links as one."""
        mass = sum(self.mass[name] for name in names)
        centre = sum(self.mass[name] * self.centre[name] for name in names) / mass
        inertia = np.zeros((3, 3))
        for name in names:
            arm = self.centre[name] - centre
            inertia += self.inertia[name] + self.mass[name] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return mass, centre, inertia


DESCRIBED = [
    ("ant", ("ant", "ant.urdf"), {}, {}),
    ("halfcheetah", ("halfcheetah", "halfcheetah.urdf"), {}, {}),
    ("hopper", ("hopper", "hopper.urdf"), {}, {}),
    ("humanoid", ("humanoid", "humanoid.urdf"), {}, {"waist": "lwaist"}),
    ("quadrotor", ("quadrotor", "pelican.urdf"), {"airframe": "pelican", "spinning": True},
     {"frame": "base_link", **{f"rotor_{k + 1}": f"rotor_{k}" for k in range(4)}}),
    ("quadrotor", ("quadrotor", "pelican_fixed_rotors.urdf"), {"airframe": "pelican"}, {"frame": "base_link"}),
    ("quadruped", ("quadruped", "quadruped.urdf"), {}, {}),
    ("walker", ("walker", "walker.urdf"), {}, {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "path", "options", "names"), DESCRIBED, ids=lambda v: v[-1] if isinstance(v, tuple) else ""
)
def test_every_mass_centre_inertia_and_axis_is_that_of_the_description(name, path, options, names):
    told, robot = Description(*path), gallery.build(name, **options)
    zero_coordinates(robot)
    base = robot.bodies[0]
    told_base = names.get(base.name, base.name)
    seen = set()
    for joint, body in zip(robot.joints, robot.bodies, strict=True):
        link = names.get(body.name, body.name)
        group = {link} | {child for child in told.tied if told.carried[child] == link}
        if link in told.tied:
            group |= {told.carried[link]}
        seen |= group
        mass, centre, inertia = told.merged(sorted(group))
        x, q = robot.pose[robot.place_of[body]][[0, 1, 2]], robot.pose[robot.place_of[body]][6:10]
        assert body.mass == pytest.approx(mass, rel=1e-12)
        offset = centre - told.merged(sorted(group if body is base else {told_base}))[1]
        np.testing.assert_allclose(x - robot.pose[0, :3], offset, atol=1e-12)
        np.testing.assert_allclose(
            matrix(q) @ body.inertia @ matrix(q).T, inertia, atol=1e-6
        )  # right angles have five digits
        if joint.dof in {1, 2}:
            axis = told.axes[told.carried[link] if link in told.tied else link]
            np.testing.assert_allclose(rotate(q, joint.rotational.axis), axis / np.linalg.norm(axis), atol=1e-5)
    massive = {link for link in told.mass if link != "base"}
    assert seen == massive


def test_a_panda_weighs_what_was_identified_and_its_hand_is_where_the_angles_put_it():
    arm = gallery.panda(angles=(0.0,) * 7, opening=0.0)
    assert sum(body.mass for body in arm.bodies) == pytest.approx(16.822132, abs=1e-6)
    fingers = [arm.pose[arm.place_of[get_body(arm, f"{side}_finger")], :3] for side in ("left", "right")]
    want = (0.088, 0.0, 0.333 + 0.316 + 0.384 - 0.107 - 0.0584)  # the hand points down
    np.testing.assert_allclose(fingers, [want, want], atol=1e-12)
    opened = gallery.panda(opening=0.03)
    left, right = (opened.pose[opened.place_of[get_body(opened, f"{side}_finger")], :3] for side in ("left", "right"))
    assert np.linalg.norm(left - right) == pytest.approx(0.06, abs=1e-12)


MIRROR = np.array([1.0, -1.0, 1.0])
PAIRS = {
    "ant": {"front_left": "right_back", "front_right": "left_back"},
    "humanoid": {"right": "left"},
    "quadrotor": {},
}


def reflected(robot, pairs, z):
    """Reflect a state in the plane of x and z: what was left is right."""
    rows = np.empty((len(robot.bodies), 13))
    both = pairs | {other: one for one, other in pairs.items()}
    for body in robot.bodies:
        twin = body.name
        for one, other in both.items():
            if body.name.startswith(one):
                twin = other + body.name.removeprefix(one)
        row = z.reshape(-1, 13)[robot.place_of[body]]
        rows[robot.place_of[get_body(robot, twin)]] = np.concatenate(
            [MIRROR * row[:3], MIRROR * row[3:6], row[6:7], -MIRROR * row[7:10], -MIRROR * row[10:]]
        )
    return rows.ravel()


@pytest.mark.parametrize("name", PAIRS)
def test_a_robot_in_a_mirror_moves_as_the_mirrored_robot(name):
    options = {} if name == "quadrotor" else {"spring": 20.0, "damper": 2.0, "friction": 0.1}
    robot = gallery.build(name, timestep=0.01, body_contacts=True, height=0.02, **options)
    x = get_minimal_state(robot)
    random = np.random.default_rng(8)
    for joint in robot.joints:
        x[joint.minimal_index[1]] = 0.2 * random.normal(size=joint.dof)
    z = minimal_to_maximal(robot, x)
    tight = SolverOptions(rtol=1e-10, btol=1e-8)
    path = rollout(robot, z, 25, options=tight)
    twin = rollout(robot, reflected(robot, PAIRS[name], z), 25, options=tight)
    want = np.array([reflected(robot, PAIRS[name], row) for row in path])
    np.testing.assert_allclose(twin, want, atol=1e-5)
    assert np.abs(twin - path).max() > 1e-2  # it is no mirror image of itself


def test_a_walker_with_its_legs_exchanged_moves_the_same():
    ends = []
    for legs in ((0.1, 0.4), (0.4, 0.1)):
        robot = gallery.walker(thigh=legs, leg=legs[::-1], spring=200.0, damper=10.0)
        ends.append(rollout(robot, get_maximal_state(robot), 100, options=SolverOptions(rtol=1e-11, btol=1e-9))[-1])
    one, other = (end.reshape(-1, 13) for end in ends)
    np.testing.assert_allclose(one, other[[0, 4, 5, 6, 1, 2, 3]], atol=1e-7)


def test_an_ant_that_drops_keeps_the_symmetry_of_its_four_legs():
    robot = gallery.ant(limited=True, body_contacts=True, height=0.5, timestep=0.02)
    s = simulate(robot, 150)
    assert np.abs(s.x[:, 0, :2]).max() < 1e-6
    assert np.abs(s.q[:, 0, 1:]).max() < 1e-6
    feet = s.x[:, 2::2]
    np.testing.assert_allclose(np.hypot(*np.moveaxis(feet[..., :2], -1, 0)), np.full((150, 4), 1.0)
                               * np.hypot(feet[:, :1, 0], feet[:, :1, 1]), atol=1e-6)  # fmt: skip


def test_a_mirrored_leg_is_the_mirror_image():
    robot = gallery.quadruped()
    left, right = (get_body(robot, f"{side}_hip").inertia for side in ("FL", "FR"))
    flip = np.diag([1.0, -1.0, 1.0])
    np.testing.assert_allclose(right, flip @ left @ flip, atol=1e-15)
