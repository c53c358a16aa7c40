"""Runs of reactive traffic have the same bits in one process and in several at once."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import cbsim


def hashes(name: str) -> list[int]:
    """Of every step of ten seconds of a shipped scenario."""
    return cbsim.run(cbsim.load(name), duration=10.0).hashes.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["town", "four_way_stop"])
def test_one_and_four_workers_give_the_same_bits(name):
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as workers:
        found = list(workers.map(hashes, [name] * 4))
    assert found == [hashes(name)] * 4
