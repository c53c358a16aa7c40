"""The data sheet of a run: every column of a Snapshot (`State`) and every constant a kernel takes (`Constants`).

A Snapshot is one float64 block and one int64 block. Columns lie in them one after another in the order of `COLUMNS`,
so a new kind of state is one line there and one field in `State`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints

__all__ = ["COLUMNS", "Column", "Constants", "Layout", "Shapes", "State"]

Triples = Annotated[Floats, (3,)]
"""Annotations of arrays name the shape of one of their rows; `cbsim.world.packed.kernels` slices them by it."""


class Column(NamedTuple):
    """One column of a Snapshot: its block, number and width of rows, unit and meaning."""

    name: str
    block: str
    rows: str
    width: int
    unit: str
    meaning: str


COLUMNS: tuple[Column, ...] = (
    # pose and motion of every body
    Column("position", "float", "bodies", 3, "m", "centre of the body in the world"),
    Column("orientation", "float", "bodies", 4, "1", "unit quaternion, scalar first, body to world"),
    Column("velocity", "float", "bodies", 3, "m/s", "of the centre, in the world"),
    Column("angular_velocity", "float", "bodies", 3, "rad/s", "in the body frame"),
    # commands and actuators of vehicles
    Column("command", "float", "vehicles", 6, "1", "throttle, steering, left and right lever, reverse, handbrake"),
    Column(
        "actuator", "float", "vehicles", 6, "1", "throttle, steering, levers after slew rates; two after dead times"
    ),
    Column(
        "wheel",
        "float",
        "vehicles",
        4,
        "m/s², rad/s, rad/s²",
        "forward acceleration; speeds of two wheels; yaw acceleration",
    ),
    Column("command_delay", "float", "delay_rows", 2, "1", "throttle and steering in the newest steps, for dead times"),
    Column(
        "pose_history",
        "float",
        "history_rows",
        13,
        "m, 1, m/s, rad/s",
        "position, orientation, velocity, yaw rate, speed and way of the wheels, newest steps",
    ),
    Column(
        "travel",
        "float",
        "cars",
        11,
        "m, m, m/s, m/s², s, s, 1, m, m, m, m",
        "station of the rear bumper, offset, speed, acceleration, arrival at a line, time at rest, slope of the "
        "offset, offset to come to, way of a shift that is done, its length, way until a return",
    ),
    Column("pool_next", "float", "pools", 1, "s", "time of the next arrival of a flow"),
    Column(
        "watch", "float", "watched", 3, "1, s, s", "line at which another body waits, since when, for how long free"
    ),
    Column("controller_state", "float", "controller_values", 1, "by model", "of behaviours and motions of models"),
    Column(
        "guided",
        "float",
        "guided_bodies",
        7,
        "s, m/s, m/s, m/s², 1, 1, 1",
        "delay, speed, ordered speed, its rate, action that it synchronises by, presence, segment of a guided body",
    ),
    Column(
        "order", "float", "ordered", 4, "m/s, m/s², 1, 1", "ordered speed of a reactive car, its rate, action, lane"
    ),
    Column("condition", "float", "conditions", 1, "by kind", "what conditions of events remember"),
    Column("command_queue", "float", "queued", 8, "1", "commands in flight: whether there is one, its step, itself"),
    # the run itself, and discrete states of moving bodies
    Column("clock", "int", "one", 1, "1", "steps since the start"),
    Column("seed", "int", "one", 1, "1", "seed of every random stream"),
    Column("trajectory_segment", "int", "movers", 1, "1", "row of the trajectory segment of a literal mover"),
    Column("goal", "int", "followers", 1, "1", "row of the trajectory segment of a follower"),
    Column("intent", "int", "cars", 6, "1", "lanelet, next lanelet, forks or goals passed, claim, phase, serial"),
    Column("pool_counts", "int", "pools", 3, "1", "cars of a flow that have arrived, appeared and left"),
    Column("active_contacts", "int", "moving", 4, "1", "rows of the bodies that a moving body touches, -1 for none"),
    Column("event", "int", "events", 1, "1", "step in which an event came true, -1 while it waits"),
    Column("closed", "int", "closures", 1, "1", "lanelet that is closed plus 1, 0 for none"),
    Column("light", "int", "lights", 1, "1", "state that an event has set of a traffic light, -1 for its program"),
    Column(
        "parking",
        "int",
        "parkers",
        4,
        "1, 1, ms, 1",
        "way through a zone, ticket, since when it asks, whether it has parked",
    ),
    Column("run_state", "int", "run_states", 1, "1", "emergency stop of a vehicle: RUN, PAUSE or DISABLE"),
    Column("fork", "int", "forks", 2, "1", "step and branch of a fork, zeros for none"),
    Column("held", "int", "held_draws", 2, "1", "draw of a car or a flow that had begun before a fork, and its branch"),
)


class State(NamedTuple):
    """The columns of one Snapshot as views of its two blocks; kernels read and write these.

    Attributes
    ----------
    position : (bodies, 3) [m]
    orientation : (bodies, 4)
    velocity : (bodies, 3) [m/s]
    angular_velocity : (bodies, 3) [rad/s]
    command : (vehicles, 6)
    actuator : (vehicles, 6)
        Throttle, steering, left and right lever after their slew rates; throttle and steering out of their dead times.
    wheel : (vehicles, 4)
    command_delay : (vehicles · delay_steps, 2)
        Ring of the newest commands of each vehicle, step k in row k mod delay_steps; as long as the longest dead time.
    pose_history : (tracked · memory, 13)
        Ring of the newest steps of each tracked body, step k in row k mod memory; as long as sensors look back.
    travel : (cars, 11)
        Reactive cars, columns as in `cbsim.world.traffic.tables`.
    pool_next : (pools,) [s]
        Next arrival of each flow; -1 before the first step.
    watch : (watched, 3)
        Bodies that reactive cars see wait at stop lines, columns as in `cbsim.world.traffic.tables`.
    controller_state : (controller_values,)
        States of the behaviours and motions of models, one after another; they include the controls.
    guided : (guided_bodies, 7)
        Bodies that events act on, columns as in `cbsim.world.events.tables`.
    order : (ordered, 4)
        Speeds and lanes that events ask of reactive cars; no rows where no event does, else as many as there are cars.
    condition : (conditions,)
        What conditions of events remember: since when, or where an object was.
    command_queue : (queued, 8)
        Commands of planners that do not act yet, columns as in `cbsim.world.command_queue`.
    clock, seed : (1,)
    trajectory_segment : (movers,)
    goal : (followers,)
    intent : (cars, 6)
        Reactive cars, columns as in `cbsim.world.traffic.tables`.
    pool_counts : (pools, 3)
        How many cars of each flow have arrived, appeared and left.
    active_contacts : (moving, 4)
        In the order of the rows of moving bodies; a pair is stored with the first of them that has a free slot.
    event : (events,)
        Step in which each event came true; -1 while it waits.
    closed : (closures,)
        Lanelets, plus 1, on which a body stands that nobody can pass; 0 for none.
    light : (lights,)
        State that an event has set of each traffic light, -1 for its program; no rows where no event does.
    parking : (parkers, 4)
        Reactive cars that may come to zones, columns as in `cbsim.world.traffic.zones.tables`; no rows where none does,
        else as many as there are cars.
    run_state : (run_states,)
        Emergency stop of each vehicle, by `cbsim.spec.events.RUN_STATES`; no rows where no event sets it.
    fork : (forks, 2)
        Step and branch of each fork, in order; rows of zeros come last. No rows in a World that is not to be forked.
    held : (held_draws, 2)
        Draws that had begun before a fork, and the branch that they keep: number of forks or goals passed by each
        reactive car plus 1, then number of the car that waits to appear of each flow plus 1; 0 for none.
    """

    position: Floats
    orientation: Floats
    velocity: Floats
    angular_velocity: Floats
    command: Floats
    actuator: Floats
    wheel: Floats
    command_delay: Floats
    pose_history: Floats
    travel: Floats
    pool_next: Floats
    watch: Floats
    controller_state: Floats
    guided: Floats
    order: Floats
    condition: Floats
    command_queue: Floats
    clock: Ints
    seed: Ints
    trajectory_segment: Ints
    goal: Ints
    intent: Ints
    pool_counts: Ints
    active_contacts: Ints
    event: Ints
    closed: Ints
    light: Ints
    parking: Ints
    run_state: Ints
    fork: Ints
    held: Ints


for _column in COLUMNS:
    if _column.width > 1:  # kernels know the widths of rows when they are compiled
        State.__annotations__[_column.name] = Annotated[NDArray[np.generic], (_column.width,)]


class Shapes(NamedTuple):
    """Outlines of all bodies, row by row; kernels take it whole.

    Attributes
    ----------
    kind : (bodies,) int64
        `ShapeKind` codes.
    size : (bodies, 3) [m]
        Full extents along the body axes.
    radius : (bodies,) [m]
        Of the bounding sphere about the body's centre.
    solid : (bodies,) int64
        0 for drivable meshes, which are ground and no obstacle, and for bodies without a shape; else 1.
    triangles : (triangles, 3, 3) [m]
        Corners of all mesh triangles in their body frames, in the order of the leaves of their trees.
    first, last : (bodies,) int64
        Range of a body's triangles.
    node_box, node_link : (nodes, 6) [m], (nodes, 2) int64
        Bounding volume hierarchies of all meshes in their body frames, as in `cbsim.geometry.kernels.bvh`.
    root : (bodies,) int64
        First node of a body's tree; -1 for what is no mesh or has no triangles.
    """

    kind: Ints
    size: Triples
    radius: Floats
    solid: Ints
    triangles: Annotated[Floats, (3, 3)]
    first: Ints
    last: Ints
    node_box: Annotated[Floats, (6,)]
    node_link: Annotated[Ints, (2,)]
    root: Ints


class Constants(NamedTuple):
    """Constants of a World that kernels take.

    Attributes
    ----------
    step : float
        Length of a step [s].
    substeps : int
        Vehicle substeps in a step; each at most 5 ms.
    memory : int
        Steps that `State.pose_history` holds of each tracked body; 0 where there is no sensor.
    delay_steps : int
        Steps that `State.command_delay` holds of each vehicle; 0 where no drive has dead times.
    moving : (moving,)
        Rows of bodies that can move, in order: literal movers and vehicles, then all bodies of models.
    mover_body, mover_first, mover_last : (movers,)
        Row of the body, and first and last row of its segments.
    segment_start : (segments,) [s]
        Time at which a segment begins.
    segment_origin, segment_velocity : (segments, 3) [m], [m/s]
        Position at that time, and velocity.
    segment_orientation : (segments, 4)
        Orientation throughout.
    segment_station : (segments,) [m]
        Length of the trajectory from the body's start to the segment's.
    follower_vehicle, follower_first, follower_last : (followers,)
        Vehicles that drive their segments: row of the vehicle, first and last row of its segments.
    follower_levers : (followers,)
        1 for skid-steered vehicles, which take levers; else 0.
    vehicle_body, vehicle_drive : (vehicles,)
        Row of the body; index of its drive in `cbsim.spec.drives.DRIVES`.
    vehicle_parameters : (vehicles, parameters)
        Columns as in `cbsim.vehicle.parameters`.
    vehicle_height : (vehicles,) [m]
        Height of the body's centre above the ground.
    ground_triangles : (triangles, 3, 3) [m]
        Drivable meshes, in the world.
    ground_box, ground_link : (nodes, 6) [m], (nodes, 2)
        Their common tree, as in `cbsim.geometry.kernels.bvh`.
    tracked_body : (tracked,)
        Rows of bodies whose newest steps `State.pose_history` holds: those of the vehicles, then all bodies of models,
        then reactive cars.
    first_model : int
        Row of the first body of a model; the number of bodies if there is none.
    guided_body, guided_first, guided_last : (guided,)
        Bodies on whose motion or presence events act: row, and first and last row of its segments.
    guided_speed : (guided,) [m/s]
        Highest speed of its segments.
    """

    step: float
    substeps: int
    memory: int
    delay_steps: int
    moving: Ints
    mover_body: Ints
    mover_first: Ints
    mover_last: Ints
    segment_start: Floats
    segment_origin: Triples
    segment_velocity: Triples
    segment_orientation: Annotated[Floats, (4,)]
    segment_station: Floats
    follower_vehicle: Ints
    follower_first: Ints
    follower_last: Ints
    follower_levers: Ints
    vehicle_body: Ints
    vehicle_drive: Ints
    vehicle_parameters: Annotated[Floats, "vehicle_body"]
    vehicle_height: Floats
    ground_triangles: Annotated[Floats, (3, 3)]
    ground_box: Annotated[Floats, (6,)]
    ground_link: Annotated[Ints, (2,)]
    tracked_body: Ints
    first_model: int
    guided_body: Ints
    guided_first: Ints
    guided_last: Ints
    guided_speed: Floats


@dataclass(frozen=True)
class Layout:
    """Layout of the columns in the blocks of a World's Snapshots.

    Attributes
    ----------
    bodies, vehicles, movers, history_rows, moving, followers, delay_rows, controller_values, cars, pools, watched : int
    events, conditions, run_states, guided_bodies, ordered, lights, queued, closures, parkers, forks, held_draws : int
        Number of rows of each kind.
    """

    bodies: int
    vehicles: int
    movers: int
    history_rows: int = 0
    moving: int = 0
    followers: int = 0
    delay_rows: int = 0
    controller_values: int = 0
    cars: int = 0
    pools: int = 0
    watched: int = 0
    events: int = 0
    conditions: int = 0
    run_states: int = 0
    guided_bodies: int = 0
    ordered: int = 0
    lights: int = 0
    queued: int = 0
    closures: int = 0
    parkers: int = 0
    forks: int = 0
    held_draws: int = 0

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """All of them, in that order."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def rows(self, kind: str) -> int:
        """Count the rows of a kind named in `COLUMNS`."""
        return 1 if kind == "one" else int(getattr(self, kind))

    def size(self, block: str) -> int:
        """Count the numbers of the block ``float`` or ``int``."""
        return sum(self.rows(c.rows) * c.width for c in COLUMNS if c.block == block)

    def views(self, floats: Floats, ints: Ints) -> State:
        """Slice the two blocks into columns; no copy."""
        blocks = {"float": floats, "int": ints}
        columns = [np.ndarray(shape, blocks[block].dtype, blocks[block], at) for block, shape, at in self._places]
        return State(*columns)

    def first(self, name: str) -> int:
        """Index in its block at which a column begins."""
        return self._firsts[name]

    @cached_property
    def _firsts(self) -> dict[str, int]:
        return {column.name: at // 8 for column, (_, _, at) in zip(COLUMNS, self._places, strict=True)}

    @cached_property
    def _places(self) -> tuple[tuple[str, tuple[int, ...], int], ...]:
        """Block, shape and first byte of every column."""
        at, places = {"float": 0, "int": 0}, []
        for column in COLUMNS:
            rows = self.rows(column.rows)
            shape = (rows, column.width) if column.width > 1 else (rows,)
            places.append((column.block, shape, at[column.block]))
            at[column.block] += 8 * rows * column.width
        return tuple(places)
