"""Noise and faults of lasers: statistics against the conf, and what follows exactly from it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.jit import wrapping
from cbsim.sensing import SENSORS
from cbsim.sensing.kernels.noise import measure_into
from cbsim.sensing.noise import noise_of
from cbsim.spec.objects import Triple
from cbsim.world.streams import stream_key
from tests.worlds import bot, level, prop, world

KEY = "CajunBot/scan_0"
BEAMS = 20_000


def measure(noise, true, key, index):
    """Readings (layers, beams) of true distances, and which of them are returns."""
    ranges, seen = np.empty(true.size), np.empty(true.size, bool)
    words, draws = np.empty(true.size + 1, np.uint64), np.empty(true.size)
    with wrapping():
        measure_into(true.reshape(-1), true.shape[1], noise, *key, index, words, draws, ranges, seen)
    return ranges.reshape(true.shape), seen.reshape(true.shape)


def readings(true, count=1, **fields):
    """Readings (count, beams) of a wide fan at given true distances, without a world around it."""
    conf = level(beams=BEAMS, max_range=200.0, no_return="nan", **fields)
    sensor = world(bot("CajunBot", conf)).sensors[0]
    key = stream_key(11, "laser", "noise")
    true = np.broadcast_to(np.asarray(true, float), (1, BEAMS)).copy()
    return np.concatenate([measure(noise_of(sensor), true, key, k)[0] for k in range(count)])


def sigma_bounds(sigma, n):
    """Interval that holds the sample deviation of n normal numbers with a chance of 1 - 1e-6.

    The quantiles of χ² are those of Wilson and Hilferty, PNAS 17 (1931).
    """
    part = 2.0 / (9.0 * (n - 1))
    return tuple(sigma * (1.0 - part + z * math.sqrt(part)) ** 1.5 for z in (-4.9, 4.9))


def share_bound(share, n):
    return 4.9 * math.sqrt(share * (1.0 - share) / n)


@pytest.mark.parametrize(
    ("fields", "distance", "sigma"),
    [
        ({"range_sigma": 0.05}, 50.0, 0.05),
        ({"range_sigma_slope": 0.002}, 50.0, 0.1),
        ({"range_sigma": 0.05, "range_sigma_slope": 0.002}, 100.0, 0.25),
        ({"radial_sigma": (0.3,)}, 50.0, 0.3),
        ({"bins": (20.0, 60.0, 100.0), "radial_sigma": (0.1, 0.2, 0.4)}, 50.0, 0.2),
        ({"bins": (20.0, 60.0), "radial_sigma": (0.1, 0.2)}, 90.0, 0.2),
        ({"range_sigma": 0.3, "radial_sigma": (0.4,)}, 50.0, 0.5),
    ],
)
def test_deviation_of_a_range_is_what_the_conf_says(fields, distance, sigma):
    error = readings(distance, **fields)[0] - distance
    low, high = sigma_bounds(sigma, BEAMS)
    assert low < error.std(ddof=1) < high
    assert abs(error.mean()) < 4.9 * sigma / math.sqrt(BEAMS)


def test_biases_add_and_no_range_is_negative():
    assert readings(50.0, range_bias=0.25, radial_bias=(-0.1,)) == pytest.approx(50.15)
    near = readings(0.1, range_sigma=5.0)
    assert (near >= 0.0).all()
    assert (near == 0.0).mean() == pytest.approx(0.492, abs=0.02)


def test_returns_get_lost_by_distance():
    fields = {"bins": (20.0, 60.0, 100.0), "detection_rate": (1.0, 0.9, 0.4), "dropout": 0.1}
    for distance, rate in ((10.0, 0.9), (50.0, 0.81), (99.0, 0.36), (150.0, 0.36)):
        assert np.isfinite(readings(distance, **fields)).mean() == pytest.approx(rate, abs=share_bound(rate, BEAMS))


def test_bins_are_ellipses():
    """With ratio 2 an object 30 m ahead counts as 15 m away, one 30 m to the side as 30 m."""
    fields = {"bins": (20.0, 100.0), "detection_rate": (1.0, 0.0), "bin_ratio": 2.0}
    seen = np.isfinite(readings(30.0, **fields)[0])
    azimuth = np.linspace(-math.pi / 2, math.pi / 2, BEAMS)
    assert (seen == (np.hypot(15.0 * np.cos(azimuth), 30.0 * np.sin(azimuth)) < 20.0)).all()


def test_false_returns_lie_evenly_before_what_would_be_met():
    early = readings(50.0, false_returns=0.2, min_range=10.0)[0]
    dust = early[early != 50.0]
    assert len(dust) / BEAMS == pytest.approx(0.2, abs=share_bound(0.2, BEAMS))
    assert dust.min() >= 10.0
    assert dust.max() <= 50.0
    assert dust.mean() == pytest.approx(30.0, abs=4.9 * 40.0 / math.sqrt(12 * len(dust)))
    sky = readings(np.inf, false_returns=0.1)[0]
    assert np.isfinite(sky).mean() == pytest.approx(0.1, abs=share_bound(0.1, BEAMS))


def test_draws_of_different_causes_and_scans_are_independent():
    ranges = readings(50.0, count=2, range_sigma=0.1, dropout=0.3)
    kept = np.isfinite(ranges)
    both = kept.all(axis=0)
    assert both.mean() == pytest.approx(0.49, abs=share_bound(0.49, BEAMS))
    pair = ranges[:, both] - 50.0
    assert abs(np.corrcoef(pair)[0, 1]) < 4.9 / math.sqrt(both.sum())
    assert abs(np.corrcoef(ranges[0, kept[0]] - 50.0, kept[1, kept[0]])[0, 1]) < 4.9 / math.sqrt(kept[0].sum())


def test_a_scanner_without_noise_gives_the_truth_bit_for_bit():
    true = np.linspace(0.5, 150.0, BEAMS)
    assert (readings(true)[0] == true).all()


def test_a_reading_that_equals_no_return_is_none():
    conf = level(max_range=20.0, no_return="max", range_resolution=1.0, beams=3)
    sensor = world(bot("CajunBot", conf)).sensors[0]
    ranges, seen = measure(noise_of(sensor), np.array([[19.4, 19.8, 25.0]]), stream_key(1, "laser", "x"), 0)
    assert (ranges.tolist(), seen.tolist()) == ([[19.0, 20.0, 20.0]], [[True, False, False]])


def test_blind_sectors_see_nothing_ends_included():
    sector = (math.radians(-10.0), math.radians(20.0)), (math.radians(350.0), math.radians(355.0))
    made = world(bot("CajunBot", level(blind=sector)), prop("wall", Triple(0, 10, 0), size=Triple(200, 1, 5)))
    scan = cbsim.sense(made, made.start)[KEY]
    degrees = np.round(np.degrees(scan.angles))
    open_ = np.isfinite(cbsim.sense(w := world(bot("CajunBot", level()), made.scene.actors[1]), w.start)[KEY].ranges[0])
    assert (scan.returned[0] == (open_ & ~((degrees >= -10) & (degrees <= 20)))).all()


def test_outage_is_silence_from_its_first_moment_to_before_its_end():
    conf = level(rate=10.0, outages=((0.5, 1.0), (1.2, 1.3)))
    made = world(bot("CajunBot", conf))
    times = [scan.time for scan in cbsim.run(made, duration=2.0).scans(KEY)]
    assert times == pytest.approx([k / 10 for k in range(21) if not (5 <= k < 10 or k == 12)])
    snapshot = made.start
    for _ in range(12):
        snapshot = cbsim.step(made, snapshot)
    assert KEY not in cbsim.sense(made, snapshot)  # silent, although it said something before


def test_frozen_scan_repeats_the_last_one_with_new_times():
    conf = level(rate=10.0, range_sigma=0.1, freezes=((0.45, 1.0),))
    mover = prop("wall", Triple(0, 20, 0), size=Triple(60, 1, 4))
    scans = cbsim.run(world(bot("CajunBot", conf), mover), duration=1.5).scans(KEY)
    assert [scan.time for scan in scans] == pytest.approx([k / 10 for k in range(16)])
    same = [bool((scan.ranges == scans[4].ranges).all()) for scan in scans]
    assert same == [False] * 4 + [True] * 6 + [False] * 6


def test_freeze_from_the_start_shows_the_first_scan():
    conf = level(rate=10.0, range_sigma=0.1, freezes=((0.0, 0.5),))
    made = world(bot("CajunBot", conf), prop("wall", Triple(0, 20, 0), size=Triple(60, 1, 4)))
    scans = cbsim.run(made, duration=0.8).scans(KEY)
    assert [bool((scan.ranges == scans[0].ranges).all()) for scan in scans] == [True] * 5 + [False] * 4


def test_frozen_scan_of_a_moving_world_is_the_same_at_any_later_step():
    """The memory of a Snapshot reaches back to the scan that is shown."""
    conf = level(rate=10.0, range_sigma=0.1, freezes=((0.5, 1.5),))
    made = world(bot("CajunBot", conf), prop("wall", Triple(0, 20, 0), size=Triple(60, 1, 4)))
    driving = cbsim.Command(throttle=1.0, steering=0.2)
    snapshot, seen = made.start, {}
    for _ in range(40):
        snapshot = cbsim.step(made, snapshot, {"CajunBot": driving})
        scan = cbsim.sense(made, snapshot)[KEY]
        seen.setdefault(round(scan.time * 10), scan)
        assert (scan.ranges == seen[round(scan.time * 10)].ranges).all()
    assert (seen[14].ranges == seen[4].ranges).all()
    assert (seen[15].ranges != seen[4].ranges).any()
    assert seen[14].pose.position == pytest.approx(seen[4].pose.position)


def test_scan_of_an_index_does_not_depend_on_when_it_is_taken_or_how_often():
    conf = level(rate=20.0, range_sigma=0.1, dropout=0.2, false_returns=0.05, angle_sigma=0.01)
    made = world(bot("CajunBot", conf), prop("wall", Triple(0, 20, 0), size=Triple(60, 1, 4)))
    other = world(bot("CajunBot", replace(conf, rate=10.0)), made.scene.actors[1])
    snapshot = made.start
    sensor, rare = made.sensors[0], other.sensors[0]
    one = SENSORS["ladar"](made, snapshot, sensor, 0)
    assert (one.ranges == SENSORS["ladar"](made, snapshot, sensor, 0).ranges).all()
    assert (one.ranges == SENSORS["ladar"](other, other.start, rare, 0).ranges).all()


@pytest.mark.parametrize("fields", [{"range_sigma": 0.05}, {"dropout": 0.2}, {"range_sigma": 0.05, "dropout": 0.2}])
def test_a_beam_reads_the_same_whatever_the_others_return(fields):
    conf = level(beams=BEAMS, max_range=200.0, **fields)
    noise, key = noise_of(world(bot("CajunBot", conf)).sensors[0]), stream_key(5, "laser", "noise")
    drawn = np.random.default_rng(2)
    true = drawn.uniform(1.0, 150.0, (1, BEAMS))
    whole, seen = measure(noise, true, key, 3)
    for share in (0.5, 0.02, 0.0):  # single beams, in blocks of random numbers of which others are not drawn
        is_left = drawn.random(BEAMS) < share
        is_left[[0, -1]] = share > 0.0
        part, still_seen = measure(noise, np.where(is_left, true, np.inf), key, 3)
        assert (part[0, is_left] == whole[0, is_left]).all()
        assert (still_seen[0] == seen[0] & is_left).all()
