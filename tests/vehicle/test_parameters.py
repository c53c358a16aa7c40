"""Defaults of a vehicle's parameters, what overrides them, and which drive an object gets."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import cbsim
from cbsim.errors import ModelError
from cbsim.formats.objects.values import PARAMETERS as WRITABLE
from cbsim.planner.driver import vehicle_of
from cbsim.spec.drives import DEFAULT_DRIVES, DRIVES, drives_on
from cbsim.spec.objects import Wheels, WheelType
from cbsim.vehicle.parameters import PARAMETERS, drive_name, vehicle_parameters
from tests.common import ROOT
from tests.vehicle.plant import row
from tests.worlds import bot, world


def values(**parameters):
    return dict(zip(PARAMETERS, row(**parameters), strict=True))


def test_defaults_follow_from_the_size_as_the_page_says():
    found = values()
    assert found["wheelbase"] == pytest.approx(0.64 * 3.68)
    assert found["track"] == pytest.approx(1.5)
    assert found["mass"] == pytest.approx(120.0 * 1.7 * 3.68 * 2.16)
    assert found["yaw_inertia"] == pytest.approx(found["mass"] * (1.7**2 + 3.68**2) / 12.0)
    assert found["cg_height"] == pytest.approx(0.35 * 2.16)
    assert found["drive_force"] == pytest.approx(0.5 * 0.9 * found["mass"] * 9.81)


def test_defaults_follow_from_given_parameters():
    found = values(mass=600.0, friction=0.5)
    assert found["yaw_inertia"] == pytest.approx(600.0 * (1.7**2 + 3.68**2) / 12.0)
    assert found["drive_force"] == pytest.approx(0.25 * 600.0 * 9.81)


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_can_be_given(name):
    assert values(**{name: 2.0})[name] == 2.0


def test_every_parameter_of_a_row_can_be_written_in_a_file_or_stands_in_it():
    assert set(PARAMETERS) - set(WRITABLE) == {"throttle_rate", "lever_rate", "wheel_radius"}
    assert set(WRITABLE) <= set(PARAMETERS)


def test_every_parameter_is_used_by_some_drive_and_no_drive_uses_another():
    used = {name for drive in DRIVES.values() for name in drive.uses}
    assert used == set(WRITABLE)


def test_the_page_names_every_drive_and_parameter():
    page = (ROOT / "docs" / "vehicle.md").read_text()
    assert all(f"`{name}`" in page for name in [*DRIVES, *PARAMETERS[:3], *WRITABLE])


def test_default_drives_fit_their_wheels():
    assert all(DEFAULT_DRIVES[wheels] in drives_on(wheels) for wheels in WheelType)


def test_drive_that_does_not_fit_the_wheels_is_refused_where_a_world_is_made():
    actor = bot(drive="skid")
    with pytest.raises(ModelError, match="no drive 'skid' on conventional wheels; there is kinematic, delayed"):
        drive_name(actor.item)
    with pytest.raises(ModelError, match="no drive 'glide'"):
        world(bot(drive="glide"))


@pytest.mark.parametrize("drive", DRIVES)
def test_planner_is_told_what_it_drives(drive):
    made = world(bot(drive=drive, wheels=Wheels(DRIVES[drive].wheels), parameters=(("mass", 777.0),)))
    told = vehicle_of(made, "CajunBot")
    assert (told.drive, told.mass, told.friction, told.wheel_radius) == (drive, 777.0, 0.9, 0.38)
    assert told.skid is (DRIVES[drive].wheels is WheelType.SKID)


@pytest.mark.parametrize("drive", DRIVES)
def test_every_drive_moves_a_world(drive):
    made = world(bot(drive=drive, wheels=Wheels(DRIVES[drive].wheels)))
    made.first.state.command[0] = cbsim.Command(0.5, 0.3, (0.6, 1.0)).row()
    end = cbsim.run(made, duration=3.0)
    assert np.linalg.norm(np.diff(end.positions("CajunBot"), axis=0), axis=1).sum() > 1.0
    assert abs(end.headings("CajunBot")[-1]) > 0.05


def test_parameters_of_an_object_do_not_depend_on_the_order_they_are_given_in():
    item = bot(parameters=(("mass", 900.0), ("friction", 0.7))).item
    turned = dataclasses.replace(item, parameters=item.parameters[::-1])
    assert (vehicle_parameters(item) == vehicle_parameters(turned)).all()
