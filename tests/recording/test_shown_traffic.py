"""Reports, plots and Foxglove of recorded traffic: absent cars are not drawn, nor measured, nor named after others."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from mcap.reader import make_reader

import cbsim
from cbsim.foxglove.recorder import FoxgloveRecorder
from cbsim.plot.figure import data_of
from cbsim.plot.request import PlotRequest
from cbsim.recording.individuals import Individuals
from cbsim.recording.recording import Recording
from cbsim.report.compare import differences
from cbsim.report.data import run_of
from cbsim.report.page import page_of
from cbsim.spec.objects import Controller, Kind, TrafficObject, Triple
from cbsim.spec.road import PointId
from cbsim.spec.traffic import Pool
from cbsim.world.motion import ABSENT_BELOW
from cbsim.world.scene import Actor
from tests.traffic.sites import straight, world

FLOW = Pool("west", flow=900.0, origin=PointId(1, 1, 1), is_even=True, at_most=3)
ROW = Pool("row", count=12)
BOT = Actor(
    TrafficObject(Kind.AUTONOMOUS, "Bot", controller=Controller.SENSOR, position_offset=Triple(6.0, 200.0, 0.0))
)


@pytest.fixture(scope="module")
def passing():
    """A flow whose cars use three rows one after another."""
    return cbsim.run(world(straight(60.0), FLOW), duration=30.0)


@pytest.fixture(scope="module")
def near():
    """Cars that drive on and out of what is recorded."""
    return cbsim.run(world(straight(1500.0), ROW, actors=(BOT,), record_traffic="near"), duration=40.0)


def appeared(recording):
    return [event.object for event in recording.events() if event.kind == "appeared"]


def test_every_car_is_an_individual_with_its_own_motion(passing):
    whole = Individuals(passing)
    assert list(whole.header.objects.names) == appeared(passing)
    motion = np.concatenate([batch.motion for batch in whole.batches()])
    assert motion.shape[:2] == (len(passing), len(appeared(passing)))
    for column, name in enumerate(appeared(passing)):
        known = passing.motion(name)
        there = np.isfinite(known[:, 0])
        assert (motion[there, column] == known[there]).all()
        assert (motion[~there, column, 2] < ABSENT_BELOW).all()


def test_recording_without_pools_is_its_own_individuals():
    recording = cbsim.run(cbsim.load("crash"), duration=1.0)
    whole = Individuals(recording)
    assert whole.header is recording.header
    assert list(whole.batches()) == list(recording.batches())


@pytest.mark.parametrize("which", ["passing", "near"])
def test_report_measures_cars_only_where_they_are(which, request):
    recording = request.getfixturevalue(which)
    run = run_of(recording)
    bodies = {body.name: row for row, body in enumerate(run.bodies)}
    for name in appeared(recording) or [f"row {k + 1}" for k in range(12)]:
        if name not in bodies:  # never near
            assert which == "near"
            continue
        motion, known = run.motions[bodies[name]], recording.motion(name)
        if len(motion.x) > 1:
            assert np.array_equal(motion.there, np.isfinite(known[:, 0]))
            assert np.nanmax(np.abs(motion.x - known[:, 0])) == 0.0
            assert np.nanmax(np.abs(motion.y)) <= 1600.0
    assert run.plotted
    for body in run.plotted:
        there = run.motions[body.row].there
        for key, limit in (("speed", 20.0), ("acceleration", 8.1), ("yaw_rate", 50.0)):
            values = body.values[key]
            assert not np.isfinite(values[~there]).any() if len(there) > 1 else True
            assert np.nanmax(np.abs(values), initial=0.0) < limit
        assert 0.0 <= body.distance < 1600.0


def test_page_of_absent_cars_has_no_number_that_is_none(passing, near):
    text = page_of([run_of(passing)])
    assert "NaN" not in text.split("<script")[0]
    assert "not there" in text  # at the end
    told = page_of([run_of(near)])
    assert "within 200 m of autonomous objects" in told
    for found in differences(run_of(passing), run_of(passing)):
        assert found.largest == 0.0


@pytest.mark.parametrize("kind", ["trajectories", "speed"])
def test_figures_have_cars_by_their_names_and_gaps(passing, kind):
    name = appeared(passing)[4]
    (tables,) = data_of([passing], kind, PlotRequest(objects=(name,))).values()
    table, known = tables[name], passing[name]
    places = table[:, 1:3] if kind == "trajectories" else table[:, 2:3]
    there = np.isfinite(places).all(axis=1)
    assert there.sum() == len(known)
    assert (table[there, 0] == known.times).all()
    if kind == "trajectories":
        assert (places[there] == known.positions[:, :2]).all()


def test_foxglove_has_the_shapes_and_frames_of_those_that_are_there(passing, tmp_path):
    passing.save(tmp_path / "run.mcap", FoxgloveRecorder)
    shown, there = {}, set()
    with (tmp_path / "run.mcap").open("rb") as stream:
        for _, channel, message in make_reader(stream).iter_messages():
            if channel.topic == "/foxglove/traffic":
                said = json.loads(message.data)
                assert [one["type"] for one in said["deletions"]] == [1]
                there = {entity["id"] for entity in said["entities"]}
            elif channel.topic == "/foxglove/frames":
                frames = json.loads(message.data)["transforms"]
                shown[round(message.log_time * 1e-9 / passing.header.step)] = there
                assert {frame["child_frame_id"].removeprefix("body/") for frame in frames} == there
                assert all(abs(frame["translation"]["z"]) < 10.0 for frame in frames)
            elif channel.topic == "/foxglove/bodies":
                assert json.loads(message.data)["entities"] == []
    for step, names in shown.items():
        expected = {name for name in appeared(passing) if math.isfinite(passing.motion(name)[step, 0])}
        assert names == expected
    assert any(len(names) > 1 for names in shown.values())


def test_contacts_name_who_was_in_the_row():
    made = world(straight(200.0), Pool("west", flow=1200.0, origin=PointId(1, 1, 1), is_even=True), duration=20.0)
    recording = cbsim.run(made, duration=20.0)
    names = recording.names_at(19.0)
    for name in appeared(recording):
        car = recording[name]
        if car.times[-1] >= 19.0 >= car.times[0]:
            assert name in [names[row] for row in range(len(names))]


def test_file_and_memory_give_the_same_report(near, tmp_path):
    near.save(tmp_path / "run.mcap")
    one, other = run_of(near), run_of(Recording.open(tmp_path / "run.mcap"))
    assert [body.name for body in one.bodies] == [body.name for body in other.bodies]
    for row, motion in one.motions.items():
        assert np.array_equal(motion.x, other.motions[row].x, equal_nan=True)
