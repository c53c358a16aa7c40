"""Robot arms from URDF files, whose base is welded to the world (``floating=False``)."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.multibody import (
    Fixed,
    gallery,
    get_joint,
    mechanical_energy,
    mehrotra,
    minimal_dimension,
    read_urdf,
    rollout,
    set_minimal_coordinates,
    simulate,
    write_urdf,
)

LINK = (
    '<link name="{name}"><inertial><origin xyz="0 0 {half}"/><mass value="{mass}"/>'
    '<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{name}" type="continuous"><origin xyz="0 0 {at}"/><parent link="{parent}"/><child link="{child}"/>'
    '<axis xyz="0 1 0"/></joint>'
)


@pytest.fixture
def arm(tmp_path):
    """Return the file of an arm of two links on a base that weighs something, as those of robot makers are."""
    links = [("link0", 2.8, 0.07), ("link1", 2.7, 0.15), ("link2", 1.2, 0.15)]
    joints = [("joint1", 0.14, "link0", "link1"), ("joint2", 0.3, "link1", "link2")]
    parts = [LINK.format(name=name, mass=mass, half=half) for name, mass, half in links]
    parts += [JOINT.format(name=n, at=at, parent=parent, child=child) for n, at, parent, child in joints]
    path = tmp_path / "arm.urdf"
    path.write_text(f'<robot name="arm">{"".join(parts)}</robot>')
    return path


def test_a_base_that_is_welded_stands_while_the_arm_swings(arm):
    free = read_urdf(arm)
    assert minimal_dimension(free) == 2 * (6 + 2)
    welded = read_urdf(arm, floating=False, timestep=0.001)
    assert minimal_dimension(welded) == 2 * 2
    base = get_joint(welded, "fixed_base")
    assert (base.prototype, base.parent.name, base.child.name) == (Fixed.__name__, "origin", "link0")
    set_minimal_coordinates(welded, "joint1", [1.0])
    storage = simulate(welded, 1000)
    np.testing.assert_allclose(storage.x[:, 0], np.tile((0.0, 0.0, 0.07), (1000, 1)), atol=1e-12)
    assert np.ptp(storage.x[:, 2, 0]) > 0.1
    assert np.ptp(mechanical_energy(welded, storage)) < 1e-3 * 9.81 * 3.9


def test_the_weld_carries_the_weight_of_all(arm):
    robot = read_urdf(arm, floating=False)
    assert mehrotra(robot) == "success"  # upright, in balance
    np.testing.assert_allclose(get_joint(robot, "fixed_base").impulses[:3], (0, 0, 6.7 * 9.81 * 0.01), rtol=1e-9)


def test_the_panda_keeps_its_base_through_a_file(tmp_path):
    """Its root is the world in the file, which stands still whatever is asked for."""
    panda = gallery.panda(limited=True)
    write_urdf(panda, tmp_path / "panda.urdf")
    for floating in (None, False):
        robot = read_urdf(tmp_path / "panda.urdf", floating=floating)
        assert minimal_dimension(robot) == minimal_dimension(panda)
        assert np.isfinite(rollout(robot, robot.pose, 20)).all()
