"""What tests of the rules of the road share: a small site, drives on it, and judges who see them live or recorded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from cbsim.collision.contacts import CONTACT
from cbsim.errors import Location
from cbsim.evaluation.judge import Judge, judge
from cbsim.evaluation.rules import Check
from cbsim.formats.scenario.rules import RULES as MODELS
from cbsim.geometry.pose import heading_quaternion
from cbsim.recording.batch import Batch, Header
from cbsim.recording.header import FORMAT_VERSION
from cbsim.recording.recorder import FileRecorder
from cbsim.recording.recording import Recording
from cbsim.road.roadmap import RoadMap, build
from cbsim.spec.mission import Mission, MissionCheckpoint, SpeedLimit
from cbsim.spec.mission_clock import ALARM
from cbsim.spec.profiles import DEFAULT_PROFILE
from cbsim.spec.scenario import Expectation
from cbsim.world.events.run_control import RestartRow, RunControl, StateRow
from cbsim.world.motion import MOTION_WIDTH
from cbsim.world.scene import Scene
from cbsim.world.traffic.events import HAPPENED
from tests.road.site import Site, straight

STEP = 0.05
SIZE = [1.8, 4.4, 1.5]
FRONT = 0.5 * SIZE[1]
LANE = 3.6576


@cache
def site() -> RoadMap:
    """A road to the north with two lanes and one back, a way to the right at its end, a U-turn, a parking lot.

    Lane 1.1 goes north at x = 0, with stop lines at y = 100 and 200 and checkpoints at 50 (1), 150 (2); lane 1.2 beside
    it on the right; 1.3 comes back on the left, with a U-turn to it at y = 50. 2.1
    goes east from (12, 212), 3.1 is a lane that ends in zone 4.
    """
    left, right = -LANE, LANE
    made = Site(metric=True)
    made.lane(
        "1.1",
        straight(200.0),
        stops=["1.1.3", "1.1.5"],
        checkpoints=[("1.1.2", 1), ("1.1.4", 2)],
        exits=[("1.1.5", "2.1.1")],
    )
    made.lane("1.2", straight(200.0, x=right), exits=[("1.2.2", "1.3.4")])
    made.lane("1.3", straight(200.0, x=left, back=True))
    made.lane("2.1", [(12.0, 212.0), (100.0, 212.0)])
    made.lane("3.1", straight(50.0, x=50.0), exits=[("3.1.5", "4.0.4")])
    corners = [(40.0, 80.0), (60.0, 80.0), (60.0, 52.0), (50.0, 52.0), (40.0, 52.0)]
    made.zone(4, corners, spots=[((50.0, 68.0), (50.0, 75.0))], checkpoints=[("4.1.2", 9)])
    return build(made.network())


def mission(*numbers: int, limits: Sequence[tuple[int, float, float]] = ()) -> Mission:
    """Checkpoints in order, and (segment, minimum, maximum) [m/s]."""
    stops = tuple(MissionCheckpoint(number) for number in numbers)
    return Mission("m", "site", stops, tuple(SpeedLimit(*limit) for limit in limits))


class Drive:
    """A drive, put together from pieces of whole steps; it knows where it is."""

    def __init__(self, x: float = 0.0, y: float = 0.0, heading: float = 0.0, step: float = STEP) -> None:
        self.step = step
        self.x, self.y, self.heading = x, y, heading
        self.rows = [self._row(0.0)]

    def _row(self, speed: float) -> np.ndarray:
        ahead = -math.sin(self.heading), math.cos(self.heading)
        row = np.zeros(MOTION_WIDTH)
        row[:3] = self.x, self.y, 0.75
        row[3:7] = heading_quaternion(self.heading)
        row[7:9] = speed * ahead[0], speed * ahead[1]
        return row

    def go(self, distance: float, speed: float = 5.0, turn: float = 0.0, aside: float = 0.0) -> Drive:
        """Go some way, turning evenly by an angle [rad], or sliding to the left [m]."""
        count = max(1, math.ceil(distance / (speed * self.step) - 1e-9))
        x, y, start = self.x, self.y, self.heading
        left = np.array([-math.cos(start), -math.sin(start)])
        for k in range(1, count + 1):
            part = k / count
            self.heading = start + part * turn
            chord = part * distance * (math.sin(0.5 * part * turn) / (0.5 * part * turn) if turn else 1.0)
            middle = start + 0.5 * part * turn
            self.x = x - chord * math.sin(middle) + part * aside * left[0]
            self.y = y + chord * math.cos(middle) + part * aside * left[1]
            self.rows.append(self._row(speed))
        return self

    def wait(self, time: float) -> Drive:
        """Stand still."""
        self.rows += [self._row(0.0)] * max(1, round(time / self.step))
        return self

    @property
    def motion(self) -> np.ndarray:
        """Motion of the car alone, shape (n, 1, 13)."""
        return np.array(self.rows)[:, None]


class Clock(NamedTuple):
    """A mission's clock as a run has it: run states of the car by the time at which they begin, and restarts."""

    states: tuple[tuple[float, str], ...] = ()
    restarts: tuple[tuple[float, int], ...] = ()
    has_clock: bool = True

    def control(self) -> RunControl:
        states = tuple(StateRow(k, 0, state) for k, (_, state) in enumerate(self.states))
        restarts = tuple(RestartRow(len(states) + k, 0, leg) for k, (_, leg) in enumerate(self.restarts))
        return RunControl((0,) if self.has_clock else (), ALARM if self.has_clock else 0.0, states, restarts)

    def events(self, step: float) -> list[tuple[int, int, int, int]]:
        """Rows of events: each comes true at the first step at its time, and is told with the step after it."""
        times = [time for time, _ in (*self.states, *self.restarts)]
        return [(math.ceil(time / step - 1e-9), HAPPENED, number, 0) for number, time in enumerate(times)]


