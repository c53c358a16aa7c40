"""Runs of reactive traffic have the same bits in one process and in several at once."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import cbsim

CAR_PARK = """\
network: parking
traffic:
  - {name: staff, count: 5, parked: 4, pause: 5, then: 1.1.10}
  - {name: guests, flow: 400, from: 2.2.1, to: 4.3.2, pause: 10, then: 1.2.10}
"""


def hashes(name: str, duration: float = 10.0) -> list[int]:
    """Of every step of so many seconds of a scenario."""
    return cbsim.run(cbsim.load(name), duration=duration).hashes.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["town", "four_way_stop"])
def test_one_and_four_workers_give_the_same_bits(name):
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as workers:
        found = list(workers.map(hashes, [name] * 4))
    assert found == [hashes(name)] * 4


@pytest.mark.slow
def test_one_and_four_workers_park_cars_with_the_same_bits(tmp_path):
    path = str(tmp_path / "car_park.yaml")
    (tmp_path / "car_park.yaml").write_text(CAR_PARK)
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as workers:
        found = list(workers.map(hashes, [path] * 4, [60.0] * 4))
    assert found == [hashes(path, 60.0)] * 4
