"""Threads that compile at once, kernels and functions of others, give the machine code that each gives alone."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import threading
from collections import namedtuple

import numba
import numpy as np
import pytest
from numba.core import config, event

from cbsim.jit import inner, kernel, narrow, wide
from cbsim.kernel_compiler import IS_PLAIN
from tests.common import ROOT

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT or IS_PLAIN), reason="nothing is compiled by these hooks")

Table = namedtuple("Table", "rows sizes count")
DECORATORS = {
    "kernel": (inner, kernel),
    "narrow": (wide, narrow),
    "plain": (numba.njit, numba.njit(error_model="numpy")),  # noqa: TID251 - as other packages do
}
THREADS = 4


def summing(inside, outside, scale):
    @inside
    def third_of(table, k):
        total = 0.0
        for j in range(table.rows.shape[1]):
            total += scale * table.rows[k, j] - table.sizes[j]
        return total / 3.0

    @outside
    def summed(table, first):
        total = 0.0
        for k in range(first, table.count):
            if table.rows[k, 0] > 0.5:
                total += third_of(table, k)
            else:
                total -= min(abs(third_of(table, k)), scale)
        return total, table.count + first

    return summed


def copying(inside, outside, scale):
    @inside
    def add_into(out, values):
        for k in range(out.shape[0]):
            out[k] += scale * values[k]

    @outside
    def copied(table, first):
        out = np.zeros_like(table.rows)
        for k in range(first, table.count):
            add_into(out[k], table.rows[k])
        rows = out[first:]
        return rows.sum(), rows.shape[0]

    return copied


def searching(inside, outside, scale):
    @inside
    def halves(low, high):
        return (low + high) // 2, high - low > 1

    @outside
    def searched(table, first):
        low, high = first, table.count
        while True:
            middle, is_wide = halves(low, high)
            if not is_wide:
                return scale * middle, low
            low, high = (middle, high) if table.rows[middle, 0] < table.sizes[0] else (low, middle)

    return searched


MAKERS = (summing, copying, searching)
CASES = [(make, kind) for make in MAKERS for kind in DECORATORS]


def compiled(make, kind):
    """Compile a function anew; return its result and its instructions, with symbols numbered as they appear."""
    function = make(*DECORATORS[kind], 1.5)
    rows = np.random.default_rng(3).uniform(size=(6, 4))
    result = function(Table(rows, np.full(4, 0.25), 6), 1)
    (overload,) = function.overloads.values()
    names: dict[str, str] = {}
    code = re.sub(
        r"_Z\w+|\.const\.[\w.]+",
        lambda found: names.setdefault(found[0], f"symbol{len(names)}"),
        overload.library.get_asm_str(),
    )
    return result, re.findall(r"^\t[a-z].*", code, re.MULTILINE)


class Watch(event.Listener):
    """Notes which functions compile in which thread while a part of numba is replaced."""

    def __init__(self):
        self.seen = []
        self.depth = threading.local()

    def on_start(self, begun):
        from cbsim.kernel_compiler.shortcuts import REPLACEMENTS

        self.depth.count = getattr(self.depth, "count", 0) + 1
        if self.depth.count == 1:
            is_own = type(begun.data["dispatcher"]).__module__.startswith("cbsim.")
            parts = [vars(owner)[name] for owner, name, _, _ in REPLACEMENTS]
            expected = [each[3 if is_own else 2] for each in REPLACEMENTS]
            self.seen.append((is_own, parts == expected))

    def on_end(self, _ended):
        self.depth.count -= 1


@pytest.fixture
def uncached(monkeypatch):
    """Compile every kernel, and switch threads as often as Python can."""
    from cbsim.kernel_compiler import dispatch

    monkeypatch.setattr(dispatch, "cache_of", lambda _: None)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("rounds", [1, pytest.param(8, marks=pytest.mark.slow)])
def test_threads_compile_to_the_code_and_results_of_one(uncached, rounds):
    from cbsim.kernel_compiler.dispatch import Fallback
    from cbsim.kernel_compiler.shortcuts import REPLACEMENTS

    alone = {case: compiled(*case) for case in CASES}
    assert all(len(code) > 20 for _, code in alone.values())
    assert len({result for (make, _), (result, _) in alone.items()}) == len(MAKERS)
    found, faults, gate, watch = [], [], threading.Barrier(THREADS), Watch()

    def work(number):
        order = CASES * rounds
        random.Random(number).shuffle(order)
        gate.wait()
        for case in order:
            try:
                found.append((case, compiled(*case)))
            except BaseException as fault:
                faults.append((case, fault))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    with event.install_listener("numba:compile", watch):
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert not faults
    assert len(found) == THREADS * rounds * len(CASES)
    for case, outcome in found:
        assert outcome == alone[case], case
    assert {is_own for is_own, _ in watch.seen} == {False, True}
    assert all(as_expected for _, as_expected in watch.seen)
    assert all(vars(owner)[name] is numbas for owner, name, numbas, _ in REPLACEMENTS)
    assert not Fallback.active


ENDING = """
import weakref
from numba import types
from cbsim.kernel_compiler.shortcuts import shortcuts

others, ended = [types.UniTuple(types.int64, 3), types.Array(types.float64, 2, "C")], []
for k in range(20):
    with shortcuts():
        kind = types.Array(types.float64, 90 + k, "C")
        hash(kind)
        watch = weakref.ref(kind, lambda _: ended.append([hash(each) for each in others]))
        list(map(hash, others))
        del kind
    assert ended.pop() == list(map(hash, others))
"""


def test_types_are_hashed_by_others_while_parts_of_numba_are_put_back():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-X", "faulthandler", "-c", ENDING]  # a process of its own, which may crash
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
