"""What planners are told: ground truth or sensors, and objects as the fidelity of their seat says."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cbsim
from cbsim.errors import FileError, Problems
from cbsim.evaluation.outcome import execute
from cbsim.lint.files import lint_files
from cbsim.simulation.seat_view import SeatView
from cbsim.spec.objects import Triple
from cbsim.spec.planner import Seat
from cbsim.spec.sensor import SensorConf
from tests.worlds import bot, level, mover, prop, world

STEP = 0.05


class Eyes:
    """Drives in a bend and keeps its observations."""

    def __init__(self):
        self.seen = []

    def start(self, *_):
        pass

    def plan(self, observation):
        self.seen.append(observation)
        return cbsim.Command(0.5, 0.3)


def watched(*actors, duration=1.0, snapshot=None, **seat):
    made = world(*actors, step=STEP, duration=duration, seats=(Seat("CajunBot", **seat),))
    planner = Eyes()
    cbsim.run(made, planner=planner, snapshot=snapshot, duration=duration)
    return made, planner.seen


def device(kind, **fields):
    return SensorConf(type=kind, rate=20.0, **fields)


def test_truth_is_told_unless_the_seat_says_otherwise():
    _, seen = watched(bot("CajunBot", device("gps", range_sigma=0.0)))
    made, plain = world(bot("CajunBot", device("gps")), step=STEP, duration=1.0), Eyes()
    cbsim.run(made, planner=plain)
    for one, other in zip(seen, plain.seen, strict=True):
        assert (one.heading, one.speed, one.yaw_rate) == (other.heading, other.speed, other.yaw_rate)
        assert np.array_equal(one.position, other.position)
        assert len(one.objects) == 0


def test_without_truth_position_and_heading_are_those_of_the_inertial_unit():
    unit = device("ins", position=Triple(0.3, -0.5, 0.4), position_sigma=0.0)
    _, seen = watched(bot("CajunBot", unit, device("odometry")), truth=False)
    _, truth = watched(bot("CajunBot", unit, device("odometry")))
    for one, true in zip(seen[1:], truth[1:], strict=True):
        (fix,) = (reading for reading in one.readings.values() if type(reading).__name__ == "Fix")
        wheels = next(reading for reading in one.readings.values() if type(reading).__name__ == "Odometry")
        assert (one.heading, one.yaw_rate, one.speed) == (fix.heading, fix.yaw_rate, wheels.speed)
        assert one.position == pytest.approx(true.position, abs=1e-6)
        assert one.heading == pytest.approx(true.heading, abs=1e-6)
        assert one.speed == pytest.approx(true.speed, abs=0.05)


def test_receiver_in_an_outage_says_nothing():
    gps = device("gps", outages=((0.5, 1.0),))
    _, seen = watched(bot("CajunBot", gps), truth=False, duration=1.4)
    for one in seen[1:]:
        lost = 0.5 - 1e-9 <= max((fix.time for fix in one.readings.values()), default=one.time) < 1.0 - 1e-9
        assert bool(np.isnan(one.position).all()) is lost, one.time
        assert math.isnan(one.yaw_rate)
    assert sum(bool(np.isnan(one.position).any()) for one in seen) >= 9


def test_wheels_alone_give_speed_and_yaw_rate():
    _, seen = watched(bot("CajunBot", device("odometry")), truth=False)
    last = seen[-1]
    assert np.isnan(last.position).all()
    assert math.isnan(last.heading)
    assert last.speed > 0.5
    assert abs(last.yaw_rate) > 0.01


def others():
    """A wall east of the bot with a box behind it, a box ahead, one behind the bot, and a truck that passes."""
    return (
        prop("Wall", Triple(10.0, 0.0, 0.0), size=Triple(0.5, 12.0, 3.0)),
        prop("Hidden", Triple(20.0, 0.0, 0.0)),
        prop("Ahead", Triple(0.0, 30.0, 0.0)),
        prop("Behind", Triple(0.0, -30.0, 0.0)),
        prop("Far", Triple(0.0, 300.0, 0.0)),
        mover("Truck", (8.0, 0.0, 100.0, 0.0), at=Triple(-15.0, -20.0, 0.0)),
    )


def names(made, objects):
    return [made.bodies[int(row)].name for row in objects.ids]


def test_truth_is_all_within_reach_as_it_is():
    made, seen = watched(bot("CajunBot"), *others(), fidelity="truth")
    assert names(made, seen[0].objects) == ["Wall", "Hidden", "Ahead", "Behind", "Truck"]
    final = seen[-1]
    truck = names(made, final.objects).index("Truck")
    assert final.objects.positions[truck] == pytest.approx([-15.0, -20.0 + 8.0 * final.time, 0.5], abs=1.0)
    assert final.objects.velocities[truck] == pytest.approx([0.0, 8.0, 0.0])
    assert final.objects.headings[truck] == pytest.approx(0.0)
    assert final.objects.sizes[truck] == pytest.approx(made["Truck"].size)
    assert len(final.objects) == 5


def test_visible_is_what_a_line_of_sight_of_a_sensor_meets():
    made, seen = watched(bot("CajunBot", level()), *others(), fidelity="visible", duration=0.1)
    found = names(made, seen[0].objects)
    assert "Wall" in found
    assert "Ahead" in found
    assert "Hidden" not in found
    assert "Behind" not in found  # the scanner looks forwards


def test_without_a_sensor_nothing_is_visible():
    _, seen = watched(bot("CajunBot", device("gps")), *others(), fidelity="visible", duration=0.1)
    assert len(seen[0].objects) == 0


def test_range_of_the_sensor_bounds_what_is_visible():
    made, seen = watched(bot("CajunBot", level(max_range=15.0)), *others(), fidelity="visible", duration=0.1)
    assert "Wall" in names(made, seen[0].objects)
    assert "Ahead" not in names(made, seen[0].objects)


def reference(made, snapshot, sensor, row):
    """Whether a point of a box's outline is seen, by straightforward geometry with points along the lines."""
    state = snapshot.columns
    own = made["CajunBot"].pose(snapshot)
    eye = (own @ sensor.mount).position
    cx, cy, cz = state.position[row]
    width, length, height = made.shapes.size[row]
    heading = made.bodies[row].pose(snapshot).heading
    right, ahead = np.array([math.cos(heading), math.sin(heading)]), np.array([-math.sin(heading), math.cos(heading)])
    boxes = [k for k in range(len(state.position)) if k != made["CajunBot"].row]
    for z in (cz + 0.25 * height, cz - 0.25 * height):
        for a in (-0.5, 0.0, 0.5):
            for b in (-0.5, 0.0, 0.5):
                if a == b == 0.0:
                    continue
                point = np.array([*(np.array([cx, cy]) + a * width * right + b * length * ahead), z])
                line = point - eye
                bearing = math.remainder(math.atan2(-line[0], line[1]) - own.heading, 2.0 * math.pi)
                if not sensor.conf.start_angle <= bearing <= sensor.conf.end_angle:
                    continue
                on_way = eye + np.linspace(0.0, 0.999, 4000)[:, None] * line
                if not any(inside(made, snapshot, k, on_way).any() for k in boxes):
                    return True
    return False


