"""A rule about a car of a flow judges that car, in whatever row it is; recordings hold objects once they appear."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.evaluation.judge import Judge, judge
from cbsim.recording.recording import Recording

FLOW = """
network: merge
duration: 40
traffic:
  - {name: F, flow: 900, from: 1.1.1, to: 1.1.4}
add:
  - {name: Bot, kind: autonomous, position: [0, 500, 0]}
expect:
  - reach: {object: F 3, position: [30, -0.6, 0], radius: 20}
  - travel: {object: F 3, at_least: 1}
  - collision: {object: F 99}
"""
TRUCK = """
network: merge
traffic:
  - {name: F, flow: 300, from: 1.1.1}
add:
  - {name: Bot, kind: autonomous, position: [0, 500, 0]}
  - {name: Truck, kind: dynamic, position: [40, 600, 0], script: [{speed: 8, distance: 200, angle: 0}]}
duration: 6
events:
  - {name: come, when: {time: 1.3}, do: {appear: {object: Truck}}}
expect:
  - reach: {object: Truck, position: [40, 600, 0], radius: 2}
"""


def run(folder, text):
    path = folder / "flow.yaml"
    path.write_text(text)
    world = cbsim.load(path)
    outcome = cbsim.execute(world, record=folder / "flow.mcap")
    recording = Recording.open(folder / "flow.mcap")
    assert judge(recording).checks == outcome.checks
    return world, recording, outcome.checks


@pytest.mark.parametrize("traffic", ["all", "none"])
def test_rule_judges_the_third_car_of_a_flow(tmp_path, traffic):
    text = FLOW if traffic == "all" else FLOW + "record: {traffic: none}\n"
    world, recording, (reach, travel, never) = run(tmp_path, text)
    appeared = next(one.time for one in recording.events() if (one.kind, one.object) == ("appeared", "F 3"))
    assert appeared > 20.0  # when the row that is the third of the flow holds nobody
    assert reach.passed
    assert appeared < reach.time < appeared + 2.0
    places = recording.positions("F 3")
    own = places[np.isfinite(places[:, 0]) & (places[:, 2] > -1.0)]
    length = float(np.linalg.norm(np.diff(own, axis=0), axis=1).sum())
    assert float(travel.message.split()[1]) == pytest.approx(length, abs=0.1)
    assert never.message == "touched nothing; 'F 99' was never there"
    for size in (7, 1000):
        other = Judge(world.scene.expectations, world.scene.roadmap, world.scene.mission)
        other.begin(recording.header, b"", {})
        for batch in recording.batches():
            for first in range(0, len(batch.hashes), size):
                part = batch.part(first, first + size)
                told = np.isin(batch.events[:, 0], part.steps)
                other.take(
                    type(part)(part.first_step, part.hashes, part.motion, rows=part.rows, events=batch.events[told])
                )
        other.end()
        assert other.checks == [reach, travel, never]


def test_recording_holds_an_object_from_the_step_at_which_it_appears(tmp_path):
    _, recording, (reach,) = run(tmp_path, TRUCK)
    assert reach.time == pytest.approx(1.35)
    assert recording.positions("Truck")[27] == pytest.approx(
        [40.0, 600.0, recording.positions("Truck")[-1][2]], abs=0.5
    )
