"""The viewer on recorded traffic: absent cars are neither selected, followed nor measured, and fill no extent."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.spec.road import PointId
from cbsim.spec.traffic import Pool
from cbsim.viewer.drawing.camera import PROJECTIONS
from cbsim.viewer.hud import state_of
from cbsim.viewer.scene.source import RecordingSource
from cbsim.viewer.session_state import SessionState
from tests.traffic.sites import straight, world

FLOW = Pool("west", flow=900.0, origin=PointId(1, 1, 1), is_even=True, at_most=3)


@pytest.fixture(scope="module")
def source():
    return RecordingSource(cbsim.run(world(straight(60.0), FLOW), duration=30.0))


@pytest.fixture
def session(source):
    return SessionState(source)


def there(session):
    return [session.view().name_of(row) for row in np.flatnonzero(session.view().present).tolist()]


def test_only_cars_that_are_there_are_selected_by_their_own_names(session):
    session.time = 20.0
    names, seen = there(session), []
    assert 0 < len(names) < 3
    for _ in names:
        session.select_next(1)
        seen.append(session.view().name_of(session.options.selected))
    assert sorted(seen) == sorted(names)
    assert all(int(name.removeprefix("west ")) > 3 for name in names)  # not the first in its row
    assert state_of(session.view(), session.options.selected)[0] == seen[-1]


def test_who_has_left_is_not_followed_below_the_ground(session):
    session.time = 20.0
    session.follow()
    row = session.options.selected
    assert session.view().present[row]
    session._follow()
    while session.view().present[row]:
        session.time += 0.05
    before = session.camera
    session._follow()
    assert session.camera == before
    assert state_of(session.view(), row)[1:] == ["absent, or not recorded here"]


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_extents_leave_out_absent_cars(session, projection):
    session.projection, session.time = projection, 20.0
    low, high = session._extent()
    assert (high - low).max() < 100.0
