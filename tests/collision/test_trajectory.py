"""Trajectories of planners against moving boxes: shapely as the judge of every step."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely

from cbsim.collision import first_contacts
from cbsim.errors import UsageError


def box(pose, size):
    made = shapely.box(-size[0] / 2, -size[1] / 2, size[0] / 2, size[1] / 2)
    turned = shapely.affinity.rotate(made, pose[2], (0, 0), use_radians=True)
    return shapely.affinity.translate(turned, pose[0], pose[1])


def test_first_step_of_contact_is_shapelys():
    rng = np.random.default_rng(6)
    poses, obstacles = rng.uniform(-8, 8, (40, 12, 3)), rng.uniform(-8, 8, (5, 12, 3))
    obstacles[2, :6] = np.nan  # comes later
    size, sizes = (1.2, 3.1), rng.uniform(0.3, 2.5, (5, 2))
    found = first_contacts(poses, size, obstacles, sizes)
    for trajectory, step in zip(poses, found, strict=True):
        meets = [
            any(
                box(trajectory[s], size).intersects(box(o[s], w))
                for o, w in zip(obstacles, sizes, strict=True)
                if np.isfinite(o[s]).all()
            )
            for s in range(12)
        ]
        assert step == (meets.index(True) if any(meets) else -1)
    assert (found == -1).any()
    assert (found > 0).any()


def test_boxes_that_only_touch_are_in_contact_and_a_hair_farther_they_are_not():
    for gap, step in ((0.0, 0), (1e-9, -1)):
        assert first_contacts([[(0, 0, 0)]], (2, 4), [[(2.0 + gap, 0, 0)]], [(2, 4)])[0] == step
    corner = math.sqrt(0.5) * 2 + 1  # a corner against a side
    assert first_contacts([[(0, 0, 0)]], (2, 2), [[(corner - 1e-12, 0, math.pi / 4)]], [(2, 2)])[0] == 0


def test_nothing_to_run_into_and_nobody_to_run():
    assert first_contacts([[(0, 0, 0)]], (2, 4), [], []).tolist() == [-1]
    assert first_contacts(np.zeros((0, 3, 3)), (2, 4), np.zeros((1, 3, 3)), [(1, 1)]).shape == (0,)


@pytest.mark.parametrize(
    ("poses", "size", "obstacles", "sizes", "said"),
    [
        ([(0, 0, 0)], (1, 1), [], [], "poses have the shape"),
        ([[(0, 0, 0)]], (1,), [], [], "a size has the shape"),
        ([[(0, 0, 0)]], (1, 1), [[(0, 0, 0)] * 2], [(1, 1)], "obstacle poses have the shape"),
        ([[(0, 0, 0)]], (1, 1), [[(0, 0, 0)]], [(1, 1)] * 2, "obstacle sizes have the shape"),
        ([[(0, math.nan, 0)]], (1, 1), [], [], "not finite"),
        ([[(0, 0, 0)]], (1, -1), [], [], "negative"),
    ],
)
def test_what_does_not_fit_is_refused(poses, size, obstacles, sizes, said):
    with pytest.raises(UsageError, match=said):
        first_contacts(poses, size, obstacles, sizes)
