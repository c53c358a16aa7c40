"""Diagnostics of a step without a solution: who did not move, and who passed through whom."""

from __future__ import annotations

import pytest

from cbsim.coupling import coupled_step
from cbsim.coupling import fallbacks as room
from cbsim.coupling.diagnostics import Diagnostics, describe
from cbsim.errors import StepError
from cbsim.simulation.advance import advance
from cbsim.spec.objects import Triple
from tests.coupling.test_model_contacts import model, scene
from tests.coupling.test_step_islands import crate
from tests.simulation.test_behaviours import Stride, walker
from tests.worlds import bot, mover


def fail(*_):
    raise StepError("no step", time=0.0)


def test_what_drives_into_a_held_model_is_told_to_pass_and_not_to_stand_still(monkeypatch):
    monkeypatch.setattr(room, "solve_island", fail)
    truck = mover("Truck", (8, 0, 40, 0), size=Triple(2, 4, 2))
    world = scene(model("a", crate(mass=100.0), (0, 3.0, 0.8)), actors=[truck])
    snapshot, diagnostics = world.start.copy(), []
    before = snapshot.columns.position[0, 0]
    for _ in range(2):
        advance(world, snapshot, 1, diagnostics=diagnostics)
    assert snapshot.columns.position[0, 0] != pytest.approx(before) or snapshot.columns.position[0, 1] > 0.5
    told = Diagnostics()
    told.take(diagnostics)
    frozen, passed = describe(told)
    assert frozen.startswith("'a' did not move")
    assert passed.startswith("'Truck' passed through 'a'")


def test_a_model_without_dynamics_is_told_to_pass_through_the_car_that_it_is_in_and_the_contact_is_noted(monkeypatch):
    honest = room.solve_island

    def some(island, *rest):
        return fail() if island.kinematic_models else honest(island, *rest)

    monkeypatch.setattr(room, "solve_island", some)
    world = scene(model("ghost", walker(motion=Stride()), (-1.0, 0.0, 0.6)), actors=[bot("Car")])
    snapshot, diagnostics, contacts = world.start.copy(), [], []
    monkeypatch.setattr(coupled_step, "island_overlaps", lambda *_: [])
    for _ in range(5):
        contacts += advance(world, snapshot, 1, diagnostics=diagnostics)[2].tolist()
    assert all(one.models == ("Car",) and one.others == ("ghost",) for one in diagnostics)
    assert diagnostics
    assert contacts
