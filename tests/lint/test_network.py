"""The linter as a whole: its table, real files, anything at all as input, and the largest network."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import Problems, Severity
from cbsim.formats import read_file
from cbsim.lint import mission, objects, scenario
from cbsim.lint.network import RULES, lint_network
from cbsim.road.roadmap import build
from cbsim.road.route import graph
from cbsim.spec.road import (
    Checkpoint,
    Exit,
    Lane,
    Perimeter,
    PointId,
    Points,
    RoadNetwork,
    Segment,
    Spot,
    Stop,
    Zone,
)
from tests.common import ROOT, SHARED, shared, shared_files
from tests.road.site import city

FILES = [str(path.relative_to(SHARED / "rndf")) for path in shared_files("rndf")] or ["navguide/Sample_RNDF.txt"]
PAGE = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")


def lint(network: RoadNetwork) -> Problems:
    problems = Problems()
    lint_network(network, problems)
    return problems


def test_every_code_is_in_the_table_once_and_on_the_page() -> None:
    codes = [rule.code for rule in (*RULES, *mission.RULES)]
    assert len(set(codes)) == len(codes)
    assert set(re.findall(r"^\| ([EWI][2-5]\d\d) ", PAGE, re.MULTILINE)) == set(codes)


def test_every_rule_says_its_code_and_meaning() -> None:
    for rule in (*RULES, *mission.RULES, *objects.RULES, *scenario.RULES):
        assert (rule.find.__doc__ or "").startswith(f"{rule.code}: ")


@pytest.mark.parametrize("name", FILES)
def test_findings_on_real_files_have_a_line_and_the_severity_of_their_code(name: str) -> None:
    severities = {"E": Severity.ERROR, "W": Severity.WARNING, "I": Severity.INFO}
    network = read_file(shared("rndf", name)).spec
    for problem in lint(network):
        assert problem.location.line is not None
        assert problem.location.path == network.location.path
        assert problem.severity is severities[problem.code[0]]


def test_findings_on_the_darpa_sample_are_exactly_these() -> None:
    network = read_file(shared("rndf", "navguide/Sample_RNDF.txt")).spec
    found = [(p.code, p.location.inside) for p in lint(network) if p.code != "I406"]
    lone = [("I407", p) for p in ("2.1.5", "3.1.14", "6.1.13", "8.1.2", "9.1.2", "9.2.3", "12.1.2")]
    rest = [("W305", "2.1.2"), ("W306", "2.1.2"), ("W401", "1.1.4"), ("W401", "4.2.7"), ("W403", "")]
    assert found == [*rest, *lone]


def test_darpa_files_of_the_events_have_no_errors() -> None:
    for name in ("NQE-General_Files__nqe_rndf.rdf", "UCE-Final_Event__uce_rndf_1.5.rdf"):
        assert not lint(read_file(shared("rndf", "cornell", name)).spec).errors


def test_the_dangling_exit_and_checkpoint_of_cornells_files_are_found() -> None:
    found = {
        name: [p.message for p in lint(read_file(shared("rndf", "cornell", name)).spec).errors]
        for name in ("arbiter-sample_roads__Sample1.rndf", "arbiter-sample_roads__Sample2.rndf")
    }
    assert ["6.2.10" in message for message in found["arbiter-sample_roads__Sample1.rndf"]] == [True]
    assert ["1.1.18" in message for message in found["arbiter-sample_roads__Sample2.rndf"]] == [True]


NUMBERS = st.sampled_from([1, 1, 2, 2, 3, 0, 10**30])
IDS = st.builds(PointId, NUMBERS, st.integers(0, 2), NUMBERS)
COORDINATES = st.one_of(
    st.sampled_from([0.0, 38.9, 38.9, 38.90001, -77.2, 95.0, 181.0, 1e7, 1e300, -0.0, float("nan"), float("inf")]),
    st.floats(-90.0, 90.0),
    st.floats(38.9, 38.901),
)
POINTS = st.lists(st.tuples(COORDINATES, COORDINATES), max_size=5).map(
    lambda rows: Points(
        tuple(range(1, len(rows) + 1)),
        np.array([r[0] for r in rows], float),
        np.array([r[1] for r in rows], float),
        texts=(),
        lines=(),
    )
)
EXITS = st.lists(st.builds(Exit, IDS, IDS), max_size=4).map(tuple)
CHECKPOINTS = st.lists(st.builds(Checkpoint, IDS, NUMBERS), max_size=3).map(tuple)
LANES = st.builds(
    Lane,
    NUMBERS,
    NUMBERS,
    POINTS,
    width=st.sampled_from([None, 0.0, 3.7, 0.1, 1e9, float("nan"), -3.0]),
    left_boundary=st.sampled_from(["", "solid_white", "broken_white"]),
    checkpoints=CHECKPOINTS,
    stops=st.lists(st.builds(Stop, IDS), max_size=2).map(tuple),
    exits=EXITS,
)
ZONES = st.builds(
    Zone,
    NUMBERS,
    st.one_of(st.none(), st.builds(Perimeter, POINTS, exits=EXITS)),
    st.lists(st.builds(Spot, NUMBERS, NUMBERS, POINTS, checkpoints=CHECKPOINTS), max_size=2).map(tuple),
)
NETWORKS = st.builds(
    RoadNetwork,
    st.just("r"),
    st.lists(LANES, max_size=5).map(lambda lanes: (Segment(1, tuple(lanes)),)),
    st.lists(ZONES, max_size=3).map(tuple),
    metric=st.booleans(),
)


@given(NETWORKS)
@settings(max_examples=300, deadline=None)
def test_any_network_at_all_gives_findings_and_no_exception(network: RoadNetwork) -> None:
    assert all(str(problem) for problem in lint(network))


def test_linting_does_not_load_heavy_libraries() -> None:
    code = (
        "import sys, cbsim.lint.network, cbsim.lint.mission; print({'numba', 'networkx', 'pyproj'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout == "set()\n"


def test_thousands_of_dangling_references_are_told_quickly() -> None:
    network = city(3, 200.0)
    (segment, *others), ways = network.segments, [Exit(PointId(k, 1, 1), PointId(1, k, 1)) for k in range(1000, 21_000)]
    lanes = (replace(segment.lanes[0], exits=tuple(ways)), *segment.lanes[1:])
    problems = lint(replace(network, segments=(replace(segment, lanes=lanes), *others)))
    assert problems.count(Severity.ERROR) == 40_000
    assert len(problems.errors) == 1000


@pytest.mark.slow
def test_nine_thousand_waypoints_are_compiled_and_linted() -> None:
    network = city()
    counts = Counter(lanes=sum(1 for _ in network.lanes), waypoints=sum(len(lane.points) for lane in network.lanes))
    assert counts["waypoints"] > 9000
    problems = lint(network)
    roadmap = build(network)
    assert sum(lane.length for lane in roadmap.lanes) > 385_000.0
    assert graph(roadmap).starts[-1] > 9000
    assert len(roadmap.match(roadmap.positions).lane) == counts["waypoints"]
    assert all(lane.polygon.area > 0.0 for lane in roadmap.lanes)
    assert {p.code for p in problems} == {"I406"}
