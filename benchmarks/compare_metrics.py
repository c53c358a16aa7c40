"""Surrogate measures of safety beside CommonRoad-CriMe and SUMO's SSM device, on 20 shared scenes.

    python -m benchmarks.compare_metrics [--crime PYTHON] [--sumo PYTHON]

The Pythons are those of environments with ``commonroad-crime`` and with ``eclipse-sumo`` and ``libsumo``: neither can
be installed beside cbsim. Scenes are eight followings, six cut-ins and six crossings of two cars; of each the worst
value is compared: TTC, THW and DRAC after the cut-in, PET of the crossings. The lanes of the crossings are as wide as
the cars, so that the conflict area of lanes is that of footprints. Last, TTC evaluations of a pair per CPU second.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.metric_scenes import LANE, LENGTH, STEP, WIDTH, Scene, finite, judged, scenes
from benchmarks.sumo_scenes import sumo

BOUND = 0.05  # [s], [m/s²]
TILT = 1e-4  # [rad] of the road: CriMe takes lanes due east for none
NAMES = ("ttc", "thw", "drac", "pet")


def ours(scene: Scene) -> dict[str, float]:
    """Worst values of cbsim's rule `margin`."""
    import numpy as np

    from cbsim.errors import Location
    from cbsim.evaluation.judge import Judge
    from cbsim.recording.batch import Batch
    from cbsim.spec.metrics import measuring

    header, motion, roadmap = recorded(scene)
    first, last = judged(scene)
    judge = Judge(tuple(measuring(name, "Ego", Location("scene")) for name in NAMES), roadmap, None)
    judge.begin(header, b"", {})
    judge.take(Batch(first, np.zeros(last + 1 - first, np.uint64), motion[first : last + 1]))
    judge.end()
    found = {}
    for name, rule in zip(NAMES, judge.rules, strict=True):
        found |= {one.metric: one.value for one in rule.measures() if one.metric == name and one.value is not None}
    return found


def recorded(scene: Scene) -> tuple[Any, Any, Any]:
    """Header, motion (n, 2, 13) and map of a scene."""
    import numpy as np

    import cbsim
    from cbsim.geometry.pose import heading_quaternion
    from cbsim.recording.batch import Header
    from cbsim.recording.header import FORMAT_VERSION
    from cbsim.road.roadmap import build
    from cbsim.world.motion import MOTION_WIDTH

    pose = {"position": [0.0, 0.0, 0.75], "orientation": [1.0, 0.0, 0.0, 0.0], "size": [WIDTH, LENGTH, 1.5]}
    objects = [{"name": name, "type": "autonomous", **pose} for name in ("Ego", "Other")]
    motion = np.zeros((len(scene["ego"]), 2, MOTION_WIDTH))
    for column, who in enumerate(("ego", "other")):
        for row, (x, y, angle, speed) in zip(motion[:, column], scene[who], strict=True):
            row[:3], row[3:7] = (x, y, 0.75), heading_quaternion(angle - 0.5 * math.pi)
            row[7:9] = speed * math.cos(angle), speed * math.sin(angle)
    header = Header(FORMAT_VERSION, "scene", STEP, 0, "", objects, [0, 1], [], {})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "road.rndf"
        path.write_text(RNDF)
        return header, motion, build(cbsim.read(path))


RNDF = """RNDF_name road
num_segments 1
num_zones 0
segment 1
num_lanes 1
lane 1.1
num_waypoints 2
lane_width 11
1.1.1 0.000000 -0.000900
1.1.2 0.000000 0.009000
end_lane
end_segment
end_file
"""


def theirs(scene: Scene) -> dict[str, float]:
    """Worst values of CommonRoad-CriMe, in its environment."""
    import numpy as np
    from commonroad_crime.measure import PET, THW, TTC, ALongReq

    config = crime_scene(scene)
    first, last = judged(scene)
    steps = range(first, last + 1, 5)
    if scene["kind"] == "crossing":
        measure = PET(config)
        return finite({"pet": measure.compute(2, 0, verbose=False)})
    ttc, thw, need = TTC(config), THW(config), ALongReq(config)
    return finite(
        {
            "ttc": np.nanmin([ttc.compute(2, k, verbose=False) for k in steps]),
            "thw": np.nanmin([thw.compute(2, k, verbose=False) for k in steps]),
            "drac": -np.nanmin([need.compute(2, k, verbose=False) for k in steps]),
        }
    )


