"""Reading road networks: MiB/s, and a network of 9 000 waypoints and 400 lane-km read, linted and compiled.

    python benchmarks/bench_reading.py

Peer: commonroad-io's CommonRoadFileReader, 6 to 11 MiB/s on this class of machine; when it can be imported and
$COMMONROAD_XML names a scenario, it is timed in the same run.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from common import rounds, show

from cbsim.errors import Problems
from cbsim.export.city import city
from cbsim.formats.reader import Source
from cbsim.formats.rndf import read, write
from cbsim.lint.network import lint_network
from cbsim.road.roadmap import build

COMMONROAD = 6.5  # MiB/s, its slower figure for a map of lanelets
BIG = {"columns": 22, "rows": 21, "block": 240.0, "spacing": 55.0}  # 8 942 waypoints, 400 lane-km


def peer() -> list[float]:
    """Time commonroad-io, if it is here; MiB/s."""
    path = os.environ.get("COMMONROAD_XML")
    try:
        from commonroad.common.file_reader import CommonRoadFileReader
    except ImportError:
        return []
    if not path:
        return []
    size = Path(path).stat().st_size / 2**20
    return [size / t for t in rounds(lambda: CommonRoadFileReader(path).open(), 3)]


def main() -> None:
    network, _, _ = city(**BIG)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.rndf"
        path.write_text(write(network))
        data = path.read_bytes()
        source = Source.decode(path, data)
        lanes = list(network.lanes)
        print(f"{sum(len(lane.points) for lane in lanes)} waypoints, {len(lanes)} lanes, {len(data) / 2**20:.2f} MiB")
        rates = [len(data) / 2**20 / t for t in rounds(lambda: read(source, Problems()))]
        rivals = peer() or [COMMONROAD]
        ratio = rates[len(rates) // 2] / rivals[len(rivals) // 2]
        show("reading", rates, "MiB/s", f"{ratio:.1f} x commonroad-io")

        def everything() -> None:
            spec = read(Source.decode(path, path.read_bytes()), Problems())
            lint_network(spec, Problems())
            build(spec).lanes  # noqa: B018 - built when first asked for

        show("read, lint and compile", rounds(everything, 5), "s")


if __name__ == "__main__":
    main()
