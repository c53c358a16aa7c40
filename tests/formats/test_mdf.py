"""Mission files: what they say, their dialects, what is said of mistakes, and that they survive writing."""

from __future__ import annotations

import pytest

from cbsim.formats import mdf, read_file
from cbsim.formats.reader import Source
from cbsim.spec.mission import Mission, MissionCheckpoint, SpeedLimit
from cbsim.spec.number import Written
from cbsim.units import MPH
from tests.common import SHARED, shared_files
from tests.formats.rndf_texts import found, mission_of, read_mission

TEXT = """\
MDF_name	mission
RNDF	site
format_version	1.0
creation_date	30-Jan-07
checkpoints
num_checkpoints	3
4
7
4
end_checkpoints
speed_limits
num_speed_limits	2
1	0	20
14	5	5
end_speed_limits
end_file
"""

COUNTS = {  # checkpoints, speed limits
    "cornell/NQE-Area_C__nqe_c_mdf.mdf": (9, 44),
    "cornell/UCE-Final_Event__uce_mdf_B26-1.mdf": (40, 69),
    "cornell/UCE-Original_Files-Original_Mdfs__uce_mdf_B26-1_-_Original.mdf": (40, 68),
    "cornell/arbiter-sample_roads__Sample2.mdf": (12, 7),
    "cornell/arbiter-sample_roads__Sample3.mdf": (4, 1),
    "navguide/Sample_MDF.txt": (18, 14),
    "stanford/Sample_MDF.txt": (18, 14),
    "stanford/VAIL_internal_mdf.txt": (3, 6),
    "stanford/alameda_mdf.txt": (12, 6),
    "stanford/circle_shoreline_mdf.txt": (1, 1),
    "stanford/demo_mdf.txt": (20, 11),
    "stanford/demo_mdf2.txt": (20, 11),
    "stanford/shoreline_circle_mdf.txt": (5, 1),
    "stanford/shoreline_mdf.txt": (12, 6),
    "utexas/outside_prc_gen.mdf": (2, 0),
    "utexas/prc_large_obstacle.mdf": (5, 8),
    "utexas/utexas_explore.mdf": (6, 0),
}

SAID = {  # codes, where anything but trailing blanks is remarked
    "cornell/UCE-Final_Event__uce_mdf_B26-1.mdf": ["W102"],
    "cornell/arbiter-sample_roads__Sample2.mdf": ["W102"],
    "stanford/demo_mdf.txt": ["W007"],
    "utexas/outside_prc_gen.mdf": ["W110"],
    "utexas/prc_large_obstacle.mdf": ["W110"],
    "utexas/utexas_explore.mdf": ["W110"],
}

REAL = shared_files("mdf")


def name_of(path):
    return path.relative_to(SHARED / "mdf").as_posix()


def numbers(mission):
    return [checkpoint.number for checkpoint in mission.checkpoints]


def codes(text):
    return [code for _, code in found(read_mission(text)[1])]


@pytest.mark.parametrize("path", REAL, ids=name_of)
def test_every_real_mission_is_counted_remarked_and_survives_writing(path):
    mission, problems = read_mission(path.read_bytes())
    said = [problem.code for problem in problems if problem.code != "I003"]
    assert tuple(mdf.count(mission).values()) == COUNTS[name_of(path)]
    assert said == SAID.get(name_of(path), [])
    text = mdf.write(mission)
    again, problems = read_mission(text)
    assert again == mission
    assert mdf.write(again) == text
    assert {problem.code for problem in problems} <= {"W007"}


def test_a_mission_says_names_checkpoints_in_order_and_limits_in_metres_per_second():
    mission, problems = read_mission(TEXT)
    assert len(problems) == 0
    assert mission == Mission(
        "mission",
        "site",
        tuple(map(MissionCheckpoint, (4, 7, 4))),
        (SpeedLimit(1, 0.0, 20 * MPH), SpeedLimit(14, 5 * MPH, 5 * MPH)),
        "1.0",
        "30-Jan-07",
    )
    assert (mission.checkpoint_count, mission.speed_limit_count) == (3, 2)
    assert [checkpoint.location.line for checkpoint in mission.checkpoints] == [7, 8, 9]
    assert mission.speed_limits[1].location.line == 14


