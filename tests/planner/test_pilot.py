"""The example planner on the shipped networks: to the end of the mission, in order, in lane, within limits."""

from __future__ import annotations

import pytest

import cbsim


def test_the_pilot_can_be_named_on_the_command_line():
    world = cbsim.load("four_way_stop", planner="cbsim.planner.pilot:Pilot", duration=2.0)
    recording = cbsim.run(world)
    assert recording.times[-1] == pytest.approx(2.0)
