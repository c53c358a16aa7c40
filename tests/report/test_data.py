"""The data of a report are those of the recording, within the grain that the page states."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.errors import RecordingError, UsageError
from cbsim.evaluation.judge import judge, scene_of
from cbsim.geometry.ttc import HORIZON, Footprint, time_to_collision
from cbsim.page import Packer
from cbsim.recording.drawings import DrawingRow
from cbsim.recording.recording import Recording
from cbsim.report import page_of, write_report
from cbsim.report.channels import steering
from cbsim.report.compare import differences
from cbsim.report.data import run_of
from cbsim.report.frames import MISSING, Motion, frames_of, interpolation_error, quantise
from cbsim.report.model_poses import continuous_quaternions, hulls_of
from cbsim.report.pack import pack
from cbsim.report.planner_annotations import kept_rows, pack_annotations
from cbsim.spec.drawing import Dots, Line, Text
from cbsim.world.figures import triangles_of
from tests.report.pages import column, data_of, unpacked
from tests.viewer.views import PENDULUM


def test_places_and_headings_in_the_page_are_those_of_the_recording_within_half_a_grain(hit, page):
    recording = Recording.open(hit)
    data, raw = data_of(page)
    (run,) = data["runs"]
    times = unpacked(raw, run["steps"]).ravel() * run["step"]
    np.testing.assert_array_equal(times, recording.times)
    for body in run["bodies"]:
        place, turned = recording.positions(body["name"]), recording.headings(body["name"])
        if "pose" in body:
            assert body["pose"] == [*place[0, :2], turned[0]]
            assert not np.ptp(place, axis=0).any()
            continue
        x, y, heading = (column(raw, grain) for grain in body["motion"])
        np.testing.assert_allclose(np.stack([x, y], axis=1), place[:, :2], atol=0.5e-3 + 1e-12, rtol=0.0)
        np.testing.assert_allclose(np.cos(heading - turned), 1.0, atol=0.5 * (0.5e-4) ** 2 + 1e-15)
        assert np.abs(np.diff(heading)).max() < 0.5  # no jump of a whole turn to animate


def test_speeds_in_the_page_are_those_of_the_recording(hit, page):
    recording, (data, raw) = Recording.open(hit), data_of(page)
    (run,) = data["runs"]
    for body in run["subjects"]:
        name = run["bodies"][body["row"]]["name"]
        speeds = column(raw, body["values"]["speed"])
        np.testing.assert_allclose(speeds, recording.speeds(name), atol=0.5e-3 + 1e-9, rtol=0.0)
        change = column(raw, body["values"]["acceleration"])
        assert np.isnan(change[0])
        expected = np.diff(recording.speeds(name)) / run["step"]
        np.testing.assert_allclose(change[1:], expected, atol=0.5e-2 + 1e-9, rtol=0.0)


def test_verdict_and_checks_are_those_of_judge(hit, run):
    found = judge(Recording.open(hit))
    assert run.verdict == found.verdict == "fail"
    expected = [(c.name, c.passed, c.time, c.message) for c in found.checks]
    failures, others = ([row for row in expected if row[1] is passed] for passed in (False, True))
    assert len(failures) > 1
    assert [(m.name, m.passed, m.time, m.message) for m in run.events] == failures + others


def test_a_failed_collision_is_marked_where_it_touched_and_other_checks_where_the_body_was(hit, run):
    recording = Recording.open(hit)
    first = recording.contacts()[0]
    collision = run.events[0]
    lane = next(event for event in run.events if event.name.startswith("lane"))
    assert not collision.passed
    assert collision.time == first.time
    np.testing.assert_array_equal(collision.place, first.place[:2])
    assert lane.passed
    np.testing.assert_allclose(lane.place, recording.positions("CajunBot")[-1, :2])
    assert run.contact_count == len(recording.contacts())


def test_digest_is_the_one_that_a_run_prints(hit, run, folder):
    from cbsim.evaluation.outcome import execute

    assert run.digest == execute(cbsim.load(folder / "hit_3.yaml")).digest


def test_the_bot_is_a_little_beside_the_middle_of_its_lane_and_what_stands_is_not_plotted(run):
    plotted = {run.bodies[body.row].name: body for body in run.plotted}
    assert set(plotted) == {"CajunBot", "Truck"}
    assert np.nanmax(np.abs(plotted["CajunBot"].values["lateral"])) < 0.5
    assert np.isfinite(plotted["CajunBot"].values["steering"]).any()
    assert np.isnan(plotted["Truck"].values["steering"]).all()


def test_time_to_collision_of_the_bot_falls_to_nothing_at_the_contact(run):
    bot = next(body for body in run.plotted if run.bodies[body.row].name == "CajunBot")
    before = np.flatnonzero(run.times < run.contacts[0].time)
    ttc = bot.values["ttc"][before]
    assert ttc[-1] < 2.0 * run.header.step
    assert run.bodies[bot.partner[before[-1]]].name == "Truck"
    assert (np.diff(ttc[-10:]) < 0.0).all()


def footprint(x, y, vx, vy, *, heading=0.0, width=2.0, length=4.0, low=0.0, high=1.0):
    one = lambda *values: np.array([values], float)  # noqa: E731
    return Footprint(one(x, y), one(vx, vy), one(heading).ravel(), width, length, one(low).ravel(), one(high).ravel())


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (footprint(0, 24, 0, 0), 2.0),  # 20 m of gap at 10 m/s
        (footprint(0, 24, 0, -10), 1.0),
        (footprint(0, 24, 0, 10), np.nan),  # as fast as oneself
        (footprint(2.1, 24, 0, 0), np.nan),  # beside one's way
        (footprint(1.9, 24, 0, 0), 2.0),
        (footprint(0, 23, 0, 0, heading=0.5 * np.pi), 2.0),  # across: half of its width
        (footprint(20, 20, -10, 0), 1.8),  # sides overlap after 18 m of its way, noses after 16 m of one's own
        (footprint(0, 1, 0, 0), 0.0),
        (footprint(0, -10, 0, 0), np.nan),  # behind
        (footprint(0, 24, 0, 0, low=2.0, high=3.0), np.nan),  # above
        (footprint(0, 4.0 + 10.0 * HORIZON + 0.1, 0, 0), np.nan),
    ],
)
def test_time_to_collision_of_footprints_is_that_of_their_gaps(other, expected):
    own = footprint(0, 0, 0, 10)
    for one, two in ((own, other), (other, own)):
        np.testing.assert_allclose(time_to_collision(one, two), [expected], atol=1e-12)


def test_turned_footprints_touch_at_their_corners():
    own = footprint(0, 0, 0, 0, heading=0.25 * np.pi, width=2.0, length=2.0)
    other = footprint(0, 10, 0, -1, heading=0.25 * np.pi, width=2.0, length=2.0)
    np.testing.assert_allclose(time_to_collision(own, other), [10.0 - 2.0 * np.sqrt(2.0)], atol=1e-12)


def test_a_command_holds_from_the_step_after_it_was_given():
    rows = [(0, (0.5, 0.25, 1.0, 1.0, 0.0, 0.0)), (3, (0.5, -1.0, 0.2, 0.6, 0.0, 0.0))]
    steps = np.arange(6)
    np.testing.assert_array_equal(steering(steps, rows, False), [np.nan, 25.0, 25.0, 25.0, -100.0, -100.0])
    np.testing.assert_allclose(steering(steps, rows, True)[1:], [0.0, 0.0, 0.0, 20.0, 20.0])
    assert np.isnan(steering(steps, [], False)).all()


def test_values_are_off_by_half_a_unit_at_most_and_far_ones_have_a_larger_unit():
    values = np.array([0.0, 1.23456, -7.0004999, np.nan, np.inf])
    grain = quantise(values, 1e-3)
    assert grain.unit == 1e-3
    assert (np.abs(grain.values[:3] - values[:3]) <= 0.5e-3).all()
    assert (grain.counts[3:] == MISSING).all()
    far = quantise(np.array([1e7, -1e7 + 0.5]), 1e-3)
    assert far.unit == pytest.approx(1e-2)
    assert np.abs(far.values - [1e7, -1e7 + 0.5]).max() <= 0.5 * far.unit * (1.0 + 1e-9)


def test_frames_hold_the_ends_and_what_is_marked_and_what_they_lose_is_measured():
    frames = frames_of(11, 4, np.array([5, 99, -1]))
    np.testing.assert_array_equal(frames, [0, 4, 5, 8, 10])
    times = 0.1 * np.arange(11)
    bump = np.zeros(11)
    bump[2] = 0.3
    motion = Motion(times, bump, np.zeros(11))
    place, angle = interpolation_error(times, frames, motion)
    assert place == pytest.approx(0.3, abs=1e-12)
    assert angle == 0.0
    assert interpolation_error(times, np.arange(11), motion) == (0.0, 0.0)


def test_a_page_over_its_budget_drops_frames_and_says_what_that_loses(run):
    whole = pack([run])
    assert (whole.frames, whole.place) == ([len(run.steps)], 0.0)
    thin = pack([run], budget=int(0.85 * len(json.dumps(whole.data, separators=(",", ":")))))
    assert thin.frames[0] < 0.6 * len(run.steps)
    (told,), raw = thin.data["runs"], zlib.decompress(base64.b64decode(thin.data["data"]))
    times = unpacked(raw, told["steps"]).ravel() * told["step"]
    for event in run.contacts:
        assert np.abs(times - event.time).min() <= 0.5 * run.header.step + 1e-9
    for body in run.plotted:
        for row in body.extremes().values():
            assert np.abs(times - run.times[row]).min() < 1e-9
    worst = 0.0
    for body, motion in zip(told["bodies"], run.motions.values(), strict=True):
        if "motion" in body:
            x, y, _ = (np.interp(run.times, times, column(raw, grain)) for grain in body["motion"])
            worst = max(worst, float(np.hypot(x - motion.x, y - motion.y).max()))
    assert worst > 0.01
    np.testing.assert_allclose(worst, thin.place, atol=1e-3)


def test_two_runs_are_compared_at_the_same_times_whatever_their_steps(run, folder):
    fine = run_of(cbsim.run(cbsim.load(folder / "hit_3.yaml", step=0.02), duration=6.0))
    truck, barrel = (next(one for one in differences(run, fine) if one.name == name) for name in ("Truck", "Barrel"))
    assert (barrel.largest, barrel.diverged_at) == (0.0, None)
    # literal traffic is at the same place at the same time; its corners fall between steps
    assert truck.largest <= 12.0 * 0.5 * 0.05
    assert truck.time <= 6.0
    for one in differences(run, run):
        assert (one.largest, one.diverged_at) == (0.0, None)


def test_a_bot_that_starts_six_metres_further_has_parted_from_the_start(run, other):
    found = {one.name: one for one in differences(run, run_of(Recording.open(other)))}
    assert found["CajunBot"].diverged_at == 0.0
    assert found["CajunBot"].largest >= 6.0 - 1e-6
    assert found["Truck"].largest == 0.0


def test_a_recording_without_files_is_reported_without_road_and_verdict(folder):
    recording = Recording.open(folder / "hit_3.mcap")
    recording.sources = {}
    recording.header = replace(recording.header, request={})
    run = run_of(recording)
    assert (run.verdict, run.events, run.road) == ("", [], None)
    assert "carries no files" in page_of([run])


def test_a_recording_that_breaks_off_is_told_up_to_there(hit, tmp_path, monkeypatch):
    monkeypatch.setattr("cbsim.recording.recorder.CHUNK", 4096)
    Recording.open(hit).save(tmp_path / "whole.mcap")
    raw = (tmp_path / "whole.mcap").read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(raw[: int(0.8 * len(raw))])
    recording = Recording.open(cut)
    run = run_of(recording)
    assert 10 < len(run.steps) < 241
    assert any("is truncated after step" in line for line in run.problems)
    assert "is truncated after step" in page_of([run])


def test_what_cannot_be_reported_is_refused(hit, tmp_path):
    recording = Recording.open(hit)
    with pytest.raises(UsageError, match="of one recording or two, not of 3"):
        write_report([recording] * 3, tmp_path / "page.html")
    with pytest.raises(UsageError, match="cannot write"):
        write_report(recording, tmp_path / "none" / "page.html")
    monkey = Recording.open(hit)
    monkey.batches = lambda: iter(())
    with pytest.raises(RecordingError, match="no step in it"):
        run_of(monkey)


SHOWN = [
    DrawingRow(0, (Line([(0, 0), (10.004, 5)], width=3.0), Text((1, 2), text="there"))),
    DrawingRow(4, ()),
    DrawingRow(8, (Dots([(1, 1), (2, 2), (3, 3)], colour=(255, 0, 16), size=5), Line([(0, 0), (1, 0)], closed=True))),
]


def test_what_planners_showed_is_in_the_page_in_centimetres():
    packer = Packer()
    packed = pack_annotations(SHOWN, packer)
    data = zlib.decompress(base64.b64decode(packer.text()))
    assert unpacked(data, packed["steps"]).ravel().tolist() == [0, 4, 8]
    assert unpacked(data, packed["counts"]).ravel().tolist() == [2, 0, 2]
    parts = unpacked(data, packed["parts"]).tolist()
    told = [(packed["looks"][look], count, text) for look, count, text in parts]
    assert told == [
        ({"kind": "line", "colour": "", "size": 3.0, "closed": False}, 2, -1),
        ({"kind": "text", "colour": "", "size": 0.0, "closed": False}, 1, 0),
        ({"kind": "dots", "colour": "#ff0010", "size": 5.0, "closed": False}, 3, -1),
        ({"kind": "line", "colour": "", "size": 2.0, "closed": True}, 2, -1),
    ]
    assert packed["texts"] == ["there"]
    points = unpacked(data, packed["points"]["counts"]) * packed["points"]["unit"]
    assert points[:3] == pytest.approx(np.array([(0.0, 0.0), (10.0, 5.0), (1.0, 2.0)]))
    assert pack_annotations([DrawingRow(0, ())], packer) is None


def test_too_many_drawings_are_thinned_with_the_frames_and_to_their_own_budget(monkeypatch):
    rows = [DrawingRow(4 * k, (Dots(np.ones((10, 2))),)) for k in range(100)]
    assert kept_rows(rows, 0.05) == rows
    assert kept_rows(rows, 0.4) == rows[::2]
    monkeypatch.setattr("cbsim.report.planner_annotations.MOST", 300)
    assert kept_rows(rows, 0.05) == rows[::4]


def test_what_a_planner_ceased_to_show_ceases_in_a_page_however_few_rows_are_kept():
    shown = [DrawingRow(4 * k, (Text((0.0, 0.0), text="I brake"),)) for k in range(6)]
    ends, late = DrawingRow(24, ()), DrawingRow(28, ())
    rows = [*shown[:3], *(replace(ends, step=step) for step in (12, 16)), shown[5], ends, late]
    assert [row.step for row in kept_rows(rows, 0.4)] == [0, 8, 12, 16, 24]
    assert [row.step for row in kept_rows(rows, 60.0)] == [0, 12], "nothing begins between, so nothing ends"


def test_corners_span_their_shapes_in_every_direction(folder):
    scene = scene_of(cbsim.run(cbsim.load("crash_dummy"), duration=0.05))
    header = cbsim.run(cbsim.load("crash_dummy"), duration=0.05).header
    found = hulls_of(header, scene)
    bodies = [(model.scale, body.shape) for model in scene.models for body in model.description.bodies]
    assert {scale for scale, _ in bodies} != {1.0}, "else sizes are not asked for"
    assert sorted(found) == list(range(3, 3 + len(bodies)))
    directions = np.random.default_rng(1).normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for row, (scale, shape) in enumerate(bodies, 3):
        whole, kept = scale * triangles_of(shape).reshape(-1, 3), found[row]
        assert len(kept) <= 60
        far = (whole @ directions.T).max(axis=0)
        assert ((kept @ directions.T).max(axis=0) <= far + 1e-5).all(), "none lies outside"
        assert ((kept @ directions.T).max(axis=0) >= far - 0.1 * np.ptp(whole)).all(), "little is cut off"


def test_a_body_behind_a_model_with_riders_has_corners_of_its_own(tmp_path):
    """Bodies of a SHIFT model without mass ride along: rows of their own, before those of the next model."""
    joints = [
        {"name": "j0", "type": "revolute", "axis": [1, 0, 0], "parent": ["fixed"], "child": ["rider"]},
        {"name": "j1", "type": "revolute", "axis": [0, 1, 0], "parent": ["rider"], "child": ["b"]},
    ]
    joints = [joint | {end: [joint[end], "origin"] for end in ("parent", "child")} for joint in joints]
    weight = {"mass": 2.0, "Ixx": 0.3, "Iyy": 0.4, "Izz": 0.2, "Ixy": 0.0, "Iyz": 0.0, "Izx": 0.0}
    heavy = {"name": "b", "center_of_mass": [0.1, 0.2, 0.5], "inertia": weight}
    whole = {"name": "a", "bodies": [{"name": "rider"}, heavy], "joints": joints}
    (tmp_path / "rides.json").write_text(
        json.dumps({"model_parameters": {"version": "2.0", "gravity": [0, 0, 9.81]}, "assemblies": [whole]})
    )
    (tmp_path / "pendulum.urdf").write_text(PENDULUM)
    (tmp_path / "two.yaml").write_text(
        "models:\n  - {file: rides.json, name: A, position: [0, 0, 3]}\n"
        "  - {file: pendulum.urdf, name: B, position: [5, 0, 0]}\n"
    )
    recording = cbsim.run(cbsim.load(tmp_path / "two.yaml"), duration=0.05)
    assert "A/rider" in recording.names, "else nothing is asked here"
    found = hulls_of(recording.header, scene_of(recording))
    sizes = {recording.names[row]: np.ptp(corners, axis=0).tolist() for row, corners in found.items()}
    assert sizes == {"B/arm": pytest.approx([0.1, 0.1, 1.0]), "B/bob": pytest.approx([0.4, 0.4, 0.4], rel=0.05)}


def test_signs_of_quaternions_follow_each_other():
    turns = np.array([(1.0, 0, 0, 0), (-0.9, 0.1, 0, 0), (-0.8, 0.2, 0, 0), (0.7, -0.3, 0, 0)])
    assert continuous_quaternions(turns)[:, 0].tolist() == [1.0, 0.9, 0.8, 0.7]
    assert np.abs(continuous_quaternions(turns)).tolist() == np.abs(turns).tolist()


def test_a_check_of_a_model_stands_where_its_first_body_is():
    recording = cbsim.run(cbsim.load("crash_dummy"), duration=1.0)
    events = {event.name: event for event in run_of(recording).events}
    body = next(name for name in recording.names if name.startswith("Child/"))
    assert events["rest Child"].row == recording.names.index(body)


def test_a_page_tells_whether_bodies_go_by_their_own_names_so_that_none_is_taken_apart(tmp_path):
    (tmp_path / "pendulum.urdf").write_text(PENDULUM.replace('"arm"', '"upper/arm"'))
    (tmp_path / "placed.yaml").write_text("models:\n  - {file: pendulum.urdf, name: A}\n")
    told = {
        name: pack([run_of(cbsim.run(cbsim.load(tmp_path / name), duration=0.05))]).data["runs"][0]
        for name in ("pendulum.urdf", "placed.yaml")
    }
    assert {name: run["alone"] for name, run in told.items()} == {"pendulum.urdf": True, "placed.yaml": False}
    assert "upper/arm" in [body["name"] for body in told["pendulum.urdf"]["bodies"]]
