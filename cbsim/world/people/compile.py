"""People of a scene to actors and tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.errors import ModelError
from cbsim.geometry import elementary as math
from cbsim.road.roadmap import RoadMap
from cbsim.spec.objects import Controller, Kind, ScriptEntry, ShapeKind, TrafficObject, Triple
from cbsim.spec.people import Person
from cbsim.spec.scenario import Placement
from cbsim.world.people.tables import NO_PEOPLE, People
from cbsim.world.scene import Actor

__all__ = ["actor_of", "compile_people"]

SIZE = Triple(0.5, 0.5, 1.75)  # [m]
FROM_NORTH = {"ccw_north": (1.0, 0.0), "cw_north": (-1.0, 0.0), "ccw_east": (1.0, 0.5 * math.pi)}
"""Sense of script angles, and their value for north."""


def points_of(person: Person, roadmap: RoadMap | None) -> Floats:
    """Points (n, 2) [m] of a path.

    Raises
    ------
    ModelError
        If a waypoint does not exist.
    """
    found = []
    for place in person.path:
        if place.waypoint is None:
            found.append([place.x, place.y])
        elif roadmap is None or not roadmap.has(place.waypoint):
            message = f"no waypoint '{place.waypoint}' in the network"
            raise ModelError(message, subject=person.name, location=person.location)
        else:
            found.append(roadmap.position(place.waypoint).tolist())
    return np.array(found, float)


def actor_of(person: Person, roadmap: RoadMap | None, script_angle: str = "ccw_north") -> Actor:
    """Make the object that walks: a cylinder with a script."""
    points = points_of(person, roadmap)
    gaps = np.diff(points, axis=0)
    lengths, headings = math.hypot(gaps[:, 0], gaps[:, 1]), math.atan2(-gaps[:, 0], gaps[:, 1])
    sense, north = FROM_NORTH[script_angle]
    script = tuple(
        ScriptEntry(person.speed, 0.0, length, sense * heading + north)
        for length, heading in zip(lengths.tolist(), headings.tolist(), strict=True)
    )
    item = TrafficObject(
        Kind.DYNAMIC, person.name, shape=ShapeKind.CYLINDER, size=SIZE, controller=Controller.SCRIPT, script=script,
        initial_pause=person.initial_pause, location=person.location,
    )  # fmt: skip
    begin = Triple(float(points[0, 0]), float(points[0, 1]), 0.0)
    place = Placement(position=begin, heading=float(headings[0]), location=person.location)
    return Actor(item, place, person=person)


def compile_people(actors: Sequence[Actor], guided: Ints, roadmap: RoadMap | None) -> People:
    """Lay out the tables of people.

    Parameters
    ----------
    actors : sequence of Actor
    guided : ndarray of int
        Rows of guided bodies.
    roadmap : RoadMap or None
    """
    walkers = [(row, actor.person) for row, actor in enumerate(actors) if actor.person is not None]
    if not walkers:
        return NO_PEOPLE
    from cbsim.road.lanelets import build_lanelets  # imported here: scenarios without people do not need lanelets
    from cbsim.road.lanelets.crosswalks import Crosswalks, find_crosswalks

    rows = [(int(np.searchsorted(guided, row)), int(person.bold)) for row, person in walkers]
    rowless, endless = np.zeros(0, np.int64), np.zeros(0)
    none = Crosswalks((), np.zeros((0, 4, 2)), rowless, rowless, endless, endless)
    crosswalks = none if roadmap is None else find_crosswalks(build_lanelets(roadmap))
    crossings, places = list[int](), list[list[float]]()
    for number, (_, person) in enumerate(walkers):
        for place in _crossings(points_of(person, roadmap), crosswalks.areas):
            crossings.append(number)
            places.append(place)
    tables = People(
        np.array(rows, np.int64).reshape(-1, 2),
        np.array(crossings, np.int64),
        np.array(places, float).reshape(-1, 6),
        np.array([_area(corners) for corners in crosswalks.areas], float).reshape(-1, 6),
        np.column_stack([crosswalks.lanelets, crosswalks.crosswalks]).astype(np.int64).reshape(-1, 2),
        crosswalks.begins.astype(float),
        crosswalks.ends.astype(float),
    )
    for table in tables:
        table.flags.writeable = False
    return tables


def _area(corners: Floats) -> list[float]:
    """Row of `People.areas` of a crosswalk, given its corners (4, 2) from one end to the other and back."""
    along, across = corners[1] - corners[0], corners[3] - corners[0]
    length, width = math.hypot(*along.tolist()), math.hypot(*across.tolist())
    return [*corners.mean(axis=0).tolist(), *(along / length).tolist(), 0.5 * length, 0.5 * width]


def _crossings(points: Floats, areas: Floats) -> list[list[float]]:
    """Rows of `People.places` of a path (n, 2), by stations."""
    import shapely

    path, found = shapely.LineString(points), []
    for corners in areas:
        for part in shapely.get_parts(shapely.intersection(path, shapely.Polygon(corners))):
            ends = shapely.get_coordinates(part)
            if len(ends) < 2:
                continue
            stations = np.sort(shapely.line_locate_point(path, shapely.points(ends[[0, -1]])))
            places = [shapely.get_coordinates(shapely.line_interpolate_point(path, one))[0] for one in stations]
            found.append([*stations.tolist(), *places[0].tolist(), *places[1].tolist()])
    return sorted(found)
