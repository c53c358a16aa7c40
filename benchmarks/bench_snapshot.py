"""Snapshot of 1 000 cars to bytes and back; what recording costs a run.

python benchmarks/bench_snapshot.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench_traffic import movers
from common import rounds, show

import cbsim
from cbsim.run.outcome import execute
from cbsim.world.world import World


def compare(name: str, world: World, steps: int, folder: Path) -> None:
    """Run with and without a recording, in turn, and print the ratio of each pair."""
    pairs = []
    for k in range(7):
        without = rounds(lambda: execute(world, steps=steps), 1)[0]
        with_file = rounds(lambda k=k: execute(world, steps=steps, record=folder / f"{k}.mcap"), 1)[0]
        pairs.append(100.0 * (with_file / without - 1.0))
    show(f"{name}: recording costs", pairs, "%")


def main() -> None:
    world = movers(1000)
    snapshot = world.start
    times = rounds(lambda: world.restore(snapshot.to_bytes()))
    show("snapshot of 1000 movers to bytes and back", [t * 1e3 for t in times], "ms")
    with tempfile.TemporaryDirectory() as folder:
        compare("city, lasers at their rate", cbsim.load("city"), 400, Path(folder))
        compare("1000 movers, nothing else", world, 400, Path(folder))


if __name__ == "__main__":
    main()