def test_a_mission_is_written_back_word_for_word():
    assert mdf.write(mission_of(TEXT)) == TEXT


def test_counts_have_exactly_the_keys_that_info_prints():
    assert mdf.count(mission_of(TEXT)) == {"checkpoints": 3, "speed_limits": 2}


def test_a_mission_is_recognised_and_read_by_the_table_of_formats(tmp_path):
    path = tmp_path / "mission.txt"
    path.write_text(TEXT)
    reading = read_file(path)
    assert (reading.format.name, reading.spec) == ("mdf", mission_of(TEXT))


def test_cornells_key_does_not_make_a_mission_a_network(tmp_path):
    path = tmp_path / "mission.txt"
    path.write_text(TEXT.replace("RNDF\t", "RNDF_name\t"))
    assert read_file(path).format.name == "mdf"


def test_limits_keep_the_text_they_were_written_with():
    text = TEXT.replace("1\t0\t20", "1\t0.0\t20.50")
    assert mdf.write(mission_of(text)) == text


def test_limits_made_in_python_are_written_in_miles_per_hour():
    limit = SpeedLimit(1, 0.0, 13.4112)
    mission = Mission("m", "r", (MissionCheckpoint(1),), (limit,))
    assert "\n1\t0\t30\n" in mdf.write(mission)
    assert mission_of(mdf.write(mission)).speed_limits == (SpeedLimit(1, 0.0, Written("30", MPH)),)


def test_the_key_of_cornells_team_files_is_kept():
    text = TEXT.replace("RNDF\t", "RNDF_name\t").replace("30-Jan-07", "10/25/2007 6:30:28 PM")
    mission = mission_of(text)
    assert codes(text) == []
    assert (mission.network_key, mission.network_name) == ("RNDF_name", "site")
    assert mdf.write(mission) == text


def test_empty_names_are_a_warning_and_survive():
    text = TEXT.replace("MDF_name\tmission", "MDF_name").replace("RNDF\tsite", "RNDF")
    assert codes(text) == ["W009", "W009"]
    assert (mission_of(text).name, mission_of(text).network_name) == ("", "")
    assert mdf.write(mission_of(text)) == text


def test_absent_limits_are_none_and_empty_limits_are_not():
    without = TEXT[: TEXT.index("speed_limits")] + "end_file\n"
    empty = TEXT.replace("num_speed_limits\t2\n1\t0\t20\n14\t5\t5\n", "num_speed_limits\t0\n")
    assert (codes(without), mission_of(without).speed_limits) == ([], None)
    assert (codes(empty), mission_of(empty).speed_limits) == ([], ())
    assert mdf.write(mission_of(without)) == without
    assert mdf.write(mission_of(empty)) == empty


def test_repeated_checkpoints_all_count():
    assert numbers(mission_of(TEXT.replace("7\n4\n", "4\n4\n"))) == [4, 4, 4]


def test_a_file_that_stops_behind_its_last_row_has_lost_nothing():
    assert codes(TEXT[: TEXT.index("end_speed_limits")]) == ["W110"]
    assert codes(TEXT[: TEXT.index("end_checkpoints")]) == ["W110"]


def test_a_file_that_stops_before_its_last_row_is_an_error():
    text = TEXT[: TEXT.index("4\nend_checkpoints")]
    assert found(read_mission(text)[1]) == [(6, "W102"), (8, "E101"), (8, "W110")]


def test_a_section_that_is_not_closed_names_where_it_began():
    (problem,) = read_mission(TEXT.replace("end_checkpoints\n", ""))[1]
    assert (problem.code, problem.location.line, problem.also.line) == ("E101", 10, 5)
    assert "expected 'end_checkpoints' before 'speed_limits'" in problem.message


