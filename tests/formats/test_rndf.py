"""Road network files as a whole: the counts of real files, what is said of each, and that they survive writing."""

from __future__ import annotations

import re

import numpy as np
import pytest

from cbsim.errors import Problems
from cbsim.formats import read_file, rndf
from cbsim.formats.reader import Source
from cbsim.spec.road import Lane, Points, RoadNetwork, Segment
from tests.common import SHARED, shared, shared_files
from tests.formats.rndf_texts import lane_text, network_of, read_network

KEYS = ["segments", "lanes", "waypoints", "zones", "perimeter_points", "spots", "checkpoints", "stops", "exits"]

GOLDEN = {  # counts in the order of KEYS, and kilometres of lane
    "terminus/gazebo8__darpa.rndf": (13, 21, 146, 1, 6, 6, 17, 21, 49, 8.789),
    "navguide/Sample_RNDF.txt": (13, 21, 146, 1, 6, 6, 17, 20, 49, 8.789),
    "cornell/UCE-Original_Files-Original_Road_Network__uce_rndf.rdf": (60, 77, 628, 8, 85, 114, 170, 39, 156, 20.933),
    "gzrndf/sample2.rndf": (60, 77, 628, 8, 85, 114, 170, 41, 156, 20.933),
    "cornell/UCE-Final_Event__uce_rndf_1.5.rdf": (61, 77, 854, 8, 88, 113, 170, 44, 158, 20.969),
    "cornell/NQE-General_Files__nqe_rndf.rdf": (41, 53, 337, 3, 58, 5, 39, 27, 96, 9.769),
    "utexas/swri_site_visit.rndf": (3, 6, 60, 0, 0, 0, 12, 4, 14, 0.829),
}

SAID = {  # codes, where anything is said at all
    "cornell/NQE-General_Files__nqe_rndf.rdf": "I003",
    "cornell/UCE-Final_Event__uce_rndf_1.5.rdf": "I003 W102 W102",
    "cornell/UCE-Original_Files-Original_Road_Network__uce_rndf.rdf": "I003",
    "cornell/arbiter-sample_roads__Sample1.rndf": "W008",
    "cornell/arbiter-sample_roads__Sample2.rndf": "W008 W107",
    "cornell/arbiter-sample_roads__Sample3.rndf": "W008",
    "cornell/arbiter-sample_roads__Sample4.rndf": "W008",
    "manifold/roadA.rndf": "W008",
    "manifold/roadA_zone_no_perimeter.rndf": "E108 W008",
    "navguide/Sample_RNDF.txt": "I003",
    "pkorivi/rndf_files__rndf_1_way_loop.txt": "W008 W102 W102 W110",
    "pkorivi/rndf_files__rndf_2_way_road.txt": "W008 W102 W102 W110",
    "stanford/circle_shoreline_rndf.txt": "W008 W102",
    "stanford/demo_rndf.txt": "W102",
    "stanford/shoreline_circle_rndf.txt": "W102",
    "terminus/gazebo8__darpa.rndf": "I003",
    "terminus/gazebo8__roadA.rndf": "W008",
    "terminus/roadA.rndf": "W008",
    "terminus/wrong__duplicate_segments_id.rndf": "E103",
    "terminus/wrong__duplicate_waypoint_id.rndf": "E103",
    "terminus/wrong__trouble1.rndf": "E103 E103 W104",
    "terminus/wrong__trouble2.rndf": "E103 W104",
    "utexas/RoadA.rndf": "W008",
    "utexas/digcs.rndf": "W008 W107",
    "utexas/longhorn.rndf": "W008",
    "utexas/new_digcs.rndf": "W008 W107",
    "utexas/outside_prc_gen.rndf": "W008",
    "utexas/prc__big-lap.rndf": "W008",
    "utexas/prc__park.rndf": "W008 W104",
    "utexas/prc_large_obstacle.rndf": "I117 I117",
    "utexas/prc_small.rndf": "W102 W104 W104",
    "utexas/speedway.rndf": "W008",
    "utexas/swri_site_visit.rndf": "I003",
    "utexas/utexas_explore.rndf": "W008",
}
METRIC = ("cornell/arbiter", "pkorivi/")

REAL = shared_files("rndf")


def name_of(path):
    return path.relative_to(SHARED / "rndf").as_posix()


def load(path):
    problems = Problems()
    network = rndf.read(Source.decode(path, path.read_bytes()), problems)
    assert network is not None
    return network, problems


@pytest.mark.parametrize("name", GOLDEN)
def test_counts_of_known_networks_are_as_published(name):
    network, _ = load(shared("rndf", *name.split("/")))
    counts = rndf.count(network)
    *numbers, kilometres = GOLDEN[name]
    assert [counts[key] for key in KEYS] == numbers
    assert counts["lane_km"] == pytest.approx(kilometres, abs=0.0006)


