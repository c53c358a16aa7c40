"""Template of a test repository: a small planner, a scenario for it, and instructions."""

from __future__ import annotations

from pathlib import Path

__all__ = ["FILES", "write_planner_tests"]

PLANNER = '''\
"""A minimal planner: it follows its lane at constant speed. Replace it by yours."""

import math

import cbsim

SPEED = 6.0  # [m/s]
AHEAD = 8.0  # [m] how far ahead on the lane it steers to


class Planner:
    def start(self, mission, network, vehicle):
        """Called once: checkpoints and limits, lanes in local metres, size and limits of the car."""
        self.network = network
        self.vehicle = vehicle

    def plan(self, observation):
        """Called at every step."""
        x, y = observation.position[:2]
        match = self.network.match([(x, y)], [observation.heading])
        if match.lane[0] < 0:
            return cbsim.Command(throttle=-1.0)  # off the road: brake
        lane = self.network.lanes[match.lane[0]]
        (target_x, target_y), _ = lane.at(match.station[0] + AHEAD)
        bearing = math.atan2(-(target_x - x), target_y - y)  # 0 north, counter-clockwise
        angle = math.atan(2.0 * self.vehicle.wheelbase * math.sin(bearing - observation.heading) / AHEAD)
        steering = max(-1.0, min(1.0, angle / self.vehicle.max_steer))
        throttle = max(-1.0, min(1.0, 0.5 * (SPEED - observation.speed)))
        return cbsim.Command(throttle=throttle, steering=steering)
'''

SCENARIO = """\
# One scenario is one test. Every key: cbsim check --schema
description: The car follows a closed road for a minute, past a car that is parked at its side.
network: loop                    # a shipped network, or a path to one of your own
duration: 60                     # s
planner: my_planner:Planner

add:
  - name: Car
    kind: autonomous
    size: [1.8, 4.5, 1.5]        # m: width, length, height
    at: 1.1.1
  - name: Parked
    at: {waypoint: 1.1.6, offset: -4.5}
    size: [1.8, 4.5, 1.5]

expect:
  - collision: {object: Car}
  - lane: {object: Car}
  - speed: {object: Car, at_most: 8}
  - travel: {object: Car, at_least: 300}
"""

README = """\
# Tests of a planner

    pip install cbsim pytest
    pytest                                          # every scenario in scenarios/, with the planner it names
    pytest scenarios --planner my_planner:Planner   # another planner in every scenario
    pytest scenarios --record out -n 2              # keep recordings of failures; two at a time (pytest-xdist)

    cbsim run scenarios/follow_the_road.yaml        # one of them, with its numbers
    cbsim check scenarios/*.yaml                    # every mistake with its line

A planner is any class with `start(mission, network, vehicle)` and `plan(observation)`, which returns a `cbsim.Command`.
`my_planner.py` shows the essentials of observations and the network; cbsim's pages on Python describe them in full.
"""

FILES = {
    "my_planner.py": PLANNER,
    "scenarios/follow_the_road.yaml": SCENARIO,
    "README.md": README,
    "pytest.ini": "[pytest]\ntestpaths = scenarios\n",
}


def write_planner_tests(folder: str | Path) -> list[Path]:
    """Write the files to a folder, made if missing; those that are there are overwritten.

    Returns
    -------
    list of Path
        What was written.
    """
    written = []
    for name, text in FILES.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written
