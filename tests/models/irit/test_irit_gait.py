"""The gait: the tables of the reference, and what no walk may do."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cbsim
from cbsim.errors import FileError, Problems, UsageError
from cbsim.formats.irit.structure import find_walker
from cbsim.geometry.pose import rotate
from cbsim.models.irit.anatomy import measure
from cbsim.models.irit.build import kinematic_description
from cbsim.models.irit.description import describe
from cbsim.models.irit.gait import LANDING, RESTING, STEPS, TICK, WALKING, Gait
from cbsim.models.irit.ground import FLAT, Heights, Slope
from cbsim.models.irit.stability import margins
from cbsim.models.irit.trajectory import Course, Stride
from cbsim.paths import Files
from tests.models.irit.texts import HEXAPOD, QUADRUPED, parse, walker

STRAIGHT = (math.nan, math.nan)
STEP = 0.02


def anatomy_of(text):
    spec, problems = parse(text)
    assert not len(problems), [str(p) for p in problems]
    return measure(spec, find_walker(spec, problems), problems)


HEX, QUAD = anatomy_of(HEXAPOD), anatomy_of(QUADRUPED)
BUMPS = Heights(0.05 * np.sin(np.arange(41))[:, None] * np.cos(0.7 * np.arange(41)), (-20.0, -5.0), 1.0)


def walk_of(anatomy, ground=FLAT, flag=STRAIGHT, kind="cross", tilt=(True, True)):
    return kinematic_description(anatomy, Gait(anatomy, ground, kind, tilt, flag), 0.5, 300.0, STEP).motion


def states(walk, count):
    """Memory and state after each step."""
    memory, state = walk.memory, walk.first.copy()
    for k in range(count):
        walk.move(k * STEP, STEP, state, memory)
        yield memory, state


def feet_of(walk, state):
    """Where the feet are by the poses of the shins."""
    shins = state[2::2]
    arms = walk.gait.limbs.foot - walk.centres[2::2]
    return shins[:, :3] + rotate(shins[:, 6:10], arms)


# --- tables of the reference ------------------------------------------------------------------------------------------
def heading_course(course, flag, count):
    x = y = heading = 0.0
    for _ in range(count):
        stride = course.stride(x, y, heading, flag)
        east, north = flag[0] - x, flag[1] - y
        aside = math.degrees(math.atan2(-east, north) - heading)
        x, y, heading = course.after(x, y, heading, stride)
        yield aside, stride, (x, y)


def test_turning_on_the_spot_follows_the_table_of_the_reference():
    course = Course(0.48, 0.0, math.radians(10.0))
    found = [aside for aside, *_ in heading_course(course, (-1e9, 0.0), 14)]
    table = [90, 80, 70, 60, 50, 40, 32, 25.6, 20.48, 16.384]
    table += [16.384 * 0.8**n for n in range(1, 5)]  # 13.107, 10.486, 8.389, 6.711 in the reference
    assert found == pytest.approx(table, abs=1e-6)


def test_the_least_circle_is_that_of_the_reference():
    course = Gait(HEX, FLAT, "cross", (True, True), STRAIGHT).course
    pose, places = (0.0, 0.0, 0.0), []
    for _ in range(36):
        pose = course.after(*pose, Stride(course.angle, course.walk))
        places.append(pose[:2])
    assert pose[:2] == pytest.approx((0.0, 0.0), abs=1e-12)
    radius = np.linalg.norm(np.array(places) - np.mean(places, axis=0), axis=1)
    assert radius == pytest.approx(np.full(36, 2.754), abs=5e-4)


def test_walking_to_a_flag_aside_follows_the_table_of_the_reference():
    course = Gait(HEX, FLAT, "cross", (True, True), STRAIGHT).course
    rows = list(heading_course(course, (-8.0, 0.0), 7))
    ahead_left = [(y, -x) for _, _, (x, y) in rows]
    table = [(0.2364, 0.0417), (0.4619, 0.1238), (0.6697, 0.2438), (0.8536, 0.3980), (1.0078, 0.5819)]
    assert np.array(ahead_left) == pytest.approx(np.array([*table, (1.1295, 0.7888), (1.3138, 1.2320)]), abs=6e-5)
    turns = [math.degrees(stride.turn) for _, stride, _ in rows]
    assert turns == pytest.approx([10, 10, 10, 10, 10, 9.5474, 7.8709], abs=5e-5)
    assert [stride.distance for _, stride, _ in rows] == pytest.approx([0.24] * 6 + [0.48])
    assert rows[6][0] == pytest.approx(39.3544, abs=5e-5)


def test_the_tripod_stands_as_the_reference_says():
    tripod = HEX.limbs.foot[[0, 2, 4], :2]
    assert sorted(margins(tripod, (0.0, 0.0))) == pytest.approx([0.4310, 0.4310, 1.5], abs=1e-4)
    assert sorted(margins(tripod, (0.0, 0.24))) == pytest.approx([0.2011, 0.6609, 1.5], abs=1e-4)


@pytest.mark.parametrize("pairs", [1, 2, 3, 4, 5])
def test_groups_take_turns_as_the_gait_says(pairs):
    made = anatomy_of(walker(pairs=pairs, walk=0.1, rotate=0.1))
    cross = Gait(made, FLAT, "cross", (True, True), STRAIGHT).groups
    parallel = Gait(made, FLAT, "parallel", (True, True), STRAIGHT).groups
    assert (cross[0] != cross[1]).all()
    assert (cross[:, :pairs] != cross[:, pairs:]).all()
    assert (parallel[:, :pairs] == parallel[:, pairs:]).all()
    assert (cross[0, : pairs - 1] != cross[0, 1:pairs]).all()


# --- laws -------------------------------------------------------------------------------------------------------------
GROUNDS = [FLAT, Slope(0.05, 0.12), BUMPS]


@pytest.mark.parametrize("ground", GROUNDS, ids=["flat", "slope", "heights"])
@pytest.mark.parametrize(("pairs", "kind"), [(n, kind) for n in range(2, 7) for kind in ("cross", "parallel")])
def test_walkers_of_any_number_of_legs_come_to_their_flags_on_feet_that_stay(pairs, kind, ground):
    made = anatomy_of(walker(pairs=pairs, length=0.8 * pairs, gait=kind))
    walk = walk_of(made, ground, flag=(-1.5, 2.5), kind=kind)
    for memory, state in states(walk, 700):
        feet = feet_of(walk, state)
        start, end = memory[walk.gait.layout.feet].reshape(2, -1, 3)
        assert np.abs(feet - start)[(start == end).all(axis=1)].max(initial=0.0) < 1e-11
    assert memory[0] == RESTING
    assert math.hypot(memory[7] + 1.5, memory[8] - 2.5) <= walk.gait.course.near + 1e-9
    heights = ground.height(feet[:, 0], feet[:, 1])
    assert np.abs(feet[:, 2] - heights).max() < 1e-11


@pytest.mark.parametrize("ground", GROUNDS, ids=["flat", "slope", "heights"])
@pytest.mark.parametrize("anatomy", [HEX, QUAD], ids=["hexapod", "quadruped"])
def test_a_foot_on_the_ground_does_not_slide(anatomy, ground):
    walk = walk_of(anatomy, ground, flag=(-3.0, 5.0))
    landed, most = None, 0
    for memory, state in states(walk, 600):
        feet = feet_of(walk, state)
        start, end = memory[walk.gait.layout.feet].reshape(2, -1, 3)
        still = (start == end).all(axis=1)
        assert np.abs(feet - start)[still].max(initial=0.0) < 1e-12
        if landed is not None:
            assert (start == landed).all()  # to the last bit, from step to step
        landed = end.copy() if memory[TICK] == walk.ticks(STEP) else None
        most = max(most, int(still.sum()))
    assert most >= len(feet) // 2


@pytest.mark.parametrize("ground", GROUNDS, ids=["flat", "slope", "heights"])
def test_feet_come_down_on_the_ground_and_never_go_below_it_on_planes(ground):
    walk = walk_of(HEX, ground)
    for memory, state in states(walk, 300):
        feet = feet_of(walk, state)
        above = feet[:, 2] - ground.height(feet[:, 0], feet[:, 1])
        if ground is not BUMPS and memory[0] != LANDING:
            assert above.min() > -1e-12
        if memory[TICK] == walk.ticks(STEP):
            assert np.abs(above).max() < 1e-12


def test_links_keep_their_lengths_and_joints_hold():
    walk = walk_of(HEX, BUMPS, flag=(4.0, 6.0))
    limbs, centres = walk.gait.limbs, walk.centres
    for _, state in states(walk, 400):
        body, hips, shins = state[0], state[1::2], state[2::2]
        at = lambda part, points: part[..., :3] + rotate(part[..., 6:10], points)  # noqa: E731
        assert np.abs(at(body[None], limbs.root - centres[0]) - at(hips, limbs.root - centres[1::2])).max() < 1e-12
        assert np.abs(at(hips, limbs.knee - centres[1::2]) - at(shins, limbs.knee - centres[2::2])).max() < 1e-12


def test_velocities_are_those_of_the_way():
    walk = walk_of(QUAD, Slope(0.0, 0.1), flag=(2.0, 3.0))
    before = walk.first.copy()
    for _, state in states(walk, 200):
        assert np.abs(before[:, :3] + STEP * state[:, 3:6] - state[:, :3]).max() < 1e-12
        turn = STEP * state[:, 10:]
        half = 0.5 * np.linalg.norm(turn, axis=1, keepdims=True)
        small = np.concatenate([np.cos(half), 0.5 * turn * np.sinc(half / np.pi)], axis=1)
        from cbsim.geometry.pose import multiply

        after = multiply(before[:, 6:10], small)
        assert np.abs(np.abs((after * state[:, 6:10]).sum(axis=1)) - 1.0).max() < 1e-12
        before = state.copy()


def test_the_body_keeps_its_height_above_the_ground_and_tilts_with_it():
    ground = Slope(0.1, 0.2)
    for tilt, expected in (((True, True), (-0.1, -0.2)), ((False, False), (0.0, 0.0)), ((False, True), (0.0, -0.2))):
        walk = walk_of(HEX, ground, tilt=tilt)
        for _, state in states(walk, 120):
            up = rotate(state[0, 6:10], (0.0, 0.0, 1.0))
            assert -up[:2] / up[2] == pytest.approx([-e for e in expected], abs=1e-9)
            middle = state[0, :3] + rotate(state[0, 6:10], (0.0, 0.0, HEX.height) - walk.centres[0])
            assert middle[2] - ground.height(middle[0], middle[1]) == pytest.approx(HEX.height, abs=1e-9)


def test_it_comes_to_its_flag_and_rests_there():
    for flag in ((0.0, 6.0), (5.0, 0.0), (-4.0, -4.0), (0.3, -0.8)):
        walk = walk_of(HEX, flag=flag)
        memory, state = list(states(walk, 3000))[-1]
        assert memory[0] == RESTING, flag
        assert math.hypot(memory[7] - flag[0], memory[8] - flag[1]) <= walk.gait.course.near + 1e-9
        feet = feet_of(walk, state)
        assert np.abs(feet[:, 2]).max() < 1e-12
        assert not state[:, 3:6].any()


def test_it_goes_on_when_the_flag_is_moved():
    walk = walk_of(HEX, flag=(0.0, 1.0))
    memory, state = walk.memory, walk.first.copy()
    for k in range(1500):
        if k == 700:
            assert memory[0] == RESTING
            memory[walk.controls["flag.y"]] = 4.0
        walk.move(k * STEP, STEP, state, memory)
    assert memory[8] == pytest.approx(4.0, abs=walk.gait.course.near)


def test_it_stops_after_as_many_steps_as_it_is_told():
    walk = walk_of(HEX)
    memory, state = walk.memory, walk.first.copy()
    memory[walk.controls["steps"]] = 4.0
    for k in range(600):
        walk.move(k * STEP, STEP, state, memory)
    assert (memory[0], memory[STEPS]) == (RESTING, 4.0)
    assert memory[8] == pytest.approx(4 * 0.48)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 400), st.sampled_from(GROUNDS))
def test_a_walk_is_resumed_from_its_memory_bit_for_bit(cut, ground):
    one, other = walk_of(QUAD, ground, flag=(-2.0, 2.0)), walk_of(QUAD, ground, flag=(-2.0, 2.0))
    memory, state = one.memory, one.first.copy()
    kept = None
    for k in range(450):
        if k == cut:
            kept = memory.copy(), state.copy()
        one.move(k * STEP, STEP, state, memory)
    for k in range(cut, 450):
        other.move(k * STEP, STEP, kept[1], kept[0])
    assert (kept[1] == state).all()
    assert (kept[0] == memory)[~np.isnan(memory)].all()


def test_a_model_whose_feet_are_above_the_ground_lands_first():
    made = anatomy_of(walker(foot=(0.0, 1.5, 0.05)))
    walk = walk_of(made)
    seen = [memory[0] for memory, _ in states(walk, 100)]
    assert seen[0] == 0.0
    assert seen[-1] == WALKING
    lifted = feet_of(walk, walk.first)
    assert lifted[:, 2] == pytest.approx(0.05)


# --- as users meet it -------------------------------------------------------------------------------------------------
@pytest.fixture
def hexapod(tmp_path):
    path = tmp_path / "hexapod.itd"
    path.write_text(HEXAPOD)
    return path


def test_a_run_walks_and_is_recorded(hexapod):
    world = cbsim.load(hexapod, settings={"flag": "0,3", "speed": "1"})
    recording = cbsim.run(world, duration=6.0)
    assert recording.positions("body")[-1] == pytest.approx([0.0, 3.0, 1.0], abs=0.25)


def test_settings_that_are_none_are_told(hexapod):
    for wrong in (
        {"flags": "1,2"}, {"flag": "1"}, {"slope": "70"}, {"gait": "crawl"}, {"speed": "0"}, {"tilt": "maybe"},
        {"speed": "1", "step_time": "1"}, {"ground": "flat", "dynamics": "perhaps"}, {"density": "nan"},
    ):  # fmt: skip
        with pytest.raises(UsageError):
            cbsim.load(hexapod, settings=wrong)


def test_a_height_field_is_read_from_a_file(hexapod):
    text = "ncols 3\nnrows 2\nxllcenter -10\nyllcenter 0\ncellsize 10\nNODATA_value -9\n1 1 1\n0 0 -9\n"
    (hexapod.parent / "hills.asc").write_text(text)
    spec, problems = parse(HEXAPOD)
    made = describe(spec, {"ground": "hills.asc"}, 0.02, hexapod.parent, Files([hexapod]), problems)
    heights = made.motion.gait.ground
    assert heights.height(np.array([0.0, 0.0, 3.0, 99.0]), np.array([0.0, 5.0, 10.0, 99.0])) == pytest.approx(
        [0.0, 0.5, 1.0, 1.0]
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [("ncols 3\nrows 2\n", 2), ("ncols 2\nnrows 1\ncellsize 0\n1 2", 1), ("ncols 2\nnrows 1\ncellsize 1\n1 x", 4)],
)
def test_mistakes_in_a_height_field_are_told_with_their_line(hexapod, text, line):
    (hexapod.parent / "bad.asc").write_text(text)
    with pytest.raises(FileError) as caught:
        cbsim.load(hexapod, settings={"ground": "bad.asc"})
    assert caught.value.problems.errors[0].code == "E057"
    assert caught.value.problems.errors[0].location.line == line


def test_height_fields_outside_the_folders_that_may_be_read_are_refused(hexapod):
    for name in ("../secret.asc", "/etc/hostname"):
        with pytest.raises(FileError) as caught:
            cbsim.load(hexapod, settings={"ground": name})
        assert caught.value.problems.errors[0].code in {"E010", "E011"}


def test_plain_geometry_has_nothing_to_run(tmp_path):
    path = tmp_path / "plain.itd"
    path.write_text("[OBJECT A [POLYGON 3 [0 0 0] [1 0 0] [0 1 0]]]")
    with pytest.raises(FileError) as caught:
        cbsim.load(path)
    assert caught.value.problems.errors[0].code == "E080"
    assert Path(caught.value.problems.errors[0].location.path) == path


def test_an_unstable_gait_is_told_with_dynamics(hexapod):
    spec, _ = parse(QUADRUPED)
    told = Problems()
    describe(spec, {"dynamics": "true"}, 0.01, hexapod.parent, Files([hexapod]), told)
    assert [p.code for p in told] == ["W081"]
    spec, _ = parse(HEXAPOD)
    told = Problems()
    describe(spec, {"dynamics": "true"}, 0.01, hexapod.parent, Files([hexapod]), told)
    assert not len(told)
