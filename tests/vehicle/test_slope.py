"""Vehicles on slopes: gravity, brakes and climbing by their closed forms; wheels that find the ground; parked cars."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cbsim
from cbsim.geometry.kernels.bvh import DEPTH, build_into
from cbsim.geometry.kernels.ground import ground_height
from cbsim.geometry.pose import forward
from cbsim.simulation.advance import advance
from cbsim.spec.command import Command
from cbsim.spec.objects import Controller, Kind, TrafficObject, Triple, Wheels, WheelType
from cbsim.spec.sensor import SensorConf
from cbsim.world.scene import Actor
from tests.vehicle.plant import QUICK, SIZE, G, row, run
from tests.worlds import bot, mesh, world

FREE = {"rolling_resistance": 0.0, "drag_area": 0.0}
TYRES = pytest.mark.parametrize("drive", ["dynamic", "skid"])
HIGH = 2000.0  # [m] above z = 0, where there is ground too


def hill(angle, toward=0.0, size=5000.0):
    """Draw a plane that rises at an angle towards a heading."""
    steep = math.tan(angle)
    corners = [(-size, -size), (size, -size), (size, size), (-size, size)]
    vertices = [(x, y, HIGH + steep * (y * math.cos(toward) - x * math.sin(toward))) for x, y in corners]
    return mesh("hill", vertices, [(0, 1, 2), (0, 2, 3)], drivable=True)


def car(drive="dynamic", yaw=0.0, at=(0.0, 0.0), confs=(), **parameters):
    wheels = Wheels(WheelType.SKID if "skid" in drive else WheelType.CONVENTIONAL)
    place, turn = Triple(*at, 0.0), Triple(0.0, 0.0, math.radians(yaw))
    return bot(
        "Car", *confs, drive=drive, wheels=wheels, steering=QUICK, position_offset=place, orientation_offset=turn,
        parameters=tuple(parameters.items()),
    )  # fmt: skip


def rolling(made, speed):
    """Begin with a speed along the body."""
    snapshot = made.start
    body = made["Car"].row
    snapshot.state.velocity[body] = speed * np.array(forward(snapshot.state.orientation[body]))
    return snapshot


def drive(made, command, seconds, snapshot=None):
    """Hold a command; states of the car after every step: position (n, 3) and velocity (n, 3)."""
    snapshot = cbsim.step(made, made.start if snapshot is None else snapshot, {"Car": command})
    rows = np.array([made["Car"].row])
    steps = round(seconds / made.constants.step) - 1
    first = np.concatenate([snapshot.state.position[rows[0]], snapshot.state.velocity[rows[0]]])
    _, motion, _ = advance(made, snapshot, steps, rows)
    motion = np.concatenate([first[None], motion[:, 0][:, [0, 1, 2, 7, 8, 9]]])
    return motion[:, :3], motion[:, 3:], snapshot


@pytest.mark.parametrize("angle", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("yaw", [0.0, 180.0])
def test_a_free_car_rolls_down_with_g_sin_a_along_the_slope(angle, yaw):
    made = world(hill(angle), car(yaw=yaw, **FREE))
    _, velocity, _ = drive(made, Command(), 5.0)
    assert np.linalg.norm(velocity[-1]) == pytest.approx(G * math.sin(angle) * 5.0, rel=1e-9)
    assert velocity[-1, 2] == pytest.approx(-math.sin(angle) * np.linalg.norm(velocity[-1]), rel=1e-9)


def test_a_car_that_heads_askew_rolls_with_the_part_of_gravity_along_it():
    # as stiff as can be, it does not slip sideways, so only g sin(a) times the cosine within the slope pulls
    angle, yaw = 0.3, 40.0
    made = world(hill(angle), car(yaw=yaw, front_stiffness=1e5, rear_stiffness=1e5, **FREE))
    way, velocity, _ = drive(made, Command(), 2.0)
    ahead = np.array(forward(made.start.state.orientation[made["Car"].row]))
    assert np.linalg.norm(velocity[-1]) == pytest.approx(G * ahead[2] * 2.0, rel=1e-3)
    assert velocity[-1] @ ahead == pytest.approx(-np.linalg.norm(velocity[-1]), rel=1e-4)  # backwards
    assert way[-1, 2] < way[0, 2] - 0.5


@TYRES
@pytest.mark.parametrize("angle", [-0.25, -0.1, 0.1, 0.25])
def test_stopping_distance_on_a_grade(drive, angle):
    speed, friction, limit = 15.0, 0.7, {"max_deceleration": 100.0, "friction": 0.7, "front_grip": 1.0}
    made = world(hill(angle), car(drive, **limit, **FREE), step=0.001)  # skid tyres are of first order
    way, velocity = brake(made, Command(-1.0 if drive == "dynamic" else 0.0, handbrake=drive == "skid"), speed)
    expected = speed * speed / (2.0 * G * (friction * math.cos(angle) + math.sin(angle)))
    assert np.linalg.norm(way[-1] - way[0]) == pytest.approx(expected, rel=2e-3)
    assert not velocity[-1].any()


def brake(made, command, speed):
    """Brake from a speed to rest: positions from the start on."""
    begun = rolling(made, speed)
    start = begun.state.position[made["Car"].row].copy()
    way, velocity, _ = drive(made, command, 10.0, begun)
    return np.vstack([start, way]), velocity


@TYRES
@pytest.mark.parametrize("yaw", [0.0, 90.0, 180.0, 37.0])
def test_a_braked_car_stands_up_to_the_friction_and_slides_beyond(drive, yaw):
    command = Command(-1.0 if drive == "dynamic" else 0.0, levers=None, handbrake=drive == "skid")
    limits = {"friction": 0.6, "max_deceleration": 100.0, "front_grip": 1.0, "cg_height": 0.0}  # axles bear alike
    for part, stands in ((0.97, True), (1.03, False)):
        made = world(hill(math.atan(0.6 * part)), car(drive, yaw, **limits))
        way, velocity = brake(made, command, 0.0)
        body = made["Car"].row
        assert np.array_equal(way[-1], way[0]) == stands
        assert np.array_equal(made.start.state.orientation[body], snapshot_of(made, command)) == stands
        assert velocity[-1].any() == (not stands)


def snapshot_of(made, command):
    """Orientation after a second under a command."""
    _, _, snapshot = drive(made, command, 1.0)
    return snapshot.state.orientation[made["Car"].row]


def test_brakes_that_are_weaker_than_friction_hold_what_they_can():
    for part, stands in ((0.98, True), (1.02, False)):
        made = world(hill(math.asin(part * 3.0 / G)), car(max_deceleration=3.0))
        way, _ = brake(made, Command(-1.0), 0.0)
        assert np.array_equal(way[-1], way[0]) == stands


@pytest.mark.parametrize(("yaw", "sign"), [(0.0, 1.0), (180.0, -1.0)])
def test_the_handbrake_holds_what_the_rear_axle_bears(yaw, sign):
    # m g sin a = μ (m g cos a / 2 ± m g sin a h / L): uphill the rear axle bears more
    parameters = {"friction": 0.8, "cg_height": 0.7, "wheelbase": 2.4, "rolling_resistance": 0.0}
    steepest = math.atan(0.4 / (1.0 - sign * 0.8 * 0.7 / 2.4))
    for part, stands in ((0.98, True), (1.02, False)):
        made = world(hill(part * steepest), car(yaw=yaw, **parameters))
        snapshot = made.start  # nobody commands: parked means braked
        advance(made, snapshot, 20)
        assert np.array_equal(snapshot.state.position, made.start.state.position) == stands


def test_climbing_is_limited_by_the_throttle():
    # a (1 − v / top) = g sin a, but for the rolling resistance that full throttle makes up for on level ground
    top, push, angle = 30.0, 3.0, math.asin(2.0 / G)
    made = world(hill(angle), car(max_acceleration=push, max_speed=top, rolling_resistance=0.0))
    _, velocity, _ = drive(made, Command(1.0), 80.0)
    assert np.linalg.norm(velocity[-1]) == pytest.approx(top * (1.0 - 2.0 / push), rel=1e-3)
    steep = world(hill(math.asin(3.3 / G)), car(max_acceleration=push, max_speed=top, rolling_resistance=0.0))
    _, velocity, _ = drive(steep, Command(1.0), 5.0)
    assert velocity[-1, 2] < 0.0


def test_a_car_coasts_as_high_as_its_energy_and_comes_back_as_fast():
    angle, speed = 0.15, 10.0
    made = world(hill(angle), car(**FREE))
    begun = rolling(made, speed)
    start = begun.state.position[made["Car"].row, 2]
    way, velocity, _ = drive(made, Command(), 2.0 * speed / (G * math.sin(angle)), begun)
    assert way[:, 2].max() - start == pytest.approx(speed * speed / (2.0 * G), rel=1e-3)
    assert np.linalg.norm(velocity[-1]) == pytest.approx(speed, rel=1e-2)


def test_a_bank_that_bears_the_whole_turn_leaves_the_tyres_nothing_to_do():
    speed, radius, base = 12.0, 40.0, 2.4
    parameters = row(wheelbase=base, **FREE)
    rate = speed / radius
    steer = math.atan(base * rate / speed)
    command = Command(steering=steer / math.radians(35.0))
    start = (0.0, 0.0, 0.0, speed, 0.5 * base * rate, rate)
    motion = run("dynamic", parameters, command, 5.0, start=start, pull=(-0.5 * base * rate * rate, speed * rate, G))
    assert motion.planar[-1, 3:] == pytest.approx(start[3:], rel=5e-3)


def test_along_a_contour_the_front_wheels_are_turned_uphill_by_what_the_tyres_differ():
    # lateral force over load is tan a at both axles; a brush tyre slips 3 μ / C (1 − ∛(1 − tan a / μ)) for it
    angle, friction, front_grip = 0.08, 0.9, 0.85
    slips = [
        3.0 * grip / stiffness * (1.0 - (1.0 - math.tan(angle) / grip) ** (1.0 / 3.0))
        for grip, stiffness in ((friction * front_grip, 10.0), (friction, 13.0))
    ]
    steer = (slips[0] - slips[1]) / math.radians(35.0)
    rates = {}
    for turned in (0.0, steer):
        made = world(hill(angle), car(yaw=-90.0, **FREE))  # heads east, uphill is on its left
        begun = rolling(made, 15.0)
        _, _, snapshot = drive(made, Command(steering=turned), 2.0, begun)
        rates[turned] = snapshot.state.angular_velocity[made["Car"].row, 2]
    assert rates[0.0] < -5e-3
    assert abs(rates[steer]) < 0.05 * abs(rates[0.0])


@pytest.mark.parametrize("drive_name", ["dynamic", "skid", "kinematic"])
def test_level_ground_at_any_height_moves_a_car_as_no_mesh_does(drive_name):
    square = [(-100, -100, 0.25), (100, -100, 0.25), (100, 100, 0.25), (-100, 100, 0.25)]
    raised = mesh("floor", square, [(0, 1, 2), (0, 2, 3)], drivable=True)
    command = Command(0.5, 0.3, (0.6, 1.0))
    ways = []
    for others in ((), (raised,)):
        made = world(car(drive_name), *others)
        ways.append(drive(made, command, 4.0)[:2])
    assert np.array_equal(ways[0][0][:, :2], ways[1][0][:, :2])
    assert np.array_equal(ways[0][1], ways[1][1])
    assert ways[1][0][:, 2] == pytest.approx(ways[0][0][:, 2] + 0.25, abs=1e-9)


def test_motion_on_a_slope_does_not_depend_on_how_steps_are_grouped_or_restored():
    made = world(hill(0.2, toward=0.7), car())
    quiet = cbsim.step(made, made.start, {"Car": Command(0.4, 0.3)})
    single = quiet
    hashes, _, _ = advance(made, quiet.copy(), 60)
    for k in range(60):
        single = made.restore(cbsim.step(made, single).to_bytes())
        assert single.hash == hashes[k]


def ramp(width=3.0):
    """Rise from y = 10 to 2 m at y = 20, stay level to y = 40, and end."""
    profile = [(10.0, 0.0), (20.0, 2.0), (40.0, 2.0)]
    vertices = [(x, y, z) for y, z in profile for x in (-width, width)]
    return mesh("ramp", vertices, [(0, 1, 2), (1, 3, 2), (2, 3, 4), (3, 5, 4)], drivable=True)


def test_a_car_pitches_with_its_wheels_on_the_way_up_a_ramp_and_down_its_end():
    made = world(ramp(), car("kinematic", max_acceleration=2.0))
    snapshot, pitches, heights = made.start, [], []
    for _ in range(400):
        snapshot = cbsim.step(made, snapshot, {"Car": Command(0.3)})
        body = made["Car"].row
        ahead = forward(snapshot.state.orientation[body])
        pitches.append((snapshot.state.position[body, 1], math.degrees(math.asin(ahead[2]))))
        heights.append((snapshot.state.position[body, 1], snapshot.state.position[body, 2] - 0.5 * SIZE.z))
    table, rise = np.array(pitches), np.array(heights)
    slope = math.degrees(math.atan(0.2))

    def between(first, last, values):
        return values[(values[:, 0] > first) & (values[:, 0] < last), 1]

    assert np.array_equal(between(0.0, 8.0, table), np.zeros_like(between(0.0, 8.0, table)))
    assert between(12.0, 18.0, table) == pytest.approx(slope, abs=1e-6)
    assert np.all(np.diff(between(8.5, 11.0, table)) >= -1e-9)
    assert between(22.0, 38.0, table) == pytest.approx(0.0, abs=1e-6)
    assert between(22.0, 38.0, rise) == pytest.approx(2.0, abs=1e-9)
    assert between(41.0, 60.0, rise) == pytest.approx(0.0, abs=1e-9)
    assert table[-1, 0] > 45.0
    assert np.abs(table[:, 1]).max() <= slope + 1e-6


def test_one_side_on_a_kerb_rolls_the_car_by_its_height_over_the_track():
    kerb = mesh(
        "kerb",
        [(0.0, -50.0, 0.2), (5.0, -50.0, 0.2), (5.0, 50.0, 0.2), (0.0, 50.0, 0.2)],
        [(0, 1, 2), (0, 2, 3)],
        drivable=True,
    )
    made = world(kerb, car(track=1.5))
    q = made.start.state.orientation[made["Car"].row]
    # the right side is up, a negative roll about y
    assert 2.0 * math.asin(q[2]) == pytest.approx(-math.atan(0.2 / 1.5), abs=1e-9)
    assert made.start.state.position[made["Car"].row, 2] == pytest.approx(0.1 + 0.5 * SIZE.z * q_up(q), abs=1e-9)


def q_up(q):
    """Vertical part of the body's z axis."""
    return 1.0 - 2.0 * (q[1] ** 2 + q[2] ** 2)


