"""Reactive cars on every real network: ten minutes without a touch, and nobody stands for good."""

from __future__ import annotations

from pathlib import Path

import pytest

import cbsim
from cbsim.errors import FileError, ModelError
from cbsim.models import read_file
from cbsim.paths import Files
from cbsim.recording.recording import Recording
from cbsim.simulation.advance import advance
from cbsim.spec.road import RoadNetwork
from cbsim.spec.traffic import Pool
from cbsim.world.traffic.tables import ABSENT, PHASE, WAITING
from tests.common import shared, shared_files
from tests.traffic.sites import world

FINAL = ("rndf", "cornell", "UCE-Final_Event__uce_rndf_1.5.rdf")
KNOWN = {
    "arbiter-sample_roads__Sample1.rndf": "an exit turns back on the lane that it leaves: cars meet in the fold",
    "wrong__duplicate_waypoint_id.rndf": "both lanes of the road lie on each other",
    "prc_small.rndf": "a car that waits at a dead end is brushed by one that turns in beside it",
    "prc_large_obstacle.rndf": "a queue stands for more than two and a half minutes where zones are left out",
}
PATIENCE = 150.0  # [s]


def network_of(path: Path) -> RoadNetwork:
    try:
        found = read_file(path, Files([path])).spec
    except FileError:
        pytest.skip("not readable")
    if not isinstance(found, RoadNetwork):
        pytest.skip("no network")
    return found


def hold_traffic_to_its_promises(network: RoadNetwork, count: int, duration: float) -> None:
    try:
        made = world(network, Pool("p", count=count))
    except ModelError as error:  # of a network whose lanes are shorter than a car
        if "there is room for" not in str(error):
            raise
        pytest.skip(str(error))
    snapshot = made.start
    for _ in range(round(duration / 10.0)):
        _, _, contacts = advance(made, snapshot, 200)
        assert not len(contacts)
        present = snapshot.columns.intent[:, PHASE] != ABSENT
        assert snapshot.columns.travel[present, WAITING].max(initial=0.0) < PATIENCE


@pytest.mark.slow
@pytest.mark.parametrize("path", shared_files("rndf"), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_nobody_touches_anybody_on_a_real_network(path):
    if path.name in KNOWN:
        pytest.xfail(KNOWN[path.name])
    hold_traffic_to_its_promises(network_of(path), 20, 600.0)


@pytest.mark.slow
def test_two_hundred_cars_drive_on_the_network_of_the_final_for_ten_minutes():
    hold_traffic_to_its_promises(network_of(shared(*FINAL)), 200, 600.0)


@pytest.mark.slow
def test_run_of_the_final_is_recorded_and_replayed_hash_by_hash(tmp_path):
    (tmp_path / "final.rndf").write_bytes(shared(*FINAL).read_bytes())
    (tmp_path / "final.yaml").write_text("network: final.rndf\ntraffic: [{name: town, count: 200}]\n")
    cbsim.run(cbsim.load(tmp_path / "final.yaml"), duration=60.0).save(tmp_path / "final.mcap")
    assert cbsim.replay(Recording.open(tmp_path / "final.mcap")) is None
