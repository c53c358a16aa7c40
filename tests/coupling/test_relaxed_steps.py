"""Steps solved with relaxed tolerances: each is counted and reported once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.coupling.diagnostics import MOST, Diagnostic, Diagnostics, describe
from cbsim.coupling.instance_steps import follow
from cbsim.evaluation.outcome import execute
from cbsim.simulation.model_steps import _trajectories
from cbsim.world.model_instances import PURE
from tests.common import ROOT

CART = ROOT / "scenarios" / "models" / "cart.jm"


def strict(world):
    """Models of a World that are first solved to a tolerance that no step meets."""
    instances = []
    for instance in world.instances:
        spec = instance.spec
        never = replace(PURE, rtol=1e-300, btol=1e-300, max_iter=3)
        fallback = never.encode(spec.timestep, spec.gravity, spec.input_scaling, False)
        instances.append(replace(instance, solver_fallbacks=(fallback, *instance.solver_fallbacks)))
    return instances


@pytest.fixture(scope="module")
def world():
    return cbsim.load(CART)


def test_every_relaxed_step_is_reported_with_its_time_and_ends_where_a_usual_one_does(world):
    (instance,), start = strict(world), world.start
    told, none = [], []
    loose = follow(instance, instance.rows_of(start), instance.controller_state_of(start), 0, 5, told)
    usual = follow(world.instances[0], instance.rows_of(start), instance.controller_state_of(start), 0, 5, none)
    assert [one.time for one in told] == pytest.approx([0.01 * k for k in range(5)])
    assert {(one.what, one.models) for one in told} == {("relaxed", ("cart",))}
    assert not none
    assert np.array_equal(loose[0], usual[0])


def test_a_run_counts_them_and_sums_them_up(world):
    outcome = execute(replace(world, instances=tuple(strict(world))), steps=7)
    assert outcome.to_dict()["relaxed_steps"] == 7
    words = "'cart': solved with relaxed tolerances: 7 steps from 0.00 to 0.06 s"
    assert outcome.complaints == (words,)
    (told,) = outcome.to_dict()["diagnostics"]
    assert (told["what"], told["models"], told["steps"]) == ("relaxed", ("cart",), 7)
    assert (told["first"], told["last"]) == (0.0, pytest.approx(0.06))


def test_the_former_keys_and_words_of_a_run_are_still_there(world):
    summary = execute(replace(world, instances=tuple(strict(world))), steps=7).to_dict()
    assert summary["loose_steps"] == summary["relaxed_steps"] == 7
    (former,), (current,) = summary["remarks"], summary["diagnostics"]
    assert (former["what"], current["what"]) == ("loose", "relaxed")
    assert {**former, "what": "relaxed"} == current


def test_a_usual_run_has_none(world):
    assert execute(world, steps=7).to_dict()["relaxed_steps"] == 0


def test_steps_that_are_taken_again_are_told_once(world, monkeypatch):
    """Of two models one makes two steps of five: what the other did later is not told yet."""
    made = iter([5, 2])

    def some(instance, state, mind, step, steps, diagnostics):
        count = next(made)
        diagnostics += [Diagnostic("relaxed", 0.01 * (step + k), (instance.name,), ()) for k in range(steps)]
        return np.repeat(state[None], count, axis=0), np.repeat(mind[None], count, axis=0)

    monkeypatch.setattr("cbsim.simulation.model_steps.follow", some)
    two = replace(world.instances[0], name="other")
    told: list[Diagnostic] = []
    _trajectories(replace(world, instances=(world.instances[0], two)), world.start, 5, told)
    assert [(one.models[0], round(one.time, 9)) for one in told] == [
        ("cart", 0.0), ("cart", 0.01), ("other", 0.0), ("other", 0.01),
    ]  # fmt: skip
    diagnostics = Diagnostics()
    diagnostics.take(told)
    assert len(describe(diagnostics)) == 2


def test_summaries_of_diagnostics_do_not_grow_with_steps():
    diagnostics = Diagnostics()
    for k in range(1000):
        diagnostics.take(
            [Diagnostic("relaxed", 0.1 * k, ("a",), ()), Diagnostic("interpenetrating", 0.1 * k, ("a",), ("b",))]
        )
    one, other = diagnostics
    assert (one.steps, one.first, one.last) == (1000, 0.0, pytest.approx(99.9))
    assert other[:4] == ("interpenetrating", ("a",), ("b",), 1000)


def test_diagnostics_of_more_bodies_than_summaries_have_names_are_counted_without():
    diagnostics = Diagnostics()
    diagnostics.take(Diagnostic("frozen", 0.1 * k, (f"m{k}",), ()) for k in range(MOST + 5))
    *_, last = diagnostics
    assert len(list(diagnostics)) == MOST + 1
    assert last[:4] == ("frozen", (), (), 5)
    assert describe([last])[0].startswith("others did not move")
