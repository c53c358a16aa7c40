"""Placements of a scenario and the open goals that go on from there."""

from __future__ import annotations

import numpy as np

import cbsim

SCENARIO = """
network: four_way_stop
add:
  - name: T
    kind: dynamic
    at: {waypoint: 1.1.1, station: 80}
    goals: [{speed: 10, lane: 1.1}]
duration: 10
"""


def test_open_goal_goes_on_from_a_station_without_turning_back(tmp_path):
    (tmp_path / "s.yaml").write_text(SCENARIO)
    path = cbsim.run(cbsim.load(tmp_path / "s.yaml")).positions("T")[:, :2]
    steps = np.diff(path, axis=0)
    along = steps @ (path[-1] - path[0])
    assert (along >= 0.0).all()
    assert np.linalg.norm(steps, axis=1).sum() > 50.0
