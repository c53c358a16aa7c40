"""How the reader goes on: blocks left open or in the wrong place, ids that make no sense, records no one knows."""

from __future__ import annotations

import pytest

from cbsim.formats import rndf
from cbsim.spec.road import PointId
from tests.formats.rndf_texts import (
    HEAD,
    POINTS,
    found,
    lane_text,
    network_codes,
    network_of,
    read_network,
)

SECOND = POINTS.replace("1.1.", "1.2.")


def problems_of(text):
    return read_network(text)[1]


def test_a_lane_without_its_end_is_closed_by_the_next_and_names_where_it_began():
    lanes = f"lane 1.1\nnum_waypoints 2\n{POINTS}lane 1.2\nnum_waypoints 2\n{SECOND}end_lane\n"
    text = f"{HEAD}segment 1\nnum_lanes 2\n{lanes}end_segment\nend_file\n"
    (problem,) = problems_of(text)
    assert (problem.code, problem.location.line, problem.also.line) == ("E101", 10, 6)
    assert problem.location.inside == "1.1"
    assert "expected 'end_lane' before 'lane'" in problem.message
    assert [len(lane.points) for lane in network_of(text).lanes] == [2, 2]


def test_the_end_of_a_segment_closes_its_lane():
    assert found(problems_of(lane_text().replace("end_lane\n", ""))) == [(10, "E101")]


def test_the_end_of_the_file_closes_everything():
    text = lane_text().split("end_lane")[0]
    assert found(problems_of(text)) == [(9, "E101"), (9, "E101"), (9, "W110")]
    assert rndf.count(network_of(text))["waypoints"] == 2


def test_an_end_that_closes_nothing_is_passed_over():
    text = lane_text().replace("end_file", "end_segment\nend_zone\nend_file")
    assert found(problems_of(text)) == [(12, "E101"), (13, "E101")]
    assert network_of(text) == network_of(lane_text())


def test_a_lane_outside_a_segment_makes_its_segment():
    text = f"{HEAD}lane 1.1\nnum_waypoints 2\n{POINTS}end_lane\nend_segment\nend_file\n"
    assert "E101" in network_codes(text)
    assert [str(lane) for lane in network_of(text).segments[0].lanes] == ["1.1"]


def test_a_lane_behind_its_segment_is_taken_into_it():
    late = f"lane 1.2\nnum_waypoints 2\n{SECOND}end_lane\n"
    text = lane_text().replace("num_lanes\t1", "num_lanes\t2").replace("end_file", late + "end_file")
    assert network_codes(text) == ["E101"]
    assert len(network_of(text).segments) == 1
    assert len(network_of(text).segments[0].lanes) == 2


def test_perimeters_and_spots_outside_a_zone_make_one_zone():
    perimeter = "perimeter 2.0\n2.0.1 38.8 -77.1\n2.0.2 38.9 -77.0\n2.0.3 38.8 -77.0\nend_perimeter\n"
    spot = "spot 2.1\nspot_width 12\n2.1.1 38.81 -77.05\n2.1.2 38.82 -77.05\nend_spot\n"
    network = network_of(lane_text().replace("end_file", perimeter + spot + "end_file"))
    assert [zone.number for zone in network.zones] == [2]
    assert (len(network.zones[0].perimeter.points), len(network.zones[0].spots)) == (3, 1)


def test_a_block_without_an_id_takes_it_from_its_points():
    text = lane_text().replace("segment\t1", "segment\tone").replace("lane\t1.1", "lane")
    assert network_codes(text) == ["E007", "E007"]
    assert network_of(text) == network_of(lane_text())


def test_blocks_without_any_id_are_numbered():
    text = f"{HEAD}segment x\nlane y\nend_lane\nlane\nend_lane\nend_segment\nend_file\n"
    assert [str(lane) for lane in network_of(text).lanes] == ["1.1", "1.2"]


def test_a_point_of_another_lane_counts_where_it_stands():
    text = lane_text(points=POINTS.replace("1.1.2", "1.7.2"))
    (problem,) = problems_of(text)
    assert (problem.code, problem.location.line, problem.location.inside) == ("E106", 9, "1.7.2")
    assert network_of(text).segments[0].lanes[0].points.numbers == (1, 2)


def test_a_point_outside_its_lane_is_added_to_it_and_one_of_no_lane_left_out():
    text = lane_text().replace("end_file", "1.1.3 38.803000 -77.200000\n5.5.5 1.000000 2.000000\nend_file")
    assert found(problems_of(text)) == [(7, "W102"), (12, "E106"), (13, "E106")]
    assert network_of(text).segments[0].lanes[0].points.numbers == (1, 2, 3)


def test_a_lane_of_another_segment_keeps_its_id():
    text = lane_text().replace("1.1", "4.1")
    assert found(problems_of(text)) == [(6, "E106")]
    assert str(next(network_of(text).lanes)) == "4.1"
    assert network_of(rndf.write(network_of(text))) == network_of(text)


