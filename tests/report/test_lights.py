"""The report has the traffic lights of a network, with the phases that traffic sees."""

from __future__ import annotations

import json

import numpy as np

import cbsim
from cbsim.report.data import run_of
from cbsim.report.pack import pack
from cbsim.road.lights import lane_lights
from tests.common import shared


def test_lights_of_the_page_have_the_states_of_the_programs(tmp_path):
    (tmp_path / "demo.rndf").write_bytes(shared("rndf", "stanford", "demo_rndf.txt").read_bytes())
    (tmp_path / "demo.yaml").write_text(
        'network: demo.rndf\nduration: 1\nlights: {"12.2": [[green, 10], [yellow, 3], [red, 17]]}\n'
        "traffic: [{name: p, count: 1}]\n"
    )
    world = cbsim.load(tmp_path / "demo.yaml")
    shown = json.loads(json.dumps(pack([run_of(cbsim.run(world))]).data))["road"]["lights"]
    assert world.scene.roadmap is not None
    kept = lane_lights(world.scene.roadmap, world.scene.lights)
    assert kept is not None
    assert len(shown) == len(kept.places) > 4
    for time in np.arange(0.05, 100.0, 0.7).tolist():
        states = [
            max(states[int(np.searchsorted(ends, time % ends[-1], "right"))] for ends, states in one["phases"])
            for one in shown
        ]
        assert states == kept.states(time)


def test_a_network_without_lights_has_none():
    assert pack([run_of(cbsim.run(cbsim.load("loop"), duration=0.1))]).data["road"]["lights"] == []