def inside(made, snapshot, row, points):
    heading, centre = made.bodies[row].pose(snapshot).heading, snapshot.columns.position[row]
    x, y, z = (points - centre).T
    across, along = x * math.cos(heading) + y * math.sin(heading), y * math.cos(heading) - x * math.sin(heading)
    half = 0.5 * made.shapes.size[row] - 1e-9
    return (abs(across) < half[0]) & (abs(along) < half[1]) & (abs(z) < half[2])


@pytest.mark.parametrize("seed", range(5))
def test_visible_agrees_with_a_slow_reference(seed):
    draw = np.random.default_rng(seed)
    angles, ways = draw.uniform(-2.0, 2.0, 25), draw.uniform(9.0, 40.0, 25)
    boxes = [
        prop(
            f"Box {k}",
            Triple(-ways[k] * math.sin(angles[k]), ways[k] * math.cos(angles[k]), 0.0),
            size=Triple(*draw.uniform(0.5, 6.0, 2), float(draw.uniform(0.8, 3.0))),
            yaw=float(draw.uniform(-3.0, 3.0)),
        )
        for k in range(25)
    ]
    made = world(bot("CajunBot", level(position=Triple(0.0, 0.0, 1.0))), *boxes)
    found = SeatView(made, "CajunBot", Seat("CajunBot", fidelity="visible")).observe(made.start, {}).objects
    (sensor,) = made.sensors
    rows = [body.row for body in made if body.name != "CajunBot"]
    expected = [row for row in rows if reference(made, made.start, sensor, row)]
    assert found.ids.tolist() == expected
    assert 3 < len(expected) < 23