def test_a_perimeter_is_its_zones_whatever_it_says():
    zone = (
        "zone 2\nnum_spots 0\nperimeter 9.0\nnum_perimeterpoints 3\nexit 9.0.1 1.1.1\n"
        "9.0.1 38.800000 -77.100000\n9.0.2 38.900000 -77.000000\n9.0.3 38.800000 -77.000000\nend_perimeter\nend_zone\n"
    )
    text = lane_text().replace("num_zones\t0", "num_zones\t1").replace("end_file", zone + "end_file")
    assert found(problems_of(text)) == [(14, "E106")]
    assert "perimeter\t2.0\n" in rndf.write(network_of(text))
    assert network_of(rndf.write(network_of(text))) == network_of(text)


def test_of_two_perimeters_the_first_holds():
    perimeter = "perimeter 2.0\nnum_perimeterpoints 1\n2.0.1 38.800000 -77.100000\nend_perimeter\n"
    zone = f"zone 2\nnum_spots 0\n{perimeter}{perimeter.replace('38.8', '38.9')}end_zone\n"
    text = lane_text().replace("num_zones\t0", "num_zones\t1").replace("end_file", zone + "end_file")
    (problem,) = problems_of(text)
    assert (problem.code, problem.location.line, problem.also.line) == ("E103", 18, 14)
    assert network_of(text).zones[0].perimeter.points.latitude[0] == 38.8


def test_an_unparsable_point_is_counted_but_not_kept():
    text = lane_text(points=POINTS + "1.1.3 here there\n")
    (problem, second) = problems_of(text)
    assert (problem.code, second.code) == ("E007", "E007")
    assert "'here'" in problem.message
    assert len(network_of(text).segments[0].lanes[0].points) == 2


@pytest.mark.parametrize("number", ["nan", "inf", "-Infinity", "1_0", "١٫٥", "1e10", "0x10", "1" * 70, "12345678901.5"])
def test_what_only_python_takes_for_a_number_is_not_one(number):
    text = lane_text(points=f"{POINTS}1.1.3\t38.803000\t{number}\n")
    assert "E007" in network_codes(text)
    assert len(network_of(text).segments[0].lanes[0].points) == 2


@pytest.mark.parametrize("number", ["1e1", "+10.0", "10.", "1.0E+01"])
def test_unusual_but_clear_numbers_are_accepted(number):
    points = network_of(lane_text(points=f"{POINTS}1.1.3\t38.803000\t{number}\n")).segments[0].lanes[0].points
    assert points.longitude[2] == 10.0
    assert points.texts[2][1] == number


@pytest.mark.parametrize("point", ["1.1", "1.1.1.1", "1..1", "1.1.x", "1.1.-1", "1.1.1_0", "1.1." + "9" * 30])
def test_what_is_not_an_id_is_said_to_be_none(point):
    assert network_codes(lane_text(f"stop {point}\n")) == ["E007"]
    assert network_codes(lane_text(f"exit {point} 1.1.1\n")) == ["E007"]


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        ("exit", "expected the id of the exit point, found nothing"),
        ("exit 1.1.1", "expected the id of the entry point, found nothing"),
        ("checkpoint 1.1.1 x", "expected a checkpoint number, found 'x'"),
        ("checkpoint 1.1.1 -4", "expected a checkpoint number, found '-4'"),
        ("cross 1.1.1", "expected the id of a crosswalk, found nothing"),
    ],
)
def test_a_column_that_is_missing_or_wrong_is_named(option, complaint):
    problems = problems_of(lane_text(option + "\n"))
    assert {problem.code for problem in problems} == {"E007"}
    assert any(complaint in problem.message for problem in problems)


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        ("lane_width wide", "the width must be a number [ft], not 'wide'"),
        ("lane_width -3", "the width must be at least 0 ft, not '-3'"),
        ("lane_width", "expected a value, found nothing"),
    ],
)
def test_a_width_that_makes_no_sense_is_unknown(field, complaint):
    (problem,) = problems_of(lane_text(field + "\n"))
    assert (problem.code, network_of(lane_text(field + "\n")).segments[0].lanes[0].width) == ("E007", None)
    assert complaint in problem.message


def test_a_count_that_makes_no_sense_is_not_a_wrong_count_too():
    assert network_codes(lane_text().replace("num_lanes\t1", "num_lanes\tone")) == ["E007"]


def test_unknown_records_are_kept_in_their_block_with_their_line():
    text = lane_text("surface\twet  gravel\n").replace("end_segment", "lighting\tno\nend_segment")
    network = network_of(text)
    (segment,) = network.segments
    assert [(e.text, e.location.line) for e in segment.lanes[0].extensions] == [("surface\twet  gravel", 8)]
    assert [(e.text, e.location.line) for e in segment.extensions] == [("lighting\tno", 12)]
    assert network_of(rndf.write(network)) == network


def test_an_unknown_keyword_gets_a_hint():
    (problem,) = problems_of(lane_text("lane_widht 12\n"))
    assert (problem.code, problem.hint) == ("W001", "did you mean 'lane_width'?")


