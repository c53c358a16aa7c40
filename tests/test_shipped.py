"""What is shipped: every file clean under its reader and rules, found by name, and every expectation true."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from cbsim.errors import Location, Problems, Severity
from cbsim.export.city import city
from cbsim.export.objects import to_v1
from cbsim.formats import Reading
from cbsim.formats.mesh import read_mesh
from cbsim.formats.reader import Source
from cbsim.formats.scenario import read as read_scenario
from cbsim.formats.scenario import write as write_scenario
from cbsim.lint.mission import lint_mission
from cbsim.lint.network import lint_network
from cbsim.lint.objects import lint_objects
from cbsim.lint.scenario import lint_scenario
from cbsim.models import read, read_file
from cbsim.paths import Files, data_folder, find_shipped, sensor_folders
from cbsim.road.goals import expand_goals
from cbsim.road.roadmap import RoadMap, build
from cbsim.spec.objects import Controller, Kind, ObjectFile, ShapeKind, TrafficObject, WheelType
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Expectation, Scenario
from cbsim.spec.sensor import SIMULATED
from tests.common import ROOT

NETWORKS = ("city", "four_way_stop", "loop", "merge", "parking", "roundabout")
LITERAL = ("loop",)  # scenarios of literal traffic only, whose times can be reckoned by hand
NETWORK_OF = {name: name for name in NETWORKS} | {"skid_course": "loop"}  # of an object file
FOLDERS = ("rndf", "scenarios", "sensors")
SHIPPED = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.is_file())
READABLE = [p for p in SHIPPED if p.suffix != ".txt"]
SCENARIOS = sorted((ROOT / "scenarios").rglob("*.yaml"))
CONFS = sorted((ROOT / "sensors").rglob("*.conf"))
TWINS = sorted(p for p in (ROOT / "scenarios" / "objects").glob("*.obj") if p.with_suffix(".xml").exists())
THREE = [ROOT / "scenarios" / f"{name}.yaml" for name in ("city", "four_way_stop", "loop")]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def complaints(problems: Problems) -> list[str]:
    return [str(p) for p in problems if p.severity is not Severity.INFO]


def reading(path: Path) -> Reading:
    return read_file(path, Files([path]))


def objects_of(scenario: Scenario) -> list[TrafficObject]:
    files = [find_shipped(name, "scenarios", (".xml", ".obj")) for name in scenario.objects]
    return [item for path in files if path is not None for item in read(path).objects]


@pytest.mark.parametrize("path", READABLE, ids=named)
def test_shipped_file_reads_without_a_complaint(path: Path) -> None:
    assert complaints(reading(path).problems) == []


@pytest.mark.parametrize("path", SHIPPED, ids=named)
def test_shipped_file_is_plain_text_of_whole_lines(path: Path) -> None:
    data = path.read_bytes()
    assert data.isascii()
    assert b"\r" not in data
    assert data.endswith(b"\n")
    assert [line for line in data.splitlines() if line != line.rstrip()] == []


@pytest.mark.parametrize("name", NETWORKS)
def test_shipped_network_and_mission_are_clean_and_fit(name: str) -> None:
    network, mission = read(ROOT / "rndf" / f"{name}.rndf"), read(ROOT / "rndf" / f"{name}.mdf")
    problems = Problems()
    lint_network(network, problems)
    lint_mission(mission, network, problems)
    assert complaints(problems) == []
    assert network.name == mission.network_name == name


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios" / "objects").glob("*.[xo][mb]*")), ids=named)
def test_shipped_object_file_fits_its_network_and_finds_its_files(path: Path) -> None:
    name = NETWORK_OF.get(path.stem)
    network = None if name is None else read(ROOT / "rndf" / f"{name}.rndf")
    found = reading(path)
    lint_objects(found.spec, network, Files([path]), found.problems, strict=True)
    assert complaints(found.problems) == []


@pytest.mark.parametrize("path", SCENARIOS, ids=named)
def test_shipped_scenario_fits_together(path: Path) -> None:
    found = reading(path)
    lint_scenario(found.spec, Files([path]), found.problems)
    assert complaints(found.problems) == []


@pytest.mark.parametrize("path", THREE, ids=named)
def test_shipped_scenario_survives_being_written(path: Path) -> None:
    spec, problems = read(path), Problems()
    text = write_scenario(spec)
    assert read_scenario(Source(str(path), text, text.encode()), problems) == spec


@pytest.mark.parametrize("path", TWINS, ids=named)
def test_both_versions_of_an_object_file_say_the_same(path: Path) -> None:
    network = read(ROOT / "rndf" / f"{path.stem}.rndf") if path.stem in NETWORKS else None
    wanted = to_v1(read(path.with_suffix(".xml")), network, Problems())
    first, second = read(path), wanted
    assert _with_found_confs(first, path, first) == _with_found_confs(second, path, read(path.with_suffix(".xml")))


def _with_found_confs(file: ObjectFile, path: Path, names: ObjectFile) -> ObjectFile:
    """Replace each conf by the file it finds; version 1 has no name to find it by, so it spells the bot's folder."""
    files = Files([path])

    def found(item: TrafficObject, name: str) -> TrafficObject:
        folders = sensor_folders(name, path.parent, {})
        sensors = tuple(replace(s, conf=str(files.find(s.conf, folders))) for s in item.sensors)
        return replace(item, sensors=sensors)

    pairs = zip(file.objects, names.objects, strict=True)
    return replace(file, objects=tuple(found(item, other.name) for item, other in pairs))


