"""Generator of cities: road network, mission and objects as specs, or as files with a scenario.

The streets form a jittered grid (`streets`) with real crossings (`crossings`), dead ends, and parking lots (`parking`).
The same options and seed give the same city to the last digit.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np

from cbsim.errors import UsageError
from cbsim.export.city_network import city_network
from cbsim.export.city_traffic import city_mission, city_objects
from cbsim.export.schedule import Arrival, schedule
from cbsim.export.streets import Plan, build_grid
from cbsim.formats import write
from cbsim.geometry.geodesy import LocalPlane
from cbsim.road.roadmap import build
from cbsim.spec.mission import Mission
from cbsim.spec.objects import Kind, ObjectFile
from cbsim.spec.road import RoadNetwork
from cbsim.spec.scenario import Argument, Expectation, Scenario

__all__ = ["HOME", "city", "write_city"]

HOME = (30.2, -92.0)  # [degrees] an arbitrary place
WATCHED = 8  # cars that the scenario expects to arrive
LONGEST = 120.0  # [s] of a scenario
MARGIN = 0.1  # [s] by which an arrival may be off: two steps


class Options(TypedDict, total=False):
    """Options of `city`."""

    columns: int
    rows: int
    block: float
    lanes: int
    two_way: bool
    zones: int
    seed: int
    spacing: float
    origin: tuple[float, float]
    name: str


def city(  # noqa: PLR0913 - the public face spells out every option
    *,
    columns: int = 4,
    rows: int = 4,
    block: float = 120.0,
    lanes: int = 1,
    two_way: bool = True,
    zones: int = 1,
    seed: int = 1,
    spacing: float = 20.0,
    origin: tuple[float, float] = HOME,
    name: str = "city",
) -> tuple[RoadNetwork, Mission, ObjectFile]:
    """Generate a city.

    Parameters
    ----------
    columns, rows : int
        Streets that run north, and that run east.
    block : float
        Distance between crossings [m].
    lanes : int
        Lanes in each direction, 1 to 4.
    two_way : bool
        False makes the inner streets one-way, in alternating directions; the ring around them stays two-way.
    zones : int
        Parking zones, each at a dead end.
    seed : int
        Of everything random, ≥ 0.
    spacing : float
        Distance between waypoints, about [m].
    origin : (float, float)
        Latitude and longitude of the middle [deg].
    name : str
        Of the network, without blanks; the mission and the object file go by it too.

    Returns
    -------
    network : RoadNetwork
    mission : Mission
    objects : ObjectFile

    Raises
    ------
    UsageError
        If an option is out of range.
    """
    plan = Plan(columns, rows, block, lanes, two_way, zones, seed, spacing)
    _check(seed, origin, name)
    streams = [np.random.default_rng([seed, k]) for k in range(4)]
    grid = build_grid(plan, streams[0])
    network = city_network(grid, LocalPlane(*origin), name, streams[1])
    return network, city_mission(network, f"{name}_mission", streams[2]), city_objects(network, name, streams[3])


def _check(seed: int, origin: tuple[float, float], name: str) -> None:
    if seed < 0:
        raise UsageError(f"seed is {seed}, expected 0 or more")
    if not (abs(origin[0]) <= 80.0 and abs(origin[1]) <= 180.0):
        raise UsageError(f"origin is {origin!r}, expected a latitude within ±80° and a longitude within ±180°")
    if not name or len(name) > 64 or not all(c.isascii() and (c.isalnum() or c in "_-.") for c in name):
        raise UsageError(f"name is '{name}', expected up to 64 letters, digits, '_', '-' and '.'")


def write_city(folder: str | Path, **options: Unpack[Options]) -> list[Path]:
    """Generate a city and write ``<name>.rndf``, ``.mdf``, ``.xml`` and ``.yaml`` into a folder; options as `city`.

    Returns
    -------
    list of Path
        The files written, the scenario last.
    """
    name, seed = options.get("name", "city"), options.get("seed", 1)
    network, mission, objects = city(**options)
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    specs = {
        ".rndf": network,
        ".mdf": mission,
        ".xml": objects,
        ".yaml": city_scenario(network, objects, name, seed),
    }
    paths = [into / f"{name}{ending}" for ending in specs]
    for path, spec in zip(paths, specs.values(), strict=True):
        write(spec, path)
    return paths


def city_scenario(network: RoadNetwork, objects: ObjectFile, name: str, seed: int) -> Scenario:
    """Make the scenario of a city, which expects its cars to arrive when literal traffic does."""
    roadmap = build(network)
    cars = [item for item in objects.objects if item.kind is Kind.DYNAMIC]
    ends = [(item.name, arrivals[-1]) for item in cars if (arrivals := schedule(item, roadmap))]
    soon = [(car, end) for car, end in ends if end.time + 2.0 <= LONGEST][:WATCHED]
    last = max((end.time for _, end in soon), default=10.0)
    expect = [one for car, end in soon for one in (_reach(car, end), _rest(car, end))]
    return Scenario(
        description="A generated city: a bot, cars that follow the streets, and props at the kerb.",
        network=f"{name}.rndf",
        mission=f"{name}.mdf",
        objects=(f"{name}.xml",),
        seed=seed,
        duration=float(math.ceil(last) + 2.0),
        expect=tuple(expect),
    )


def _reach(name: str, arrival: Arrival) -> Expectation:
    radius = 1.0
    entered = arrival.time - radius / arrival.speed
    arguments: dict[str, Argument] = {
        "object": name,
        "waypoint": arrival.waypoint,
        "position": None,
        "radius": radius,
        "after": max(round(entered - MARGIN, 2), 0.0),
        "before": round(arrival.time + MARGIN, 2),
    }
    return Expectation("reach", tuple(arguments.items()))


def _rest(name: str, arrival: Arrival) -> Expectation:
    return Expectation("rest", (("object", name), ("from", round(arrival.time + MARGIN, 2))))
