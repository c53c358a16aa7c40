"""Foxglove messages in recordings: of the stated schemas, with the recorded numbers, and nobody else's concern."""

from __future__ import annotations

import base64
import itertools
import json
from collections import defaultdict
from dataclasses import replace as replace_fields

import numpy as np
import pytest
from mcap.reader import make_reader

import cbsim
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.replay import diff, replay
from cbsim.foxglove import FoxgloveRecorder, add_foxglove, foxglove_recorder
from cbsim.foxglove.display import Display
from cbsim.foxglove.drawings import planner_annotations
from cbsim.foxglove.entities import bodies
from cbsim.geometry.pose import Pose
from cbsim.planner import PlannerError
from cbsim.recording.batch import Header
from cbsim.recording.drawings import DrawingRow
from cbsim.recording.recording import Recording
from cbsim.spec.drawing import Dots, Line, Text
from tests.recording.test_drawings import Painter
from tests.simulation.test_loop import Turner, lively

KEY = "CajunBot/scan_0"


def conforms(value, schema, place="") -> None:
    """The part of JSON Schema that is used: types, properties, items, choices and bounds; nothing may be left over."""
    if "oneOf" in schema:
        assert value in [one["const"] for one in schema["oneOf"]], place
        return
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
    assert isinstance(value, kinds[schema["type"]]), place
    assert not isinstance(value, bool) or schema["type"] == "boolean", place
    if schema["type"] == "object":
        assert set(value) == set(schema["properties"]) == set(schema["required"]), place
        for name, inner in schema["properties"].items():
            conforms(value[name], inner, f"{place}.{name}")
    for k, item in enumerate(value if schema["type"] == "array" else []):
        conforms(item, schema["items"], f"{place}[{k}]")
    if schema["type"] == "integer":
        assert schema.get("minimum", value) <= value <= schema.get("maximum", value), place


def shown(path):
    """All foxglove messages: topic -> [(time [ns], message)], each held against the schema in the file."""
    found = defaultdict(list)
    with path.open("rb") as stream:
        for schema, channel, message in make_reader(stream, validate_crcs=True).iter_messages():
            if not channel.topic.startswith("/foxglove/"):
                assert not schema.name.startswith("foxglove.")
                continue
            assert (channel.message_encoding, schema.encoding) == ("json", "jsonschema")
            said = json.loads(message.data)
            stated = json.loads(schema.data)
            assert stated["title"] == schema.name
            conforms(said, stated)
            found[channel.topic].append((message.log_time, said))
    return found


def xyz(words):
    return np.array([words["x"], words["y"], words["z"]])


def wxyz(words):
    return np.array([words["w"], words["x"], words["y"], words["z"]])


def world_points(scan, frame):
    """Where a viewer puts the returns of a LaserScan: angles around z from x, then its pose, then its frame."""
    count = len(scan["ranges"])
    angles = scan["start_angle"] + np.arange(count) * (scan["end_angle"] - scan["start_angle"]) / (count - 1)
    ranges = np.array(scan["ranges"])
    flat = np.where(np.isfinite(ranges), ranges, np.nan)[:, None]
    local = flat * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    inner = Pose(xyz(scan["pose"]["position"]), wxyz(scan["pose"]["orientation"]))
    return (Pose(xyz(frame["translation"]), wxyz(frame["rotation"])) @ inner).apply(local)


@pytest.fixture(scope="module")
def filed(recording, tmp_path_factory):
    path = tmp_path_factory.mktemp("foxglove") / "shown.mcap"
    add_foxglove(recording, path)
    return path


@pytest.fixture(scope="module")
def messages(filed):
    return shown(filed)


def test_recording_with_foxglove_reads_and_replays_as_one_without(recording, filed, made, tmp_path):
    read = Recording.open(filed)
    assert read.complete
    assert read.header == recording.header
    assert (read.hashes == recording.hashes).all()
    assert diff(read, recording) is None
    assert replay(read, made) is None
    assert all(np.array_equal(a.ranges, b.ranges) for a, b in zip(read.scans(KEY), recording.scans(KEY), strict=True))
    recording.save(tmp_path / "plain.mcap")
    read.save(tmp_path / "again.mcap")
    assert (tmp_path / "again.mcap").read_bytes() == (tmp_path / "plain.mcap").read_bytes()


