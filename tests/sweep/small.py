"""`small`: a scenario of two seconds, and a planner that ends its process where its car is 2.5 m wide."""

from __future__ import annotations

import sys

import pytest

SCENARIO = """
duration: 2
parameters: {wall: 8.0}
add:
  - {name: Bot, kind: autonomous, parameters: {mass: 1500}}
  - {name: Wall, position: [0, "${wall}", 0], size: [6, 1, 1]}
planner: {Bot: {class: "small_planner:Small", latency: {normal: [0.2, 0.1]}}}
expect:
  - collision: {object: Bot}
"""

PLANNER = """
import os
from cbsim import Command

class Small:
    def start(self, mission, network, vehicle):
        print("planners may print")
        if abs(vehicle.width - 2.5) < 1e-9:
            os.kill(os.getpid(), 9)
        if abs(vehicle.width - 2.4) < 1e-9:
            raise ValueError("too wide")

    def plan(self, observation):
        return Command(throttle=0.3 if int(5 * observation.time) % 2 else 0.2)
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Folder with `small.yaml` and `small_planner.py`, which is the working directory."""
    (tmp_path / "small.yaml").write_text(SCENARIO)
    (tmp_path / "small_planner.py").write_text(PLANNER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "small_planner", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path
