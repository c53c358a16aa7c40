"""Starts of episodes: where agents stand and which way they go, by the map seed; and the seeds of episodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.errors import UsageError
from cbsim.geometry.pose import heading_quaternion
from cbsim.gym.course import Course
from cbsim.gym.kernels.columns import BASE, NUMBER, PLACES, SAMPLE, WAY
from cbsim.gym.kernels.routes import routes_into
from cbsim.jit import wrapping
from cbsim.road.lanelets import LaneletKind
from cbsim.world.motion import ABSENT_BELOW
from cbsim.world.snapshot import SEED, Snapshot
from cbsim.world.streams import stream_key, stream_keys, uniforms

__all__ = ["SEEDS", "STARTS", "Seeds", "Start", "Starts", "seeds_of"]

ROUTE_LIMIT = 64  # lanelets of a route
GAP = 1.0  # [m] between the bounding circles of what stands at the start
EDGE = 1.0  # [m] at either end of a lanelet in which no agent starts
BEFORE_LINE = 10.0  # [m] of the centre before a line that is to be stopped at
TRIES = 200
STREAM = "gym"
SEEDS = "map", "traffic", "sensors"
STARTS = "scenario", "random", "stop_line"
LARGEST = 2**63


class Seeds(NamedTuple):
    """Seeds of an episode: of starts and ways on the map, of traffic, and of sensors."""

    map: int
    traffic: int
    sensors: int


def seeds_of(base: int, episode: int, fixed: Mapping[str, int]) -> Seeds:
    """Derive the seeds of an episode.

    Parameters
    ----------
    base : int
        Of the environment.
    episode : int
        Number of the episode since the environment was seeded.
    fixed : mapping
        ``map``, ``traffic`` and ``sensors`` that do not follow from these.
    """
    words = stream_key(base, STREAM, f"episode {episode}"), stream_key(base, STREAM, f"sensors {episode}")
    drawn = int(words[0][0]) % LARGEST, int(words[0][1]) % LARGEST, int(words[1][0]) % LARGEST
    return Seeds(*(fixed.get(name, value) for name, value in zip(SEEDS, drawn, strict=True)))


def check_seeds(given: Mapping[str, Any] | None) -> dict[str, int]:
    """Check seeds that a user names.

    Raises
    ------
    UsageError
        If there is another name, or a value that is no whole number from 0 to 2⁶³ − 1.
    """
    for name, value in (given or {}).items():
        if name not in SEEDS:
            raise UsageError(f"no seed '{name}'; there are {', '.join(SEEDS)}")
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 0 <= value < LARGEST:
            raise UsageError(f"seed '{name}' is {value!r}, expected a whole number from 0 to 2⁶³ − 1")
    return {name: int(value) for name, value in (given or {}).items()}


class Start(NamedTuple):
    """Start of an episode of one World.

    Attributes
    ----------
    snapshot : Snapshot
    routes : ndarray of int, shape (agents, 64)
        Lanelets of each agent's route; -1 after the last.
    places : ndarray, shape (agents, 6)
        Where agents are on them (`cbsim.gym.kernels.columns`).
    """

    snapshot: Snapshot
    routes: Ints
    places: Floats


class Starts:
    """Starts of episodes on a course.

    Parameters
    ----------
    course : Course
    start : str
        ``scenario``: agents start where the scenario has them; ``random``: anywhere on lanes, by the map seed;
        ``stop_line``: anywhere on lanes that end at a stop line, 10 m and more before it.
    route_length : float
        Least length of routes [m], where the road goes on.

    Raises
    ------
    UsageError
        If an agent of the scenario does not stand on a lane, or no lane has room.
    """

    def __init__(self, course: Course, start: str, route_length: float) -> None:
        self.course, self.at_random, self.route_length = course, start != "scenario", float(route_length)
        lanelets, world = course.lanelets, course.world
        first = world.first.columns
        self._radii = world.shapes.radius
        agents = course.rows[:, 0]
        there = np.setdiff1d(course.others, agents)
        there = there[first.position[there, 2] > ABSENT_BELOW]
        self._obstacles = np.concatenate([first.position[there, :2], self._radii[there, None]], axis=1)
        chosen = lanelets.kinds == LaneletKind.LANE
        if start == "stop_line":
            chosen = chosen & lanelets.stops
        self._ends = EDGE + (BEFORE_LINE if start == "stop_line" else EDGE)  # [m] of a lane, of both ends
        lengths = np.where(chosen, lanelets.lengths - self._ends, 0.0)
        self._shares = np.cumsum(np.maximum(lengths, 0.0))
        if self.at_random and not self._shares[-1] > 0.0:
            what = "with a stop line " if start == "stop_line" else ""
            raise UsageError(f"'{world.name}' has no lane {what}on which agents could start")
        fixed = [] if self.at_random else [self._place_of(agent) for agent in range(len(agents))]
        self._firsts: Ints = np.array([lanelet for lanelet, _ in fixed], np.int64)
        self._places: Floats = np.zeros((len(agents), PLACES))
        for agent, (lanelet, station) in enumerate(fixed):
            self._places[agent] = self._on_route(lanelet, station)
        self._lengths: Floats = np.array(lanelets.lengths, float)  # a copy: one type of array for the kernel
        ways = [self._ways_from(row) for row in range(len(lanelets))]
        offsets = np.cumsum([0, *map(len, ways)]).astype(np.int64)
        self._ways_on: tuple[Ints, Ints] = np.array([row for way in ways for row in way], np.int64), offsets

    def draw(self, seeds: Seeds) -> Start:
        """Make the start of an episode."""
        course, snapshot = self.course, self.course.world.start
        agents = len(course.names)
        snapshot.blocks[1][SEED] = seeds.traffic
        keys, firsts, places = stream_keys(seeds.map, STREAM, course.names), self._firsts, self._places.copy()
        if self.at_random:
            firsts, taken = np.empty(agents, np.int64), self._obstacles
            for agent in range(agents):
                lanelet, station = self._free_place(tuple(keys[agent]), agent, taken)
                circle = self._put(snapshot, agent, lanelet, station)
                taken = np.concatenate([taken, circle])
                firsts[agent], places[agent] = lanelet, self._on_route(lanelet, station)
        routes = np.empty((agents, ROUTE_LIMIT), np.int64)
        with wrapping():
            routes_into(keys, TRIES, firsts, *self._ways_on, self._lengths, self.route_length, routes)
        return Start(snapshot, routes, places)

    def _on_route(self, lanelet: int, station: float) -> Floats:
        """Place on a route that begins with a lanelet, shape (6,)."""
        first, last = self.course.offsets[lanelet], self.course.offsets[lanelet + 1] - 1
        sample = int(np.searchsorted(self.course.lanelets.stations[first:last], station, side="right")) - 1
        place = np.zeros(PLACES)
        place[NUMBER], place[BASE] = 0.0, 0.0
        place[SAMPLE], place[WAY] = first + max(sample, 0), station
        return place

    def _ways_from(self, lanelet: int) -> list[int]:
        """Lanelets that go on from one; a turn about only where nothing else goes on."""
        lanelets = self.course.lanelets
        ahead = lanelets.successors[lanelet]
        straight = ahead[lanelets.kinds[ahead] <= LaneletKind.CONNECTOR]
        return [int(row) for row in (straight if len(straight) else ahead)]

    def _place_of(self, agent: int) -> tuple[int, float]:
        """Lanelet and station of an agent in the scenario."""
        course = self.course
        pose = course.world[course.names[agent]].pose(course.world.first)
        found = course.world.road.at(pose.position, pose.heading)
        if found is None:
            raise UsageError(f"agent '{course.names[agent]}' does not stand on a lane; let it start at random")
        return found[0].row, found[1]

    def _free_place(self, key: Any, agent: int, taken: Floats) -> tuple[int, float]:
        """Draw a free place on a lane."""
        course, radius = self.course, float(self._radii[self.course.rows[agent, 0]])
        for attempt in range(TRIES):
            where, along = uniforms(key, attempt, 2).tolist()
            lanelet = int(np.searchsorted(self._shares, where * self._shares[-1], side="right"))
            station = EDGE + along * (float(course.lanelets.lengths[lanelet]) - self._ends)
            away = taken[:, :2] - self._point(lanelet, station)[:2]
            room = taken[:, 2] + (radius + GAP)
            if np.all((away * away).sum(axis=1) > room * room):
                return lanelet, station
        raise UsageError(f"no room for agent '{course.names[agent]}' on the lanes: have fewer agents or objects")

    def _point(self, lanelet: int, station: float) -> Floats:
        """Place and heading at a station."""
        here = self.course.lanelets.samples_of(lanelet)
        samples = self.course.samples[here]
        return np.array([np.interp(station, samples[:, 3], samples[:, column]) for column in range(3)])

    def _put(self, snapshot: Snapshot, agent: int, lanelet: int, station: float) -> Floats:
        """Put an agent on a lane; returns the circle that it takes, shape (1, 3)."""
        world, columns = self.course.world, snapshot.columns
        body, vehicle, _ = self.course.rows[agent].tolist()
        x, y, heading = self._point(lanelet, station).tolist()
        columns.position[body, :2] = x, y
        columns.orientation[body] = heading_quaternion(heading)
        memory = world.constants.memory
        history = columns.pose_history[vehicle * memory : (vehicle + 1) * memory]
        history[:, 0:3], history[:, 3:7] = columns.position[body], columns.orientation[body]
        return np.array([[x, y, float(self._radii[body])]])