def test_frames_are_the_recorded_poses_at_the_recorded_times(recording, messages):
    frames = messages["/foxglove/frames"]
    assert len(frames) == len(recording)  # a step of 0.05 s is just 20 Hz
    for k, (stamp, said) in enumerate(frames):
        assert stamp == round(recording.times[k] * 1e9)
        assert len(said["transforms"]) == len(recording.header.moving)
    for name in ("CajunBot", "ATV", "Traffic"):
        own = [t for _, said in frames for t in said["transforms"] if t["child_frame_id"] == f"body/{name}"]
        assert {t["parent_frame_id"] for t in own} == {"map"}
        assert all(
            t["timestamp"]["sec"] * 10**9 + t["timestamp"]["nsec"] == at for t, (at, _) in zip(own, frames, strict=True)
        )
        assert (np.array([xyz(t["translation"]) for t in own]) == recording.positions(name)).all()
        assert (np.array([wxyz(t["rotation"]) for t in own]) == recording.orientations(name)).all()


def test_every_body_is_told_once_in_its_true_size(recording, messages):
    ((_, said),) = messages["/foxglove/bodies"]
    entities = {one["id"]: one for one in said["entities"]}
    assert set(entities) == set(recording.names)
    for row, item in enumerate(recording.header.objects):
        (cube,) = entities[item["name"]]["cubes"]
        assert xyz(cube["size"]).tolist() == item["size"]
        still = row not in recording.header.moving
        assert entities[item["name"]]["frame_id"] == ("map" if still else f"body/{item['name']}")
        assert xyz(cube["pose"]["position"]).tolist() == (item["position"] if still else [0.0, 0.0, 0.0])


def test_viewer_puts_the_returns_of_a_scan_where_the_recording_has_them(recording, messages):
    told, frames = messages[f"/foxglove/scan/{KEY}"], messages[f"/foxglove/frames/{KEY}"]
    scans = recording.scans(KEY)
    assert len(told) == len(frames) == len(scans) > 10
    for scan, (stamp, said), (_, frame) in zip(scans, told, frames, strict=True):
        assert stamp == round(scan.time * 1e9)
        assert said["frame_id"] == frame["child_frame_id"] == f"sensor/{KEY}"
        assert (np.isfinite(said["ranges"]) == scan.returned[0]).all()
        np.testing.assert_allclose(world_points(said, frame), scan.points[0], atol=0.6e-4)  # ranges are rounded
    assert any(scan.returned.any() for scan in scans)


def test_trails_look_forward_and_stay_short(recording, messages):
    trail = messages["/foxglove/trail/Traffic"]
    assert len(trail) == 6  # each second from 0 s to 5 s
    for second, (_, said) in enumerate(trail):
        assert len(said["poses"]) == second + 1
        at = 20 * second
        newest = said["poses"][-1]
        assert (xyz(newest["position"]) == recording.positions("Traffic")[at]).all()
        ahead = Pose(np.zeros(3), wxyz(newest["orientation"])).apply([1.0, 0.0, 0.0])
        own = Pose(np.zeros(3), recording.orientations("Traffic")[at]).apply([0.0, 1.0, 0.0])
        np.testing.assert_allclose(ahead, own, atol=1e-12)


def test_batches_cut_anywhere_give_the_same_messages(recording, joined):
    def all_of(run):
        display = Display(run.header)
        told = [message for batch in run.batches() for message in display.take(batch)]
        by_topic = itertools.groupby(sorted(told, key=lambda one: one.topic), key=lambda one: one.topic)
        return {topic: list(group) for topic, group in by_topic}

    assert all_of(recording) == all_of(joined)


def test_that_nothing_is_shown_any_more_is_told_at_once(recording):
    batch = next(iter(recording.batches()))
    rows = [DrawingRow(0, (Line([(0, 0), (1, 1)]),)), DrawingRow(1, ())]
    header = replace_fields(recording.header, step=0.01)
    told = [one for one in Display(header).take(replace_fields(batch, drawings=rows)) if one.topic.endswith("planners")]
    assert [one.time for one in told] == [0.0, 0.01]
    (entity,) = json.loads(told[-1].data)["entities"]
    assert not any(entity.get(kind) for kind in ("lines", "triangles", "texts"))


