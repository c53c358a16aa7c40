"""Extremes that files may hold: what is accepted runs with finite numbers only, what is not is refused at its line."""

from __future__ import annotations

from collections import Counter

import pytest

from cbsim.errors import Problems
from cbsim.formats.object_values import PARAMETERS
from cbsim.formats.reader import Source
from cbsim.formats.scenario import read
from tests.extremes import MODELS, NUMBER, TRAFFIC, attempt, cases, changed, traffic
from tests.formats.object_texts import element, read_v2, v2

SEED = 16


def survived(makers, count, folder):
    """Try cases until so many were accepted; count what became of all."""
    found = Counter()
    for case in cases([make() for make in makers], SEED):
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
