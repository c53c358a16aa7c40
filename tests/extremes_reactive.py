"""Bases of extremes with reactive traffic: drivers with every key, counts, flows, people, lights, parking, events."""

from __future__ import annotations

import re

from tests.common import ROOT
from tests.extremes import Base

DRIVERS = """
drivers:
  calm:
    model: idm
    desired_speed: 0.9
    time_headway: {normal: [1.8, 0.2]}
    minimum_gap: {normal: [2.5, 0.3]}
    max_acceleration: 1.3
    comfortable_deceleration: 1.9
    critical_gap: 1.1
    errors: {runs_stops: 0.1, ignores_right_of_way: 0.2, tailgates: 0.3, brakes_hard: 0.05}
  hasty:
    model: krauss
    desired_speed: {speed: {normal: [14, 2]}}
    time_headway: 1.1
    minimum_gap: 1.5
    max_acceleration: {normal: [2.2, 0.3]}
    comfortable_deceleration: {normal: [3.1, 0.4]}
    critical_gap: {normal: [0.7, 0.1]}
    errors: {runs_stops: 0.9, ignores_right_of_way: 0.8, tailgates: 0.7, brakes_hard: 2/min}
"""

CROSSING = """
network: road.rndf
mission: road.mdf
duration: 5
step: 0.1
traffic:
  - {name: around, count: 12, drivers: {calm: 0.6, hasty: 0.4}}
  - {name: through, flow: 900, from: 1.1.1, to: {3.2.6: 0.7, 2.2.6: 0.3}, begin: 0.2, until: 3.1, drivers: hasty}
  - {name: trucks, flow: 300.5, from: 2.1.1, arrivals: even, class: truck, drivers: calm}
people:
  - {name: Ann, path: [[-6, -40], [6.5, -40.5], [7, 12]], speed: 1.3, initial_pause: 0.3}
  - {name: Bea, path: [1.1.4, [9.5, -20]], speed: 1.7, bold: true}
add:
  - {name: Bot, kind: autonomous, at: {waypoint: 3.1.2, station: 1.5, offset: 0.2}, size: [1.8, 4.5, 1.5]}
  - name: Courier
    kind: dynamic
    reactive: true
    at: {waypoint: 4.1.2, station: 2.5}
    size: [1.9, 4.7, 1.6]
    initial_pause: 0.1
    goals: [{waypoint: 4.1.4, pause: 0.5}, {waypoint: 2.2.4}]
  - {name: Crate, size: [1.2, 0.8, 0.9], at: {waypoint: 3.2.4, station: 6.5, offset: -3.2}}
events:
  - {name: slow, when: {time: 0.3}, do: {speed: {object: Courier, to: 2.5, rate: 1.5}}}
  - name: near
    when: {distance: {object: Bot, to: Courier, below: 60}}
    do: [{stop: {object: Courier, rate: 2.5}}, {block: {object: Crate, place: 1.2.3, heading: 20}}]
  - name: soon
    when: {time_to_collision: {object: Bot, to: Crate, below: 90}}
    do: {run_state: {object: Bot, state: RUN}}
  - {name: later, when: {after: {delay: 0.4, when: {event: slow}}}, do: {resume: {object: Courier}}}
  - {name: here, when: {region: {object: Bot, polygon: [[-50, -50], [50, -50.5], [50.5, 50]]}}}
expect:
  - {collision: {object: Bot, impact_below: 0.5}}
  - {speed: {object: Courier, at_most: 20, tolerance: 0.5}}
  - {margin: {object: Bot, ttc: 1.5, pet: 1.2}}
  - {comfort: {object: Courier}}
"""

LOT = """
network: road.rndf
step: 0.1
traffic:
  - {name: staff, count: 1, parked: 4, pause: 0.3, then: {1.1.10: 0.6, 1.2.10: 0.4}, drivers: calm}
  - {name: guests, flow: 2400, from: 1.1.1, to: 4.1.2, pause: 1.5, then: 1.2.10, drivers: hasty}
  - {name: buses, flow: 200, from: 1.2.1, to: 1.2.10, class: bus, drivers: {calm: 3, hasty: 2}}
add:
  - name: Courier
    kind: dynamic
    reactive: true
    at: {waypoint: 1.1.4, station: 1.5}
    size: [1.8, 4.5, 1.5]
    goals: [{waypoint: 4.2.2, pause: 20}, {waypoint: 1.2.9}]
expect: [{collision: {object: Courier, impact_below: 0.3}}]
"""

STREET = """RNDF_name\tstreet
num_segments\t1
num_zones\t0
num_intersections\t1
format_version\t1.1
segment\t1
num_lanes\t1
lane\t1.1
num_waypoints\t3
lane_width\t12
light\t1.1.2\t2.1
1.1.1\t30.0000\t-92.0000
1.1.2\t30.0006\t-92.0000
1.1.3\t30.0012\t-92.0000
end_lane
end_segment
intersection\t2
num_trafficlights\t1
trafficlight\t2.1
group_id\t1
position\t30.0006 -92.0000 5
end_trafficlight
end_intersection
end_file
"""

LIGHTS = """
network: road.rndf
step: 0.1
lights: {2.1: [[green, 0.5], [yellow, 0.4], [red, 2.5]]}
traffic:
  - {name: cars, count: 8, drivers: {calm: 1, hasty: 1}}
  - {name: more, flow: 1500, from: 1.1.1, at_most: 4, class: motorcycle, drivers: hasty}
"""


def crossing() -> Base:
    """Cars of a count and of flows, a bot, a courier and people at an all-way stop, with events."""
    files = {
        "scene.yaml": CROSSING + DRIVERS,
        "road.rndf": (ROOT / "rndf" / "four_way_stop.rndf").read_text(),
        "road.mdf": (ROOT / "rndf" / "four_way_stop.mdf").read_text(),
    }
    return Base("crossing", files, "scene.yaml", ("scene.yaml",))


def lot() -> Base:
    """Cars that park, and leave their spots."""
    network = (ROOT / "rndf" / "parking.rndf").read_text()
    network = re.sub(r"spot\t4\.([4-9]|1\d)\n.*?end_spot\n", "", network, flags=re.DOTALL)  # ways to spots take time
    files = {"scene.yaml": LOT + DRIVERS, "road.rndf": network}
    return Base("lot", files, "scene.yaml", ("scene.yaml",))


def lights() -> Base:
    """A street with a traffic light."""
    return Base(
        "lights", {"scene.yaml": LIGHTS + DRIVERS, "road.rndf": STREET}, "scene.yaml", ("scene.yaml", "road.rndf")
    )


REACTIVE = (crossing, lot, lights)
