"""Reading road networks: MiB/s, and a network of 9 000 waypoints and 400 lane-km read, linted and compiled.

    [PEER_PYTHON=…/bin/python] python benchmarks/bench_reading.py

Peer: commonroad-io's CommonRoadFileReader, in its own environment because it pins an old protobuf; $PEER_PYTHON names
its interpreter. It reads a CommonRoad XML of as many lanes and points, made by its own writer, in turn with us. Without
it, the figure once measured on this class of machine stands in: 6.5 MiB/s.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from common import rounds, show

from cbsim.errors import Problems
from cbsim.export.city import city
from cbsim.formats import read_file
from cbsim.formats.rndf import write
from cbsim.lint.network import lint_network
from cbsim.road.roadmap import build

COMMONROAD = 6.5  # MiB/s, its slower figure for a map of lanelets
BIG = {"columns": 22, "rows": 21, "block": 240.0, "spacing": 55.0}  # 8 942 waypoints, 400 lane-km
PEER = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from commonroad.common.file_reader import CommonRoadFileReader
from commonroad.common.file_writer import CommonRoadFileWriter, OverwriteExistingFile
from commonroad.common.util import FileFormat
from commonroad.planning.planning_problem import PlanningProblemSet
from commonroad.scenario.lanelet import Lanelet
from commonroad.scenario.scenario import Scenario, ScenarioID

path, lanes, points = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
scenario = Scenario(0.1, ScenarioID())
for k in range(lanes):
    centre = np.stack([np.linspace(0, 200, points), np.full(points, 4.0 * k)], axis=1)
    scenario.add_objects(Lanelet(centre + [0, 1.75], centre, centre - [0, 1.75], k + 1))
writer = CommonRoadFileWriter(scenario, PlanningProblemSet(), "", "", "", set(), file_format=FileFormat.XML)
writer.write_to_file(path, OverwriteExistingFile.ALWAYS)
size = len(open(path, "rb").read()) / 2**20
for line in sys.stdin:
    began = time.process_time()
    CommonRoadFileReader(path).open()
    print(size / (time.process_time() - began), flush=True)
"""


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one piece of work; steadier than wall time on a shared machine."""
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    network, _, _ = city(**BIG)
    lanes = list(network.lanes)
    points = sum(len(lane.points) for lane in lanes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.rndf"
        path.write_text(write(network))
        data = path.read_bytes()
        print(f"{points} waypoints, {len(lanes)} lanes, {len(data) / 2**20:.2f} MiB")
        read_against_peer(data, path, len(lanes), points // len(lanes))

        def everything() -> None:
            spec = read_file(path).spec
            lint_network(spec, Problems())
            for lane in build(spec).lanes:
                lane.left, lane.right, lane.polygon  # noqa: B018 - built when first asked for

        show("read, lint and compile", rounds(everything, 5), "s")


def read_against_peer(data: bytes, path: Path, lanes: int, points: int) -> None:
    """Read in turn with the peer and print rates and the ratio of each pair."""
    command = [os.environ.get("PEER_PYTHON", ""), "-c", PEER, str(path.with_suffix(".xml")), str(lanes), str(points)]
    peer = subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-3, text=True) if command[0] else None
    ours, theirs = [], []
    for _ in range(8):
        if peer is not None:
            peer.stdin.write("\n")
            peer.stdin.flush()
        theirs.append(float(peer.stdout.readline()) if peer is not None else COMMONROAD)
        ours.append(len(data) / 2**20 / cpu(lambda: read_file(path)))
    if peer is not None:
        peer.stdin.close()
        peer.wait()
    show("reading", ours[1:], "MiB/s of CPU")
    show("commonroad-io" if peer is not None else "commonroad-io, as once measured", theirs[1:], "MiB/s of CPU")
    show("ratio of each pair", [a / b for a, b in zip(ours[1:], theirs[1:], strict=True)], "x")


if __name__ == "__main__":
    main()
