"""Tables come out of their blocks as they went in, field by field."""

from __future__ import annotations

import numpy as np

from cbsim.jit import kernel
from cbsim.sensing.kernels.noise import Noises
from cbsim.sensing.kernels.scans import Lasers, lasers_of, noises_of
from cbsim.sensing.laser_tables import laser_tables_of
from cbsim.simulation.warmup import every_kind
from cbsim.world.packed.kernels import constants_of, shapes_of, state_of
from cbsim.world.tables import COLUMNS, Constants, Shapes, State


@kernel
def unpacked_world(pack):
    return constants_of(pack), shapes_of(pack)


@kernel
def unpacked_lasers(pack):
    return lasers_of(pack), noises_of(pack)


@kernel
def unpacked_state(floats, ints, sizes):
    return state_of(floats, ints, sizes)


def alike(found, wanted):
    return [name for name, a, b in zip(wanted._fields, found, wanted, strict=True) if not same(a, b)]


def same(a, b):
    return np.shape(a) == np.shape(b) and np.array_equal(a, b)


def test_constants_and_shapes_come_out_of_the_pack_of_a_world():
    made = every_kind()
    constants, shapes = unpacked_world(made.pack)
    assert alike(Constants(*constants), made.constants) == []
    assert alike(Shapes(*shapes), made.shapes) == []


def test_lasers_and_their_noises_come_out_of_the_pack_of_a_bench():
    tables = laser_tables_of(every_kind())
    lasers, noises = unpacked_lasers(tables.pack)
    assert alike(Lasers(*lasers), tables.table) == []
    assert alike(Noises(*noises), tables.noises) == []


def test_columns_come_out_of_the_blocks_of_a_snapshot():
    made = every_kind()
    snapshot = made.start
    snapshot.floats[:] = np.arange(len(snapshot.floats))
    snapshot.ints[:] = np.arange(len(snapshot.ints))
    found = unpacked_state(*snapshot.blocks, made.layout.sizes)
    assert alike(State(*found), snapshot.state) == []
    assert [column.name for column in COLUMNS] == list(State._fields)


def test_a_command_is_told_where_the_column_has_it():
    made = every_kind()
    snapshot = made.start
    snapshot.tell(1, (0.1, 0.2, 0.3, 0.4, 1.0, 0.0))
    assert snapshot.state.command[1].tolist() == [0.1, 0.2, 0.3, 0.4, 1.0, 0.0]
    assert (snapshot.state.command[0] == made.start.state.command[0]).all()
