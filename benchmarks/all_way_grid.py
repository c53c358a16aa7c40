"""An hour on a 10 × 10 grid of all-way stops at three steps: collisions, hard braking, throughput; SUMO's beside it.

The same streets with as many cars that wander; throughput is the way of all cars. SUMO has its defaults: it reports
collisions, brakes for emergencies, and teleports who has waited for 300 s. It comes from its wheel in an environment
of its own, as in `bench_traffic.py`::

    python benchmarks/all_way_grid.py [--sumo sumo/bin/python] [--cars 500]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

STREETS, DURATION = 10, 3600.0  # [s]
BLOCKS = 300  # of a way of SUMO's cars: nobody arrives within the hour
STEPS = 0.05, 0.1, 1.0  # [s]
EACH = 10.0  # [s] between readings of speeds
HARD = 4.5  # [m/s²]

SUMO = """
import json, sys
import libsumo
folder, step, duration, each = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
libsumo.start(["sumo", "-n", folder + "/net.xml", "-r", folder + "/routes.xml", "--step-length", sys.argv[2],
               "--no-step-log", "--no-warnings", "--collision.check-junctions", "true"])
told = {"collisions": 0, "emergencies": 0, "teleports": 0, "hard": 0, "way": 0.0}
last = {}
for k in range(round(duration / step)):
    libsumo.simulationStep()
    told["collisions"] += len(libsumo.simulation.getCollisions())
    told["emergencies"] += libsumo.simulation.getEmergencyStoppingVehiclesNumber()
    told["teleports"] += libsumo.simulation.getStartingTeleportNumber()
    speeds = {one: libsumo.vehicle.getSpeed(one) for one in libsumo.vehicle.getIDList()}
    told["hard"] += sum(last.get(one, 0.0) - v > %s * step + 1e-6 for one, v in speeds.items() if v >= 0.0)
    last = speeds
    if k %% round(each / step) == 0:
        told["way"] += sum(v for v in speeds.values() if v >= 0.0) * each
print(json.dumps(told))
"""


def ours(step: float, cars: int) -> dict[str, float]:
    """Run cbsim."""
    import numpy as np

    from benchmarks.bench_traffic import BLOCK, LIMIT
    from cbsim.simulation.advance import advance
    from cbsim.spec.traffic import Driver, Pool, Spread
    from cbsim.world.traffic.tables import ACCELERATION, SPEED
    from tests.traffic.sites import grid, world

    pool, driver = Pool("p", count=cars, drivers=(("d", 1.0),)), Driver("d", speed=Spread(LIMIT))
    made = world(grid(STREETS, block=BLOCK), pool, drivers=(driver,), step=step)
    snapshot, told = made.start, {"collisions": 0.0, "hard": 0.0, "way": 0.0}
    for k in range(round(DURATION / step)):
        _, _, contacts = advance(made, snapshot, 1)
        travel = snapshot.columns.travel
        told["collisions"] += len(contacts)
        told["hard"] += int(np.count_nonzero(travel[:, ACCELERATION] < -HARD - 1e-6))
        if k % round(EACH / step) == 0:
            told["way"] += float(travel[:, SPEED].sum()) * EACH
    return told


def theirs(python: str, step: float, cars: int) -> dict[str, float]:
    """Run SUMO."""
    from benchmarks.bench_traffic import write_sumo_grid

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_sumo_grid(folder, STREETS, cars, BLOCKS)
        convert = str(Path(python).with_name("netconvert"))
        files = [
            "-n",
            str(folder / "nodes.nod.xml"),
            "-e",
            str(folder / "edges.edg.xml"),
            "-o",
            str(folder / "net.xml"),
        ]
        subprocess.run([convert, *files, "--no-turnarounds"], check=True, capture_output=True)
        arguments = [python, "-c", SUMO % HARD, name, str(step), str(DURATION), str(EACH)]
        done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print a line for each step."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sumo", help="Python of the environment that has SUMO")
    parser.add_argument("--cars", type=int, default=500)
    options = parser.parse_args()
    print("| | step [s] | collisions | brakings over 4.5 m/s² | emergency stops | teleports | way of all cars [km] |")
    print("|---|---|---|---|---|---|---|")
    for step in STEPS:
        told = ours(step, options.cars)
        row = f"| cbsim | {step} | {told['collisions']:.0f} | {told['hard']:.0f} | | | {told['way'] / 1000.0:.0f} |"
        print(row, flush=True)
        if options.sumo:
            told = theirs(options.sumo, step, options.cars)
            row = f"| SUMO | {step} | {told['collisions']:.0f} | {told['hard']:.0f} | {told['emergencies']:.0f} "
            print(row + f"| {told['teleports']:.0f} | {told['way'] / 1000.0:.0f} |", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    main()
