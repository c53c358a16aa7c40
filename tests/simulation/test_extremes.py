"""Extremes that files may hold: what is accepted runs with finite numbers only, what is not is refused at its line."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from cbsim.errors import Problems
from cbsim.formats.objects.values import PARAMETERS
from cbsim.formats.reader import Source
from cbsim.formats.scenario import read
from tests.accepted_ranges import Range, accepted_range, cases_in_range
from tests.extremes import MODELS, NUMBER, TRAFFIC, attempt, cases, changed, traffic
from tests.extremes_reactive import REACTIVE, lights
from tests.formats.object_texts import element, read_v2, v2

SEED = 16


def survived(makers, count, folder, draw=cases):
    """Try cases until so many were accepted; count what became of all."""
    found = Counter()
    for case in draw([make() for make in makers], SEED):
        found[attempt(case, folder).kind] += 1
        if found["finite"] + found["failed"] >= count:
            return found
    raise AssertionError


def test_extremes_of_traffic_run_with_finite_numbers_or_are_refused_with_their_place(tmp_path):
    found = survived(TRAFFIC, 60, tmp_path)
    assert found["failed"] == 0
    assert found["rejected"] > 20


@pytest.mark.slow
def test_many_extremes_of_traffic_run_with_finite_numbers_or_are_refused_with_their_place(tmp_path):
    assert survived(TRAFFIC, 600, tmp_path)["failed"] == 0


@pytest.mark.slow
def test_extremes_of_models_run_with_finite_numbers_or_fail_with_words(tmp_path):
    survived(MODELS, 200, tmp_path)


def test_ranges_are_found_by_bisection():
    assert accepted_range(0.3, lambda x: 1e-3 <= x <= 0.95) == Range((1e-3, 0.95), None, False, False)
    assert accepted_range(0.0, lambda x: x == int(x) and -3 <= x <= 1e9) == Range((1, 1e9), (1, 3), True, True)
    assert accepted_range(-2.5, lambda x: -3.0 <= x < 0.0) == Range(None, (5e-324, 3.0), False, False)
    odd = accepted_range(1.0, lambda x: 0.123456 <= x <= 7.891)
    assert odd.positive == (pytest.approx(0.123456, rel=1e-3), pytest.approx(7.891, rel=1e-3))
    assert 0.123456 <= odd.positive[0] < odd.positive[1] <= 7.891


def test_values_are_drawn_from_all_of_a_range_and_from_its_ends():
    dice, found = random.Random(1), Range((1e-6, 1e9), (0.1, 10.0), True, False)
    drawn = {found.draw(dice) for _ in range(2000)}
    assert {0.0, 1e-6, 1e9, -0.1, -10.0} <= drawn
    assert all(x == 0.0 or 1e-6 <= x <= 1e9 or -10.0 <= x <= -0.1 for x in drawn)
    for least in (1e-6, 1e-3, 1.0, 1e3, 1e6):
        assert any(least < x < 10.0 * least for x in drawn)
    assert {Range((1.0, 9.0), None, False, True).draw(dice) for _ in range(200)} == set(range(1, 10))


def test_values_in_range_run_with_finite_numbers(tmp_path):
    assert survived([lights], 6, tmp_path, in_range(tmp_path))["failed"] == 0


@pytest.mark.slow
def test_many_values_in_range_run_with_finite_numbers(tmp_path):
    makers = (lambda: traffic("dynamic"), lambda: traffic("skid"), *REACTIVE)
    assert survived(makers, 300, tmp_path, in_range(tmp_path))["failed"] == 0


def in_range(folder):
    probes = folder / "probes"
    probes.mkdir()
    return lambda bases, seed: cases_in_range(bases, seed, probes)


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("drive", ["dynamic", "skid"])
def test_the_ends_of_every_vehicle_parameter_are_accepted_and_run(name, drive, tmp_path):
    quantity, base = PARAMETERS[name], traffic(drive)
    text = base.files["scene.yaml"]
    start = text.index(f"{name}: ", text.index("parameters: {wheelbase"))
    found = NUMBER.search(text, start)
    for value in (quantity.least, quantity.most):
        result = attempt(changed(base, [("scene.yaml", found, f"{value:g}")]), tmp_path, steps=12)
        assert result.kind == "finite", result.message


BOUNDED = [(name, quantity) for name, quantity in PARAMETERS.items() if quantity.reason]


@pytest.mark.parametrize(("name", "quantity"), BOUNDED)
def test_a_parameter_beyond_its_bounds_is_refused_with_their_reason_in_object_files_and_scenarios(name, quantity):
    for value in (quantity.least * 0.99 - 1e-12, quantity.most * 1.01):
        _, problems = read_v2(v2(element("autonomous", attributes=f' {name}="{value!r}"')))
        told = [problem for problem in problems if problem.code == "E611"]
        assert [problem.hint for problem in told] == [quantity.reason]
        text = f"add: [{{name: a, kind: autonomous, position: [0, 0, 0], parameters: {{{name}: {value!r}}}}}]\n"
        scenario = Problems()
        read(Source.decode("s.yaml", text.encode()), scenario)
        assert [(p.code, p.hint) for p in scenario.errors] == [("E805", quantity.reason)]
