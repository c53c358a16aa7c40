"""What holds for every file: reading never raises, every problem has its place, and what was read survives writing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import Problems, Severity
from cbsim.formats import mdf, rndf
from cbsim.formats.reader import Source
from cbsim.formats.rndf.grammar import BOUNDARIES, KEYWORDS, TURNS
from cbsim.spec.mission import Mission, MissionCheckpoint, SpeedLimit
from cbsim.spec.number import Written
from cbsim.spec.road import (
    Checkpoint,
    Crossing,
    Crosswalk,
    Exit,
    Extension,
    Intersection,
    Lane,
    Perimeter,
    PointId,
    Points,
    RoadNetwork,
    Segment,
    Spot,
    Stop,
    TrafficLight,
    Zone,
)
from cbsim.units import FOOT, MPH
from tests.common import shared_files

SEVERITIES = {"E": Severity.ERROR, "W": Severity.WARNING, "I": Severity.INFO}


def check_reading(module, data: bytes) -> None:
    """Hold the reading of any bytes to what every reader promises."""
    source = Source.decode("any.txt", data)
    problems = Problems()
    spec = module.read(source, problems)
    lines = source.text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    for problem in problems:
        assert problem.severity is SEVERITIES[problem.code[0]]
        assert 1 <= problem.location.line <= lines
        assert len(str(problem)) < 500
    if spec is None:
        assert problems.errors
        return
    text = module.write(spec)
    again = module.read(Source("any.txt", text, text.encode()), Problems())
    assert again == spec
    assert module.write(again) == text
    assert module.count(again) == module.count(spec)


@pytest.mark.parametrize("module", [rndf, mdf])
@settings(deadline=None)
@given(data=st.binary(max_size=400))
def test_any_bytes_give_a_spec_or_located_problems(module, data):
    check_reading(module, data)


@pytest.mark.parametrize("module", [rndf, mdf])
@settings(deadline=None)
@given(text=st.text(max_size=400))
def test_any_text_gives_a_spec_or_located_problems(module, text):
    check_reading(module, text.encode("utf-8", "replace"))


# --- soups of records -------------------------------------------------------------------------------------------------
part = st.integers(0, 3).map(str) | st.sampled_from(["x", "", "-1", "70000", "9" * 25])
ids = st.lists(part, min_size=1, max_size=4).map(".".join) | st.builds("{}.{}.{}".format, *[st.integers(0, 3)] * 3)
columns = st.sampled_from(
    [
        "38.801000",
        "-77.2",
        "12",
        "0",
        "1e400",
        "nan",
        "1_0",
        "5,6",
        "double_yellow",
        "l",
        "stop",
        "été",
        "\u00a0",
        "*/",
        "/*",
    ]
)
words = st.sampled_from([*KEYWORDS.values(), "Segment", "foo", "end_foo", "bar", "stop", "exit", "exit", "checkpoint"])
record = st.builds(
    lambda word, rest, blank: blank.join([word, *rest]),
    words | ids,
    st.lists(ids | columns, max_size=4),
    st.sampled_from([" ", "\t", "  \t"]),
)
point = st.builds("{}.{}.{} 38.80{}000 -77.2000{}0".format, *[st.integers(0, 2)] * 3, *[st.integers(0, 9)] * 2)
block = st.builds("{} {}".format, st.sampled_from(["segment", "lane", "zone", "perimeter", "spot", "crosswalk"]), ids)
soup = st.lists(record | point | block, max_size=40)


@settings(max_examples=300, deadline=None)
@given(lines=soup, end=st.sampled_from(["\n", "\r\n"]))
def test_any_soup_of_records_survives_writing(lines, end):
    check_reading(rndf, ("RNDF_name soup\n" + end.join(lines)).encode())


mission_words = st.sampled_from([*mdf.KEYWORDS.values(), "foo", "rndf", "5", "1 2 3"])
mission_record = st.builds(" ".join, st.tuples(mission_words | ids, st.lists(ids | columns, max_size=3).map(" ".join)))


@settings(max_examples=200, deadline=None)
@given(lines=st.lists(mission_record, max_size=30))
def test_any_soup_of_mission_records_survives_writing(lines):
    check_reading(mdf, ("MDF_name soup\n" + "\n".join(lines)).encode())


# --- real files with mistakes -----------------------------------------------------------------------------------------
REAL = [(rndf, path) for path in shared_files("rndf")] + [(mdf, path) for path in shared_files("mdf")]


@pytest.mark.skipif(not REAL, reason="the real files of shared/data are not here")
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_real_files_with_flipped_bytes_and_lost_or_doubled_lines_survive_writing(data):
    module, path = data.draw(st.sampled_from(REAL))
    lines = path.read_bytes().split(b"\n")
    for _ in range(data.draw(st.integers(1, 6))):
        row = data.draw(st.integers(0, len(lines) - 1))
        how = data.draw(st.sampled_from(["flip", "lose", "double", "move", "join"]))
        line = lines[row]
        if how == "flip" and line:
            column = data.draw(st.integers(0, len(line) - 1))
            lines[row] = line[:column] + bytes([data.draw(st.integers(0, 255))]) + line[column + 1 :]
        elif how == "lose" and len(lines) > 1:
            del lines[row]
        elif how == "double":
            lines.insert(row, line)
        elif how == "move":
            lines.insert(data.draw(st.integers(0, len(lines) - 1)), lines.pop(row))
        elif row + 1 < len(lines):
            lines[row : row + 2] = [line + lines[row + 1]]
    check_reading(module, b"\n".join(lines))


# --- valid networks ---------------------------------------------------------------------------------------------------
word = st.text("abcdefgXYZ_0123456789-.", min_size=1, max_size=12)
width = st.integers(1, 40).map(lambda feet: Written(str(feet), FOOT)) | st.none()
coordinate = st.integers(-9000, 9000).map(lambda step: step * 1e-6)


@st.composite
def point_columns(draw, count):
    """Points a few metres apart, with six decimals."""
    south, west = draw(coordinate), draw(coordinate)
    latitude = [round(38.8 + south + row * 1e-4, 6) for row in range(count)]
    return Points.of(latitude, [round(-77.2 + west + row * 2e-5, 6) for row in range(count)])


@st.composite
def lanes(draw, segment, number, everywhere):
    points = draw(point_columns(draw(st.integers(2, 6))))
    own = st.integers(1, len(points)).map(lambda n: PointId(segment, number, n))
    return Lane(
        segment,
        number,
        points,
        width=draw(width),
        left_boundary=draw(st.sampled_from(["", *BOUNDARIES])),
        right_boundary=draw(st.sampled_from(["", *BOUNDARIES])),
        checkpoints=tuple(draw(st.lists(st.builds(Checkpoint, own, st.integers(1, 999)), max_size=2))),
        stops=tuple(draw(st.lists(st.builds(Stop, own), max_size=2))),
        exits=tuple(draw(st.lists(st.builds(Exit, own, everywhere, turn=st.sampled_from(["", *TURNS])), max_size=3))),
        crossings=tuple(draw(st.lists(st.builds(Crossing, st.just("cross"), own, word, st.just("stop")), max_size=1))),
        kind=draw(st.sampled_from(["", "car_lane", "bike_lane"])),
        extensions=tuple(draw(st.lists(word.map(lambda text: Extension(f"x_{text}\t1")), max_size=2))),
    )


@st.composite
def segments(draw, number, everywhere):
    return Segment(
        number,
        tuple(draw(lanes(number, lane, everywhere)) for lane in range(1, draw(st.integers(1, 3)) + 1)),
        name=draw(word | st.just("")),
        crosswalks=tuple(
            Crosswalk(number, crosswalk, draw(width), draw(point_columns(2)))
            for crosswalk in range(1, draw(st.integers(0, 2)) + 1)
        ),
        speed_limit=draw(st.none() | st.integers(1, 60).map(lambda speed: Written(str(speed), MPH))),
    )


@st.composite
def zones(draw, number, everywhere):
    perimeter = draw(point_columns(draw(st.integers(3, 6))))
    own = st.integers(1, len(perimeter)).map(lambda n: PointId(number, 0, n))
    spots = tuple(
        Spot(number, spot, draw(point_columns(2)), Written("12", FOOT), (Checkpoint(PointId(number, spot, 2), spot),))
        for spot in range(1, draw(st.integers(0, 2)) + 1)
    )
    exits = tuple(draw(st.lists(st.builds(Exit, own, everywhere), max_size=2)))
    return Zone(number, Perimeter(perimeter, exits), spots, name=draw(word | st.just("")))


@st.composite
def networks(draw):
    count = draw(st.integers(1, 3))
    more = draw(st.integers(0, 2))
    everywhere = st.builds(PointId, st.integers(1, count), st.integers(1, 3), st.integers(1, 6))
    lights = tuple(
        TrafficLight(light, draw(word), tuple(Written(text) for text in ("38.80000000", "-77.2", "5.0")))
        for light in range(1, draw(st.integers(0, 2)) + 1)
    )
    return RoadNetwork(
        draw(word),
        tuple(draw(segments(number, everywhere)) for number in range(1, count + 1)),
        tuple(draw(zones(number, everywhere)) for number in range(count + 1, count + more + 1)),
        (Intersection(count + more + 1, lights),) if lights else (),
        format_version=draw(word | st.just("")),
        creation_date=draw(word | st.just("")),
    )


@settings(max_examples=80, deadline=None)
@given(network=networks())
def test_valid_networks_are_read_back_equal_and_without_a_complaint(network):
    text = rndf.write(network)
    problems = Problems()
    again = rndf.read(Source("r.rndf", text, text.encode()), problems)
    assert again == network
    assert {problem.code for problem in problems} <= {"W001"}  # their extensions


@settings(max_examples=60, deadline=None)
@given(
    name=word,
    key=st.sampled_from(["RNDF", "RNDF_name"]),
    numbers=st.lists(st.integers(1, 300), min_size=1, max_size=20),
    limits=st.none()
    | st.dictionaries(st.integers(1, 90), st.tuples(st.integers(0, 20), st.integers(0, 30)), max_size=9),
)
def test_valid_missions_are_read_back_equal_and_without_a_complaint(name, key, numbers, limits):
    rows = [SpeedLimit(k, Written(str(a), MPH), Written(str(b), MPH)) for k, (a, b) in (limits or {}).items()]
    checkpoints = tuple(map(MissionCheckpoint, numbers))
    mission = Mission(name, name, checkpoints, None if limits is None else tuple(rows), network_key=key)
    problems = Problems()
    text = mdf.write(mission)
    assert mdf.read(Source("m.mdf", text, text.encode()), problems) == mission
    assert len(problems) == 0