def crime_scene(scene: Scene) -> Any:
    """Configuration of CriMe for a scene."""
    import numpy as np
    from commonroad.geometry.shape import Rectangle
    from commonroad.prediction.prediction import TrajectoryPrediction
    from commonroad.scenario.intersection import Intersection, IntersectionIncomingElement
    from commonroad.scenario.lanelet import Lanelet, LaneletNetwork
    from commonroad.scenario.obstacle import DynamicObstacle, ObstacleType
    from commonroad.scenario.scenario import Scenario, ScenarioID, Tag
    from commonroad.scenario.state import CustomState, InitialState
    from commonroad.scenario.trajectory import Trajectory
    from commonroad_crime.data_structure.configuration import CriMeConfiguration

    is_crossing = scene["kind"] == "crossing"
    tilt = 0.0 if is_crossing else TILT

    def turned(x: float, y: float) -> tuple[float, float]:
        return x * math.cos(tilt) - y * math.sin(tilt), x * math.sin(tilt) + y * math.cos(tilt)

    def lanelet(number: int, begin: tuple[float, float], end: tuple[float, float], **links: Any) -> Lanelet:
        way = np.array(end) - begin
        left = 0.5 * (WIDTH if is_crossing else LANE) * np.array([-way[1], way[0]]) / np.hypot(*way)
        count = max(2, round(np.hypot(*way)))
        middle = np.array([turned(*(np.array(begin) + share * way)) for share in np.linspace(0.0, 1.0, count)])
        return Lanelet(middle + left, middle, middle - left, number, **links)

    half = 0.5 * WIDTH
    if is_crossing:
        lanelets = []
        for first, to in ((10, lambda s: (s, 0.0)), (20, lambda s: (0.0, s))):
            lanelets += [
                lanelet(first, to(-90.0), to(-half - 0.5), successor=[first + 1]),
                lanelet(first + 1, to(-half - 0.5), to(half + 0.5), predecessor=[first], successor=[first + 2]),
                lanelet(first + 2, to(half + 0.5), to(90.0), predecessor=[first + 1]),
            ]
    else:
        lanelets = [lanelet(10, (-50.0, 0.0), (700.0, 0.0)), lanelet(11, (-50.0, LANE), (700.0, LANE))]
    network = LaneletNetwork.create_from_lanelet_list(lanelets)
    if is_crossing:
        groups = [
            IntersectionIncomingElement(30 + k, {first}, successors_straight={first + 1})
            for k, first in enumerate((10, 20))
        ]
        network.add_intersection(Intersection(40, groups))
    made = Scenario(STEP, ScenarioID())
    made.tags = {Tag.INTERSECTION} if is_crossing else set()
    made.add_objects(network)
    shape = Rectangle(LENGTH, WIDTH)
    for number, who in ((1, "ego"), (2, "other")):
        states: list[Any] = []
        for k, (x, y, angle, speed) in enumerate(scene[who]):
            common = {"position": np.array(turned(x, y)), "orientation": angle + tilt, "acceleration": 0.0}
            if k == 0:
                more = {"yaw_rate": 0.0, "slip_angle": 0.0}
                states.append(InitialState(time_step=k, velocity=speed, **common, **more))
            elif is_crossing:
                states.append(CustomState(time_step=k, velocity=speed, **common))
            else:
                states.append(CustomState(time_step=k, velocity=speed, velocity_y=0.0, **common))
        every = set(network.find_lanelet_by_position([states[0].position])[0])
        prediction = TrajectoryPrediction(
            Trajectory(1, states[1:]),
            shape,
            dict.fromkeys(range(len(states)), every),
            dict.fromkeys(range(len(states)), every),
        )
        made.add_objects(DynamicObstacle(number, ObstacleType.CAR, shape, states[0], prediction, every))
    config = CriMeConfiguration()
    config.acceleration.acceleration_mode = 1
    config.update(ego_id=1, sce=made)
    return config


