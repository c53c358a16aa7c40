"""Dialects of road network files: RNDF 1.1 and its editor, SRNDF, wrapped points, metric files, annotated turns."""

from __future__ import annotations

import pytest

from cbsim.formats import rndf
from cbsim.spec.number import number_text
from cbsim.spec.road import Crossing, Exit, PointId
from cbsim.units import FOOT, MPH
from tests.formats.rndf_texts import (
    HEAD,
    POINTS,
    found,
    lane_text,
    network_codes,
    network_of,
    read_network,
)

ELEVEN = """\
RNDF_name	town
num_segments	1
num_zones	0
num_intersections	1
format_version	1.1
segment	1
num_lanes	1
num_crosswalks	1
segment_name	Main_St
speed_limit	25.00
lane	1.1
num_waypoints	2
lane_width	12
lane_type	bike_lane
cross	1.1.2	1.1	stop
light	1.1.2	2.1
1.1.1	38.801000	-77.200000
1.1.2	38.802000	-77.200000
end_lane
crosswalk	1.1
crosswalk_width	15
crosswalk_p1	37.42728240	-122.07638432
crosswalk_p2	37.42723738	-122.07633826
end_crosswalk
end_segment
intersection	2
num_trafficlights	1
trafficlight	2.1
group_id	1
position	37.42179700	-122.18231700	22.30000000
end_trafficlight
end_intersection
end_file
"""

EDITOR = f"""\
RNDF_name town
num_segments 1
num_zones 0
format_version 1.10000002
segment 1
segment_name 
num_lanes 1
lane 1.1
num_waypoints 2
lane_width 12.00000001824
{POINTS}end_lane
end_segment
crosswalk 1.1
crosswalk_width 10.00000033434298
crosswalk_p1 37.42206913 -122.18234626
crosswalk_p2 37.42187196 -122.18244137
end_crosswalk
trafficlight 2.1
group_id 0
position 37.430817 -122.18403505 2
end_trafficlight
end_file
"""  # noqa: W291


def test_rndf_1_1_reads_without_a_complaint():
    assert network_codes(ELEVEN) == []


def test_rndf_1_1_gives_crosswalks_lights_limits_and_lane_types():
    network = network_of(ELEVEN)
    (segment,), (intersection,) = network.segments, network.intersections
    (crosswalk,), (lane,), (light,) = segment.crosswalks, segment.lanes, intersection.lights
    assert (segment.name, segment.speed_limit, lane.kind) == ("Main_St", 25.0 * MPH, "bike_lane")
    assert lane.crossings == (
        Crossing("cross", PointId(1, 1, 2), "1.1", "stop"),
        Crossing("light", PointId(1, 1, 2), "2.1"),
    )
    assert (str(crosswalk.segment), crosswalk.number, crosswalk.width) == ("1", 1, 15 * FOOT)
    assert crosswalk.ends.texts == (("37.42728240", "-122.07638432"), ("37.42723738", "-122.07633826"))
    assert (intersection.number, light.number, light.group) == (2, 1, "1")
    assert light.position == (37.421797, -122.182317, 22.3)


def test_rndf_1_1_is_written_back_word_for_word():
    assert rndf.write(network_of(ELEVEN)) == ELEVEN


def test_counts_of_crosswalks_lights_and_intersections_are_checked_only_where_they_are_given():
    _, problems = read_network(
        ELEVEN.replace("num_crosswalks\t1", "num_crosswalks\t2")
        .replace("num_trafficlights\t1", "num_trafficlights\t4")
        .replace("num_intersections\t1\n", "")
    )
    assert found(problems) == [(7, "W102"), (26, "W102")]


def test_editor_output_puts_crosswalks_and_lights_at_the_end_of_the_file():
    network = network_of(EDITOR)
    assert network_codes(EDITOR) == ["I003"]
    assert [crosswalk.number for crosswalk in network.segments[0].crosswalks] == [1]
    assert [light.number for light in network.intersections[0].lights] == [1]
    assert (network.segments[0].name, network.format_version) == ("", "1.10000002")


def test_editor_output_is_written_in_order_and_reads_the_same():
    network = network_of(EDITOR)
    text = rndf.write(network)
    assert "lane_width\t12.00000001824\n" in text
    assert text.index("crosswalk\t1.1") < text.index("end_segment") < text.index("intersection\t2")
    assert network_of(text) == network