def test_meshes_are_closed_but_for_the_open_barn() -> None:
    folder = ROOT / "scenarios" / "objects" / "meshes"
    stems = sorted({p.stem.rsplit("_", 1)[0] for p in folder.iterdir()})
    assert stems == ["barn", "barrier", "boulder", "gantry", "speed_table"]
    for stem in stems:
        texts = [folder / f"{stem}_{part}.txt" for part in ("vertices", "indices")]
        sources = [Source.decode(p, p.read_bytes()) for p in texts]
        problems = Problems()
        mesh = read_mesh(*sources, problems)
        assert mesh is not None
        assert list(problems) == []
        vertices, triangles = mesh
        assert vertices[:, 2].min() == 0.0, "it stands on the ground"
        edges = [tuple(sorted((int(t[a]), int(t[b])))) for t in triangles for a, b in ((0, 1), (1, 2), (2, 0))]
        once = [edge for edge in set(edges) if edges.count(edge) != 2]
        assert len(once) == (4 if stem == "barn" else 0), "only the barn is open, at its floor"


def test_city_is_what_the_generator_makes() -> None:
    network, mission, objects = city()
    assert read(ROOT / "rndf" / "city.rndf") == network
    assert read(ROOT / "rndf" / "city.mdf") == mission
    assert read(ROOT / "scenarios" / "objects" / "city.xml") == objects


def test_four_way_stop_has_stops_on_all_arms_and_room_to_drive() -> None:
    network = read(ROOT / "rndf" / "four_way_stop.rndf")
    roadmap = build(network)
    stops = [stop.point for lane in network.lanes for stop in lane.stops]
    assert len(stops) == len({stop.segment for stop in stops}) == 4
    for lane in network.lanes:
        assert _length(roadmap, lane.ids()) >= 150.0
        assert len(lane.exits) == (3 if lane.stops else 1)


def test_loop_is_closed_in_both_directions_and_has_a_farm_lane() -> None:
    network = read(ROOT / "rndf" / "loop.rndf")
    for lane in network.segments[0].lanes:
        ids = list(lane.ids())
        assert (ids[-1], ids[0]) in {(e.source, e.target) for e in lane.exits}
    turns = [e for lane in network.segments[1].lanes for e in lane.exits if e.target.segment == 2]
    assert [(str(e.source), str(e.target)) for e in turns] == [("2.1.5", "2.2.1")]


def _length(roadmap: RoadMap, ids: object) -> float:
    points = [roadmap.position(i) for i in ids]  # type: ignore[attr-defined]
    return sum(math.dist(a, b) for a, b in pairwise(points))


