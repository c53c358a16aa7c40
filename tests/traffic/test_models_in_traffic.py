"""Models among reactive cars: cars stop behind them, and hit them where they can't; then they stand for good."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import cbsim
from cbsim.paths import data_folder
from cbsim.simulation.advance import advance
from cbsim.world.traffic.tables import HIT, PHASE, SPEED, STATION
from tests.traffic.sites import put_on

SCENARIO = """\
network: loop
drivers: {{calm: {{desired_speed: {{speed: 10}}}}}}
traffic:
  - {{name: p, count: 1, on: ["1.1"], drivers: calm}}
models:
  - {{file: crash_dummy.urdf, name: Dummy, at: {{waypoint: 1.1.3, offset: -0.6}}, settings: {{joint_friction: true}}}}
"""


@pytest.fixture
def made(tmp_path):
    shutil.copy(data_folder("scenarios") / "models" / "crash_dummy.urdf", tmp_path)
    (tmp_path / "run.yaml").write_text(SCENARIO.format())
    return cbsim.load(tmp_path / "run.yaml")


def test_car_stops_behind_a_model_that_stands_on_its_lane(made):
    snapshot, dummy = made.start, made.constants.first_model
    put_on(made, snapshot, 0, 0, 2.0)
    before = snapshot.columns.position[dummy].copy()
    for _ in range(20):
        _, _, contacts = advance(made, snapshot, 20)
        assert not len(contacts)
    assert snapshot.columns.travel[0, SPEED] < 0.1
    assert snapshot.columns.travel[0, STATION] > 20.0
    assert snapshot.columns.position[dummy] == pytest.approx(before, abs=1e-3)


def test_model_that_is_hit_is_thrown_and_the_car_stands_for_good(made):
    snapshot, dummy = made.start, made.constants.first_model
    put_on(made, snapshot, 0, 0, 28.0, 9.0)
    before = snapshot.columns.position[dummy].copy()
    found = [advance(made, snapshot, 1)[2] for _ in range(80)]
    contacts = np.concatenate(found)
    assert (contacts[:, 1] == 0).any()
    assert snapshot.columns.intent[0, PHASE] == HIT
    assert snapshot.columns.travel[0, SPEED] == 0.0
    assert np.linalg.norm(snapshot.columns.position[dummy] - before) > 1.0
