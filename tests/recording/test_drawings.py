"""What planners show, in recordings: read as it was written, bounded, and no matter to the bits of the run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cbsim
from cbsim.errors import UsageError
from cbsim.recording.container import DamageError
from cbsim.recording.drawings import LARGEST, PERIOD, RATE, DrawingRow, Quota, rows_of
from cbsim.spec.drawing import Dots, Line, Text

NUMBER = st.floats(-1e6, 1e6, width=32)
POINTS = st.lists(st.tuples(NUMBER, NUMBER, NUMBER), min_size=1, max_size=8)
COLOUR = st.none() | st.tuples(*[st.integers(0, 255)] * 3)
SIZE = st.floats(0.0, 1000.0, width=32)
DRAWING = st.one_of(
    st.builds(Line, POINTS, colour=COLOUR, width=SIZE, closed=st.booleans()),
    st.builds(Dots, POINTS, colour=COLOUR, size=SIZE),
    st.builds(lambda points, colour, text: Text(points[:1], colour=colour, text=text), POINTS, COLOUR, st.text()),
)
ROWS = st.lists(st.builds(DrawingRow, st.integers(0, 10**6), st.lists(DRAWING, max_size=4).map(tuple)), min_size=1)


def plain(row):
    """A row as numbers and words that can be compared."""
    told = []
    for one in row.drawings:
        rest = {key: getattr(one, key) for key in ("width", "closed", "size", "text") if hasattr(one, key)}
        told.append((type(one).__name__, one.places.tolist(), one.colour, rest))
    return row.step, told


class Painter:
    """Drives slowly, and shows where it is going, now and then nothing."""

    def start(self, mission, network, vehicle):
        self.asked = 0

    def plan(self, observation):
        self.now = observation
        return cbsim.Command(throttle=0.3)

    def draw(self):
        self.asked += 1
        if 0.5 < self.now.time < 1.0:
            return []
        x, y, _ = self.now.position
        return [Line([(x, y), (x, y + 20.0)], width=3.0), Text((x, y), text=f"t = {self.now.time:.2f} s")]


class Plain(Painter):
    draw = None


@given(ROWS)
def test_rows_are_read_as_they_were_written(rows):
    data = b"".join(row.to_bytes() for row in rows)
    assert list(map(plain, rows_of(data))) == list(map(plain, rows))


@given(st.binary(max_size=200), ROWS, st.integers(0, 400), st.integers(0, 255))
def test_any_other_bytes_are_damage_and_nothing_worse(noise, rows, place, byte):
    whole = bytearray(b"".join(row.to_bytes() for row in rows))
    whole[place % len(whole)] = byte
    for data in (noise, bytes(whole), bytes(whole[: place % len(whole)])):
        try:
            found = list(rows_of(data))
        except DamageError:
            continue
        assert found


def test_a_drawing_that_is_too_large_leaves_room_for_those_before_it():
    huge = Dots(np.ones((20_000, 2)))
    row = DrawingRow(0, (Text((1.0, 2.0), text="first"), *[huge] * 10))
    assert len(row.to_bytes()) <= LARGEST
    (read,) = rows_of(row.to_bytes())
    assert read.drawings[0].text == "first"
    assert 2 < len(read.drawings) < 11


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=60), st.integers(1, 10))
def test_a_quota_keeps_a_bounded_rate_and_picks_again_what_it_picked(sizes, every):
    step, rows = 0.05, []
    for number, size in enumerate(sizes):
        rows.append(DrawingRow(every * number, (Dots(np.ones((size, 3))),)))
    kept = Quota(step).pick(rows)
    assert kept[0] is rows[0]
    assert Quota(step).pick(kept) == kept
    times = [row.step * step for row in kept]
    assert np.diff(times).min(initial=PERIOD) >= PERIOD - 1e-9
    written = sum(len(row.to_bytes()) for row in kept[:-1])
    assert written <= RATE * (times[-1] - times[0]) + 1e-6


def test_that_nothing_is_shown_any_more_is_kept_once_however_soon_it_comes():
    line, large = Line([(0, 0), (1, 1)]), Dots(np.ones((20_000, 2)))
    for shown, later in ((line, 1), (large, 4), (large, 40)):
        rows = [DrawingRow(0, (shown,)), DrawingRow(later, ()), DrawingRow(later + 1, ()), DrawingRow(10_000, (line,))]
        kept = Quota(0.05).pick(rows)
        assert [row.step for row in kept] == [0, later, 10_000]
        assert Quota(0.05).pick(kept) == kept


@given(st.lists(st.booleans(), min_size=1, max_size=80))
def test_what_a_quota_keeps_never_stands_when_all_is_gone(shown):
    line = Line([(0, 0), (1, 1)])
    rows = [DrawingRow(k, (line,) if some else ()) for k, some in enumerate(shown)]
    kept = Quota(0.05).pick(rows)
    assert Quota(0.05).pick(kept) == kept
    for k, some in enumerate(shown):
        if not some:
            assert not [row for row in kept if row.step <= k][-1].drawings
    assert np.diff([row.step for row in kept if row.drawings]).min(initial=4) >= 4  # 0.2 s


@pytest.fixture(scope="module")
def recording():
    return cbsim.run(cbsim.load("four_way_stop", duration=2.0), planner=Painter())


def test_a_recording_has_what_was_shown_and_when_it_ceased(recording, tmp_path):
    recording.save(tmp_path / "a.mcap")
    opened = cbsim.Recording.open(tmp_path / "a.mcap")
    assert opened.complete
    for one in (recording, opened):
        shown = one.drawings()
        times = [time for time, _ in shown]
        assert times == pytest.approx([0.0, 0.2, 0.4, 0.6, 1.0, 1.2, 1.4, 1.6, 1.8])
        assert shown[3][1] == (), "what is gone is gone, and told once"
        assert [drawing.text for _, (_, drawing) in (shown[0], shown[-1])] == ["t = 0.00 s", "t = 1.80 s"]
        place = one.positions("CajunBot")[4]
        assert shown[1][1][0].places[0] == pytest.approx([*place[:2], 0.0], rel=2.0**-24), "in single precision"


def test_showing_changes_no_bit_and_is_replayed(recording):
    world = cbsim.load("four_way_stop", duration=2.0)
    alone = cbsim.run(world, planner=Plain())
    assert alone.drawings() == []
    assert alone.hashes.tolist() == recording.hashes.tolist()
    assert cbsim.replay(recording) is None


def test_a_recording_asks_no_more_often_than_it_keeps():
    painter = Painter()
    cbsim.run(cbsim.load("four_way_stop", duration=2.0), planner=painter)
    assert painter.asked == 10


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Line([(0.0, np.nan)]), "expected (n, 2) or (n, 3) numbers up to 1e+09 m"),
        (lambda: Dots([(0.0, 1e12)]), "numbers up to 1e+09 m"),
        (lambda: Line([(0.0, 1.0)], width=np.nan), "Line: width is nan, expected a number of points from 0 to 1000"),
        (lambda: Dots([(0.0, 1.0)], size="large"), "Dots: size is 'large', expected a number of points"),
    ],
)
def test_what_cannot_be_drawn_is_refused_where_it_is_made(make, said):
    with pytest.raises(UsageError) as error:
        make()
    assert said in str(error.value)


def test_a_text_is_one_line_of_signs_that_can_be_printed():
    assert Text((0, 0), text="a\x00b\tc\nd").text == "a b c"
    assert Text((0, 0), text="\n").text == ""
    assert len(Text((0, 0), text="x" * 500).text) == 200
