"""Results are what they were: the same bits, on the machine code they were recorded on.

``python -m tests.golden --update`` records a change of results that is meant, and tells what moved and how far.
"""

from __future__ import annotations

import pytest

from tests.golden.cases import CASES
from tests.golden.store import Golden, movement, target

GOLDEN = Golden.read()
PARAMETERS = [pytest.param(name, marks=[pytest.mark.slow] if case.slow else []) for name, case in CASES.items()]


@pytest.mark.parametrize("name", PARAMETERS)
def test_result_has_the_bits_that_were_recorded(name: str) -> None:
    case = CASES[name]
    if case.needs is not None and not case.needs.exists():
        pytest.skip(f"the real files of shared/data are not here: {case.needs.name}")
    if target() != GOLDEN.target:
        pytest.skip(f"recorded on {GOLDEN.target}, this is {target()}")
    made, kept = case.make(), GOLDEN.traces[name]
    assert made.digest == kept.digest, f"moved by {movement(kept, made):.3g}"


def test_every_recorded_result_is_of_a_case_that_exists() -> None:
    assert set(GOLDEN.traces) == set(CASES)
