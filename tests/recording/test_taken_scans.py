"""Scans are recorded as the kernel writes them, with the same bytes as row by row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.recording.batch import Batch, TakenScans
from cbsim.recording.messages import messages_of
from cbsim.spec.objects import Triple
from tests.worlds import bot, level, mover, prop, world

STEP = 0.05


def scene(**fields):
    lasers = (
        level(rate=75.0, range_sigma=0.02, **fields),
        level(rate=37.5, scan_time=0.02, **fields),
        level(rate=12.0, latency=0.07, angle_sigma=0.01, **fields),
    )
    others = prop("Box", Triple(4.0, 9.0, 0.0)), mover("Car", (9.0, 0.0, 60.0, 0.3), at=Triple(-6.0, 5.0, 0.0))
    return world(bot("CajunBot", *lasers), *others, step=STEP, duration=0.7)


def batches_of(made) -> list[Batch]:
    return list(cbsim.run(made).batches())


def test_messages_of_taken_scans_are_those_of_their_rows():
    recorded = batches_of(scene())
    whole = Batch.joined(recorded)
    assert isinstance(whole.scans, TakenScans)
    assert len(whole.scans) == len(list(whole.scans)) > 60
    for batch in (*recorded, whole):
        assert list(messages_of(batch, STEP)) == list(messages_of(replace(batch, scans=list(batch.scans)), STEP))


def test_rows_have_the_times_and_poses_that_are_recorded():
    for batch in batches_of(scene()):
        for call in batch.scans.calls:
            for n, (sensor, number) in enumerate(call.due):
                out, _ = call.places(n)
                head = call.readings[out - 12 : out]
                assert head[0] == number / sensor.conf.rate
                row = next(row for row in batch.scans if (row.key, row.time) == (sensor.key, head[0]))
                assert row.pose.tobytes() == head[1:8].tobytes()
                assert head[8:].view(np.int64)[:2].tolist() == list(row.ranges.shape)


@pytest.mark.parametrize("freezes", [((0.2, 0.4),), ()])
def test_a_frozen_scan_has_the_time_of_its_number(freezes):
    whole = Batch.joined(batches_of(scene(freezes=freezes)))
    times = [row.time for row in whole.scans if row.key.endswith("_0")]
    assert times == [number / 75.0 for number in range(len(times))]
    assert isinstance(whole.scans, TakenScans) is (not freezes)
