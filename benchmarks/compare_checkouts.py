"""Reactive traffic of two checkouts, by turns: the median of the ratios of their steps, and whether runs are the same.

On a machine that others use, two figures measured one after the other say little. Here one process of each checkout
keeps the World of `bench_traffic.py` and steps it when it is told to::

    python benchmarks/compare_checkouts.py OLD NEW [--cars 10000] [--steps 60] [--rounds 9] [--straight]

``same`` tells whether both Snapshots have the same bits when the measurement begins, and when it ends.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path


def serve(cars: int, is_grid: bool) -> None:
    """Make the World; for each line of the input take so many steps, and print their time [ns per car] and a digest."""
    import bench_traffic as bench

    from cbsim.road.roadmap import build
    from cbsim.simulation.advance import advance
    from cbsim.spec.traffic import Driver, Pool, Spread
    from cbsim.world.compile import compile_world
    from cbsim.world.scene import Scene, Settings

    roads = bench.roads_for(cars, is_grid)
    driver = Driver("d", speed=Spread(bench.LIMIT))
    pools = (Pool("p", count=bench.count_of(roads, is_grid), drivers=(("d", 1.0),)),)
    network = build(bench.network(roads, is_grid))
    world = compile_world(
        Scene("bench", (), network, settings=Settings(step=bench.STEP), pools=pools, drivers=(driver,))
    )
    snapshot = world.start
    advance(world, snapshot, bench.SETTLED)
    print(world.layout.cars, sha256(snapshot.to_bytes()).hexdigest(), flush=True)
    for line in sys.stdin:
        begin = time.process_time()
        advance(world, snapshot, int(line))
        taken = 1e9 * (time.process_time() - begin) / int(line) / world.layout.cars
        print(taken, sha256(snapshot.to_bytes()).hexdigest(), flush=True)


def start(checkout: Path, options: argparse.Namespace) -> subprocess.Popen[str]:
    """Start the process of a checkout."""
    code = (
        f"import sys; sys.path[:0] = [{str(checkout)!r}, {str(Path(__file__).parent)!r}]; "
        f"from compare_checkouts import serve; serve({options.cars}, {not options.straight})"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=checkout
    )


def ask(process: subprocess.Popen[str], steps: int) -> list[str]:
    """Let a process take some steps; without any, wait for its first line."""
    assert process.stdin is not None
    assert process.stdout is not None
    if steps > 0:
        process.stdin.write(f"{steps}\n")
        process.stdin.flush()
    return process.stdout.readline().split()


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--cars", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--straight", action="store_true", help="straight roads in place of a grid")
    options = parser.parse_args()
    processes = [start(checkout.resolve(), options) for checkout in (options.old, options.new)]
    first, second = (ask(process, 0) for process in processes)
    same, times = first == second, []
    for _ in range(options.rounds):
        one, two = (ask(process, options.steps) for process in processes)
        times.append((float(one[0]), float(two[0])))
        same = same and one[1] == two[1]
    old, new = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(after / before for before, after in times)
    print(f"{first[0]} cars: {old:.0f} and {new:.0f} ns per car and step, ratio {ratio:.3f}, same {same}")
    for process in processes:
        process.communicate()


if __name__ == "__main__":
    main()
