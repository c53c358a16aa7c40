"""Output of steps is passed on as one batch, in order, whoever made its arrays."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.collision.contacts import CONTACT
from cbsim.simulation.batch_builder import BatchBuilder
from cbsim.world.motion import MOTION_WIDTH

BODIES = 2
NUMBERS = 40 * (1 + MOTION_WIDTH * BODIES)  # of forty steps


def fill(builder, first, steps, bodies=BODIES):
    """Write steps to the room of a builder, with numbers that tell which they are."""
    hashes, motion = builder.room(steps, bodies, NUMBERS)
    hashes[:] = np.arange(first, first + steps)
    motion[:] = np.arange(first, first + steps)[:, None, None]
    builder.add(first, (hashes, motion), True)


def numbers_of(batch):
    return batch.hashes.tolist(), batch.motion[:, 0, 0].tolist()


@pytest.mark.parametrize("sizes", [[1] * 60, [3, 1, 50, 2], [100], [1, 1]])
def test_steps_that_were_written_to_its_room_are_passed_on_in_order(sizes):
    builder, first, seen = BatchBuilder(), 1, []
    for k, size in enumerate(sizes):
        fill(builder, first, size)
        first += size
        if k % 7 == 6:
            seen.append(builder.drain())
            assert not builder
    seen += [builder.drain()] if builder else []
    assert [batch.first_step for batch in seen] == [1, *np.cumsum([len(b.hashes) for b in seen])[:-1] + 1]
    assert [number for batch in seen for number in numbers_of(batch)[0]] == list(range(1, first))
    assert [number for batch in seen for number in numbers_of(batch)[1]] == list(range(1, first))


def test_a_batch_stays_what_it_is_when_more_steps_are_written():
    builder, batches = BatchBuilder(), []
    for first in range(1, 200, 5):
        fill(builder, first, 5)
        batches.append(builder.drain())
    for first, batch in zip(range(1, 200, 5), batches, strict=True):
        assert numbers_of(batch) == (list(range(first, first + 5)), list(range(first, first + 5)))


def test_a_small_share_of_a_block_does_not_keep_the_whole_block():
    builder = BatchBuilder()
    fill(builder, 1, 2)
    batch = builder.drain()
    assert batch.motion.base is None
    assert batch.hashes.base is None


def test_arrays_of_others_stand_where_they_were_given():
    builder = BatchBuilder()
    fill(builder, 1, 2)
    builder.add(3, (np.array([3], np.uint64), np.full((1, BODIES, MOTION_WIDTH), 3.0)), False)
    fill(builder, 4, 1)
    assert numbers_of(builder.drain())[0] == [1, 2, 3, 4]


def test_another_number_of_bodies_begins_another_block():
    builder = BatchBuilder()
    fill(builder, 1, 2)
    assert builder.drain().motion.shape == (2, BODIES, MOTION_WIDTH)
    fill(builder, 3, 2, bodies=5)
    assert builder.drain().motion.shape == (2, 5, MOTION_WIDTH)


def test_rows_of_a_batch_are_passed_on_once():
    builder = BatchBuilder()
    fill(builder, 1, 1)
    builder.add_rows([(0, 0, (0.0,) * 6)], [(0, 1, 0.5)], [], [], np.zeros((2, len(CONTACT))))
    builder.add_events(np.zeros((1, 4), np.int64))
    batch = builder.drain()
    assert (len(batch.commands), len(batch.controls), len(batch.contacts), len(batch.events)) == (1, 1, 2, 1)
    fill(builder, 2, 1)
    batch = builder.drain()
    assert (len(batch.commands), len(batch.controls), len(batch.contacts), len(batch.events)) == (0, 0, 0, 0)
