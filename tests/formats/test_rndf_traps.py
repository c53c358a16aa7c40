"""The traps that real road network files hold, one sentence each, in the order of the catalogue."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import Severity
from cbsim.formats import rndf
from cbsim.spec.number import Written
from cbsim.spec.road import Exit, PointId
from cbsim.units import FOOT
from tests.formats.rndf_texts import (
    HEAD,
    POINTS,
    TAIL,
    found,
    lane_text,
    mission_of,
    network_codes,
    network_of,
    read_mission,
    read_network,
)

ZONE = (
    "zone\t2\nnum_spots\t0\nperimeter\t2.0\nnum_perimeterpoints\t3\n"
    "2.0.1\t38.900000\t-77.100000\n2.0.2\t38.800000\t-77.000000\n2.0.3\t38.800000\t-77.100000\n"
    "end_perimeter\nend_zone\n"
)


def lane_of(text):
    """The first lane of a network."""
    return network_of(text).segments[0].lanes[0]


def the_problem(text):
    """The only problem of a network."""
    _, problems = read_network(text)
    (problem,) = problems
    return problem


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_trap_01_any_one_line_end_is_accepted_without_a_word(end):
    assert network_codes(lane_text().replace("\n", end)) == []
    assert network_of(lane_text().replace("\n", end)) == network_of(lane_text())


def test_trap_01_mixed_line_ends_are_remarked_once_at_the_first_of_the_rarer_kind():
    problem = the_problem(lane_text().replace("num_lanes\t1\n", "num_lanes\t1\r\n"))
    assert (problem.code, problem.severity, problem.location.line) == ("I002", Severity.INFO, 5)
    assert "1 × CR LF" in problem.message


def test_trap_02_trailing_tabs_are_remarked_once_with_their_number():
    text = lane_text().replace("end_lane\n", "end_lane\t\t\t\n").replace("end_file\n", "end_file \n")
    problem = the_problem(text)
    assert (problem.code, problem.severity, problem.location.line) == ("I003", Severity.INFO, 10)
    assert "2" in problem.message
    assert network_of(text) == network_of(lane_text())


def test_trap_03_a_file_need_not_end_with_a_line_end():
    assert network_codes(lane_text().rstrip("\n")) == []


@pytest.mark.parametrize("blank", [" ", "   ", "\t\t", " \t "])
def test_trap_04_any_run_of_blanks_separates_columns(blank):
    assert network_of(lane_text("exit\t1.1.2\t1.1.1\n").replace("\t", blank)) == network_of(
        lane_text("exit\t1.1.2\t1.1.1\n")
    )


def test_trap_05_a_letter_glued_to_the_comment_before_the_header_is_stray_text():
    problem = the_problem("h/*    the annex road */\n" + lane_text())
    assert (problem.code, problem.location.line) == ("W004", 1)


def test_trap_05_a_comment_glued_to_a_token_ends_it():
    assert network_codes(lane_text().replace("lane\t1.1\n", "lane\t1.1/*no exits, passing lane*/\n")) == []


def test_trap_05_comments_may_span_lines_and_lines_keep_their_numbers():
    text = lane_text("/* one\ntwo\n\nfour */ stop\t1.1.2\nfoo\n")
    assert found(read_network(text)[1]) == [(12, "W001")]
    assert network_of(text).segments[0].lanes[0].stops[0].location.line == 11


def test_trap_06_a_comment_ends_at_the_first_terminator_of_the_line():
    lane = lane_of(lane_text("/* first */ stop 1.1.2 /* second */\n"))
    assert [stop.point for stop in lane.stops] == [PointId(1, 1, 2)]


def test_trap_07_keywords_and_quotes_inside_comments_mean_nothing():
    text = '/* "Double quotes" before\nsegment 9\nend_file\nexit 1.1.1 */\n' + lane_text()
    assert network_codes(text) == []
    assert len(network_of(text).segments) == 1


def test_trap_08_two_slashes_do_not_start_a_comment():
    assert network_codes("/* https://example.org/road.rndf */\n" + lane_text()) == []
    assert "W001" in network_codes(lane_text("// stop 1.1.2\n"))
    assert lane_of(lane_text("// stop 1.1.2\n")).stops == ()


@pytest.mark.parametrize("name", ["Random File Name", "/robots/one/test\\park", "a*b", "x" * 129, ""])
def test_trap_09_a_name_that_is_not_one_word_is_taken_whole_with_a_warning(name):
    text = lane_text().replace("RNDF_name\tsite", f"RNDF_name\t{name}" if name else "RNDF_name")
    assert (the_problem(text).code, network_of(text).name) == ("W009", name)


def test_trap_10_version_and_date_are_optional_and_the_order_of_the_header_is_free():
    text = lane_text().replace(HEAD, "num_zones 0\ncreation_date today\nRNDF_name site\nnum_segments 1\n")
    network = network_of(text)
    assert network_codes(text) == []
    assert (network.name, network.format_version, network.creation_date) == ("site", "", "today")


def test_trap_10_of_two_header_records_the_first_holds_and_both_lines_are_named():
    problem = the_problem("RNDF_name\tfirst\n" + lane_text())
    assert (problem.code, problem.location.line, problem.also.line) == ("W112", 2, 1)
    assert network_of("RNDF_name\tfirst\n" + lane_text()).name == "first"


@pytest.mark.parametrize("date", ["October-15-2007", "19-Jul-07", "2007-10-06", "10/25/2007 6:30:28 PM"])
def test_trap_11_dates_are_free_text(date):
    text = lane_text().replace("num_zones\t0\n", f"num_zones\t0\ncreation_date\t{date}\n")
    assert network_codes(text) == []
    assert network_of(text).creation_date == date


def test_trap_12_records_hold_where_a_count_differs():
    problem = the_problem(lane_text().replace("num_waypoints\t2", "num_waypoints\t122"))
    assert (problem.code, problem.location.line) == ("W102", 7)
    assert "122" in problem.message
    assert "there are 2" in problem.message


def test_trap_12_a_huge_count_allocates_nothing():
    text = lane_text().replace("num_waypoints\t2", "num_waypoints\t999999999")
    assert len(lane_of(text).points) == 2


def test_trap_13_a_missing_count_is_inferred():
    problem = the_problem(lane_text().replace("num_lanes\t1\n", ""))
    assert (problem.code, problem.location.line) == ("W102", 4)
    assert rndf.count(network_of(lane_text().replace("num_lanes\t1\n", "")))["lanes"] == 1


def test_trap_14_ids_that_start_late_or_have_gaps_stay_as_they_are():
    text = lane_text(points=POINTS.replace("1.1.1", "1.1.14").replace("1.1.2", "1.1.16"))
    assert network_codes(text) == ["W104"]
    assert lane_of(text).points.numbers == (14, 16)
    assert lane_of(text).points.index(16) == 1


def test_trap_15_descending_ids_are_an_error_and_file_order_is_the_order_of_travel():
    text = lane_text(points=POINTS.replace("1.1.1\t", "x").replace("1.1.2\t", "1.1.1\t").replace("x", "1.1.2\t"))
    problem = the_problem(text)
    assert (problem.code, problem.severity, problem.location.line) == ("E105", Severity.ERROR, 9)
    assert lane_of(text).points.numbers == (2, 1)
    np.testing.assert_array_equal(lane_of(text).points.latitude, [38.801, 38.802])


def test_trap_16_lanes_out_of_order_are_known_by_their_id():
    lanes = "".join(f"lane 1.{n}\nnum_waypoints 2\n{POINTS.replace('1.1.', f'1.{n}.')}end_lane\n" for n in (2, 1, 3))
    text = f"{HEAD}segment 1\nnum_lanes 3\n{lanes}end_segment\nend_file\n"
    assert network_codes(text) == ["W105"]
    assert [lane.number for lane in network_of(text).segments[0].lanes] == [1, 2, 3]


def test_trap_17_segments_in_the_order_of_text_are_sorted_by_id():
    body = lane_text().split("segment", 2)[2].rsplit("end_file", 1)[0].split("\t1\n", 1)[1]
    segments = "".join(f"segment {n}\n{body.replace('1.1', f'{n}.1')}" for n in (1, 10, 2, *range(3, 10)))
    text = f"RNDF_name r\nnum_segments 10\nnum_zones 0\n{segments}end_file\n"
    assert network_codes(text) == ["W105"]
    assert [segment.number for segment in network_of(text).segments] == list(range(1, 11))


def test_trap_17_a_duplicate_id_names_both_lines():
    problem = the_problem(lane_text(points=POINTS + POINTS.splitlines()[0] + "\n"))
    assert (problem.code, problem.location.line, problem.also.line) == ("E103", 10, 8)
    assert "lines 8 and 10" in problem.message


def test_trap_18_an_option_behind_the_points_still_counts():
    text = lane_text(points=POINTS + "exit 1.1.2 1.1.1\n").replace("num_waypoints\t3", "num_waypoints\t2")
    assert network_codes(text) == ["W107"]
    assert len(lane_of(text).exits) == 1


def test_trap_18_an_option_listed_under_another_lane_goes_to_the_lane_it_names():
    second = f"end_lane\nlane 1.2\nnum_waypoints 2\ncheckpoint 1.1.2 7\nstop 1.2.2\n{POINTS.replace('1.1.', '1.2.')}"
    text = (
        lane_text(points=POINTS).replace("end_lane\n", second + "end_lane\n", 1).replace("num_lanes\t1", "num_lanes 2")
    )
    problem = the_problem(text)
    first_lane, second_lane = network_of(text).segments[0].lanes
    assert (problem.code, problem.location.line) == ("W107", 13)
    assert [checkpoint.number for checkpoint in first_lane.checkpoints] == [7]
    assert (second_lane.checkpoints, len(second_lane.stops)) == ((), 1)


def test_trap_19_references_to_missing_points_are_kept_for_the_linter():
    text = lane_text("exit 1.1.2 6.2.10\ncheckpoint 1.1.18 5\nstop 9.9.9\n")
    counts = rndf.count(network_of(text))
    assert network_codes(text) == []
    assert (counts["exits"], counts["checkpoints"], counts["stops"]) == (1, 1, 1)


def test_trap_20_repeated_exits_stops_and_checkpoints_are_all_kept():
    text = lane_text(
        "exit 1.1.2 1.1.1\nexit 1.1.2 1.1.1\nstop 1.1.2\nstop 1.1.2\ncheckpoint 1.1.1 3\ncheckpoint 1.1.1 4\n"
    )
    counts = rndf.count(network_of(text))
    assert network_codes(text) == []
    assert (counts["exits"], counts["stops"], counts["checkpoints"]) == (2, 2, 2)


def test_trap_21_checkpoint_ids_need_not_be_dense_but_zero_is_suspicious():
    assert network_codes(lane_text("checkpoint 1.1.1 258\ncheckpoint 1.1.2 3\n")) == []
    assert network_codes(lane_text("checkpoint 1.1.1 0\n")) == ["W007"]
    assert [c.number for c in mission_of("MDF_name m\nRNDF r\ncheckpoints\n0\n40\nend_checkpoints\n").checkpoints] == [
        0,
        40,
    ]


@pytest.mark.parametrize("text", ["12", "12.00000001824", "0", "0.35"])
def test_trap_22_widths_are_decimal_feet_and_keep_their_text(text):
    width = lane_of(lane_text(f"lane_width {text}\n")).width
    assert width == float(text) * FOOT
    assert isinstance(width, Written)
    assert width.text == text


def test_trap_23_other_decimals_are_warned_of_once_and_keep_their_text():
    points = POINTS.replace("38.801000", "38.801").replace("38.802000", "38.80200000000001")
    problem = the_problem(lane_text(points=points))
    assert (problem.code, problem.location.line) == ("W008", 8)
    assert "decimals: 2" in problem.message
    assert [latitude for latitude, _ in lane_of(lane_text(points=points)).points.texts] == [
        "38.801",
        "38.80200000000001",
    ]


def test_trap_24_a_zone_without_a_perimeter_is_an_error_and_a_spot_without_a_width_a_remark():
    text = (
        lane_text()
        .replace("end_file", "zone 2\nnum_spots 0\nend_zone\nend_file")
        .replace("num_zones\t0", "num_zones\t1")
    )
    assert network_codes(text) == ["E108"]
    assert network_of(text).zones[0].perimeter is None
    spot = "spot 2.1\n2.1.1 38.850000 -77.050000\n2.1.2 38.851000 -77.050000\nend_spot\n"
    text = lane_text().replace("end_file", ZONE.replace("end_zone", spot + "end_zone") + "end_file")
    text = text.replace("num_spots\t0", "num_spots\t1").replace("num_zones\t0", "num_zones\t1")
    assert network_codes(text) == ["I117"]
    assert network_of(text).zones[0].spots[0].width is None


def test_trap_25_perimeter_points_keep_the_order_of_the_file():
    turned = ZONE.replace(
        "2.0.1\t38.900000\t-77.100000\n2.0.2\t38.800000", "2.0.1\t38.800000\t-77.100000\n2.0.2\t38.900000"
    )
    text = lane_text().replace("end_file", turned + "end_file").replace("num_zones\t0", "num_zones\t1")
    assert network_codes(text) == []
    np.testing.assert_array_equal(network_of(text).zones[0].perimeter.points.latitude, [38.8, 38.9, 38.8])


def test_trap_26_lanes_without_any_exit_are_no_concern_of_the_reader():
    assert network_codes(lane_text()) == []


def test_trap_27_coincident_points_are_all_kept():
    points = "".join(f"1.1.{n}\t38.801000\t-77.200000\n" for n in (1, 2, 3))
    assert len(lane_of(lane_text(points=points)).points) == 3
    assert rndf.count(network_of(lane_text(points=points)))["lane_km"] == 0.0


def test_trap_28_an_exit_may_span_any_distance():
    (exit_,) = lane_of(lane_text("exit 1.1.2 1.1.1\n")).exits
    assert exit_ == Exit(PointId(1, 1, 2), PointId(1, 1, 1))


def test_trap_29_blank_lines_change_nothing_but_the_line_numbers():
    lane = lane_of(lane_text().replace("\n", "\n" * 50))
    assert lane == lane_of(lane_text())
    assert lane.points.lines == (351, 401)


def test_trap_30_junk_after_the_end_is_ignored_and_a_missing_end_accepted():
    assert network_codes(lane_text() + "</html>\n") == ["W110"]
    assert network_codes(lane_text().replace("end_file\n", "")) == ["W110"]
    assert network_codes(lane_text() + "/* a comment */\n\n") == []


def test_trap_31_a_mission_without_speed_limits_is_fine():
    mission, problems = read_mission(
        "MDF_name m\nRNDF r\ncheckpoints\nnum_checkpoints 1\n26\nend_checkpoints\nend_file\n"
    )
    assert (len(problems), mission.speed_limits) == (0, None)


def test_trap_32_comments_in_rows_of_a_mission_are_stripped():
    text = (
        "MDF_name m\nRNDF r\ncheckpoints\nnum_checkpoints 1\n14\t/*parking spot*/\nend_checkpoints\n"
        "speed_limits\nnum_speed_limits 1\n2\t0\t20\t/*undefined minimum speed*/\nend_speed_limits\nend_file\n"
    )
    mission, problems = read_mission(text)
    assert len(problems) == 0
    assert (mission.checkpoints[0].number, mission.speed_limits[0].minimum) == (14, 0.0)


def test_trap_33_the_name_of_the_network_in_a_mission_is_free_text():
    mission, problems = read_mission(
        "MDF_name m\nRNDF uce_rndf_1.txt\ncheckpoints\nnum_checkpoints 1\n1\nend_checkpoints\nend_file"
    )
    assert (len(problems), mission.network_name) == (0, "uce_rndf_1.txt")


@pytest.mark.parametrize(
    "row", ["1.1.2 -5.330000,-5.530000", "1.1.2 -5.330000, -5.530000", "1.1.2,-5.330000,-5.530000"]
)
def test_trap_34_commas_between_coordinates_are_an_error_with_a_hint_and_are_understood(row):
    text = lane_text(points=f"1.1.1 -5.330000 -5.530000\n{row}\n")
    problem = the_problem(text)
    assert (problem.code, problem.severity, problem.location.line) == ("E007", Severity.ERROR, 9)
    assert "tab" in problem.hint
    assert lane_of(text).points.longitude[1] == -5.53


def test_trap_34_decimal_commas_are_not_taken_for_separators():
    text = lane_text(points=POINTS + "1.1.3 38,803000 -77,200000\n")
    _, problems = read_network(text)
    assert {problem.code for problem in problems} == {"E007"}
    assert all("decimal point" in problem.hint for problem in problems)
    assert lane_of(text).points.numbers == (1, 2)


def test_trap_35_numbers_beyond_the_limit_of_the_format_are_a_warning_only():
    text = lane_text("checkpoint 1.1.1 40000\n").replace("1.1", "40000.1").replace("segment\t1", "segment\t40000")
    assert network_codes(text) == ["W007", "W104", "W007"]
    assert network_of(text).segments[0].number == 40000


def test_the_tail_of_every_text_here_is_as_the_format_wants_it():
    assert network_codes(lane_text()) == []
    assert lane_text().endswith(TAIL)
