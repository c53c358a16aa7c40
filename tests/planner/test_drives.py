"""Planners with one part of the controls: the other part is that of the example planner."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import cbsim
from cbsim.errors import FileError, ModelError
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.replay import replay
from cbsim.planner.pilot import Pilot
from cbsim.recording.recording import Recording
from cbsim.spec.objects import Wheels, WheelType
from cbsim.spec.planner import Seat
from cbsim.spec.traffic import Spread
from cbsim.world.compile import compile_world
from tests.worlds import bot, world

DURATION = 20.0


def site(drives, **seat):
    made = cbsim.load("four_way_stop", duration=DURATION)
    seats = (Seat("CajunBot", drives=drives, **seat),)
    return compile_world(replace(made.scene, settings=replace(made.settings, seats=seats), expectations=()))


class Copy(Pilot):
    """The example planner with its other half spoilt."""

    def __init__(self, spoil):
        super().__init__()
        self.spoil = spoil

    def plan(self, observation):
        return replace(super().plan(observation), **self.spoil)


@pytest.mark.parametrize(
    ("drives", "spoil"), [("speed", {"steering": 1.0}), ("steering", {"throttle": -1.0, "handbrake": True})]
)
def test_other_half_is_that_of_the_example_planner(drives, spoil, tmp_path):
    whole = execute(site("both"), planner=Pilot())
    half = execute(site(drives), planner=Copy(spoil), record=tmp_path / "run.mcap")
    assert half.verdict == whole.verdict == "pass"
    assert half.digest == whole.digest
    assert execute(site("both"), planner=Copy(spoil)).digest != whole.digest
    assert replay(Recording.open(tmp_path / "run.mcap"), half.world) is None


class Blind:
    """Goes on without looking, since all that it knows is nan."""

    def start(self, *_):
        pass

    def plan(self, observation):
        assert math.isnan(observation.heading)
        return cbsim.Command(0.1)


class Cruise:
    """Holds 3 m/s, and steers nowhere."""

    def start(self, *_):
        pass

    def plan(self, observation):
        return cbsim.Command(max(-1.0, min(1.0, 1.0 * (3.0 - observation.speed))), -1.0)


def test_speed_alone_keeps_its_lane():
    outcome = execute(site("speed", rate=10.0, latency=Spread(0.1)), planner=Cruise())
    body = outcome.world["CajunBot"]
    pose = body.pose(outcome.snapshot)
    found = outcome.world.road.at(pose.position, pose.heading)
    assert found is not None
    assert abs(found[2]) < 0.5
    assert body.speed(outcome.snapshot) == pytest.approx(3.0, abs=0.3)


def test_other_half_is_told_the_truth():
    blind = execute(site("speed", truth=False), planner=Blind())
    pose = blind.world["CajunBot"].pose(blind.snapshot)
    assert blind.world.road.at(pose.position, pose.heading) is not None


def test_half_a_driver_needs_a_road_and_a_steering_wheel():
    with pytest.raises(ModelError, match="it drives speed alone, and the rest needs a road"):
        world(bot(), seats=(Seat("CajunBot", drives="speed"),))
    made = site("both")
    actors = tuple(
        replace(one, item=replace(one.item, wheels=Wheels(WheelType.SKID), drive=None))
        if one.item.name == "CajunBot"
        else one
        for one in made.scene.actors
    )
    settings = replace(made.settings, seats=(Seat("CajunBot", drives="steering"),))
    with pytest.raises(ModelError, match="levers of skid wheels have both speed and steering"):
        compile_world(replace(made.scene, actors=actors, settings=settings))


def test_unknown_part_is_told(tmp_path):
    path = tmp_path / "scenario.yaml"
    text = "network: four_way_stop\nadd: [{name: Bot, kind: autonomous, at: 1.1.1}]\nplanner:\n  Bot: "
    text += "{class: 'a:B', drives: "
    path.write_text(f"{text}steeering}}\n")
    with pytest.raises(FileError, match=r"scenario\.yaml:4.*did you mean 'steering'\?"):
        cbsim.load(path)
    path.write_text(f"{text}steering}}\n")
    assert cbsim.load(path).settings.seats == (Seat("Bot", drives="steering"),)
    cbsim.write(cbsim.read(path), tmp_path / "copy.yaml")
    assert cbsim.read(tmp_path / "copy.yaml") == cbsim.read(path)
