"""Loops of Shift models that do not close: given up after a bounded number of rounds, and once for check and count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cbsim.errors import Problems
from cbsim.models.shift import assembly, check, count
from cbsim.models.shift.chains import Edge, arranged
from cbsim.models.shift.network import GROUND
from tests.models.shift.benchmarks import at, four_bars
from tests.mutations import SLOW, cpu_limit


@pytest.fixture
def inversions(monkeypatch):
    """Numbers of coordinates for which a pseudoinverse was asked."""
    found = []

    def lstsq(a, b, rcond):
        found.append(a.shape[1])
        return original(a, b, rcond=rcond)

    original = assembly.lstsq
    monkeypatch.setattr(assembly, "lstsq", lstsq)
    return found


def stretched(by, count=2):
    """Four-bars whose last foot stands too far away for its coupler, stretched out with both uprights, to reach."""
    model = four_bars(count)
    last = model.frames[-1]
    far = replace(last, placement=at(count - 1.0 + 3.0 + by, 0.0, 0.0))
    return replace(model, frames=(*model.frames[:-1], far))


@pytest.mark.parametrize("by", [1e-3, 1e-4, 1e-6])
def test_a_loop_that_nearly_closes_is_given_up_after_a_bounded_number_of_rounds(inversions, by):
    problems = Problems()
    assert assembly.assemble(stretched(by), problems) is None
    assert [problem.code for problem in problems.errors] == ["E988"]
    assert 0 < len(inversions) <= assembly.NEAR_ROUNDS


@pytest.mark.parametrize("by", [1e-3, -1e-3])
def test_many_loops_take_little_time_whether_they_close_or_not(by):
    model, problems = stretched(by, 25), Problems()  # a file of 44 KB
    with cpu_limit(SLOW):
        check(model, problems)
        counts = count(model)
    assert counts["loops"] == (25 if by < 0.0 else 0)
    assert counts["degrees_of_freedom"] == (1 if by < 0.0 else 76)
    assert [problem.code for problem in problems.errors] == ["E988"] * (by > 0.0)


def test_loops_that_take_all_their_work_are_given_up(monkeypatch):
    problems = Problems()
    assert assembly.assemble(stretched(-1e-3), problems) is not None
    rows, coordinates = 6 * 2, 7
    monkeypatch.setattr(assembly, "MOST_CLOSING", 3 * rows * coordinates * min(rows, coordinates))
    assert assembly.assemble(stretched(-1e-3), problems) is None
    assert [problem.code for problem in problems.errors] == ["E988"]


def test_a_dead_centre_closes(inversions):
    problems = Problems()
    assert assembly.assemble(stretched(0.0), problems) is not None
    assert not problems.errors


def test_check_and_count_put_a_model_together_once(inversions):
    model, problems = stretched(1e-3), Problems()
    check(model, problems)
    made = len(inversions)
    assert count(model)["joints"] == 7
    assert len(inversions) == made
    again = Problems()
    check(model, again)
    assert [str(p) for p in again] == [str(p) for p in problems]


def test_joints_of_very_many_bodies_on_the_ground_are_put_in_order_in_linear_time():
    edges = [Edge((number,), GROUND, number, (0, 1)) for number in range(50_000)]
    with cpu_limit(SLOW):
        assert arranged(edges, (), ()) == [(edge, False) for edge in edges]
