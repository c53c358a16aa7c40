"""Kernels read and write elements, pass arrays and count references as plain Python does."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba.core import config
from numpy.typing import NDArray

from cbsim.jit import inner, kernel, prefetch, view

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


class Tables(NamedTuple):
    count: int
    plane: NDArray[np.float64]
    cube: NDArray[np.float64]


@view
def tables_of(block, rows):
    return Tables(rows, block[: 2 * rows].reshape((rows, 2)), block[2 * rows : 8 * rows].reshape((rows, 2, 3)))


@inner
def described(array):
    stride = array.strides[0] + 100 * array.strides[array.ndim - 1]
    return array.size + 1000 * array.itemsize, stride, array.nbytes, len(array)


@kernel
def describe(array):
    return described(array)


@kernel
def elements(flat, plane, cube, flags, signed, unsigned):
    place = (-1, signed)
    total = flat[-1] + flat[signed] + flat[unsigned] + plane[place] + plane[-2, unsigned] + cube[1, signed, -1]
    if flags[signed]:
        total += place[1]
    for k in range(flat.shape[0]):
        last = flat[flat.shape[0] - 1 - k]  # assigned in one block, used in others
        if k % 2 == 0:
            plane[0, k % 2] = last
        else:
            flags[k], cube[-1, -1, k % 3] = last > 1.0, k
    return total


@kernel
def rows_of(plane, cube, k, unsigned):
    plane[unsigned][k] += 10.0
    box, line = cube[k], cube[k, unsigned]
    line[0] = 7.0 + box[0, 1] + plane[-1][0]
    row = plane[0]
    for n in range(cube.shape[0]):
        row = cube[n][-1]
    return box.shape[0] + 10 * box.strides[0] + 1000 * box.size + line.shape[0] + 100 * line.strides[0] + row[k]


@kernel
def sum_ahead(plane, ahead):
    total = 0.0
    for k in range(plane.shape[0]):
        prefetch(plane, k + ahead)
        total += plane[k, 0]
    return total


@inner
def scaled(tables, factor):
    room = np.empty(tables.count)
    for k in range(tables.count):
        room[k] = factor * tables.plane[k, 1]
        tables.cube[k, 1, 2] = room[k]
    return room.sum()


@kernel
def scale(block, rows, factor):
    tables = tables_of(block, rows)
    if rows > 1:
        tables = tables_of(block, rows - 1)
    chosen, total = tables.plane, 0.0
    for k in range(3):
        room = np.full(tables.count, 1.0 * k)
        rest = chosen[1:] if k > 0 else chosen
        total += scaled(tables, factor) + room[0] + rest[0, 0]
    return total


@inner
def checked(value):
    if value < 0:
        raise ValueError("negative")
    return value


@kernel
def check(values):
    total = 0
    for k in range(values.shape[0]):
        total += checked(values[k])
    return total


@inner
def found(values, wanted):
    for k in range(values.shape[0]):
        if values[k] == wanted:
            return k
    return None


@kernel
def find(values, wanted):
    place = found(values, wanted)
    return -1 if place is None else place


def arguments():
    flags = np.zeros(5, np.bool_)
    flags[1] = True
    return np.arange(5.0), np.arange(6.0).reshape(3, 2), np.arange(12.0).reshape(2, 2, 3), flags, 1, np.uint64(1)


def test_elements_are_those_of_plain_python_at_negative_unsigned_and_tuple_indices():
    expected, given = arguments(), arguments()
    assert elements(*given) == elements.py_func(*expected)
    for one, other in zip(given[:4], expected[:4], strict=True):
        np.testing.assert_array_equal(one, other)


def test_elements_of_strided_arrays_are_those_of_plain_python():
    flat, plane, cube, *others = arguments()
    strided = [np.repeat(flat, 3)[::3], np.asfortranarray(plane)[::-1][::-1], np.repeat(cube, 2, axis=2)[:, :, ::2]]
    assert elements(*strided, *others) == elements.py_func(*arguments())
    assert strided[2][-1, -1, 0] == 3.0


def test_rows_are_views_as_in_plain_python():
    for strided in (False, True):
        expected, given = arguments()[1:3], arguments()[1:3]
        plane, cube = (np.repeat(each, 2, axis=-1)[..., ::2] if strided else each for each in given)
        view = cube[1]
        found = rows_of(plane, cube, 1, np.uint64(1))
        assert found == rows_of.py_func(*expected, 1, 1) + 10 * (view.strides[0] - 24) + 100 * (view.strides[1] - 8)
        np.testing.assert_array_equal(plane, expected[0])
        np.testing.assert_array_equal(cube, expected[1])


@pytest.mark.parametrize("shape", [(4,), (0,), (3, 2), (1, 5), (3, 0), (2, 3, 4), (1, 1, 1)])
@pytest.mark.parametrize("kind", [np.float64, np.int32, np.bool_])
def test_arrays_passed_to_device_functions_keep_size_and_strides(shape, kind):
    array = np.zeros(shape, kind)
    size, stride, total, length = describe(array)
    assert (size, total, length) == (array.size + 1000 * array.itemsize, array.nbytes, shape[0])
    if array.size:
        assert stride == array.strides[0] + 100 * array.strides[-1]


def test_strides_of_strided_arrays_are_passed_on():
    array = np.zeros((4, 6))[::2, ::3]
    assert describe(array)[:2] == (4 + 8000, array.strides[0] + 100 * array.strides[1])


def test_views_of_a_block_are_not_counted_and_allocations_beside_them_are_freed():
    block = np.arange(24.0)
    assert scale(block, 3, 2.0) == 3 * 2.0 * (1.0 + 3.0) + (0.0 + 1.0 + 2.0) + 0.0 + 2 * 2.0
    assert block[4 + 5] == 2.0  # of the cube, after four numbers of the plane
    before = sys.getrefcount(block)
    for _ in range(100):
        scale(block, 3, 2.0)
    assert sys.getrefcount(block) == before


def test_an_error_of_a_device_function_reaches_python():
    assert check(np.array([1, 2])) == 3
    with pytest.raises(ValueError, match="negative"):
        check(np.array([1, -2]))


def test_a_device_function_may_return_none():
    assert find(np.array([4, 5]), 5) == 1
    assert find(np.array([4, 5]), 6) == -1


@pytest.mark.parametrize("ahead", [-(1 << 40), -1, 0, 3, 1 << 40])
def test_rows_outside_of_an_array_can_be_prefetched(ahead):
    plane = np.arange(12.0).reshape((4, 3))
    assert sum_ahead(plane, ahead) == 18.0
    assert (plane == np.arange(12.0).reshape((4, 3))).all()