def test_points_that_an_editor_inserted_keep_their_place():
    points = "1.1.1 38.801 -77.2\n1.1.4 38.802 -77.2\n1.1.2 38.803 -77.2\n"
    assert network_codes(lane_text(points=points)) == ["W008", "W104", "W105"]
    assert network_of(lane_text(points=points)).segments[0].lanes[0].points.numbers == (1, 4, 2)


def test_super_rndf_keeps_its_own_header_and_stays_recognisable():
    text = "SRNDF\n" + lane_text().replace("num_zones\t0\n", "num_zones\t0\nid_string\tabc\nrndf_lib_version\t1.0\n")
    assert network_codes(text) == []
    assert [e.text for e in network_of(text).extensions] == ["SRNDF", "id_string\tabc", "rndf_lib_version\t1.0"]
    assert rndf.write(network_of(text)) == text


def test_wrapped_points_are_points_and_character_points_are_kept_apart():
    text = (
        lane_text("num_charpoints\t1\ncharpoint\n1.1.1 5.0 6.0 1\nend_charpoint\nwaypoint\n", POINTS + "end_waypoint\n")
        .replace("num_waypoints\t3", "num_waypoints\t2")
        .replace("\n", "\r\n")
    )
    network = network_of(text)
    (lane,) = network.lanes
    assert network_codes(text) == []
    assert len(lane.points) == 2
    assert [e.text for e in lane.extensions] == ["num_charpoints\t1", "charpoint", "1.1.1 5.0 6.0 1", "end_charpoint"]
    assert network_of(rndf.write(network)) == network


@pytest.mark.parametrize("turn", ["l", "r", "s"])
def test_the_third_column_of_an_exit_is_its_turn(turn):
    text = lane_text(f"exit\t1.1.2\t1.1.1\t{turn}\n")
    assert network_codes(text) == []
    assert network_of(text).segments[0].lanes[0].exits == (Exit(PointId(1, 1, 2), PointId(1, 1, 1), turn=turn),)
    assert rndf.write(network_of(text)) == text


def test_any_other_third_column_of_an_exit_is_ignored_with_a_warning():
    text = lane_text("exit 1.1.2 1.1.1 soon\n")
    assert network_codes(text) == ["W113"]
    assert network_of(text).segments[0].lanes[0].exits[0].turn == ""


def metres(step, rows=3):
    return lane_text(points="".join(f"1.1.{n}\t{n * step:.6f}\t-5.000000\n" for n in range(1, rows + 1)))


@pytest.mark.parametrize("step", [0.5, 10.0, 300.0])
def test_columns_of_metres_are_recognised_by_the_distance_between_neighbours(step):
    assert network_of(metres(step)).metric


@pytest.mark.parametrize("step", [1e-6, 1e-4, 0.003])
def test_columns_of_degrees_are_not_taken_for_metres(step):
    assert not network_of(metres(step)).metric


def test_one_mistyped_coordinate_does_not_make_a_network_metric():
    points = "".join(f"1.1.{n}\t38.80{n}000\t-77.200000\n" for n in range(1, 8))
    assert not network_of(lane_text(points=points.replace("38.804", "3.8804"))).metric


def test_a_metric_network_of_single_points_is_recognised_by_its_extent():
    lanes = "".join(f"lane 1.{n}\nnum_waypoints 1\n1.{n}.1 {n * 40}.000000 3.000000\nend_lane\n" for n in (1, 2))
    text = f"{HEAD}segment 1\nnum_lanes 2\n{lanes}end_segment\nend_file\n"
    assert network_of(text).metric
    assert not network_of(text.replace(" 40.", " 38.7").replace(" 80.", " 38.8")).metric


def test_widths_are_feet_even_in_a_metric_network():
    text = metres(10.0).replace("num_waypoints", "lane_width\t12\nnum_waypoints")
    assert number_text(network_of(text).segments[0].lanes[0].width, FOOT) == "12"


@pytest.mark.parametrize("keyword", ["Segment", "SEGMENT", "Num_Lanes", "LANE", "End_Lane", "rndf_name", "END_FILE"])
def test_keywords_in_other_letters_are_understood_with_a_warning(keyword):
    proper = {"rndf_name": "RNDF_name"}.get(keyword, keyword.lower())
    text = lane_text().replace(f"{proper}\t", f"{keyword}\t").replace(f"{proper}\n", f"{keyword}\n")
    network, problems = read_network(text)
    assert {problem.code for problem in problems} == {"W001"}
    assert network == network_of(lane_text())
