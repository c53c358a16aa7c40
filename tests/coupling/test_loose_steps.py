"""Steps that the solver makes to looser tolerances alone are counted and told, each once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.coupling.diagnostics import MOST, Remark, Remarks, in_words
from cbsim.coupling.instance_steps import follow
from cbsim.evaluation.outcome import execute
from cbsim.simulation.model_steps import _ways
from cbsim.world.model_instances import PURE
from tests.common import ROOT

CART = ROOT / "scenarios" / "models" / "cart.jm"


def strict(world):
    """Models of a World that are first solved to a tolerance that no step meets."""
    instances = []
    for instance in world.instances:
        spec = instance.spec
        never = replace(PURE, rtol=1e-300, btol=1e-300, max_iter=3)
        manner = never.encode(spec.timestep, spec.gravity, spec.input_scaling, False)
        instances.append(replace(instance, manners=(manner, *instance.manners)))
    return instances


@pytest.fixture(scope="module")
def world():
    return cbsim.load(CART)


def test_every_loose_step_is_told_with_its_time_and_goes_where_a_usual_one_does(world):
    (instance,), start = strict(world), world.start
    told, none = [], []
    loose = follow(instance, instance.rows_of(start), instance.controller_state_of(start), 0, 5, told)
    usual = follow(world.instances[0], instance.rows_of(start), instance.controller_state_of(start), 0, 5, none)
    assert [one.time for one in told] == pytest.approx([0.01 * k for k in range(5)])
    assert {(one.what, one.models) for one in told} == {("loose", ("cart",))}
    assert not none
    assert np.array_equal(loose[0], usual[0])


def test_a_run_counts_them_and_sums_them_up(world):
    outcome = execute(replace(world, instances=tuple(strict(world))), steps=7)
    assert outcome.to_dict()["loose_steps"] == 7
    words = "'cart' took steps that the solver made to looser tolerances alone: 7 steps from 0.00 to 0.06 s"
    assert outcome.complaints == (words,)
    (told,) = outcome.to_dict()["remarks"]
    assert (told["what"], told["models"], told["steps"]) == ("loose", ("cart",), 7)
    assert (told["first"], told["last"]) == (0.0, pytest.approx(0.06))


def test_a_usual_run_has_none(world):
    assert execute(world, steps=7).to_dict()["loose_steps"] == 0


def test_steps_that_are_taken_again_are_told_once(world, monkeypatch):
    """Of two models one makes two steps of five: what the other did later is not told yet."""
    made = iter([5, 2])

    def some(instance, state, mind, step, steps, remarks):
        count = next(made)
        remarks += [Remark("loose", 0.01 * (step + k), (instance.name,), ()) for k in range(steps)]
        return np.repeat(state[None], count, axis=0), np.repeat(mind[None], count, axis=0)

    monkeypatch.setattr("cbsim.simulation.model_steps.follow", some)
    two = replace(world.instances[0], name="other")
    told: list[Remark] = []
    _ways(replace(world, instances=(world.instances[0], two)), world.start, 5, told)
    assert [(one.models[0], round(one.time, 9)) for one in told] == [
        ("cart", 0.0), ("cart", 0.01), ("other", 0.0), ("other", 0.01),
    ]  # fmt: skip
    remarks = Remarks()
    remarks.take(told)
    assert len(in_words(remarks)) == 2


def test_what_is_kept_of_remarks_does_not_grow_with_steps():
    remarks = Remarks()
    for k in range(1000):
        remarks.take([Remark("loose", 0.1 * k, ("a",), ()), Remark("passed", 0.1 * k, ("a",), ("b",))])
    one, other = remarks
    assert (one.steps, one.first, one.last) == (1000, 0.0, pytest.approx(99.9))
    assert other[:4] == ("passed", ("a",), ("b",), 1000)


def test_remarks_on_more_bodies_than_are_told_apart_are_counted_without_names():
    remarks = Remarks()
    remarks.take(Remark("held", 0.1 * k, (f"m{k}",), ()) for k in range(MOST + 5))
    *_, last = remarks
    assert len(list(remarks)) == MOST + 1
    assert last[:4] == ("held", (), (), 5)
    assert in_words([last])[0].startswith("others stood still")