def test_shipped_scenarios_show_every_kind_of_object() -> None:
    items = [item for path in THREE for item in objects_of(read(path))]
    items += [addition.object for path in THREE for addition in read(path).add]
    assert {item.kind for item in items} == set(Kind)
    assert {item.shape for item in items} == set(ShapeKind)
    assert {Controller.SENSOR, Controller.SCRIPT, Controller.WAYPOINT} <= {item.controller for item in items}
    assert {item.wheels.type for item in items if item.wheels is not None} == set(WheelType)
    versions = {read(p).version for p in (ROOT / "scenarios" / "objects").iterdir() if p.is_file()}
    assert versions == {1, 2}
    assert [name for name in read(THREE[2]).objects if name.endswith(".obj")], "one scenario runs a version 1 file"


def test_shipped_names_are_found_without_their_folder() -> None:
    for path in SCENARIOS:
        assert find_shipped(path.stem) == data_folder("scenarios") / path.name
    for name in NETWORKS:
        assert find_shipped(name, "rndf", (".rndf", ".rdf")) == data_folder("rndf") / f"{name}.rndf"
        assert find_shipped(name, "rndf", (".mdf",)) == data_folder("rndf") / f"{name}.mdf"


def test_confs_of_both_bots_are_found_by_their_names() -> None:
    for bot in ("cajunbot", "ragin_atv"):
        path = ROOT / "scenarios" / "objects" / f"{bot}.xml"
        (item,) = read(path).objects
        found = [Files([path]).find(s.conf, sensor_folders(item.name, path.parent, {})) for s in item.sensors]
        assert [p.parent.parent.name for p in found if p is not None] == [bot] * len(item.sensors)


def test_jeep_has_a_level_scanner_a_layered_one_and_one_that_sweeps_the_road() -> None:
    level, layered, broom = (read(CONFS[0].parents[1] / "onboard" / f"scan_gp_driver_{k}.conf") for k in range(3))
    assert (level.beams, level.rate, level.pitch, level.max_range) == (361, 37.5, 0.0, 80.0)
    assert (layered.beams, len(layered.layer_pitches), layered.rate) == (481, 4, 25.0)
    assert [conf.identifier for conf in (level, layered, broom)] == [0, 1, 2]
    assert math.degrees(broom.pitch) == pytest.approx(-8.0)
    assert broom.position.z / math.tan(-broom.pitch) == pytest.approx(14.94, abs=0.005)
    length = read(ROOT / "scenarios" / "objects" / "cajunbot.xml").objects[0].size.y
    assert min(level.position.y, layered.position.y) > length / 2, "in front of the body, not inside it"


@pytest.mark.parametrize("path", CONFS, ids=named)
def test_conf_stands_where_its_bot_is_looked_for_and_keeps_the_drivers_keys(path: Path) -> None:
    assert path.parent.name == "onboard"
    conf = read(path)
    noise = (conf.range_sigma, conf.position_sigma, conf.velocity_sigma, conf.yaw_rate_sigma)
    assert any(noise), "a shipped device is as good as a real one, not better"
    assert conf.type == "ladar" or conf.range_sigma == 0.0


def test_every_type_of_sensor_that_is_simulated_is_shipped() -> None:
    assert {read(path).type for path in CONFS} == set(SIMULATED)


# --- expectations against a second, independent reckoning of literal traffic ------------------------------------------
@pytest.mark.parametrize("path", [path for path in THREE if path.stem in LITERAL], ids=named)
def test_expectations_are_true_of_literal_traffic(path: Path) -> None:
    scenario = read(path)
    roadmap = build(read(ROOT / "rndf" / f"{path.stem}.rndf"))
    items = {item.name: item for item in objects_of(scenario)}
    assert len(scenario.expect) >= 9
    for expectation in scenario.expect:
        track = _track(items[str(expectation["object"])], roadmap)
        assert _holds(expectation, track, roadmap, scenario.duration or 0.0), expectation


Corner = tuple[float, float, float]  # time [s], x, y [m]


def _track(item: TrafficObject, roadmap: RoadMap) -> list[Corner]:
    """Corners of an object's path in time and the plane."""
    time = item.initial_pause
    x, y = roadmap.position(item.anchor) if item.anchor is not None else item.position_offset[:2]
    corners = [(0.0, float(x), float(y)), (time, float(x), float(y))]
    for there, speed, pause in _legs(item, roadmap, (float(x), float(y))):
        time += math.dist(corners[-1][1:], there) / speed
        corners += [(time, *there), (time + pause, *there)]
        time += pause
    return corners


