"""Random streams against numpy's own Philox, and the statistics that a sensor model relies on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.world.kernels import philox_into
from cbsim.world.streams import gauss_markov, normals, renewals, stream_key, stream_keys, uniforms

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


def test_several_keys_at_once_are_those_of_each():
    names = ["a", "b/c", "ü"]
    assert [tuple(key) for key in stream_keys(7, "laser", names)] == [stream_key(7, "laser", name) for name in names]


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


def sequence(lags, count, start=0, name="process"):
    key = stream_key(7, "test", name)
    return np.array([gauss_markov(key, start + k, lags, 2)[0] for k in range(count)])


@pytest.mark.parametrize("lags", [0.5, 4.0, 50.0])
def test_gauss_markov_has_unit_variance_and_forgets_exponentially(lags):
    """Many short independent pieces, so that every mean has a known standard error."""
    steps, pieces = 60, 4000
    key = stream_key(8, "test", "pieces")
    ends = np.array([gauss_markov(key, steps - 1, lags, 2 * pieces)[0], gauss_markov(key, 0, lags, 2 * pieces)[0]])
    bound = 4.5 / (2 * pieces) ** 0.5
    assert abs((ends**2).mean() - 1.0) < 2.0 * bound
    assert abs(ends.mean()) < bound
    start = gauss_markov(key, 20, lags, 2 * pieces)[0]
    for lag in (1, 2, 3, 5, 17, 39):
        later = gauss_markov(key, 20 + lag, lags, 2 * pieces)[0]
        assert (start * later).mean() == pytest.approx(np.exp(-lag / lags), abs=1.5 * bound)


def test_gauss_markov_has_no_memory_but_its_present():
    """Given the present, past and future are uncorrelated: the partial correlation over two lags is zero."""
    key, count, lags = stream_key(9, "test", "memory"), 20_000, 3.0
    before, now, after = (gauss_markov(key, 30 + k, lags, count)[0] for k in (-1, 0, 1))
    r = np.exp(-1.0 / lags)
    assert abs(((before - r * now) * (after - r * now)).mean()) < 4.5 * (1.0 - r * r) / count**0.5


def test_gauss_markov_increments_are_those_of_the_recursion_across_every_boundary():
    """x[k + 1] - r x[k] is white with variance 1 - r², also where blocks of the construction meet."""
    lags = 2.0
    path = sequence(lags, 1024)
    r = np.exp(-1.0 / lags)
    rest = path[1:] - r * path[:-1]
    assert (rest**2).mean() == pytest.approx(1.0 - r * r, rel=4.5 * (2.0 / rest.size) ** 0.5)
    one, two = rest[:-1].ravel(), rest[1:].ravel()
    assert abs((one * two).mean()) < 4.5 * (1.0 - r * r) / one.size**0.5
    assert np.corrcoef(path[:, 0], path[:, 1])[0, 1] == pytest.approx(0.0, abs=0.2)


@given(index=st.integers(0, 10**7), lags=st.floats(0.0, 1e6))
@settings(deadline=None, max_examples=50)
def test_any_occasion_of_a_process_stands_alone(index, lags):
    key = stream_key(3, "test", "alone")
    assert np.isfinite(gauss_markov(key, index, lags, 3)).all()
    assert (gauss_markov(key, index, lags, 3) == gauss_markov(key, index, lags, 4)[:, :3]).all()
    rows = gauss_markov(key, index, lags, 3, np.array([5, 0, 7]))
    assert (rows[1] == gauss_markov(key, index, lags, 3)[0]).all()
    assert (rows[0] != rows[1]).all()


def test_without_correlation_a_process_is_white_noise():
    path = sequence(0.0, 4000)[:, 0]
    assert abs((path[1:] * path[:-1]).mean()) < 4.5 / 4000**0.5


@pytest.mark.parametrize(("share", "lags"), [(0.9, 0.0), (0.7, 2.0), (0.3, 10.0)])
def test_renewals_below_a_share_are_a_markov_chain_of_that_share(share, lags):
    key, count = stream_key(4, "test", "chain"), 20_000
    stay = np.exp(-1.0 / lags) if lags else 0.0
    now, later = (renewals(key, 200 + k, lags, np.arange(count)) < share for k in (0, 3))
    bound = 4.5 * (share * (1.0 - share) / count) ** 0.5
    assert now.mean() == pytest.approx(share, abs=bound)
    both = share * (1.0 - share) * stay**3
    assert ((now - share) * (later - share)).mean() == pytest.approx(both, abs=1.5 * bound)
