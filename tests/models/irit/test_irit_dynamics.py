"""Walkers that move by forces: they stand, walk and turn upright, and come where they are sent."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import cbsim
from cbsim.errors import ModelError, Problems
from cbsim.export.irit import robot_of_walker
from cbsim.formats.urdf import write as write_robot
from cbsim.geometry.pose import rotate
from cbsim.models.irit.description import describe
from cbsim.models.irit.gait import TICK
from cbsim.models.urdf import count as count_robot
from cbsim.multibody import Mechanism, minimal_to_maximal
from cbsim.paths import Files
from cbsim.spec.mechanism.colliders import ConvexHull
from tests.common import ROOT
from tests.models.irit.texts import HEXAPOD, QUADRUPED, parse, walker

MODELS = ROOT / "scenarios" / "models"


def dynamic(text, **settings):
    spec, problems = parse(text)
    return describe(spec, {"dynamics": "true", **settings}, 0.01, MODELS, Files(), problems)


def mechanism_of(made):
    spec = made.spec
    return Mechanism(spec.origin, spec.bodies, spec.joints, spec.contacts, timestep=spec.timestep, gravity=spec.gravity)


LEANING = walker(root=(0.0, 0.5, 1.0), knee=(0.15, 1.05, 1.3), foot=(-0.1, 1.5, 0.0), walk=0.3, rotate=0.2)


@pytest.mark.parametrize("text", [HEXAPOD, LEANING], ids=["upright", "leaning"])
def test_servo_angles_put_the_feet_where_the_gait_has_them(text):
    made = dynamic(text, flag="-3,4")
    servo, mechanism = made.behaviour, mechanism_of(made)
    gait, walk = servo.walk.gait, servo.walk
    memory = servo.memory
    gait.plan(memory)
    for _ in range(3):
        gait.plan(memory)
        for share in (0.0, 0.3, 1.0):
            moment = gait.at(memory, np.array([share]))
            angles = servo.angles(memory, np.array([share]))[0]
            free = walk.poses(memory, np.array([share]))
            turn = free[1][0, 0]
            half = np.arctan2(np.linalg.norm(turn[1:]), turn[0])
            axis = turn[1:] / max(np.linalg.norm(turn[1:]), 1e-300)
            coordinates = [*free[0][0, 0], *(2.0 * half * axis), *[0.0] * 6]
            for leg in angles:
                coordinates += [v for angle in leg for v in (angle, 0.0)]
            z = minimal_to_maximal(mechanism, coordinates).reshape(-1, 13)
            shins = z[3::3]
            feet = shins[:, :3] + rotate(shins[:, 6:10], gait.limbs.foot - walk.centres[2::2])
            assert feet == pytest.approx(moment.feet[0], abs=1e-9)
            lack = servo.measured(z) - angles
            assert np.abs(np.sin(0.5 * lack)).max() < 1e-9


def test_the_mechanism_has_the_freedoms_and_the_mass_of_the_walker():
    made = dynamic(HEXAPOD)
    assert len(made.spec.bodies) == 19
    assert sum(joint.dof for joint in made.spec.joints) == 24
    spec, problems = parse(HEXAPOD)
    still = describe(spec, {}, 0.01, MODELS, Files(), problems)
    assert sum(b.mass for b in made.spec.bodies) == pytest.approx(sum(b.mass for b in still.spec.bodies))


def test_a_height_field_with_dynamics_is_solid_below_every_triangle(tmp_path):
    (tmp_path / "hills.asc").write_text("ncols 3\nnrows 2\ncellsize 2\n0 1 0\n0 0 1\n")
    spec, problems = parse(HEXAPOD)
    made = describe(spec, {"dynamics": "true", "ground": "hills.asc"}, 0.01, tmp_path, Files([tmp_path]), problems)
    hulls = [one.shape.points for one in made.spec.colliders if isinstance(one.shape, ConvexHull)]
    assert len(hulls) == 4
    area = sum(0.5 * abs(np.linalg.det((h[1:3] - h[0])[:, :2])) for h in hulls)
    assert area == pytest.approx(2 * 4.0)
    ground = made.behaviour.walk.gait.ground
    for hull in hulls:
        assert hull[:3, 2] == pytest.approx(ground.height(hull[:3, 0], hull[:3, 1]))
    assert len(made.spec.colliders) == 4 + 6 + 1
    assert not made.spec.contacts


def test_a_height_field_too_fine_for_dynamics_is_told(tmp_path):
    (tmp_path / "fine.asc").write_text("ncols 60\nnrows 60\ncellsize 0.1\n" + "0 " * 3600)
    spec, problems = parse(HEXAPOD)
    with pytest.raises(ModelError, match="3481 cells"):
        describe(spec, {"dynamics": "true", "ground": "fine.asc"}, 0.01, tmp_path, Files([tmp_path]), problems)


def test_a_walker_is_written_as_a_robot_with_all_its_mass():
    spec, _ = parse(HEXAPOD, "hexapod.itd")
    lost = Problems()
    robot = robot_of_walker(spec, lost)
    assert {p.code for p in lost} == {"W930"}
    assert "<robot name=" in write_robot(robot)
    counts = count_robot(robot)
    assert (counts["bodies"], counts["joints"], counts["degrees_of_freedom"]) == (19, 18, 24)
    assert counts["mass"] == pytest.approx(sum(body.mass for body in dynamic(HEXAPOD).spec.bodies))


def upright(recording, name="body"):
    """Cosine of the angle between what is up for a body and what is up, over a recording."""
    return rotate(recording.orientations(name), (0.0, 0.0, 1.0))[:, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "ground", "lean"),
    [
        ("hexapod.irt", {}, 0.999),
        ("quadruped.itd", {}, 0.9990),
        ("hexapod.irt", {"gait": "parallel"}, 0.9990),
        ("hexapod.irt", {"slope": "8"}, 0.985),
        ("quadruped.itd", {"slope": "5"}, 0.993),
    ],
)
def test_walkers_walk_twenty_metres_by_their_motors_and_do_not_fall(name, ground, lean):
    world = cbsim.load(MODELS / name, settings={"dynamics": "true", "flag": "0,20", **ground})
    recording = cbsim.run(world, duration=65.0)
    place = recording.positions("body")[-1]
    assert place[:2] == pytest.approx([0.0, 20.0], abs=0.35)
    assert upright(recording).min() > lean


@pytest.mark.slow
@pytest.mark.parametrize("slope", [0.0, 5.0])
@pytest.mark.parametrize(
    ("pairs", "gait"),
    [(pairs, gait) for pairs in range(2, 7) for gait in ("cross", "parallel") if (pairs, gait) != (2, "parallel")],
)
def test_any_number_of_legs_walks_upright_in_either_gait(tmp_path, pairs, gait, slope):
    model = tmp_path / "walker.itd"
    model.write_text(walker(pairs=pairs, length=0.8 * pairs, gait=gait))
    settings = {"dynamics": "true", "flag": "0,5", "slope": f"{slope}"}
    recording = cbsim.run(cbsim.load(model, settings=settings), duration=25.0)
    stride = 0.8 * 0.6
    assert recording.positions("body")[-1, :2] == pytest.approx([0.0, 5.0], abs=0.5 * stride + 0.1)
    assert math.degrees(math.acos(upright(recording).min())) < slope + 3.0


def test_feet_are_lifted_little_only_where_two_of_them_carry_the_body(tmp_path):
    def lift(text, **settings):
        spec, problems = parse(text)
        made = describe(spec, {"dynamics": "true", **settings}, 0.005, tmp_path, Files([tmp_path]), problems)
        return made.behaviour.walk.gait.lift, [p.code for p in problems]

    assert lift(HEXAPOD) == (0.25, [])
    assert lift(QUADRUPED) == (0.03, ["W081"])
    assert lift(HEXAPOD, gait="parallel") == (0.03, ["W081"])
    assert lift(QUADRUPED, lift="0.1") == (0.1, ["W081"])
    assert lift(HEXAPOD, lift="0.5") == (0.5, [])


def test_a_gait_whose_weight_is_far_beside_the_feet_that_stand_is_told_not_to_walk(tmp_path):
    def told(text, gait):
        spec, problems = parse(text)
        describe(spec, {"dynamics": "true", "gait": gait}, 0.005, tmp_path, Files([tmp_path]), problems)
        return [(p.message.split(": ")[1], p.hint) for p in problems]

    ((fate, hint),) = told(QUADRUPED, "parallel")
    assert re.fullmatch(r"but 0\.\d+ m aside", fate)
    assert hint == "the gait 'cross' walks"
    for text, gait in ((QUADRUPED, "cross"), (HEXAPOD, "parallel")):  # with which the weight is between two feet
        ((fate, _),) = told(text, gait)
        assert fate == "it may tip over"


def test_the_lift_that_was_taken_is_told(tmp_path):
    def hint(**settings):
        spec, problems = parse(QUADRUPED)
        describe(spec, {"dynamics": "true", **settings}, 0.005, tmp_path, Files([tmp_path]), problems)
        (problem,) = problems
        return problem.hint

    assert hint() == "so its feet are lifted by 0.03 of the body's height, not by 0.25; 'lift' sets another"
    assert hint(lift="0.1") == "a lower lift than 0.1 helps"
    assert hint(lift="0.02") == ""


@pytest.mark.slow
def test_a_walker_turns_to_its_flag_by_its_motors():
    world = cbsim.load(MODELS / "hexapod.irt", settings={"dynamics": "true", "flag": "-5,-3"})
    recording = cbsim.run(world, duration=40.0)
    assert recording.positions("body")[-1, :2] == pytest.approx([-5.0, -3.0], abs=0.3)
    assert upright(recording).min() > 0.999


def hilly(folder, columns, rows):
    """A hexapod in a folder with hills."""
    lines = [f"ncols {columns}", f"nrows {rows}", f"xllcenter {-columns // 2}", "yllcenter -5", "cellsize 1"]
    hills = [[0.12 * math.sin(0.9 * i) * math.cos(0.7 * j) for i in range(columns)] for j in range(rows)]
    lines += [" ".join(f"{height:.4f}" for height in row) for row in hills]
    (folder / "hills.asc").write_text("\n".join(lines))
    model = folder / "hexapod.irt"
    model.write_text((MODELS / "hexapod.irt").read_text())
    return model


@pytest.mark.slow
def test_a_walker_walks_over_hills_by_its_motors(tmp_path):
    model = hilly(tmp_path, 10, 20)
    world = cbsim.load(model, settings={"ground": "hills.asc", "flag": "0.5,6", "dynamics": "true"})
    recording = cbsim.run(world, duration=20.0)
    assert recording.positions("body")[-1, :2] == pytest.approx([0.5, 6.0], abs=0.3)
    assert upright(recording).min() > 0.98


@pytest.mark.slow
def test_a_walk_without_dynamics_goes_over_hills(tmp_path):
    model = hilly(tmp_path, 40, 40)
    world = cbsim.load(model, settings={"ground": "hills.asc", "flag": "3,20"})
    recording = cbsim.run(world, duration=60.0)
    walk = world.instances[0].motion
    path = recording.positions("body")
    assert path[-1, :2] == pytest.approx([3.0, 20.0], abs=0.3)
    ground = walk.gait.ground.height(path[:, 0], path[:, 1])
    assert np.abs(path[:, 2] - ground - 0.6).max() < 0.12
    assert walk.gait.start[TICK] < 0.0
