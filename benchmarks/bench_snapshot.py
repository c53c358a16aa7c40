"""Snapshot of 1 000 cars to bytes and back; what recording costs a run.

    python benchmarks/bench_snapshot.py

A run with its lasers at their rate is compared with the same run whose scans are taken but not written. The run of
1 000 literal movers and nothing else is the worst case: moving one costs 20 ns, recording it writes 104 bytes.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench_traffic import movers
from common import rounds, show

import cbsim
from cbsim.recording.recorder import FileRecorder, Recorder
from cbsim.simulation.loop import Run, drive
from cbsim.world.world import World


class Nobody:
    """Takes everything and keeps nothing."""

    def begin(self, *_: object) -> None:
        pass

    def take(self, *_: object) -> None:
        pass

    def end(self) -> None:
        pass


def once(world: World, steps: int, listener: Recorder) -> float:
    """Seconds of one run."""
    run = Run(world, world.start.copy(), [], [listener])
    began = time.perf_counter()
    drive(run, steps)
    return time.perf_counter() - began


def compare(name: str, world: World, steps: int, folder: Path) -> None:
    """Run with and without a file, in turn."""
    pairs, extra = [], []
    for k in range(7):
        without, written = once(world, steps, Nobody()), once(world, steps, FileRecorder(folder / f"{k}.mcap"))
        pairs.append(100.0 * (written / without - 1.0))
        extra.append(1e9 * (written - without) / steps / max(1, len(world.moving)))
    show(f"{name}: recording costs", pairs, "%")
    show(f"{name}: recording costs", extra, "ns per moving body and step")


def main() -> None:
    world = movers(1000)
    snapshot = world.start
    times = rounds(lambda: world.restore(snapshot.to_bytes()))
    show("snapshot of 1000 movers to bytes and back", [t * 1e3 for t in times], "ms")
    with tempfile.TemporaryDirectory() as folder:
        compare("four_way_stop with three lasers", cbsim.load("four_way_stop"), 400, Path(folder))
        compare("city with its lasers", cbsim.load("city"), 400, Path(folder))
        compare("1000 movers, nothing else", world, 400, Path(folder))


if __name__ == "__main__":
    main()
