"""Every mechanism of the gallery can be built as its page says, and runs ten seconds without a step that fails."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from cbsim.errors import ModelError, UsageError
from cbsim.multibody import (
    gallery,
    get_sdf,
    maximal_to_minimal,
    minimal_dimension,
    set_minimal_coordinates,
    set_minimal_velocities,
    simulate,
)
from tests.common import ROOT

ALL = {"limited": True, "body_contacts": True}
SPRUNG = {**ALL, "spring": 100.0, "damper": 5.0, "height": 0.3}
ROBOTS = ("ant", "halfcheetah", "hopper", "humanoid", "quadruped", "walker")
STANDING = ("atlas", "block", "block2d", "quadrotor", "raiberthopper", "rexhopper", "sphere", "tippetop")
CASES = [
    *((name, {}) for name in gallery.GALLERY),
    *((name, ALL) for name in ROBOTS),
    *((name, SPRUNG) for name in ROBOTS),
    ("panda", {"limited": True}),
    ("panda", {"limited": True, "damper": 0.0}),
    ("atlas", {"limited": True, "body_contacts": True, "spring": 100.0, "damper": 5.0, "knee": 0.3, "height": 0.1}),
    ("block2d", {"height": 0.5, "velocity": (1.0, 0.5), "angular_velocity": 3.0, "radius": 0.05}),
    ("exoskeleton", {"limited": True, "damper": 0.5}),
    ("rexhopper", {"limited": True, "body_contacts": True, "height": 0.2}),
    ("quadrotor", {"airframe": "pelican", "spinning": True, "body_contacts": True, "height": 1.0}),
    ("raiberthopper", {"spring": 2000.0, "timestep": 0.02, "height": 0.5, "limits": (-0.6, -0.3)}),  # stable to 29 ms
    ("snake", {"links": 5, "ground": True, "gravity": -9.81, "height": 0.4, "joint": "Spherical"}),
    ("twister", {"ground": True, "gravity": -9.81, "height": 0.4}),
    ("block", {"height": 0.5, "velocity": (1.0, 0.5, 0.0), "angular_velocity": (2.0, 3.0, 1.0)}),
    ("sphere", {"height": 0.5, "velocity": (1.0, 0.5, 0.0), "contact_type": "linear"}),
    ("tippetop", {"height": 0.5}),
    ("cartpole", {"limits": (-0.3, 0.3), "damper": 0.1}),
    ("nslider", {"limits": (-0.2, 0.2), "damper": 0.5}),
    ("fourbar", {"lengths": (1.0, 0.8, 0.9, 1.2), "damper": 1.0}),
    ("chain", {"links": 20, "joint": "Spherical", "damper": 0.1}),
]


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda v: v if isinstance(v, str) else "-".join(v) or "plain")
def test_ten_seconds_pass_without_a_step_that_fails_and_nothing_sinks_in(name, options):
    mechanism = gallery.build(name, **options)
    path = simulate(mechanism, round(10.0 / mechanism.timestep))
    assert path.is_solved.all()
    assert all(np.isfinite(getattr(path, part)).all() for part in "xqvw")
    assert min((gap.min() for gap in get_sdf(mechanism, path)), default=0.0) >= -1e-8
    for joint in mechanism.joints:
        _bounds_hold(mechanism, path, joint)


def _bounds_hold(mechanism, path, joint):
    """Look at the coordinates of a joint with bounds in every hundredth node."""
    bounds = [half.joint_limits for half in (joint.translational, joint.rotational) if half.joint_limits is not None]
    if not bounds:
        return
    where = joint.minimal_index[0]
    seen = np.array([maximal_to_minimal(mechanism, path.state(k))[where] for k in range(0, len(path), 100)])
    assert (seen > bounds[0][0] - 1e-6).all()
    assert (seen < bounds[0][1] + 1e-6).all()


def test_the_page_of_the_gallery_counts_right_and_its_examples_run():
    page = (ROOT / "docs" / "gallery.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| `")]
    assert [row[0].strip("`") for row in rows] == list(gallery.GALLERY)
    for name, _, bodies, freedoms, joints, contacts, _ in rows:
        mechanism = gallery.build(name.strip("`"))
        kinds = Counter(joint.prototype for joint in mechanism.joints)
        assert int(bodies) == len(mechanism.bodies)
        assert int(freedoms) == minimal_dimension(mechanism) / 2
        assert joints == ", ".join(kind if count == 1 else f"{count} {kind}" for kind, count in kinds.items())
        assert int(contacts.split(",")[0]) == len(mechanism.contacts)
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(code, "gallery.md", "exec"), {})  # the page is ours


def test_a_name_that_is_not_there_is_told_with_the_nearest():
    with pytest.raises(UsageError, match="quadruped"):
        gallery.build("quadroped")
    with pytest.raises(ModelError, match=r"did you mean 'pelican'"):
        gallery.quadrotor("pelikan")


@pytest.mark.parametrize("height", [0.0, 0.3])
@pytest.mark.parametrize("name", [*STANDING, *ROBOTS])
def test_what_stands_on_the_ground_is_as_high_as_asked(name, height):
    mechanism = gallery.build(name, height=height)
    assert min(get_sdf(mechanism)) == pytest.approx(height, abs=1e-12)


@pytest.mark.parametrize("name", [*STANDING, *ROBOTS])
def test_without_ground_nothing_touches_it_and_it_falls_freely(name):
    mechanism = gallery.build(name, ground=False)
    assert not mechanism.contacts
    masses = np.array([body.mass for body in mechanism.bodies])
    steps, h = 20, mechanism.timestep
    s = simulate(mechanism, steps + 1)
    fall = (masses @ (s.x[-1, :, 2] - s.x[0, :, 2])) / masses.sum()
    assert fall == pytest.approx(-9.81 * h * h * steps * (steps + 1) / 2, rel=1e-6)


@pytest.mark.parametrize("name", ROBOTS)
def test_every_joint_of_a_robot_starts_within_its_bounds_and_springs_are_slack(name):
    robot = gallery.build(name, limited=True, spring=10.0, gravity=0.0, ground=False)
    s = simulate(robot, 3)
    np.testing.assert_allclose(s.x[-1], s.x[0], atol=1e-5)
    assert len(robot.compiled.model.row_link) >= 6


def test_all_contacts_are_off_unless_asked_for():
    for name, feet, everything in (("ant", 4, 9), ("halfcheetah", 2, 9), ("hopper", 2, 5), ("humanoid", 4, 15),
                                   ("quadrotor", 4, 8), ("quadruped", 4, 12), ("walker", 4, 9)):  # fmt: skip
        assert len(gallery.build(name).contacts) == feet
        assert len(gallery.build(name, body_contacts=True).contacts) == everything
        assert len(gallery.build(name, body_contacts=True, ground=False).contacts) == everything - feet


def test_a_pose_is_where_joints_were_told_to_be():
    for name, joint, value in (("hopper", "leg_joint", 0.4), ("ant", "left_back_foot_joint", -0.7)):
        robot = gallery.hopper(leg=0.4) if name == "hopper" else gallery.ant(ankle=0.7)
        before = robot.pose.copy()
        set_minimal_coordinates(robot, joint, [value])
        set_minimal_velocities(robot, joint, [0.0])
        np.testing.assert_allclose(robot.pose, before, atol=1e-12)
