"""Random streams against numpy's own Philox, and the statistics that a sensor model relies on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.world.kernels import philox_into
from cbsim.world.streams import normals, stream_key, uniforms

WORD = st.integers(0, 2**64 - 1)


@settings(deadline=None)  # the first example compiles the kernel
@given(key=st.tuples(WORD, WORD), event=st.integers(0, 2**63 - 1))
def test_words_are_those_of_numpys_philox(key, event):
    out = np.empty(8, np.uint64)
    with np.errstate(over="ignore"):
        philox_into(np.uint64(key[0]), np.uint64(key[1]), event, 0, out)
    # numpy raises its counter before each block, so its first block here has the counter (0, event)
    oracle = np.random.Philox(counter=(event << 64) - 1 if event else 2**256 - 1, key=key[0] | key[1] << 64)
    assert (out == oracle.random_raw(8)).all()


def test_streams_of_different_names_or_seeds_differ():
    keys = {stream_key(seed, system, who) for seed in (1, 2) for system in ("laser", "gps") for who in ("a", "b")}
    assert len(keys) == 8


def test_a_draw_depends_on_its_occasion_alone():
    key = stream_key(1, "laser", "CajunBot/scan")
    assert (normals(key, 7, 11) == normals(key, 7, 12)[:11]).all()
    assert (normals(key, 7, 12) != normals(key, 8, 12)).all()


@pytest.mark.parametrize("draw", [normals, uniforms])
def test_first_and_second_moments_are_those_of_the_distribution(draw):
    sample = draw(stream_key(5, "test", "moments"), 3, 200_000)
    mean, sigma = (0.0, 1.0) if draw is normals else (0.5, 12**-0.5)
    error = 5.0 * sigma / len(sample) ** 0.5
    assert abs(sample.mean() - mean) < error
    assert abs(sample.std() - sigma) < 2.0 * error


def test_normal_tails_have_the_right_weight():
    sample = normals(stream_key(6, "test", "tails"), 0, 400_000)
    share = (np.abs(sample) > 3.0).mean()
    assert share == pytest.approx(0.0026998, rel=0.1)