def test_noise_follows_the_seed_and_has_the_stated_size():
    made = world(bot("CajunBot", level()), prop("Ahead", Triple(0.0, 30.0, 0.0)), step=STEP)
    view = SeatView(made, "CajunBot", Seat("CajunBot", fidelity="noisy"))
    snapshot, places, speeds, turns, ids, missed = made.start, [], [], [], set(), 0
    for k in range(4000):
        snapshot.columns.clock[0] = k
        objects = view.observe(snapshot, {}).objects
        if len(objects) == 0:
            missed += 1
            continue
        places.append(objects.positions[0] - (0.0, 30.0, 0.5))
        speeds.append(objects.velocities[0])
        turns.append(objects.headings[0])
        ids.add(int(objects.ids[0]))
    assert missed / 4000 == pytest.approx(0.05, abs=0.015)
    assert np.std(places, axis=0)[:2] == pytest.approx(0.4, rel=0.06)  # 0.1 m, and 1 % of 30 m
    assert np.std(speeds, axis=0)[:2] == pytest.approx(0.3, rel=0.06)
    assert np.std(turns) == pytest.approx(0.035, rel=0.06)
    assert np.mean(places, axis=0)[:2] == pytest.approx(0.0, abs=0.03)
    assert len(ids) == 1  # a track keeps its number
    other = made.start
    other.columns.seed[0] = 2
    assert view.observe(other, {}).objects.ids.tolist() != list(ids)


@pytest.mark.parametrize("fidelity", ["truth", "visible", "noisy"])
def test_observations_are_the_same_from_a_restored_snapshot(fidelity):
    actors = bot("CajunBot", level(), device("gps"), device("odometry")), *others()
    told = {"truth": False, "fidelity": fidelity}
    made, seen = watched(*actors, **told)
    snapshot = made.start
    for _ in range(10):
        snapshot = cbsim.step(made, snapshot, {"CajunBot": cbsim.Command(0.5, 0.3)})
    _, again = watched(
        *actors, truth=False, fidelity=fidelity, duration=0.5, snapshot=made.restore(snapshot.to_bytes())
    )
    for one, other in zip(seen[10:], again, strict=True):
        assert np.array_equal(one.position, other.position, equal_nan=True)
        assert (one.heading, one.speed) == (other.heading, other.speed)
        for field in ("ids", "positions", "headings", "velocities", "sizes"):
            assert np.array_equal(getattr(one.objects, field), getattr(other.objects, field)), field


def test_seat_changes_no_bit_of_a_run_whose_planner_does_not_look():
    hashes = set()
    for seat in ({}, {"truth": False}, {"fidelity": "visible"}, {"truth": False, "fidelity": "noisy"}):
        made = world(bot("CajunBot", level()), *others(), step=STEP, duration=0.5, seats=(Seat("CajunBot", **seat),))
        hashes.add(execute(made, planner=Eyes()).digest)
    assert len(hashes) == 1


SCENARIO = "add:\n  - {name: Bot, kind: autonomous}\nplanner:\n  Bot:\n    class: a:B\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("    fidelity: visable\n", "did you mean 'visible'?"),
        ("    fidelity: 3\n", "one of 'truth', 'visible' or 'noisy'"),
        ("    truth: maybe\n", "true or false"),
    ],
)
def test_mistake_is_told_at_its_line(tmp_path, text, told):
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO + text)
    with pytest.raises(FileError, match=r"scenario\.yaml:6") as error:
        cbsim.load(path)
    assert told in str(error.value)


def test_bot_without_a_receiver_is_warned_of(tmp_path):
    path, problems = tmp_path / "scenario.yaml", Problems()
    path.write_text(SCENARIO + "    truth: false\n    fidelity: noisy\n")
    made = cbsim.load(path, problems=problems)
    (found,) = (problem for problem in problems if problem.code == "W834")
    assert found.location.line == 6
    assert "'Bot' has no gps and no ins" in found.message
    checked = Problems()
    lint_files([path], None, checked, strict=False)
    assert [str(problem) for problem in checked if problem.code == "W834"] == [str(found)]
    assert made.settings.seats == (Seat("Bot", truth=False, fidelity="noisy"),)
    cbsim.write(cbsim.read(path), tmp_path / "copy.yaml")
    assert cbsim.read(tmp_path / "copy.yaml") == cbsim.read(path)
