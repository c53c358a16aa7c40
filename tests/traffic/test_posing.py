"""Poses that are worked out in blocks are those of one car alone, bit for bit."""

from __future__ import annotations

import numpy as np

from cbsim.traffic.kernels import posing
from cbsim.traffic.kernels.ways.way import head_along

STEP = 0.05


def plain(function):
    """The Python function of a kernel's part."""
    return getattr(function, "py_func", function)


def test_headings_and_velocities_of_a_block_are_those_of_each_car():
    random = np.random.default_rng(3)
    count = posing.BLOCK
    angles = random.uniform(-np.pi, np.pi, count)
    angles[:4] = 0.0, np.pi, 2.0 * np.pi / 3.0, -2.0 * np.pi / 3.0  # ahead, back, and where the formula changes
    lengths = random.uniform(1.0, 4.0, count)
    lengths[-1] = 1e-7  # keeps its heading
    before, moved = random.uniform(-1e3, 1e3, (count, 2)), random.uniform(-1.0, 1.0, (count, 2))
    turns = 0.5 * angles + random.uniform(-0.05, 0.05, count)
    signs = random.choice([-1.0, 1.0], count)  # both quaternions of a heading

    desk, _ = plain(posing.posing_scratch)()
    rows = desk.reshape(-1, count)
    rows[:4] = before[:, 0], before[:, 1], signs * np.cos(turns), signs * np.sin(turns)
    rows[4:6] = (before + moved).T
    rows[6:8] = -lengths * np.sin(angles), lengths * np.cos(angles)
    given = rows.copy()
    plain(posing.head_and_move)(desk, count, STEP)

    for k in range(count):
        x, y, w, z, cx, cy, dx, dy = given[:8, k]
        q, distance = np.array([w, 0.0, 0.0, z]), np.sqrt(dx * dx + dy * dy)
        if distance >= 1e-6:
            plain(head_along)(q, dx / distance, dy / distance)
        turn = w * q[3] - z * q[0]
        turn = turn if w * q[0] + z * q[3] >= 0.0 else -turn
        assert rows[8, k] == q[0]
        assert rows[9, k] == q[3]
        assert rows[10, k] == (cx - x) / STEP
        assert rows[11, k] == (cy - y) / STEP
        assert rows[12, k] == 2.0 * turn / STEP
    assert np.all(np.abs(rows[12, :-1]) < 0.2 / STEP)  # turns of less than 0.1 rad, whatever the sign of a quaternion
