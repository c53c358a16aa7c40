"""Ranges, slices and rows of arrays give what Python and NumPy give, whatever their bounds."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.jit import kernel

BOUNDS = (-12, -9, -3, -1, 0, 1, 4, 8, 9, 30)


@kernel
def looped(first, last):
    total, again = 0, range(first, last)
    for i in range(last):
        for j in range(first, last):
            if j == 5:
                continue
            total += 10 * i + j
        if total > 4000:
            break
    else:
        total += 7
    for k in range(last, first, -2):
        total += 3 * k
    for k in again:
        total += k
    for k in again:
        total -= 2 * k
    return total, len(again)


@pytest.mark.parametrize("first", BOUNDS)
@pytest.mark.parametrize("last", BOUNDS)
def test_loops_over_ranges(first, last):
    assert looped(first, last) == looped.py_func(first, last)


@kernel
def note_views(values, table, first, last, out):
    parts = (values[first:last], values[:last], values[first:], values[:], values[3:last], values[-3:last])
    for k in range(len(parts)):
        out[k, 0], out[k, 1] = len(parts[k]), parts[k].size
        if len(parts[k]):
            out[k, 2], out[k, 3] = parts[k][0], parts[k][-1]
    rows = table[first:last]
    out[6, 0], out[6, 1] = len(rows), rows.size
    if len(rows):
        out[6, 2], out[6, 3] = rows[0, 1], rows[-1, 1]
    thinned = values[first:last:2]
    out[7, 0] = len(thinned)
    row = table[first % 5]
    row[0] += 100.0
    out[8, 0], out[8, 1], out[8, 2] = row.size, row[-1], table[first % 5, 0]
    values[1:3][:] = 7.0


@pytest.mark.parametrize("first", BOUNDS)
@pytest.mark.parametrize("last", BOUNDS)
def test_views_of_arrays(first, last):
    results = []
    for function in (note_views, note_views.py_func):
        values, table, out = np.arange(1.0, 10.0), np.arange(14.0).reshape(7, 2), np.zeros((9, 4))
        function(values, table, first, last, out)
        results.append((values, table, out))
    assert all(np.array_equal(one, other) for one, other in zip(*results, strict=True))
    assert results[0][2][8, 0] == 2.0


@kernel
def made(count):
    block = np.zeros((4, count, 2))
    block[1] = 3.0
    row, some = block[1], block[2:9]
    row[count - 1, 1] = 5.0
    some[0, 0, 0] = 11.0
    return row, some.shape, block.sum()


def test_views_keep_allocated_memory_alive():
    for _ in range(20):
        row, shape, total = made(50)
        assert row.shape == (50, 2)
        assert shape == (2, 50, 2)
        assert row[-1, -1] == 5.0
        assert row.sum() == 302.0
        assert total == 313.0


@kernel
def rows_of_other_layouts(table):
    return table.T[1].sum() + table[:, 1][1:].sum() + table[1:, 0].sum()


def test_rows_of_other_layouts():
    table = np.arange(12.0).reshape(4, 3)
    assert rows_of_other_layouts(table) == rows_of_other_layouts.py_func(table)
