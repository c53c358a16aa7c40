"""Wrong events in a scenario: each mistake is told at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.formats.scenario import read, write
from cbsim.lint.scenario import lint_scenario
from cbsim.paths import Files

HEAD = """\
duration: 20
add:
  - {name: Bot, kind: autonomous}
  - {name: Truck, kind: dynamic, script: [{speed: 10, distance: 60, angle: 0}]}
traffic:
  - {name: town, count: 3}
  - {name: west, flow: 300, from: 1.1.1}
network: straight
events:
"""
FIRST = HEAD.count("\n") + 1
NETWORK = """\
RNDF_name straight
num_segments 1
num_zones 0
segment 1
num_lanes 1
lane 1.1
num_waypoints 3
1.1.1 30.200000 -92.000000
1.1.2 30.200300 -92.000000
1.1.3 30.200600 -92.000000
end_lane
end_segment
end_file
"""

CIRCLE = """\
  - {name: a, when: {time: 1}}
  - {name: b, when: {all: [{time: 1}, {event: c}]}}
  - {name: c, when: {after: {delay: 1, when: {event: b}}}}
"""


def problems_of(folder: Path, entries: str) -> list[tuple[int, str, str]]:
    """Lines within the events, codes and messages."""
    (folder / "straight.rndf").write_text(NETWORK)
    path, found = folder / "s.yaml", Problems()
    path.write_text(HEAD + entries)
    text = path.read_text()
    spec = read(Source(str(path), text, text.encode()), found)
    if spec is not None:
        lint_scenario(spec, Files([folder]), found)
    return [(one.location.line - FIRST + 1, one.code, one.message) for one in found if one.code not in ("W831", "E829")]


CASES = [
    ("  - {name: a, when: {event: a}}\n", [(1, "E832", "the event 'a' waits for itself")]),
    (
        CIRCLE,
        [(2, "E832", "events wait for each other in a circle: 'b' for 'c' for 'b'")],
    ),
    ("  - {when: {speed: {object: Bt, above: 1}}}\n", [(1, "E821", "no object 'Bt'")]),
    (
        "  - when:\n      any:\n        - {time: 1}\n        - {distance: {object: Bot, to: Trick, below: 3}}\n",
        [(4, "E821", "no object 'Trick'")],
    ),
    ("  - {when: {event: nothing}}\n", [(1, "E821", "no event 'nothing'")]),
    ("  - {when: {speed: {object: town 4, above: 1}}}\n", [(1, "E821", "no object 'town 4'")]),
    ("  - {when: {speed: {object: town 3, above: 1}}}\n", []),
    (
        "  - {when: {speed: {object: west 1, above: 1}}}\n",
        [(1, "E821", "'west 1' is a car of a flow: events are about objects, and cars that are there from the start")],
    ),
    (
        "  - {when: {waypoint: {object: Bot, waypoint: 1.1.9}}}\n",
        [(1, "E822", "waypoint '1.1.9' is not in network 'straight'")],
    ),
    (
        "  - {name: a, when: {time: 20}}\n",
        [(1, "W827", "comes true at 20 s at the earliest, but the run ends at 20 s")],
    ),
    (
        "  - {name: a, when: {time: 15}}\n  - {name: b, when: {after: {delay: 6, when: {event: a}}}}\n",
        [(2, "W827", "the event 'b' comes true at 21 s at the earliest, but the run ends at 20 s")],
    ),
    ("  - {when: {any: [{time: 30}, {time: 3}]}}\n", []),
    ("  - {when: {all: [{time: 30}, {time: 3}]}}\n", [(1, "W827", "comes true at 30 s at the earliest")]),
    (
        "  - {when: {region: {object: Bot, polygon: [[0, 0], [5, 5], [5, 0], [0, 5]]}}}\n",
        [(1, "E805", "the region crosses or touches itself")],
    ),
    ("  - {when: {region: {object: Bot, polygon: [[0, 0], [5, 5]]}}}\n", [(1, "E805", "is not a polygon")]),
    ("  - {when: {region: {object: Bot, polygon: [[0, 0], [5, 5], [a, 3]]}}}\n", [(1, "E805", "is not a place")]),
    (
        "  - when: {time: 3}\n    do: {run_state: {object: Truck, state: PAUSE}}\n",
        [(2, "E833", "'Truck' has no run state: it is dynamic, not autonomous")],
    ),
    (
        "  - when: {time: 3}\n    do: [{stop: {object: Bot}}, {speed: {object: town 1, to: 3}}]\n",
        [(2, "E833", "'Bot' is autonomous: it has run states, and 'stop' is for others")],
    ),
    (
        "  - when: {time: 3}\n    do: {block: {object: town 1, place: 1.1.2}}\n",
        [(2, "E833", "'town 1' is a car of traffic: it cannot be put in the way")],
    ),
    (
        "  - when: {time: 3}\n    do: {synchronise: {object: Truck, place: 1.1.2, with: Bott, with_place: 1.1.8}}\n",
        [(2, "E821", "no object 'Bott'"), (2, "E822", "waypoint '1.1.8' is not in network")],
    ),
    (
        "  - when: {time: 3}\n    do: [{light: {light: 2.1, state: red}}, {gps_outage: {object: Truck}}]\n",
        [
            (2, "E822", "no lane of network 'straight' has the light '2.1'"),
            (2, "E833", "'Truck' has no sensors: it is dynamic, not autonomous"),
        ],
    ),
    (
        "  - {when: {time: 3}, do: {sensor_fault: {object: Bot, fault: frozen}}}\n",
        [(1, "E806", "a freeze needs 'for', how long it lasts")],
    ),
    ("  - {when: {time: 3}, do: {speed: {object: Truck, to: 3, rate: 1, within: 2}}}\n", [(1, "E806", "exclude")]),
    (
        "  - {when: {time: 3}, do: {lane_change: {object: Truck, side: left}}}\n",
        [(1, "E833", "'Truck' is dynamic: 'lane_change' is for reactive cars")],
    ),
    (
        "  - {when: {time: 3}, do: {lane_change: {object: Truck, side: lef}}}\n",
        [(1, "E805", "left")],
    ),
    ("  - {when: {tme: 3}}\n", [(1, "E803", "no key 'tme' here")]),
    ("  - {when: {time: 3, speed: {object: Bot, above: 1}}}\n", [(1, "E806", "a condition is one kind")]),
    ("  - {when: {distance: {object: Bot, below: 1}}}\n", [(1, "E806", "one of 'to' and 'place' is needed")]),
    ("  - {when: {speed: {object: Bot, below: 1, above: 3}}}\n", [(1, "E806", "exclude each other")]),
    ("  - {when: {all: []}}\n", [(1, "E805", "expected a list of at least 1")]),
    ("  - {when: {time: 1}, do: {fly: {object: Bot}}}\n", [(1, "E803", "no key 'fly' here")]),
    ("  - {name: a, when: {time: 1}}\n  - {name: a, when: {time: 2}}\n", [(2, "E806", "the name 'a' stands twice")]),
    (
        f"  - {{when: {'{any: [' * 20}{{time: 1}}{']}' * 20}}}\n",
        [(1, "E806", "conditions stand at most 16 deep in each other")],
    ),
]


@pytest.mark.parametrize(("entries", "expected"), CASES, ids=[str(k) for k in range(len(CASES))])
def test_mistake_is_told_at_its_line(entries, expected, tmp_path):
    found = problems_of(tmp_path, entries)
    assert [(line, code) for line, code, _ in found] == [(line, code) for line, code, _ in expected], found
    for (_, _, message), (_, _, part) in zip(found, expected, strict=True):
        assert part in message


def test_rule_about_an_event_that_does_not_exist_is_told(tmp_path):
    found = problems_of(tmp_path, "  - {name: a, when: {time: 1}}\nexpect:\n  - event: {name: b}\n")
    assert found == [(3, "E821", "no event 'b'")]


def test_events_are_written_and_read_back(tmp_path):
    text = HEAD + (
        "  - {name: a, when: {all: [{time: 3}, {distance: {object: Bot, place: 1.1.2, below: 4}}]},\n"
        "     do: [{run_state: {object: Bot, state: DISABLE}}]}\n"
        "  - {when: {after: {delay: 2, when: {region: {object: Bot, polygon: [[0, 0], [1, 0], 1.1.2]}}}}}\n"
        "  - {when: {any: [{event: a}, {standstill: {object: Bot, for: 2}}]}}\n"
        "  - {when: {time_to_collision: {object: Bot, to: Truck, below: 2}},\n"
        "     do: [{speed: {object: Truck, to: 3, within: 0}}, {block: {object: Truck, place: [1, 2], heading: 35}},\n"
        "          {synchronise: {object: Truck, place: 1.1.2, with: Bot, with_place: [3, 4]}},\n"
        "          {sensor_fault: {object: Bot, sensor: scan, fault: frozen, for: 3}}, {gps_outage: {object: Bot}},\n"
        "          {light: {light: 2.1, state: red}}]}\n"
    )
    found = Problems()
    spec = read(Source("s.yaml", text, text.encode()), found)
    assert spec is not None, list(found)
    again = write(spec)
    assert read(Source("t.yaml", again, again.encode()), found) == spec
    assert spec.events[1].name == "event 2"
