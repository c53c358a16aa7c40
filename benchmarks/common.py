"""What benchmarks share: rounds, medians, and one way to print a figure."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

__all__ = ["rounds", "show"]


def rounds(work: Callable[[], object], count: int = 7) -> list[float]:
    """Time a piece of work several times, after one round to warm up; sorted seconds."""
    work()
    times = []
    for _ in range(count):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return sorted(times)


def show(what: str, values: list[float], unit: str, note: str = "") -> None:
    """Print minimum, median and maximum."""
    low, middle, high = min(values), statistics.median(values), max(values)
    print(f"{what:<58} {low:9.3g} / {middle:9.3g} / {high:9.3g} {unit}  {note}")
