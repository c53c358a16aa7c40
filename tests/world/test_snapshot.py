"""Snapshots: bit-exact bytes, hashes that see everything, refusal of what is foreign."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cbsim
from cbsim.errors import RecordingError
from cbsim.spec.objects import Triple
from cbsim.world.kernels import hash_words
from cbsim.world.tables import COLUMNS, Layout, State
from tests.worlds import bot, mover, prop, world

SCENE = (bot(), mover("Traffic", (3.0, 0.5, 10.0, 1.0), (2.0, 0.0, 5.0, -1.0)), prop("Box", Triple(9, 9, 0)))


def test_bytes_and_back_are_the_same_snapshot_bit_for_bit():
    made = world(*SCENE)
    snapshot = cbsim.step(made, made.start)
    again = made.restore(snapshot.to_bytes())
    assert again == snapshot
    assert again.hash == snapshot.hash
    assert again.floats.tobytes() == snapshot.floats.tobytes()


def test_a_step_leaves_the_old_snapshot_as_it_was():
    made = world(*SCENE)
    before = made.start.to_bytes()
    cbsim.step(made, made.start, {"CajunBot": cbsim.Command(throttle=1.0)})
    assert made.start.to_bytes() == before


@given(block=st.sampled_from(["floats", "ints"]), index=st.integers(0, 200), bit=st.integers(0, 63))
def test_every_bit_of_a_snapshot_is_in_its_hash(block, index, bit):
    made = world(*SCENE)
    snapshot = made.start.copy()
    words = getattr(snapshot, block).view(np.uint64)
    words[index % len(words)] ^= np.uint64(1 << bit)
    assert snapshot.hash != made.start.hash


def test_snapshot_of_another_world_is_refused():
    one, other = world(*SCENE), world(bot(), SCENE[1], prop("Box", Triple(9, 8, 0)))
    with pytest.raises(RecordingError, match=r"another world|not a snapshot"):
        other.restore(one.start.to_bytes())


@given(st.binary(max_size=400))
def test_damaged_bytes_are_refused_with_a_reason(data):
    made = world(bot())
    with pytest.raises(RecordingError):
        made.restore(data)


def test_columns_and_state_name_the_same_things_in_the_same_order():
    assert tuple(c.name for c in COLUMNS) == State._fields


@given(bodies=st.integers(0, 5), vehicles=st.integers(0, 3), movers=st.integers(0, 3))
def test_columns_cover_both_blocks_without_overlap(bodies, vehicles, movers):
    layout = Layout(bodies, vehicles, movers)
    floats, ints = np.zeros(layout.size("float")), np.zeros(layout.size("int"), np.int64)
    for view in layout.views(floats, ints):
        np.add(view, 1, out=view)
    assert (floats == 1).all()
    assert (ints == 1).all()


@pytest.mark.parametrize(
    ("words", "seed", "expected"),
    [  # reference values of XXH64 over little-endian words, from the xxhash 3 package
        ([], 0, 0xEF46DB3751D8E999),
        ([0], 0, 0x34C96ACDCADB1BBB),
        ([0, 0, 0, 0], 12345, 0x85E8D2949FCC14B7),
        ([1, 2, 3, 4, 5, 6, 7], 0, 0xD636AFBB33D3C535),
        (range(100), 12345, 0xC48FC6B8BA5C2448),
    ],
)
def test_hash_is_xxh64(words, seed, expected):
    with np.errstate(over="ignore"):
        assert int(hash_words(np.array([*words], np.uint64), np.uint64(seed))) == expected