NO_CLOCK = Clock(has_clock=False)


def header(step: float, others: int = 0, clock: Clock = NO_CLOCK) -> Header:
    """Describe a car, a box that stands still, and other cars."""
    pose = {"position": [0.0, 0.0, 0.75], "orientation": [1.0, 0.0, 0.0, 0.0], "size": SIZE}
    names = ["Car", "Box", *(f"Other {k}" for k in range(others))]
    moving = [0, *range(2, 2 + others)]
    objects = [{"name": name, **pose} for name in names]
    control = clock.control()
    return Header(FORMAT_VERSION, "test", step, 0, "", objects, moving, [], {}, run_control=control)


def expect(rule: str, *, profile: str = DEFAULT_PROFILE, **arguments: object) -> Expectation:
    """Write an expectation as the scenario's models do, defaults and all."""
    model = MODELS[rule](**{"object": "Car", **arguments})
    fields = type(model).model_fields.items()
    values = tuple((info.alias or name, getattr(model, name)) for name, info in fields)
    return Expectation(rule, values, Location("test.yaml", 7), profile)


def contact(time: float, a: int, b: int, speed: float) -> np.ndarray:
    """One row of contacts at (1, 2, 0.5)."""
    row = np.zeros(len(CONTACT))
    row[:6] = time, a, b, 1.0, 2.0, 0.5
    row[CONTACT.index("closing_speed")] = speed
    return row


def batches(
    motion: np.ndarray, size: int, step: float, contacts: Sequence[np.ndarray], events: np.ndarray
) -> Iterator[Batch]:
    """Cut a run into batches of some steps; events are told with the step after theirs."""
    for first in range(0, len(motion), size):
        part = motion[first : first + size]
        last = first + len(part) - 1
        met = [one for one in contacts if (first - 1) * step < one[0] <= last * step]
        told = events[(events[:, 0] >= first - 1) & (events[:, 0] < last)]
        table = np.array(met).reshape(-1, len(CONTACT))
        yield Batch(first, np.zeros(len(part), np.uint64), part, contacts=table, events=told)


class Court:
    """Shows a drive to a judge step by step, in batches of 7, 256 and all steps, and from a recording: all agree.

    A judge gathers steps before it shows them to its rules. With `singly`, it is asked after every batch, also of
    one step, so that rules see exactly these.
    """

    def __init__(self, folder: object, singly: bool = False) -> None:
        self.path = folder / "drive.mcap"  # type: ignore[operator]
        self.singly = singly

    def __call__(
        self,
        expectation: Expectation,
        trip: Drive,
        task: Mission | None = None,
        contacts: Sequence[np.ndarray] = (),
        others: np.ndarray | None = None,
        roadmap: RoadMap | None = None,
        clock: Clock = NO_CLOCK,
    ) -> Check:
        scene = Scene("test", (), roadmap or site(), task, expectations=(expectation,))
        motion = trip.motion if others is None else np.concatenate([trip.motion, others], axis=1)
        head = header(trip.step, 0 if others is None else others.shape[1], clock)
        told = np.array(clock.events(trip.step), np.int64).reshape(-1, 4)
        recorder = FileRecorder(self.path)
        live = Judge(scene.expectations, scene.roadmap, task)
        for listener in (recorder, live):
            listener.begin(head, b"", {})
        for batch in batches(motion, 1, trip.step, contacts, told):
            live.take(batch)
            recorder.take(batch)
        live.end()
        recorder.end()
        again = judge(Recording.open(self.path), scene)
        assert again.checks == live.checks
        for size in (*((1,) if self.singly else ()), 7, 256, len(motion)):
            other = Judge(scene.expectations, scene.roadmap, task)
            other.begin(head, b"", {})
            for batch in batches(motion, size, trip.step, contacts, told):
                other.take(batch)
                if self.singly:
                    assert other.decided is not None  # which shows what has been gathered
            other.end()
            assert other.checks == live.checks, size
        (check,) = live.checks
        return check