def test_a_section_may_begin_a_second_time_with_an_error():
    text = TEXT.replace("end_file", "checkpoints\n9\nend_checkpoints\nend_file")
    assert codes(text) == ["W102", "E101"]
    assert numbers(mission_of(text)) == [4, 7, 4, 9]


def test_rows_outside_a_section_go_where_their_columns_fit():
    text = TEXT.replace("end_file", "8\n9 0 10\nend_file").replace("num_checkpoints\t3", "num_checkpoints\t4")
    text = text.replace("num_speed_limits\t2", "num_speed_limits\t3")
    assert codes(text) == ["E101", "E101"]
    assert numbers(mission_of(text)) == [4, 7, 4, 8]
    assert [limit.segment for limit in mission_of(text).speed_limits] == [1, 14, 9]


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("1 0", "expected a maximum speed, found nothing"),
        ("1", "expected a minimum speed, found nothing"),
        ("1.5 0 20", "expected a whole number, not '1.5'"),
        ("1 -5 20", "the minimum must be at least 0 mph, not '-5'"),
        ("1 0 fast", "the maximum must be a number [mph], not 'fast'"),
        ("1 0 1e999", "the maximum must be"),
        ("1 0 nan", "the maximum must be a number [mph], not 'nan'"),
    ],
)
def test_a_limit_that_makes_no_sense_is_named_and_left_out(row, complaint):
    problems = list(read_mission(TEXT.replace("14\t5\t5", row))[1])
    assert {(problem.code, problem.location.line) for problem in problems} == {("E007", 14)}
    assert any(complaint in problem.message for problem in problems)
    assert len(mission_of(TEXT.replace("14\t5\t5", row)).speed_limits) == 1


def test_text_behind_a_row_is_ignored_with_a_warning():
    assert found(read_mission(TEXT.replace("7\n", "7 8\n"))[1]) == [(8, "W113")]


def test_a_limit_given_twice_names_both_lines():
    (problem,) = read_mission(TEXT.replace("14\t5\t5", "1\t0\t25"))[1]
    assert (problem.code, problem.location.line, problem.also.line) == ("E103", 14, 13)


def test_checkpoint_zero_is_a_warning_once():
    (problem,) = read_mission(TEXT.replace("4\n7\n4\n", "0\n7\n0\n"))[1]
    assert (problem.code, problem.location.line) == ("W007", 7)
    assert "2" in problem.message


def test_unknown_records_are_kept_and_written_in_the_header():
    text = TEXT.replace("end_checkpoints\n", "end_checkpoints\nweather\train\n")
    mission, problems = read_mission(text)
    assert found(problems) == [(11, "W001")]
    assert [extension.text for extension in mission.extensions] == ["weather\train"]
    assert mission_of(mdf.write(mission)) == mission


def test_an_unknown_keyword_gets_a_hint():
    (problem,) = read_mission(TEXT.replace("creation_date", "creation_dat"))[1]
    assert problem.hint == "did you mean 'creation_date'?"


def test_text_before_the_header_is_ignored_with_one_warning():
    assert found(read_mission("our\nmission\n" + TEXT)[1]) == [(1, "W004")]


def test_comments_blanks_and_line_ends_are_those_of_networks():
    text = f"/* change log\n*/\n{TEXT}".replace("7\n", "7\t/*parking spot*/ \n").replace("\n", "\r\n")
    mission, problems = read_mission(text)
    assert [problem.code for problem in problems] == ["I003"]
    assert mission == mission_of(TEXT)


def test_nothing_of_the_format_gives_no_mission():
    for text in ("", "hello\n", "/* */", "end_file\n"):
        mission, problems = read_mission(text)
        assert mission is None
        assert "E116" in [problem.code for problem in problems.errors]


def test_a_mission_without_checkpoints_is_an_error():
    assert found(read_mission("MDF_name m\nRNDF r\nend_file\n")[1]) == [(1, "E116")]


def test_bytes_of_another_encoding_are_read():
    source = Source.decode("m.mdf", TEXT.replace("mission", "été").encode("latin-1"))
    assert source.text.startswith("MDF_name\tété")
    assert codes(TEXT.replace("mission", "été")) == ["W006"]
