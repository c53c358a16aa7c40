"""Forks: a Snapshot with another future, and the branches of random streams that follow from it.

Snapshots of a World that is loaded with `forks` keep at which steps they were forked, and into which branch. A branch
is mixed into the streams of what is yet to happen: arrivals of traffic and who arrives, mistakes of drivers, noise of
sensors, latencies of commands. What has been drawn stays: drivers of cars that are there, the arrival that is due
next, mistakes that have begun, and slow sensor biases, which continue from their value. Branch 0 is the run without
forks.

See docs/theory/splitting.md §3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.errors import UsageError
from cbsim.geometry import elementary as math
from cbsim.world import streams
from cbsim.world.snapshot import Snapshot
from cbsim.world.streams import Key

__all__ = [
    "MOST_BRANCHES", "MOST_FORKS", "branch_at_step", "branch_at_time", "branch_in", "fork", "forks_of", "gauss_markov",
    "occasion", "renewals",
]  # fmt: skip

MOST_FORKS = 1024  # in a chain
MOST_BRANCHES = 65536
SHIFT = 40  # bits of the number of an occasion without its branch
SLACK = 1e-9  # [readings] as in `cbsim.sensing.faults`
STEP, BRANCH = 0, 1


def fork(snapshot: Snapshot, branch: int, step: int | None = None) -> Snapshot:
    """Return the same past with another future.

    Parameters
    ----------
    snapshot : Snapshot
        Of a World that was loaded with `forks`; it is unchanged.
    branch : int
        Number of the future, from 1 on; the same number gives the same future.
    step : int, optional
        Fork only when this step is reached; by default now. Forks must be in the order of their steps.

    Returns
    -------
    Snapshot
        Its hash differs from that of the other by the fork alone.

    Raises
    ------
    UsageError
        If the World is not to be forked, the chain of forks is full, or one of the numbers is out of range.
    """
    rows = snapshot.columns.fork
    if not len(rows):
        raise UsageError("this World cannot be forked: load it with 'forks', the number of forks that a chain may have")
    if not 1 <= branch < MOST_BRANCHES:
        raise UsageError(f"branch is {branch}, expected 1 to {MOST_BRANCHES - 1}")
    count, at = int(np.count_nonzero(rows[:, BRANCH])), snapshot.step if step is None else step
    if count == len(rows):
        raise UsageError(f"this Snapshot has been forked {count} times: load its World with more 'forks'")
    least = max(snapshot.step, int(rows[count - 1, STEP]) if count else 0)
    if at < least:
        raise UsageError(f"a fork at step {at}, expected one from step {least} on")
    made = snapshot.copy()
    made.columns.fork[count] = at, branch
    return made


def forks_of(snapshot: Snapshot) -> list[tuple[int, int]]:
    """Forks of a Snapshot's past and, where they are known, of its future: step and branch of each."""
    return [(int(step), int(branch)) for step, branch in snapshot.columns.fork if branch]


def branch_at_step(snapshot: Snapshot, step: int) -> int:
    """Branch of what happens in the step that begins at the Snapshot of this number."""
    return branch_in(forks_of(snapshot), step)


def branch_in(forks: Sequence[tuple[int, int]], step: int) -> int:
    """Branch of what happens in a step after forks, each with its step and branch, in their order."""
    return next((branch for at, branch in reversed(forks) if at <= step), 0)


def branch_at_time(snapshot: Snapshot, time: float) -> int:
    """Branch of what is measured at a time [s]; a reading at the instant of a fork is of the past."""
    least = time / snapshot.step_length - SLACK
    return next((branch for at, branch in reversed(forks_of(snapshot)) if at < least), 0)


def occasion(number: int, branch: int) -> int:
    """Return the number of an occasion in a branch; those of other branches are too far for any correlation.

    >>> occasion(7, 0), occasion(7, 1) == 7 + 2**40
    (7, True)
    """
    return number + (branch << SHIFT)


def gauss_markov(
    snapshot: Snapshot, key: Key, index: int, rate: float, lags: float, count: int, firsts: Ints = streams.FIRST
) -> Floats:
    """Values of Gauss–Markov sequences that continue from their values at forks.

    Parameters
    ----------
    snapshot : Snapshot
    key, index, lags, count, firsts
        As of `cbsim.world.streams.gauss_markov`.
    rate : float
        [1/s] of the occasions.
    """

    def drawn(at: int, branch: int) -> Floats:
        return streams.gauss_markov(key, occasion(at, branch), lags, count, firsts)

    begins = _begins(snapshot, index, rate)
    ends = [*(at for at, _ in begins[1:]), index]
    value = drawn(ends[0], 0)
    for (at, branch), end in zip(begins[1:], ends[1:], strict=True):
        kept = math.exp(-(end - at) / lags) if lags > 1e-3 else 0.0
        value = kept * value + (drawn(end, branch) - kept * drawn(at, branch))
    return value


def renewals(snapshot: Snapshot, key: Key, index: int, rate: float, lags: float, blocks: Ints) -> Floats:
    """Uniform numbers that are kept for a while, also over forks; parameters as of `gauss_markov`."""

    def drawn(at: int, branch: int) -> Floats:
        return streams.renewals(key, occasion(at, branch), lags, blocks)

    begins = _begins(snapshot, index, rate)
    ends = [*(at for at, _ in begins[1:]), index]
    value = drawn(ends[0], 0)
    for (at, branch), end in zip(begins[1:], ends[1:], strict=True):
        last = drawn(end, branch)
        value = np.where(last == drawn(at, branch), value, last)  # equal numbers: no renewal since the fork
    return value


def _begins(snapshot: Snapshot, index: int, rate: float) -> list[tuple[int, int]]:
    """Last occasion before each branch that an occasion has behind it, and that branch; the first is branch 0."""
    begins = [(0, 0)]
    for step, branch in forks_of(snapshot):
        last = math.floor(step * snapshot.step_length * rate + SLACK)
        if last >= index:
            break
        if last == begins[-1][0] and len(begins) > 1:
            begins.pop()  # nothing was measured in that branch
        begins.append((max(last, 0), branch))
    return begins
