"""Reactive cars on every real network: ten minutes without a touch, and nobody stands for good."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cbsim
from cbsim.errors import FileError, ModelError
from cbsim.models import read_file
from cbsim.paths import Files
from cbsim.recording.recording import Recording
from cbsim.road.lanelets import build_lanelets
from cbsim.road.roadmap import build
from cbsim.simulation.advance import advance
from cbsim.spec.road import RoadNetwork
from cbsim.spec.traffic import Pool
from cbsim.traffic.kernels.look import CHAIN_END, GAP, SIDE_GAP
from cbsim.traffic.kernels.workspace import COMER, HOLDER, READY, CarWorkspace
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.tables import (
    ACCELERATION,
    BODY,
    ENTRY,
    ENTRY_END,
    JUNCTION,
    LANELET,
    LENGTH,
    STATION,
    WAITING,
)
from cbsim.world.world import World
from tests.common import shared, shared_files
from tests.traffic.sites import put_on, workspace, world

FINAL = ("rndf", "cornell", "UCE-Final_Event__uce_rndf_1.5.rdf")
CROWDED = (  # networks of the competition and of teams on which two hundred cars drive for half an hour
    "Sample_RNDF.txt",
    "UCE-Final_Event__uce_rndf_1.5.rdf",
    "UCE-Original_Files-Original_Road_Network__uce_rndf.rdf",
    "NQE-General_Files__nqe_rndf.rdf",
    "VAIL_rndf_20091020.txt",
    "alameda_rndf.txt",
    "demo_rndf.txt",
    "arbiter-sample_roads__Sample2.rndf",
    "arbiter-sample_roads__Sample4.rndf",
    "RoadA.rndf",
    "swri_site_visit.rndf",
    "outside_prc_gen.rndf",
)
PATIENCE = 120.0  # [s]
QUEUED = 3.0  # [m] behind somebody
HARDEST = 4.5  # [m/s²] of braking


def network_of(path: Path) -> RoadNetwork:
    try:
        found = read_file(path, Files([path])).spec
    except FileError:
        pytest.skip("not readable")
    if not isinstance(found, RoadNetwork):
        pytest.skip("no network")
    return found


def crowded(network: RoadNetwork, count: int, seed: int = 0) -> World:
    """World of so many cars, or of four fifths of them where there is no room, and so on."""
    while count:
        try:
            return world(network, Pool("p", count=count), seed=seed)
        except ModelError as error:  # of a network whose lanes are shorter than a car
            if "there is room for" not in str(error):
                raise
            count = int(0.8 * count)
    pytest.skip("there is no room for a car")


def held_up(made: World, snapshot: Snapshot, active: set[int]) -> list[str]:
    """Who has stood for long at the head of a queue, with room behind the conflicts, where nobody else goes either.

    Parameters
    ----------
    made : World
    snapshot : Snapshot
        After a step.
    active : set of int
        Junctions at which somebody has just held a claim; updated.
    """
    work, crossings = workspace(made, snapshot), made.traffic.crossings
    areas = work.claims.areas
    held = {int(each) for each in crossings.rules[(areas[:, :, HOLDER] != -1).any(axis=1), JUNCTION]}
    waits, found = snapshot.columns.travel[:, WAITING], list[str]()
    for car in np.flatnonzero(waits > PATIENCE).tolist():
        entry = int(work.queues.conflicts[car])
        if entry < 0 or min(work.plan[car, GAP], work.plan[car, SIDE_GAP]) < QUEUED or work.queues.states[car] != READY:
            continue
        row, side = int(crossings.entry_rows[entry]), int(crossings.entry_sides[entry])
        junction = int(crossings.rules[row, JUNCTION])
        if not chain_of(made, snapshot, work, car) & (held | active):
            others = f"{areas[row, 1 - side, HOLDER]} is in it, {areas[row, 1 - side, COMER]} comes"
            found.append(f"car {car} has stood for {waits[car]:.0f} s at junction {junction}; {others}")
    active.clear()
    active |= held
    return found


def chain_of(made: World, snapshot: Snapshot, work: CarWorkspace, car: int) -> set[int]:
    """Junctions of the conflicts that a car has to claim together: those of turns have one of their own each."""
    road, crossings, found = made.traffic.road, made.traffic.crossings, set[int]()
    base = -float(snapshot.columns.travel[car, STATION])
    for lanelet in work.ways.lanelets[car].tolist():
        if lanelet < 0 or base > work.plan[car, CHAIN_END]:
            break
        for entry in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
            if 0.0 < base + crossings.entry_spans[entry, 1] <= work.plan[car, CHAIN_END] + 1e-9:
                found.add(int(crossings.rules[crossings.entry_rows[entry], JUNCTION]))
        base += float(road.lanelets[lanelet, LENGTH])
    return found


def hold_traffic_to_its_promises(network: RoadNetwork, count: int, duration: float) -> None:
    made, active = crowded(network, count), set[int]()
    snapshot = made.start
    for _ in range(round(duration / 10.0)):
        for _ in range(50):
            _, _, contacts = advance(made, snapshot, 4)
            assert not len(contacts)
            assert snapshot.columns.travel[:, ACCELERATION].min() >= -HARDEST
        assert not held_up(made, snapshot, active)


@pytest.mark.slow
@pytest.mark.parametrize("path", shared_files("rndf"), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_nobody_touches_anybody_on_a_real_network(path):
    hold_traffic_to_its_promises(network_of(path), 20, 600.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [path for path in shared_files("rndf") if path.name in CROWDED],
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_two_hundred_cars_drive_for_half_an_hour(path):
    hold_traffic_to_its_promises(network_of(path), 200, 1800.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("team", "name", "longest"),
    [
        ("cornell", "arbiter-sample_roads__Sample1.rndf", 60.0),  # ways that turn back over themselves
        ("utexas", "prc_large_obstacle.rndf", 200.0),  # claims of who stands behind a queue
    ],
)
@pytest.mark.parametrize("seed", [7, 102])
def test_nobody_on_a_lane_waits_for_claims_that_cannot_be_used(team, name, longest, seed):
    network = network_of(shared("rndf", team, name))
    names = build_lanelets(build(network)).names
    made = crowded(network, 200, seed)
    snapshot, lane = made.start, np.array([name.startswith("1.2.") for name in names] + [False] * len(names))
    for _ in range(60):
        advance(made, snapshot, 200)
        columns = snapshot.columns
        assert (columns.travel[lane[columns.intent[:, LANELET]], WAITING] < longest).all()


def test_who_goes_first_passes_its_turn_while_somebody_stands_in_a_merge_before_it():
    """Whoever stood behind a car on the other lanelet of a merge seemed free to go, and nobody went for good."""
    network = network_of(shared("rndf", "utexas", "prc_small.rndf"))
    made = world(network, Pool("p", count=60), seed=55, step=1.0)
    snapshot = made.start
    for _ in range(90):
        advance(made, snapshot, 10)
        assert snapshot.columns.travel[:, WAITING].max() < 240.0


def test_a_stream_lets_in_who_has_no_room_only_while_it_comes():
    """Two ways of 130 m merge with a third, on which cars drive through without a break and hold the room behind."""
    network = network_of(shared("rndf", "cornell", "arbiter-sample_roads__Sample1.rndf"))
    names = build_lanelets(build(network)).names
    made = world(network, Pool("p", count=100), seed=311, step=0.1)
    snapshot, lane = made.start, np.array([name.startswith(("4.3.", "4.4.")) for name in names] + [False] * len(names))
    for _ in range(30):
        advance(made, snapshot, 100)
        columns = snapshot.columns
        assert (columns.travel[lane[columns.intent[:, LANELET]], WAITING] < 120.0).all()


def test_nobody_comes_to_rest_in_an_exit_that_turns_back_over_its_own_lane():
    """Whoever rolled there, to go when others had left, stood beside the end of the lane, and was hit."""
    made = crowded(network_of(shared("rndf", "cornell", "arbiter-sample_roads__Sample1.rndf")), 60, 77)
    snapshot = made.start
    for _ in range(45):
        _, _, contacts = advance(made, snapshot, 200)
        assert not len(contacts)


@pytest.mark.slow
def test_cars_in_a_ring_that_is_shorter_than_their_claims_go_on():
    """Two lanes of 7.5 m that overlap, with a dead end at either side."""
    network = network_of(shared("rndf", "utexas", "prc_small.rndf"))
    made = crowded(network, 200)
    names = build_lanelets(build(network)).names
    snapshot, ring = made.start, {n for n, name in enumerate(names) if name[:2] == "2."}
    put_on(made, snapshot, 0, min(ring), 0.5)  # nobody goes there who can drive anywhere else
    advance(made, snapshot, 3000)
    bodies = made.traffic.road.car_rows[:, BODY]
    turns = len(names)  # rows of turns come last
    rows = snapshot.columns.intent[:, LANELET].tolist()
    inside = [car for car, row in enumerate(rows) if row in ring or row >= turns]
    before = snapshot.columns.position[bodies[inside]].copy()
    advance(made, snapshot, 600)
    moved = np.abs(snapshot.columns.position[bodies[inside]] - before).max(axis=1)
    assert inside
    assert moved.min() > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [path for path in shared_files("rndf") if path.name in CROWDED],
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_restored_at_every_second_traffic_goes_on_with_the_same_bits(path):
    made = crowded(network_of(path), 200)
    whole, restored = made.start, made.start
    for _ in range(120):
        expected, _, _ = advance(made, whole, 20)
        restored = made.restore(restored.to_bytes())
        made.static_caches._newest = None  # as a process that knows nothing but the bytes
        hashes, _, _ = advance(made, restored, 20)
        assert (hashes == expected).all()


@pytest.mark.slow
def test_run_of_the_final_is_recorded_and_replayed_hash_by_hash(tmp_path):
    (tmp_path / "final.rndf").write_bytes(shared(*FINAL).read_bytes())
    (tmp_path / "final.yaml").write_text("network: final.rndf\ntraffic: [{name: town, count: 200}]\n")
    cbsim.run(cbsim.load(tmp_path / "final.yaml"), duration=60.0).save(tmp_path / "final.mcap")
    assert cbsim.replay(Recording.open(tmp_path / "final.mcap")) is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", [101, 102, 103, 106])
@pytest.mark.parametrize("count", [60, 120, 200])
def test_cars_change_lanes_in_bends_and_past_each_other_without_hard_braking(count, seed):
    """Four lanes in a bend, up to 6 m apart and not parallel, where queues of cars change over in both directions."""
    made = crowded(network_of(shared("rndf", "cornell", "arbiter-sample_roads__Sample4.rndf")), count, seed=seed)
    snapshot = made.start
    for _ in range(4500):
        _, _, contacts = advance(made, snapshot, 4)
        assert not len(contacts)
        assert snapshot.columns.travel[:, ACCELERATION].min() >= -HARDEST


def test_who_begins_beyond_the_place_where_it_had_to_change_lanes_brakes_gently():
    """On segment 1 of the sample, the lane to change to ends beside a lane that goes on for 45 m."""
    network = network_of(shared("rndf/terminus/gazebo8__darpa.rndf"))
    made = world(network, Pool("p", count=100), seed=311, step=0.1)
    snapshot = made.start
    for _ in range(100):
        advance(made, snapshot, 1)
        assert snapshot.columns.travel[:, ACCELERATION].min() >= -4.5