@pytest.mark.parametrize("step", [0.001, 0.02, 0.05, 0.3])
def test_rate_of_frames_is_bounded_whatever_the_step_and_the_last_state_is_told(step, tmp_path):
    recording = cbsim.run(lively(step=step), duration=1.0)
    add_foxglove(recording, tmp_path / "run.mcap")
    stamps = [stamp for stamp, _ in shown(tmp_path / "run.mcap")["/foxglove/frames"]]
    assert stamps[0] == 0
    assert stamps[-1] == round(recording.times[-1] * 1e9)
    assert (np.diff(stamps[:-1]) >= 0.05e9 - 1).all()


def test_run_with_foxglove_is_the_run_without_and_converting_gives_its_very_bytes(tmp_path):
    world = cbsim.load("crash")
    one = execute(world, record=tmp_path / "plain.mcap")
    two = execute(world, record=tmp_path / "shown.mcap", recorder=foxglove_recorder)
    assert (one.digest, one.checks) == (two.digest, two.checks)
    add_foxglove(Recording.open(tmp_path / "plain.mcap"), tmp_path / "converted.mcap")
    assert (tmp_path / "converted.mcap").read_bytes() == (tmp_path / "shown.mcap").read_bytes()
    assert replay(Recording.open(tmp_path / "shown.mcap")) is None
    told = [said for _, said in shown(tmp_path / "shown.mcap")["/foxglove/log"]]
    contacts = Recording.open(tmp_path / "shown.mcap").contacts()
    assert [said["level"] for said in told if said["name"] == "contact"] == [3] * len(contacts)
    assert contacts
    for check in two.checks:
        (said,) = [said for said in told if said["name"] == check.name]
        assert said["level"] == (2 if check.passed else 4)
        assert check.message in said["message"]


def test_lanes_are_drawn_once_where_the_network_has_them(tmp_path):
    execute(cbsim.load("four_way_stop", duration=0.1), record=tmp_path / "run.mcap", recorder=foxglove_recorder)
    told = shown(tmp_path / "run.mcap")
    ((_, said),) = told["/foxglove/road"]
    entities = {one["id"]: one for one in said["entities"]}
    roadmap = cbsim.load("four_way_stop").scene.roadmap
    edges = np.concatenate([edge for lane in roadmap.lanes for edge in (lane.left, lane.right)])
    ends = np.array([xyz(point)[:2] for line in entities["lanes"]["lines"] for point in line["points"]])
    assert all(len(line["points"]) % 2 == 0 for line in entities["lanes"]["lines"])
    low, high = edges.min(axis=0) - 0.2, edges.max(axis=0) + 0.2  # double lines stand beside their edge
    assert ((ends >= low) & (ends <= high)).all()
    assert len(entities["stop lines"]["lines"][0]["points"]) == 8
    goals = [topic for topic in told if topic.startswith("/foxglove/goals/")]
    assert goals
    point_cloud = next(messages for topic, messages in told.items() if topic.startswith("/foxglove/points/"))
    key = next(topic for topic in told if topic.startswith("/foxglove/points/")).removeprefix("/foxglove/points/")
    scan = Recording.open(tmp_path / "run.mcap").scans(key)[0]
    points = np.frombuffer(base64.b64decode(point_cloud[0][1]["data"]), "<f4").reshape(-1, 3)
    np.testing.assert_allclose(scan.pose.apply(points), scan.points[scan.returned], atol=1e-4)  # 32 bits at 100 m


def test_failure_of_a_planner_is_logged_once_as_fatal(tmp_path):
    class Failing:
        def plan(self, observation):
            raise ValueError("no way on")

    recorder = FoxgloveRecorder(tmp_path / "run.mcap")
    memory = cbsim.run(lively(), duration=0.1)
    recorder.begin(memory.header, memory.snapshot, {})
    for batch in memory.batches():
        recorder.take(batch)
    failure = PlannerError("CajunBot", 0.1, "no way on")
    recorder.fault(f"planner {failure.planner}", failure.time, failure.reason)
    recorder.end()
    ((stamp, said),) = shown(tmp_path / "run.mcap")["/foxglove/log"]
    assert (stamp, said["level"], said["message"]) == (100_000_000, 5, "no way on")
    outcome = execute(lively(), record=tmp_path / "fails.mcap", recorder=foxglove_recorder, planner=Failing(), steps=2)
    assert outcome.verdict == "fail"
    levels = [said["level"] for _, said in shown(tmp_path / "fails.mcap")["/foxglove/log"]]
    assert levels == [5]