def test_an_unknown_block_is_kept_whole_even_if_it_holds_what_looks_like_records():
    block = "landmarks\n1.1.1 5.0 6.0\nexit 1.1.1 1.1.2\n\nend_landmarks\n"
    network, problems = read_network(lane_text(block))
    (lane,) = network.lanes
    assert [problem.code for problem in problems] == ["W001"]
    assert ([e.text for e in lane.extensions], lane.exits, len(lane.points)) == (
        ["landmarks", "1.1.1 5.0 6.0", "exit 1.1.1 1.1.2", "end_landmarks"],
        (),
        2,
    )


def test_an_unknown_block_does_not_reach_beyond_a_known_one():
    text = lane_text("landmarks\n").replace("end_file", "end_landmarks\nend_file")
    assert network_codes(text) == ["W001", "W001"]
    assert len(next(network_of(text).lanes).points) == 2


def test_a_known_record_without_meaning_in_its_block_is_kept_as_unknown():
    text = lane_text("spot_width 12\n")
    assert network_codes(text) == ["W001"]
    assert [e.text for e in next(network_of(text).lanes).extensions] == ["spot_width 12"]


def test_a_field_of_the_block_around_is_taken_there():
    text = lane_text("segment_name Main\n")
    assert network_codes(text) == ["W105"]
    assert network_of(text).segments[0].name == "Main"


def test_an_option_outside_any_block_goes_to_the_block_it_names():
    text = lane_text().replace("end_file", "exit 1.1.2 7.7.7\nend_file")
    assert network_codes(text) == ["W107"]
    assert [exit_.source for exit_ in next(network_of(text).lanes).exits] == [PointId(1, 1, 2)]


def test_an_option_outside_any_block_that_names_no_block_is_an_error_and_kept_as_it_is():
    text = lane_text().replace("end_file", "exit 7.7.7 1.1.1\nend_file")
    assert found(problems_of(text)) == [(12, "E106")]
    assert [e.text for e in network_of(text).extensions] == ["exit 7.7.7 1.1.1"]
    assert network_of(rndf.write(network_of(text))) == network_of(text)


def test_an_option_of_a_block_that_cannot_have_it_is_kept_as_it_is():
    zone = (
        "zone 2\nnum_spots 0\nperimeter 2.0\nnum_perimeterpoints 1\nstop 2.0.1\n2.0.1 38.800000 -77.100000\n"
        "end_perimeter\nend_zone\n"
    )
    text = lane_text().replace("num_zones\t0", "num_zones\t1").replace("end_file", zone + "end_file")
    assert network_codes(text) == ["W001"]
    assert [e.text for e in network_of(text).zones[0].perimeter.extensions] == ["stop 2.0.1"]
    assert network_of(rndf.write(network_of(text))) == network_of(text)


def test_an_option_before_any_block_is_kept_as_it_is():
    text = "RNDF_name r\nstop 1.1.1\nend_file\n"
    assert "E106" in network_codes(text)
    assert [e.text for e in network_of(text).extensions] == ["stop 1.1.1"]


def test_crosswalks_of_another_segment_are_taken_there():
    crosswalk = "crosswalk 1.1\ncrosswalk_p1 38.8 -77.2\ncrosswalk_p2 38.8 -77.1\nend_crosswalk\n"
    lane = f"lane 2.1\nnum_waypoints 2\n{POINTS.replace('1.1.', '2.1.')}end_lane\n"
    second = f"segment 2\nnum_lanes 1\n{lane}{crosswalk}end_segment\n"
    text = lane_text().replace("num_segments\t1", "num_segments\t2").replace("end_file", second + "end_file")
    assert network_codes(text) == ["W107"]
    assert [len(segment.crosswalks) for segment in network_of(text).segments] == [1, 0]


def test_an_invisible_character_is_a_blank():
    text = lane_text().replace("num_lanes\t1", "num_lanes\u200b1").replace("lane\t1.1", "\ufefflane\u00a01.1")
    network, problems = read_network(text)
    assert [problem.code for problem in problems] == ["W006"]
    assert "3" in next(iter(problems)).message
    assert network == network_of(lane_text())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_a_warning(encoding):
    network, problems = read_network(lane_text().encode(encoding))
    assert found(problems) == [(1, "W006")]
    assert network == network_of(lane_text())


def test_latin_letters_in_a_name_survive():
    text = lane_text().replace("num_lanes", "segment_name\tRue_Mouffetard_\xe9t\xe9\nnum_lanes")
    network, problems = read_network(text.encode("latin-1"))
    assert found(problems) == [(5, "W006")]
    assert network.segments[0].name == "Rue_Mouffetard_été"
    assert network_of(rndf.write(network)) == network


def test_nothing_of_the_format_gives_no_network():
    for text in ("", "\n\n", "/* only a comment */", "end_file\n", "hello\nworld\n", "\0\0\0"):
        network, problems = read_network(text)
        assert network is None
        assert "E116" in {problem.code for problem in problems.errors}


def test_long_texts_are_quoted_shortly():
    _, problems = read_network(lane_text(f"{'x' * 10_000} 1\nstop {'9' * 10_000}\n"))
    assert all(len(str(problem)) < 300 for problem in problems)