def test_a_wheel_over_the_edge_hangs_and_the_car_stays_on_three():
    deck = mesh("deck", [(-10, -10, 5), (10, -10, 5), (10, 10, 5), (-10, 10, 5)], [(0, 1, 2), (0, 2, 3)], drivable=True)
    made = world(deck, car(yaw=45.0, at=(-8.7, 8.0)))
    state = made.start.state
    body = made["Car"].row
    assert state.position[body, 2] == pytest.approx(5.0 + 0.5 * SIZE.z, abs=1e-9)
    assert state.orientation[body, 1:3] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_lasers_see_from_the_tilted_body():
    # pitched 8° down, a beam meets the slope that the car stands on as far away as it would level ground
    conf = SensorConf(
        type="ladar", beams=1, start_angle=0.0, position=Triple(0.0, 0.0, 2.0), pitch=math.radians(-8.0),
        max_range=100.0,
    )  # fmt: skip
    for angle in (0.0, 0.3):
        made = world(hill(angle), car(confs=(conf,)))
        scan = cbsim.sense(made, made.start)["Car/scan_0"]
        assert float(scan.ranges[0, 0]) == pytest.approx(2.0 / math.sin(math.radians(8.0)), rel=1e-6)


def test_the_tree_finds_the_ground_that_a_look_at_every_triangle_finds():
    rng = np.random.default_rng(5)
    corners = rng.uniform(-20.0, 20.0, (200, 1, 3)) + rng.uniform(-6.0, 6.0, (200, 3, 3))
    corners[..., 2] = np.abs(corners[..., 2])
    order, box, link = np.empty(200, np.int64), np.empty((400, 6)), np.empty((400, 2), np.int64)
    count = build_into(corners, order, box, link)
    planted, stack = np.ascontiguousarray(corners[order]), np.empty(DEPTH, np.int64)
    found = 0
    for x, y, below in rng.uniform((-20, -20, 0), (20, 20, 25), (300, 3)):
        heights = [0.0]
        for a, b, c in corners:
            try:
                u, v = np.linalg.solve(np.column_stack([(b - a)[:2], (c - a)[:2]]), (x - a[0], y - a[1]))
            except np.linalg.LinAlgError:
                continue
            z = a[2] + u * (b - a)[2] + v * (c - a)[2]
            if u >= 0.0 and v >= 0.0 and u + v <= 1.0 and z <= below:
                heights.append(z)
        height = ground_height(planted, box[:count], link[:count], x, y, below, stack)
        assert height == pytest.approx(max(heights), abs=1e-9)
        found += height > 0.0
    assert found > 100


@pytest.mark.parametrize("drive_name", ["dynamic", "kinematic", "delayed", "skid", "skid-kinematic"])
def test_what_is_parked_is_braked_until_it_is_commanded(drive_name):
    made = world(Actor(manual(drive_name)))
    pushed = made.start
    pushed.state.velocity[0, 1] = 1.0
    released = pushed.copy()
    advance(made, pushed, 100)
    assert not pushed.state.velocity.any()
    assert 0.0 <= pushed.state.position[0, 1] < 0.5
    assert pushed.state.command[0, 5] == 1.0
    if drive_name in ("dynamic", "kinematic", "delayed"):  # a closed throttle brakes skid wheels
        released = cbsim.step(made, released, {"Parked": Command()})
        advance(made, released, 60)
        assert released.state.position[0, 1] > 2.0


def manual(drive_name):
    """Describe a vehicle that nobody drives."""
    wheels = Wheels(WheelType.SKID if "skid" in drive_name else WheelType.CONVENTIONAL)
    return TrafficObject(
        Kind.DYNAMIC, "Parked", controller=Controller.MANUAL, size=SIZE, wheels=wheels, drive=drive_name
    )