@pytest.mark.parametrize(("shape", "kind"), [("sphere", "spheres"), ("cylinder", "cylinders"), ("wheel", "cylinders")])
def test_round_bodies_are_round_and_fill_their_box(shape, kind):
    size = [0.3, 0.8, 0.8] if shape == "wheel" else [0.8, 0.8, 0.8]
    item = {"name": "Thing", "type": "static", "shape": shape, "size": size}
    item |= {"position": [1.0, 2.0, 3.0], "orientation": [1.0, 0.0, 0.0, 0.0]}
    header = Header(3, "x", 0.05, 1, "0", [item], [0], [], {})
    ((drawn,),) = [one[kind] for one in bodies(header, 0.0, None)]
    turned = Pose(np.zeros(3), wxyz(drawn["pose"]["orientation"])).apply(np.diag(xyz(drawn["size"])))
    np.testing.assert_allclose(np.abs(turned).sum(axis=0), size, atol=1e-12)
    axis = Pose(np.zeros(3), wxyz(drawn["pose"]["orientation"])).apply([0.0, 0.0, 1.0])
    np.testing.assert_allclose(axis, [1, 0, 0] if shape == "wheel" else [0, 0, 1], atol=1e-12)


def test_mesh_gives_its_triangles_corner_for_corner(tmp_path):
    made = cbsim.load("sensors", duration=0.05)
    execute(made, record=tmp_path / "run.mcap", recorder=foxglove_recorder)
    ((_, said),) = shown(tmp_path / "run.mcap")["/foxglove/bodies"]
    meshes = [(body.row, body.name) for body in made if body.shape.name == "MESH"]
    assert meshes
    drawn = {one["id"]: one["triangles"] for one in said["entities"]}
    for row, name in meshes:
        (one,) = drawn[name]
        corners = np.array([xyz(point) for point in one["points"]])[one["indices"]].reshape(-1, 3, 3)
        due = made.shapes.triangles[made.shapes.first[row] : made.shapes.last[row]]
        np.testing.assert_allclose(corners, due, atol=1e-6)


def test_turning_planner_does_not_notice_that_it_is_shown(tmp_path):
    one = execute(lively(), planner=Turner(), steps=40)
    two = execute(lively(), planner=Turner(), steps=40, record=tmp_path / "run.mcap", recorder=foxglove_recorder)
    assert one.digest == two.digest


def test_what_planners_show_is_an_entity_of_the_newest_and_converting_gives_the_same(tmp_path):
    world = cbsim.load("four_way_stop", duration=2.0)
    execute(world, record=tmp_path / "run.mcap", recorder=foxglove_recorder, planner=Painter())
    execute(world, record=tmp_path / "plain.mcap", planner=Painter())
    add_foxglove(Recording.open(tmp_path / "plain.mcap"), tmp_path / "later.mcap")
    assert (tmp_path / "later.mcap").read_bytes() == (tmp_path / "run.mcap").read_bytes()
    told = shown(tmp_path / "run.mcap")["/foxglove/planners"]
    kept = Recording.open(tmp_path / "run.mcap").drawings()
    assert [time for time, _ in told] == [round(time * 1e9) for time, _ in kept]
    for (_, message), (_, drawings) in zip(told, kept, strict=True):
        (found,) = message["entities"]
        assert found["id"] == "what planners show"
        lines = [one for one in drawings if isinstance(one, Line)]
        assert [[(p["x"], p["y"]) for p in one["points"]] for one in found["lines"]] == [
            [tuple(place) for place in one.places[:, :2].round(3)] for one in lines
        ]
        assert [one["text"] for one in found["texts"]] == [one.text for one in drawings if isinstance(one, Text)]
    assert [len(message["entities"][0]["lines"]) for _, message in told].count(0) == 1, "gone once"


def test_a_dot_is_a_square_of_two_triangles_on_the_ground():
    (made,) = planner_annotations(0.0, (Dots([(3.0, 4.0)], size=10.0, colour=(255, 0, 0)),))["triangles"]
    corners = np.array([[p["x"], p["y"], p["z"]] for p in made["points"]])[made["indices"]].reshape(2, 3, 3)
    area = 0.5 * np.abs(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]).sum()
    assert area == pytest.approx(1.0)
    assert corners.reshape(-1, 3).mean(axis=0)[:2] == pytest.approx([3.0, 4.0])
    assert made["color"] == {"r": 1.0, "g": 0.0, "b": 0.0, "a": 1.0}
