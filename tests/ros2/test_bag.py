"""Bags of ROS 2: every message is decoded with the definition beside it, and compared with the recording."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cbsim
from cbsim.errors import UsageError
from cbsim.evaluation.outcome import execute
from cbsim.geometry.pose import heading
from cbsim.recording.recording import Recording
from cbsim.ros2 import write_ros2
from cbsim.spec.objects import ShapeKind, Triple
from tests.worlds import bot, level, mover, prop, world

mcap_ros2 = pytest.importorskip("mcap_ros2.decoder")
reader = pytest.importorskip("mcap.reader")


class Bend:
    def start(self, *_):
        pass

    def plan(self, observation):
        return cbsim.Command(0.6, 0.4)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bags")
    site = world(
        bot("Cajun Bot", level(rate=10.0), level(rate=10.0, layer_pitches=(-0.1, 0.0)), yaw := level(scan_time=0.05)),
        mover("Truck", (5.0, 0.5, 20.0, 0.5), at=Triple(-9.0, 6.0, 0.0)),
        prop("Ball", Triple(0.0, 12.0, 0.0), shape=ShapeKind.SPHERE, size=Triple(2.0, 2.0, 2.0)),
        prop("Wall", Triple(6.0, 8.0, 0.0), size=Triple(0.4, 8.0, 3.0), yaw=0.3),
        step=0.05,
        duration=1.0,
    )
    assert yaw.scan_time == 0.05
    execute(site, planner=Bend(), record=folder / "run.mcap")
    recording = Recording.open(folder / "run.mcap")
    write_ros2(recording, folder / "bag.mcap")
    return recording, messages(folder / "bag.mcap")


def messages(path):
    """Topic → (log time [s], message), decoded by the definitions in the file."""
    found = {}
    with path.open("rb") as stream:
        bag = reader.make_reader(stream, decoder_factories=[mcap_ros2.DecoderFactory()])
        assert bag.get_header().profile == "ros2"
        for schema, channel, message, decoded in bag.iter_decoded_messages():
            assert (schema.encoding, channel.message_encoding) == ("ros2msg", "cdr")
            found.setdefault(channel.topic, []).append((1e-9 * message.log_time, decoded))
    return found


def recording_rows(recording):
    return np.array(recording.header.moving, np.int64)


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


def yaw(q):
    return math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y**2 + q.z**2))


def test_topics_are_those_of_the_run(made):
    _, found = made
    frame = "/Cajun_Bot"
    scans = [f"{frame}/scan_0/scan", f"{frame}/scan_1/points", f"{frame}/scan_2/scan"]
    assert sorted(found) == sorted(["/clock", "/tf", "/objects", f"{frame}/odom", *scans])


def test_clock_ticks_with_the_steps(made):
    recording, found = made
    times = [seconds(message.clock) for _, message in found["/clock"]]
    assert times == pytest.approx(recording.times)
    assert [time for time, _ in found["/clock"]] == pytest.approx(recording.times)


def test_odometry_is_the_motion_with_x_forward(made):
    recording, found = made
    positions, track = recording.positions("Cajun Bot"), found["/Cajun_Bot/odom"]
    row = recording.header.objects.names.index("Cajun Bot")
    turns = np.concatenate([batch.of_rows(np.array([row]), recording_rows(recording)) for batch in recording.batches()])
    for k, (time, message) in enumerate(track):
        place, pose = message.pose.pose.position, message.pose.pose
        assert time == pytest.approx(recording.times[k])
        assert (message.header.frame_id, message.child_frame_id) == ("map", "Cajun_Bot")
        assert (place.x, place.y, place.z) == pytest.approx(tuple(positions[k]))
        expected = heading(turns[k, 0, 3:7]) + 0.5 * math.pi
        assert math.remainder(yaw(pose.orientation) - expected, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-9)
    last, before = track[-1][1], track[-2][1]
    speed = math.dist(positions[-1], positions[-2]) / 0.05
    assert last.twist.twist.linear.x == pytest.approx(speed, rel=0.05)
    assert abs(last.twist.twist.linear.y) < 0.2
    turned = yaw(last.pose.pose.orientation) - yaw(before.pose.pose.orientation)
    assert last.twist.twist.angular.z == pytest.approx(turned / 0.05, rel=0.1)
    assert last.twist.twist.angular.z > 0.05  # to the left


def test_forward_axis_points_where_the_body_goes(made):
    recording, found = made
    way = recording.positions("Truck")[-1] - recording.positions("Truck")[-5]
    _, message = [one for one in found["/tf"] if any(t.child_frame_id == "Truck" for t in one[1].transforms)][-1]
    (turn,) = [t.transform.rotation for t in message.transforms if t.child_frame_id == "Truck"]
    assert yaw(turn) == pytest.approx(math.atan2(way[1], way[0]))


def test_scans_have_the_ranges_and_angles_of_the_recording(made):
    recording, found = made
    for key, topic in (("Cajun Bot/scan_0", "/Cajun_Bot/scan_0/scan"), ("Cajun Bot/scan_2", "/Cajun_Bot/scan_2/scan")):
        scans = recording.scans(key)
        assert len(scans) == len(found[topic]) > 5
        for scan, (time, message) in zip(scans, found[topic], strict=True):
            assert time == pytest.approx(scan.time)
            assert seconds(message.header.stamp) == pytest.approx(max(0.0, scan.time - scan.scan_time))
            ranges = np.where(scan.returned[0], scan.ranges[0], np.inf)
            assert np.array(message.ranges) == pytest.approx(ranges, rel=1e-6)
            assert np.isfinite(message.ranges).any()
            angles = message.angle_min + message.angle_increment * np.arange(len(ranges))
            assert angles == pytest.approx(scan.angles, abs=1e-5)
            assert message.time_increment == pytest.approx(scan.scan_time / (len(ranges) - 1))


def test_transform_of_a_laser_places_its_returns(made):
    """The returns, by range, angle and transform of the bag alone, are those of the recording."""
    recording, found = made
    frames = {}
    for time, message in found["/tf"]:
        for one in message.transforms:
            frames[one.child_frame_id, round(time, 6)] = one.transform
    scan = recording.scans("Cajun Bot/scan_0")[-1]
    _, message = found["/Cajun_Bot/scan_0/scan"][-1]
    pose = frames[message.header.frame_id, round(scan.time, 6)]
    hits = scan.returned[0]
    angles, ranges = scan.angles[hits], np.array(message.ranges)[hits]
    turn = yaw(pose.rotation)
    x = pose.translation.x + ranges * np.cos(turn + angles)
    y = pose.translation.y + ranges * np.sin(turn + angles)
    assert np.stack([x, y], axis=1) == pytest.approx(scan.points[0][hits][:, :2], abs=1e-3)


def test_cloud_has_the_returns_in_the_world(made):
    recording, found = made
    for scan, (_, message) in zip(recording.scans("Cajun Bot/scan_1"), found["/Cajun_Bot/scan_1/points"], strict=True):
        points = np.frombuffer(bytes(message.data), "<f4").reshape(-1, 3)
        assert message.header.frame_id == "map"
        assert [field.name for field in message.fields] == ["x", "y", "z"]
        assert (message.width, message.point_step, message.height) == (len(points), 12, 1)
        assert points == pytest.approx(scan.points[scan.returned], abs=1e-4)


def test_markers_show_every_object(made):
    _, found = made
    names = {marker.text: marker for _, message in found["/objects"] for marker in message.markers}
    assert set(names) == {"Cajun Bot", "Truck", "Ball", "Wall"}
    assert (names["Ball"].type, names["Wall"].type) == (2, 1)
    assert (names["Wall"].scale.x, names["Wall"].scale.y) == pytest.approx((8.0, 0.4))
    assert yaw(names["Wall"].pose.orientation) == pytest.approx(0.3 + 0.5 * math.pi)
    assert len({marker.id for marker in names.values()}) == 4


def test_same_recording_gives_the_same_bytes(made, tmp_path):
    recording, _ = made
    for name in ("one", "two"):
        write_ros2(recording, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert list(tmp_path.glob("*.part")) == []


def test_file_that_cannot_be_written_is_told(made, tmp_path):
    with pytest.raises(UsageError, match="cannot write"):
        write_ros2(made[0], tmp_path / "nowhere" / "bag.mcap")


def test_traffic_that_leaves_has_no_transform_afterwards(tmp_path):
    site = cbsim.load("town", duration=2.0)
    execute(site, record=tmp_path / "run.mcap")
    write_ros2(Recording.open(tmp_path / "run.mcap"), tmp_path / "bag.mcap")
    found = messages(tmp_path / "bag.mcap")
    heights = [one.transform.translation.z for _, message in found["/tf"] for one in message.transforms]
    assert len(heights) > 100
    assert min(heights) > -10.0
