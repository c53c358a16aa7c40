"""Generator of cities: road network, mission and objects as specs, or as files with a scenario that has traffic.

The streets form a jittered grid (`streets`) with real crossings (`crossings`), dead ends, and parking lots (`parking`).
The same options and seed give the same city to the last digit.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np

from cbsim.errors import UsageError
from cbsim.export.city_network import city_network
from cbsim.export.city_traffic import car_count, city_mission, city_objects, kerb_place
from cbsim.export.streets import Plan, build_grid
from cbsim.formats import write
from cbsim.geometry.geodesy import LocalPlane
from cbsim.spec.mission import Mission
from cbsim.spec.objects import ObjectFile
from cbsim.spec.road import RoadNetwork
from cbsim.spec.scenario import Expectation, Scenario
from cbsim.spec.traffic import Pool

__all__ = ["HOME", "city", "write_city"]

HOME = (30.2, -92.0)  # [degrees] an arbitrary place
CARS = "Car"  # name of the pool: its cars are Car 1, Car 2 …
WATCHED = 8  # cars that the scenario expects to touch nothing
DURATION = 120.0  # [s] of a scenario


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


def write_city(folder: str | Path, *, cars: int | None = None, **options: Unpack[Options]) -> list[Path]:
    """Generate a city and write ``<name>.rndf``, ``.mdf``, ``.xml`` and ``.yaml`` into a folder.

    Parameters
    ----------
    folder : path
        Made if missing.
    cars : int, optional
        Cars that wander through the city; by default one for six lanes, 3 to 24.
    **options
        As of `city`.

    Returns
    -------
    list of Path
        The files written, the scenario last.
    """
    name, seed = options.get("name", "city"), options.get("seed", 1)
    network, mission, objects = city(**options)
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    scenario = city_scenario(network, objects, name, seed, car_count(network) if cars is None else cars)
    specs = {".rndf": network, ".mdf": mission, ".xml": objects, ".yaml": scenario}
    paths = [into / f"{name}{ending}" for ending in specs]
    for path, spec in zip(paths, specs.values(), strict=True):
        write(spec, path)
    return paths


def city_scenario(network: RoadNetwork, objects: ObjectFile, name: str, seed: int, cars: int) -> Scenario:
    """Make the scenario of a city: cars wander through it, and touch nothing; the bot waits at the kerb."""
    watched = [f"{CARS} {number}" for number in range(1, min(cars, WATCHED) + 1)]
    arguments = (("impact_below", None), ("at_fault", False))
    return Scenario(
        description="A generated city: a bot, cars that wander through the streets, and props at the kerb.",
        network=f"{name}.rndf",
        mission=f"{name}.mdf",
        objects=(f"{name}.xml",),
        place=kerb_place(network, objects),
        seed=seed,
        duration=DURATION,
        traffic=(Pool(CARS, count=cars),) if cars else (),
        expect=tuple(Expectation("collision", (("object", car), *arguments)) for car in watched),
    )
