"""The runs whose results are golden, in one table: scenarios, real networks, mechanisms, models, sensors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

import cbsim
from cbsim.arrays import Floats
from cbsim.errors import UsageError
from cbsim.evaluation.outcome import execute
from cbsim.export.city_traffic import literal_traffic
from cbsim.multibody import gallery, simulate
from cbsim.recording.recording import Recording
from cbsim.sensing import Scan
from cbsim.spec.road import RoadNetwork
from tests.common import ROOT, SHARED

__all__ = ["CASES", "Case", "Trace"]

RNDF = SHARED / "rndf"
NETWORKS = (
    "cornell/arbiter-sample_roads__Sample1.rndf",
    "cornell/arbiter-sample_roads__Sample4.rndf",
    "gzrndf/sample2.rndf",
    "navguide/Sample_RNDF.txt",
    "stanford/VAIL_rndf_20091020.txt",
    "stanford/alameda_rndf.txt",
    "stanford/circle_shoreline_rndf.txt",
    "terminus/gazebo8__darpa.rndf",
    "utexas/prc_large_obstacle.rndf",
    "utexas/swri_site_visit.rndf",
)
SHIFT = SHARED / "shift" / "synthetic" / "mbs_A02_four_bar_N2.json"
SLOW = frozenset({"blows"})
ROWS = 5  # instants of which numbers are kept, the first and the last among them
BODIES = 12  # of which numbers are kept at most, so that the file stays small


@dataclass(frozen=True)
class Trace:
    """Result of one case.

    Attributes
    ----------
    digest : str
        64 bits over every number of every step, in hexadecimal.
    values : ndarray
        Numbers at a few instants, by which a change is measured.
    """

    digest: str
    values: Floats


@dataclass(frozen=True)
class Case:
    """One run.

    Attributes
    ----------
    make : callable
        Runs it.
    needs : Path or None
        A real file outside the repository.
    slow : bool
        Whether it takes more than a few seconds once kernels are compiled.
    """

    make: Callable[[], Trace]
    needs: Path | None = None
    slow: bool = False


def _trace(numbers: list[NDArray[np.generic]], kept: Floats) -> Trace:
    digest = hashlib.blake2b(digest_size=8)
    for part in numbers:
        digest.update(np.ascontiguousarray(part).tobytes())
    return Trace(digest.hexdigest(), np.ravel(kept))


def _some(count: int, most: int) -> NDArray[np.int64]:
    """Indices spread evenly over ``range(count)``, both ends among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def _way(recording: Recording, name: str) -> Floats | None:
    """Positions of an object or a body; None for a car of a flow that has not appeared."""
    try:
        return recording.positions(name)
    except UsageError:
        return None


def _recording(recording: Recording) -> Trace:
    rows = _some(len(recording.hashes), ROWS)
    ways = [way[rows] for name in (*recording.names, *recording.bodies) if (way := _way(recording, name)) is not None]
    moved = [way for way in ways if np.ptp(way, axis=0).max() > 0.0]
    kept = [moved[k] for k in _some(len(moved), BODIES)] if moved else []
    return _trace([recording.hashes], np.array(kept))


def run_scenario(name: str) -> Trace:
    """Run a shipped scenario for its whole duration, with its planners."""
    return _recording(cbsim.run(cbsim.load(name)))


def run_model(path: Path, duration: float) -> Trace:
    """Run a model alone."""
    return _recording(cbsim.run(cbsim.load(path), duration=duration))


def run_network(path: Path) -> Trace:
    """Run literal traffic that the generator lays over a real road network."""
    network = cbsim.read(path)
    assert isinstance(network, RoadNetwork)
    objects = literal_traffic(network, "golden", np.random.default_rng(1))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "golden.xml"
        cbsim.write(objects, file)
        return _recording(cbsim.run(cbsim.load(rndf=path, objects=file), duration=60.0))


def run_mechanism(name: str) -> Trace:
    """Simulate a mechanism of the gallery for two seconds."""
    mechanism = gallery.build(name)
    storage = simulate(mechanism, round(2.0 / mechanism.timestep))
    bodies = _some(storage.x.shape[1], BODIES)
    kept = storage.x[_some(len(storage.x), ROWS)][:, bodies]
    return _trace([storage.x, storage.q, storage.v, storage.w], kept)


@cache
def _readings() -> dict[str, Floats]:
    """Readings of every kind of sensor after seven seconds under way."""
    outcome = execute(cbsim.load("sensors"), steps=140)
    taken = cbsim.sense(outcome.world, outcome.snapshot)
    return {key: np.ravel(one.ranges) if isinstance(one, Scan) else one.values() for key, one in taken.items()}


def read_sensor(name: str) -> Trace:
    """Take one reading of the scenario `sensors`."""
    numbers = _readings()[f"Surveyor/{name}"]
    return _trace([numbers], numbers[_some(len(numbers), 30)])


SCENARIOS = {path.stem: path.stem in SLOW for path in sorted((ROOT / "scenarios").glob("*.yaml"))}
MODELS = {path.name: path for path in sorted((ROOT / "scenarios" / "models").iterdir())}
SENSORS = (
    *("scan_gp_driver_0", "scan_gp_driver_1", "scan_gp_driver_2", "scan_tail"),
    *("gps", "ins", "odometry", "radar", "objects"),
)

CASES: dict[str, Case] = {
    **{f"scenario/{name}": Case(partial(run_scenario, name), slow=slow) for name, slow in SCENARIOS.items()},
    **{f"network/{Path(name).stem}": Case(partial(run_network, RNDF / name), RNDF / name) for name in NETWORKS},
    **{f"mechanism/{name}": Case(partial(run_mechanism, name)) for name in gallery.GALLERY},
    **{f"model/{name}": Case(partial(run_model, path, 5.0)) for name, path in MODELS.items()},
    "model/shift": Case(partial(run_model, SHIFT, 2.0), SHIFT),
    **{f"sensor/{name}": Case(partial(read_sensor, name)) for name in SENSORS},
}
