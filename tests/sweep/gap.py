"""`gap`: a bot closes up to a car that brakes by mistake, with probability q in each second, of which there are n.

The car starts at rest. Where it brakes in every second it stands still, which is the nearest that the bot gets to it;
in any other run it has moved away. The probability of that distance is therefore q to the power of n.
"""

from __future__ import annotations

import sys

import pytest

import cbsim
from tests.road.site import Site

SCENARIO = """
network: line.rndf
duration: {seconds}
step: 0.1
parameters: {{rate: {rate}}}
drivers:
  sudden: {{desired_speed: {{speed: 8}}, max_acceleration: 3, errors: {{brakes_hard: "${{rate}}"}}}}
traffic:
  - {{name: lead, count: 1, drivers: sudden}}
add:
  - {{name: Ego, kind: autonomous, position: [-6, 186, 0]}}
planner: {{Ego: {{class: "gap_planner:Steady"}}}}
"""

PLANNER = """
from cbsim import Command

class Steady:
    def start(self, mission, network, vehicle):
        self.asked = 0

    def plan(self, observation):
        self.asked += 1
        return Command(throttle=max(0.0, min(1.0, 0.5 * (0.3 + 0.001 * (self.asked % 7) - observation.speed))))

    def save(self):
        return str(self.asked).encode()

    def restore(self, memory):
        self.asked = int(memory)
"""


def write_gap(folder, seconds=6, rate=0.1):
    """Write the scenario, its network and its planner."""
    (folder / "gap.yaml").write_text(SCENARIO.format(seconds=seconds, rate=rate))
    (folder / "gap_planner.py").write_text(PLANNER)
    cbsim.write(Site().lane("1.1", [(0.0, 0.0), (0.0, 200.0), (0.0, 400.0)]).network(), folder / "line.rndf")


def nearest(seconds: int) -> float:
    """Distance to which the bot comes where the car stands still, and half of what it is more in any other run [m]."""
    world = cbsim.load("gap.yaml", settings={"rate": 1.0})
    assert seconds * 10 == round(world.settings.duration / world.step)
    found = {(one.rule, one.metric): one.value for one in cbsim.metrics(cbsim.run(world))}
    least = found["standoff", "clearance"]
    assert least is not None
    return least + 0.1


@pytest.fixture
def gap(tmp_path, monkeypatch):
    """Folder with `gap.yaml`, which is the working directory."""
    write_gap(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "gap_planner", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path
