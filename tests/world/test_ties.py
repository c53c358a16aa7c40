"""Numbers that a kernel cannot import are written twice; here they are tied."""

from __future__ import annotations

import numpy as np

import cbsim.sensing.kernels.shapes as sensing
import cbsim.vehicle.kernels.columns as vehicle
from cbsim.spec.drives import DRIVES
from cbsim.spec.objects import ShapeKind
from cbsim.vehicle.parameters import PARAMETERS
from tests.worlds import bot, world


def test_shape_codes_of_the_scanner_are_those_of_the_files():
    for kind in ShapeKind:
        assert getattr(sensing, kind.name) == kind


def test_drive_codes_are_those_of_the_table():
    assert [getattr(vehicle, name.upper().replace("-", "_")) for name in DRIVES] == list(range(len(DRIVES)))


def test_parameter_columns_are_numbered_in_the_order_of_their_names():
    for number, name in enumerate(PARAMETERS):
        assert getattr(vehicle, name.upper()) == number
    made = world(bot(parameters=tuple((name, 2.0 + k) for k, name in enumerate(PARAMETERS))))
    assert np.array_equal(made.constants.vehicle_parameters[0], 2.0 + np.arange(len(PARAMETERS)))
