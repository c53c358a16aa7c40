"""Writing road networks: what strict readers want, and what was read in its own words."""

from __future__ import annotations

import re

import numpy as np
import pytest

from cbsim.formats import rndf, write
from cbsim.spec.number import Written
from cbsim.spec.road import (
    Checkpoint,
    Crosswalk,
    Exit,
    Extension,
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
from cbsim.units import FOOT, MPH
from tests.common import shared
from tests.formats.rndf_texts import lane_text, network_codes, network_of

ROAD = Points.of([38.801, 38.802], [-77.2, -77.2])
YARD = Points.of([38.9, 38.8, 38.8], [-77.1, -77.0, -77.1])


def network(**lane):
    return RoadNetwork("site", (Segment(1, (Lane(1, 1, ROAD, **lane),)),))


def test_a_network_made_in_python_is_written_in_darpas_order():
    spot = Spot(2, 1, ROAD, 12 * FOOT, (Checkpoint(PointId(2, 1, 2), 9),))
    lane = Lane(
        1,
        1,
        ROAD,
        12 * FOOT,
        "double_yellow",
        "solid_white",
        checkpoints=(Checkpoint(PointId(1, 1, 1), 7),),
        stops=(Stop(PointId(1, 1, 2)),),
        exits=(Exit(PointId(1, 1, 2), PointId(2, 0, 1)),),
    )
    zone = Zone(2, Perimeter(YARD, (Exit(PointId(2, 0, 2), PointId(1, 1, 1)),)), (spot,), "Yard")
    made = RoadNetwork("site", (Segment(1, (lane,), "Main_St"),), (zone,), (), "1.0", "30-Jan-07")
    assert rndf.write(made) == (
        "RNDF_name\tsite\nnum_segments\t1\nnum_zones\t1\nformat_version\t1.0\ncreation_date\t30-Jan-07\n"
        "segment\t1\nnum_lanes\t1\nsegment_name\tMain_St\n"
        "lane\t1.1\nnum_waypoints\t2\nlane_width\t12\nleft_boundary\tdouble_yellow\nright_boundary\tsolid_white\n"
        "checkpoint\t1.1.1\t7\nstop\t1.1.2\nexit\t1.1.2\t2.0.1\n"
        "1.1.1\t38.801000\t-77.200000\n1.1.2\t38.802000\t-77.200000\nend_lane\nend_segment\n"
        "zone\t2\nnum_spots\t1\nzone_name\tYard\nperimeter\t2.0\nnum_perimeterpoints\t3\nexit\t2.0.2\t1.1.1\n"
        "2.0.1\t38.900000\t-77.100000\n2.0.2\t38.800000\t-77.000000\n2.0.3\t38.800000\t-77.100000\nend_perimeter\n"
        "spot\t2.1\nspot_width\t12\ncheckpoint\t2.1.2\t9\n"
        "2.1.1\t38.801000\t-77.200000\n2.1.2\t38.802000\t-77.200000\nend_spot\nend_zone\nend_file\n"
    )
    assert network_codes(rndf.write(made)) == []
    assert network_of(rndf.write(made)) == made


def test_counts_are_those_of_the_records_whatever_the_file_claimed():
    text = lane_text().replace("num_waypoints\t2", "num_waypoints\t99").replace("num_lanes\t1", "num_lanes\t7")
    assert rndf.write(network_of(text)) == lane_text()


def test_segments_lanes_zones_and_spots_are_written_by_id():
    second = Lane(1, 2, ROAD)
    text = rndf.write(RoadNetwork("r", (Segment(1, (second, Lane(1, 1, ROAD))),)))
    assert [lane.number for lane in network_of(text).lanes] == [1, 2]
    assert re.findall(r"lane\t(\S+)", rndf.write(network_of(text))) == ["1.1", "1.2"]


def test_coordinates_have_six_decimals_and_more_where_they_are_needed():
    exact = Points.of([38.5, 38.123456789012], [-1e-7, 1 / 3])
    text = rndf.write(RoadNetwork("r", (Segment(1, (Lane(1, 1, exact),)),)))
    assert "1.1.1\t38.500000\t-0.0000001\n1.1.2\t38.123456789012\t0.3333333333333333\n" in text
    assert next(network_of(text).lanes).points == exact


def test_texts_of_points_are_not_written_where_the_points_have_moved():
    lane = next(network_of(lane_text()).lanes)
    old = lane.points
    moved = Points(old.numbers, old.latitude + 0.5, old.longitude, old.texts, old.lines)
    text = rndf.write(RoadNetwork("r", (Segment(1, (Lane(1, 1, moved),)),)))
    np.testing.assert_array_equal(next(network_of(text).lanes).points.latitude, moved.latitude)


@pytest.mark.parametrize(
    ("width", "text"), [(12 * FOOT, "12"), (0.0, "0"), (Written("12.50", FOOT), "12.50"), (3.5, "11.48")]
)
def test_widths_are_written_in_feet(width, text):
    assert f"lane_width\t{text}" in rndf.write(network(width=width))
    assert next(network_of(rndf.write(network(width=width))).lanes).width == pytest.approx(width)


def test_a_width_that_is_unknown_is_not_written():
    assert "lane_width" not in rndf.write(network())


def test_rndf_1_1_records_are_written_only_where_the_network_has_them():
    crosswalk = Crosswalk(1, 1, 10 * FOOT, ROAD)
    made = RoadNetwork("r", (Segment(1, (Lane(1, 1, ROAD),), crosswalks=(crosswalk,), speed_limit=25 * MPH),))
    text = rndf.write(made)
    assert "num_crosswalks\t1\nspeed_limit\t25\n" in text
    assert "crosswalk_p1\t38.801000\t-77.200000\n" in text
    assert "num_crosswalks" not in rndf.write(network())
    assert network_of(text) == made


@pytest.mark.parametrize("name", ["two\nlines", "a /* comment", "  blanks  ", "end\r\n", "*/"])
def test_no_name_can_break_the_file(name):
    again = network_of(rndf.write(RoadNetwork(name, network().segments)))
    assert again.segments == network().segments
    assert again.name.split() == name.replace("/*", "/ *").split()


@pytest.mark.parametrize("mark", ["two words", "a\nb", "/* x"])
def test_no_mark_can_break_its_record(mark):
    again = network_of(rndf.write(network(left_boundary=mark, kind=mark)))
    assert len(next(again.lanes).points) == 2


def test_no_extension_can_break_the_file():
    bad = network(extensions=(Extension("a\nend_file"), Extension("b /* c")))
    assert [e.text for e in next(network_of(rndf.write(bad)).lanes).extensions] == ["a end_file", "b / * c"]


def test_an_empty_network_can_be_written():
    assert rndf.write(RoadNetwork("")) == "RNDF_name\nnum_segments\t0\nnum_zones\t0\nend_file\n"


def test_the_table_of_formats_writes_networks(tmp_path):
    path = tmp_path / "copy.rndf"
    write(network(), path)
    assert network_of(path.read_bytes()) == network()
    assert b"\r" not in path.read_bytes()


# --- a strict reader: DARPA's grammar to the letter -------------------------------------------------------------------
WORD, WHOLE, NUMBER = r"\S{1,128}", r"[0-9]+", r"-?[0-9]+\.[0-9]+"
POINT = rf"{WHOLE}\.{WHOLE}\.{WHOLE}"
ROW = rf"{POINT}\t{NUMBER}\t{NUMBER}\n"
MARK = "(double_yellow|solid_yellow|solid_white|broken_white)"
LANE = (
    rf"lane\t{WHOLE}\.{WHOLE}\nnum_waypoints\t{WHOLE}\n(lane_width\t{WHOLE}\n)?(left_boundary\t{MARK}\n)?"
    rf"(right_boundary\t{MARK}\n)?(checkpoint\t{POINT}\t{WHOLE}\n)*(stop\t{POINT}\n)*(exit\t{POINT}\t{POINT}\n)*"
    rf"({ROW})+end_lane\n"
)
SEGMENT = rf"segment\t{WHOLE}\nnum_lanes\t{WHOLE}\n(segment_name\t{WORD}\n)?({LANE})+end_segment\n"
SPOT = rf"spot\t{WHOLE}\.{WHOLE}\n(spot_width\t{WHOLE}\n)?(checkpoint\t{POINT}\t{WHOLE}\n)*{ROW}{ROW}end_spot\n"
PERIMETER = rf"perimeter\t{WHOLE}\.0\nnum_perimeterpoints\t{WHOLE}\n(exit\t{POINT}\t{POINT}\n)*({ROW})+end_perimeter\n"
ZONE = rf"zone\t{WHOLE}\nnum_spots\t{WHOLE}\n(zone_name\t{WORD}\n)?{PERIMETER}({SPOT})*end_zone\n"
STRICT = re.compile(
    rf"RNDF_name\t{WORD}\nnum_segments\t{WHOLE}\nnum_zones\t{WHOLE}\n(format_version\t{WORD}\n)?"
    rf"(creation_date\t{WORD}\n)?({SEGMENT})+({ZONE})*end_file\n"
)
DARPA = (
    "cornell/NQE-General_Files__nqe_rndf.rdf",
    "cornell/UCE-Final_Event__uce_rndf_1.5.rdf",
    "cornell/UCE-Original_Files-Original_Road_Network__uce_rndf.rdf",
    "gzrndf/sample1.rndf",
    "navguide/Sample_RNDF.txt",
    "stanford/alameda_rndf.txt",
    "terminus/gazebo8__darpa.rndf",
    "utexas/prc_small.rndf",
    "utexas/swri_site_visit.rndf",
)


@pytest.mark.parametrize("name", DARPA)
def test_what_is_written_satisfies_a_strict_reader(name):
    path = shared("rndf", *name.split("/"))
    text = rndf.write(network_of(path.read_bytes()))
    assert STRICT.fullmatch(text)
    counts = rndf.count(network_of(text))
    assert f"num_segments\t{counts['segments']}\nnum_zones\t{counts['zones']}\n" in text
    for lane in re.findall(LANE.replace("(", "(?:"), text):
        assert int(re.search(r"num_waypoints\t(\d+)", lane)[1]) == len(re.findall(ROW, lane))
