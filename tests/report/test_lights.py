"""The report has the traffic lights of a network, with the phases that traffic sees."""

from __future__ import annotations

import json

import numpy as np

import cbsim
from cbsim.report.data import run_of
from cbsim.report.pack import pack
from cbsim.report.page import page_of
from cbsim.road.lights import held_lights, lane_lights
from tests.common import shared
from tests.traffic.test_lights import STREET


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


EVENTS = """\
network: street.rndf
duration: 6
lights: {"2.1": [[green, 1], [yellow, 1]]}
traffic: [{name: p, count: 1}]
events:
  - {name: stop it, when: {time: 2}, do: [{light: {light: "2.1", state: red}}]}
  - {name: and <now>, when: {time: 2}, do: [{light: {light: "2.1", state: yellow}}]}
  - {name: let it go, when: {time: 4}, do: [{light: {light: "2.1", state: program}}]}
  - {name: never, when: {time: 90}, do: [{light: {light: "2.1", state: red}}]}
"""


def test_lights_that_events_set_have_their_times(tmp_path):
    (tmp_path / "street.rndf").write_text(STREET)
    (tmp_path / "street.yaml").write_text(EVENTS)
    run = run_of(cbsim.run(cbsim.load(tmp_path / "street.yaml")))
    (light,) = json.loads(json.dumps(pack([run]).data))["road"]["lights"]
    assert light["held"] == [[[2.0, 2.0, 4.0], [2, 1, -1]]]  # of one step the later line holds
    assert run.lights is not None
    shown = [
        int(run.lights.states(t, held_lights(run.switches, t / 0.05 + 1e-9))[0]) for t in (0.5, 1.5, 2.5, 3.5, 4.5)
    ]
    assert shown == [0, 1, 1, 1, 0]


def test_events_that_came_true_are_listed(tmp_path):
    (tmp_path / "street.rndf").write_text(STREET)
    (tmp_path / "street.yaml").write_text(EVENTS)
    run = run_of(cbsim.run(cbsim.load(tmp_path / "street.yaml")))
    assert [(one.time, one.name) for one in run.happened if one.message == "came true"] == [
        (2.0, "stop it"),
        (2.0, "and <now>"),
        (4.0, "let it go"),
    ]
    page = page_of([run])
    section = page[page.index('id="told"') :]
    section = section[: section.index("</section>")]
    assert "and &lt;now&gt;" in section
    assert 'data-time="4.0"' in section
    assert "never" not in section


def test_a_run_without_events_has_no_list_of_them():
    assert 'id="told"' not in page_of([run_of(cbsim.run(cbsim.load("loop"), duration=0.1))])