def _legs(
    item: TrafficObject, roadmap: RoadMap, start: tuple[float, float]
) -> list[tuple[tuple[float, float], float, float]]:
    if item.controller is Controller.SCRIPT:
        legs, (x, y) = [], start
        for entry in item.script:
            x, y = x - entry.distance * math.sin(entry.angle), y + entry.distance * math.cos(entry.angle)
            legs.append(((x, y), entry.speed, entry.pause))
        return legs
    goals = expand_goals(item, roadmap.network, Problems())
    places = [roadmap.position(PointId(goal.segment, goal.lane, goal.waypoint or 0)) for goal in goals]
    return [((float(p[0]), float(p[1])), g.speed, g.pause) for p, g in zip(places, goals, strict=True)]


def _holds(expectation: Expectation, track: list[Corner], roadmap: RoadMap, duration: float) -> bool:
    arguments = dict(expectation.arguments)
    if expectation.rule == "rest":
        start = arguments["from"]
        assert isinstance(start, float)
        return track[-1][0] <= start <= duration
    if expectation.rule == "travel":
        length = sum(math.dist(a[1:], b[1:]) for a, b in pairwise(track))
        low, high = arguments["at_least"] or 0.0, arguments["at_most"] or math.inf
        assert isinstance(low, float)
        assert isinstance(high, float)
        return low <= length <= high and track[-1][0] <= duration
    return _reaches(arguments, track, roadmap, duration)


def _reaches(arguments: dict[str, object], track: list[Corner], roadmap: RoadMap, duration: float) -> bool:
    """Find the first time within the radius, with 0.05 s steps around it to spare."""
    waypoint, position, radius = arguments["waypoint"], arguments["position"], arguments["radius"]
    place = roadmap.position(waypoint) if isinstance(waypoint, PointId) else position[:2]  # type: ignore[index]
    assert isinstance(radius, float)
    entered = min(_entry(a, b, place, radius) for a, b in pairwise(track))  # type: ignore[arg-type]
    after, before = arguments["after"] or 0.0, arguments["before"] or duration
    return float(after) <= entered <= entered + 0.05 <= float(before) <= duration  # type: ignore[arg-type]


def _entry(a: Corner, b: Corner, place: tuple[float, float], radius: float) -> float:
    """Time at which a straight leg comes within the radius; infinite if it does not."""
    (t, x, y), (t1, x1, y1) = a, b
    dx, dy, ex, ey = x1 - x, y1 - y, x - place[0], y - place[1]
    way2, along, gap = dx * dx + dy * dy, ex * dx + ey * dy, ex * ex + ey * ey - radius * radius
    if gap <= 0.0:
        return t
    inside = along * along - way2 * gap
    if way2 == 0.0 or inside < 0.0:
        return math.inf
    share = (-along - math.sqrt(inside)) / way2
    return t + share * (t1 - t) if 0.0 <= share <= 1.0 else math.inf


def test_table_of_networks_in_the_documentation_is_true() -> None:
    rows = [
        line for line in (ROOT / "docs" / "shipped.md").read_text(encoding="utf-8").splitlines() if line[:3] == "| `"
    ]
    for name in NETWORKS:
        row = next(line for line in rows if line.startswith(f"| `{name}` |"))
        network = read(ROOT / "rndf" / f"{name}.rndf")
        lanes = list(network.lanes)
        roadmap = build(network)
        marks = sum(len(lane.checkpoints) for lane in lanes) + sum(len(z.spots) for z in network.zones)
        kilometres = sum(_length(roadmap, lane.ids()) for lane in lanes) / 1000.0
        counts = [len(network.segments), len(lanes), sum(len(lane.points) for lane in lanes), marks]
        assert [cell.strip() for cell in row.split("|")[3:-1]] == [*map(str, counts), f"{kilometres:.2f}"]


def test_wheel_carries_the_shipped_data() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {folder: f"cbsim/_data/{folder}" for folder in FOLDERS}
    assert all(path.stat().st_size < 200_000 for path in SHIPPED)
    assert Location(named(SHIPPED[0])).path.startswith("rndf")