def rate_of_crime(scene: Scene) -> float:
    """TTC evaluations of a pair per CPU second."""
    from commonroad_crime.measure import TTC

    last = judged(scene)[1]
    measure = TTC(crime_scene(scene))
    measure.compute(2, 0, verbose=False)
    began, count = time.process_time(), 0
    while time.process_time() - began < 2.0:
        measure.compute(2, count % last, verbose=False)
        count += 1
    return count / (time.process_time() - began)


def rate_of_ours(scene: Scene) -> float:
    """TTC evaluations of a pair per CPU second, by the rule `margin` on batches of a recording."""
    import numpy as np

    from cbsim.errors import Location
    from cbsim.evaluation.rules import RULES, Context
    from cbsim.recording.batch import Batch
    from cbsim.spec.metrics import measuring

    header, motion, roadmap = recorded(scene)
    rule = RULES["margin"](measuring("ttc", "Ego", Location("scene")), Context(header, roadmap, None))
    hashes = np.zeros(128, np.uint64)
    batches = [Batch(k, hashes, motion[k : k + 128].copy()) for k in (0, 100, 120)]
    for batch in batches:
        rule.see(batch)
    began, count = time.process_time(), 0
    while time.process_time() - began < 2.0:
        rule.see(batches[count % 3])
        count += 1
    return 128 * count / (time.process_time() - began)


WORKERS = {
    "crime": lambda every: [theirs(scene) for scene in every],
    "sumo": sumo,
    "rate": lambda every: [rate_of_crime(every[0])],
}


def asked(python: str, worker: str, every: list[Scene]) -> Any:
    """Run a worker in another environment."""
    command = [python, "-m", "benchmarks.compare_metrics", "--worker", worker]
    done = subprocess.run(
        command, input=json.dumps(every), capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1]
    )
    if done.returncode:
        sys.exit(f"{worker} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare(name: str, own: list[dict[str, float]], others: list[dict[str, float]], every: list[Scene]) -> None:
    """Print both values of each scene, and the largest difference of each measure."""
    print(f"\n{name}")
    largest: dict[str, tuple[float, int]] = {}
    for k, (mine, other) in enumerate(zip(own, others, strict=True)):
        for measure in NAMES:
            if measure in other:
                apart = abs(mine.get(measure, math.inf) - other[measure])
                value = mine.get(measure, math.inf)
                print(f"  {k:2d} {every[k]['kind']:<10} {measure:<5} {value:8.3f} {other[measure]:8.3f}")
                before, count = largest.get(measure, (0.0, 0))
                largest[measure] = max(before, apart), count + 1
    for measure, (apart, count) in largest.items():
        told = "within" if apart <= BOUND + 1e-9 else "BEYOND"
        print(f"  {measure:<5} largest difference {apart:.3f} of {count} scenes: {told} {BOUND:g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crime", metavar="PYTHON", help="of an environment with commonroad-crime")
    parser.add_argument("--sumo", metavar="PYTHON", help="of an environment with eclipse-sumo and libsumo")
    parser.add_argument("--worker", choices=sorted(WORKERS), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        every = json.load(sys.stdin)
        with contextlib.redirect_stdout(io.StringIO()):
            result = WORKERS[given.worker](every)
        print(json.dumps(result))
        return
    every = scenes()
    own = [ours(scene) for scene in every]
    if given.crime:
        compare("CommonRoad-CriMe", own, asked(given.crime, "crime", every), every)
    if given.sumo:
        compare("SUMO, SSM device", own, asked(given.sumo, "sumo", every), every)
    if given.crime:
        mine, other = rate_of_ours(every[0]), asked(given.crime, "rate", every)[0]
        print(f"\nTTC of a pair: {mine:.0f} against {other:.0f} evaluations per CPU second: {mine / other:.0f} x")


if __name__ == "__main__":
    main()