@pytest.mark.parametrize("path", REAL, ids=name_of)
def test_counts_of_every_real_file_agree_with_its_provenance(path):
    row = re.search(rf"^\| `{re.escape(name_of(path))}` \|.*$", shared("PROVENANCE.md").read_text(), re.MULTILINE)
    numbers = re.search(r"\| \d+ ((\| \d+ ){9})\|", row[0])[1]
    network, _ = load(path)
    assert [rndf.count(network)[key] for key in KEYS] == list(map(int, re.findall(r"\d+", numbers)))


@pytest.mark.parametrize("path", REAL, ids=name_of)
def test_every_real_file_gets_the_remarks_it_deserves_and_no_other(path):
    network, problems = load(path)
    assert " ".join(sorted(problem.code for problem in problems)) == SAID.get(name_of(path), "")
    assert network.metric == name_of(path).startswith(METRIC)


@pytest.mark.parametrize("path", REAL, ids=name_of)
def test_every_real_file_reads_the_same_once_it_is_written(path):
    network, _ = load(path)
    text = rndf.write(network)
    again, problems = read_network(text)
    assert again == network
    assert rndf.count(again) == rndf.count(network)
    assert rndf.write(again) == text
    # style, counts and places are put right by writing; only what the file means stays wrong
    assert {problem.code for problem in problems} <= {"W008", "W104", "E103", "E108", "I117"}


@pytest.mark.parametrize("path", REAL, ids=name_of)
def test_numbers_of_every_real_file_keep_their_text(path):
    network, _ = load(path)
    words = set(path.read_bytes().decode().replace("/", " ").split())
    for lane in network.lanes:
        assert {text for pair in lane.points.texts for text in pair} <= words
        assert lane.width is None or lane.width.text in words
    written = set(rndf.write(network).split())
    assert {word for word in words if re.fullmatch(r"-?\d+\.\d{4,}", word)} <= written


@pytest.mark.parametrize("path", REAL, ids=name_of)
def test_every_location_of_a_real_file_points_at_its_record(path):
    lines = path.read_text().splitlines()
    network, _ = load(path)
    for lane in network.lanes:
        assert lines[lane.location.line - 1].split()[:2] == ["lane", str(lane)]
        for number, line in zip(lane.points.numbers, lane.points.lines, strict=True):
            assert lines[line - 1].split()[0] == f"{lane}.{number}"
        for exit_ in lane.exits:
            assert lines[exit_.location.line - 1].split()[:3] == ["exit", str(exit_.source), str(exit_.target)]
        for stop in lane.stops:
            assert lines[stop.location.line - 1].split()[:2] == ["stop", str(stop.point)]


def test_counts_have_exactly_the_keys_that_info_prints():
    assert list(rndf.count(network_of(lane_text()))) == [*KEYS, "lane_km"]


def test_a_network_is_recognised_and_read_by_the_table_of_formats(tmp_path):
    path = tmp_path / "site.txt"
    path.write_text(lane_text())
    reading = read_file(path)
    assert (reading.format.name, reading.spec, len(reading.problems)) == ("rndf", network_of(lane_text()), 0)


def test_equal_networks_may_stand_on_other_lines():
    assert network_of(lane_text("stop 1.1.2\n")) == network_of("\n\n" + lane_text("stop 1.1.2\n"))
    assert network_of(lane_text("stop 1.1.2\n")) != network_of(lane_text("stop 1.1.1\n"))
    assert network_of(lane_text("surface mud\n")) != network_of(lane_text("surface ice\n"))


def test_lane_kilometres_sum_chords_between_the_points_of_each_lane():
    metres = Points.of([0.0, 3.0, 3.0], [0.0, 4.0, 10.0])
    lanes = tuple(Lane(1, number, metres) for number in (1, 2))
    assert rndf.count(RoadNetwork("plane", (Segment(1, lanes),), metric=True))["lane_km"] == 0.022


def test_a_minute_of_latitude_at_the_equator_is_a_little_shorter_than_a_nautical_mile():
    lane = Lane(1, 1, Points.of([0.0, 1.0 / 60.0], [10.0, 10.0]))
    kilometres = rndf.count(RoadNetwork("sphere", (Segment(1, (lane,)),)))["lane_km"]
    assert kilometres == pytest.approx(1.842905, abs=1e-5)  # a (1 - e²) π / 10800


def test_columns_of_points_are_read_only():
    points = network_of(lane_text()).segments[0].lanes[0].points
    with pytest.raises(ValueError, match="read-only"):
        points.latitude[0] = 1.0


def test_points_made_without_a_file_count_from_one():
    points = Points.of([1.0, 2.0], [3.0, 4.0])
    assert (points.numbers, points.texts, len(points)) == ((1, 2), (), 2)
    np.testing.assert_array_equal(points.longitude, [3.0, 4.0])
    assert Points.of([1.0], [2.0], [7]).index(7) == 0
