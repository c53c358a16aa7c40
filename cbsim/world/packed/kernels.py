"""Slicing of packed blocks: tables of a World from a `cbsim.world.packed.Pack`, columns of a Snapshot."""

from __future__ import annotations

from cbsim.jit import inlined, inner
from cbsim.world.tables import Constants, Shapes, State
from cbsim.world.traffic.tables import Crossings, Demand, Road, Surroundings

__all__ = [
    "constants_of",
    "crossings_of",
    "demand_of",
    "reals_of",
    "road_of",
    "rows_of",
    "shapes_of",
    "state_of",
    "surroundings_of",
    "whole_rows_of",
    "wholes_of",
]

TRAFFIC = 36  # place of the first of `Traffic`, after `Shapes`
SHAPES = 26  # place of the first of `Shapes` in the pack of a World, after `Constants`


@inlined
def reals_of(pack, k):
    """Slice value number k, real numbers (n,)."""
    return pack[0][pack[2][k, 0] : pack[2][k, 1]]


@inlined
def wholes_of(pack, k):
    """Slice value number k, whole numbers (n,)."""
    return pack[1][pack[2][k, 0] : pack[2][k, 1]]


@inlined
def rows_of(pack, k, width):
    """Slice value number k, real numbers (n, width)."""
    return reals_of(pack, k).reshape(((pack[2][k, 1] - pack[2][k, 0]) // width, width))


@inlined
def whole_rows_of(pack, k, width):
    """Slice value number k, whole numbers (n, width)."""
    return wholes_of(pack, k).reshape(((pack[2][k, 1] - pack[2][k, 0]) // width, width))


@inlined
def corners_of(pack, k):
    """Slice value number k, corners of triangles (n, 3, 3)."""
    return reals_of(pack, k).reshape(((pack[2][k, 1] - pack[2][k, 0]) // 9, 3, 3))


@inner
def constants_of(pack):
    """`Constants` of a World."""
    vehicles = wholes_of(pack, 17)
    parameters = reals_of(pack, 19)
    columns = parameters.shape[0] // max(vehicles.shape[0], 1)
    return Constants(
        step=reals_of(pack, 0)[0],
        substeps=wholes_of(pack, 1)[0],
        memory=wholes_of(pack, 2)[0],
        delay_steps=wholes_of(pack, 3)[0],
        moving=wholes_of(pack, 4),
        mover_body=wholes_of(pack, 5),
        mover_first=wholes_of(pack, 6),
        mover_last=wholes_of(pack, 7),
        segment_start=reals_of(pack, 8),
        segment_origin=rows_of(pack, 9, 3),
        segment_velocity=rows_of(pack, 10, 3),
        segment_orientation=rows_of(pack, 11, 4),
        segment_station=reals_of(pack, 12),
        follower_vehicle=wholes_of(pack, 13),
        follower_first=wholes_of(pack, 14),
        follower_last=wholes_of(pack, 15),
        follower_levers=wholes_of(pack, 16),
        vehicle_body=vehicles,
        vehicle_drive=wholes_of(pack, 18),
        vehicle_parameters=parameters.reshape((vehicles.shape[0], columns)),
        vehicle_height=reals_of(pack, 20),
        ground_triangles=corners_of(pack, 21),
        ground_box=rows_of(pack, 22, 6),
        ground_link=whole_rows_of(pack, 23, 2),
        tracked_body=wholes_of(pack, 24),
        first_model=wholes_of(pack, 25)[0],
    )


@inner
def shapes_of(pack):
    """`Shapes` of a World."""
    return Shapes(
        kind=wholes_of(pack, SHAPES),
        size=rows_of(pack, SHAPES + 1, 3),
        radius=reals_of(pack, SHAPES + 2),
        solid=wholes_of(pack, SHAPES + 3),
        triangles=corners_of(pack, SHAPES + 4),
        first=wholes_of(pack, SHAPES + 5),
        last=wholes_of(pack, SHAPES + 6),
        node_box=rows_of(pack, SHAPES + 7, 6),
        node_link=whole_rows_of(pack, SHAPES + 8, 2),
        root=wholes_of(pack, SHAPES + 9),
    )


@inner
def road_of(pack):
    """`Road` of a World."""
    return Road(
        lanelets=rows_of(pack, TRAFFIC + 0, 4),
        links=whole_rows_of(pack, TRAFFIC + 1, 5),
        samples=rows_of(pack, TRAFFIC + 2, 4),
        wanders=wholes_of(pack, TRAFFIC + 3),
        hops=wholes_of(pack, TRAFFIC + 4),
        destinations=rows_of(pack, TRAFFIC + 5, 2),
        goals=rows_of(pack, TRAFFIC + 6, 2),
        car_rows=whole_rows_of(pack, TRAFFIC + 7, 5),
        car_sizes=rows_of(pack, TRAFFIC + 8, 5),
        words=wholes_of(pack, TRAFFIC + 9),
    )


@inner
def crossings_of(pack):
    """`Crossings` of a World."""
    return Crossings(
        entry_offsets=wholes_of(pack, TRAFFIC + 10),
        entry_others=wholes_of(pack, TRAFFIC + 11),
        entry_sides=wholes_of(pack, TRAFFIC + 12),
        entry_rows=wholes_of(pack, TRAFFIC + 13),
        entry_lanelets=wholes_of(pack, TRAFFIC + 14),
        spans=rows_of(pack, TRAFFIC + 15, 4),
        rules=whole_rows_of(pack, TRAFFIC + 16, 3),
        yields=wholes_of(pack, TRAFFIC + 17),
        ranks=wholes_of(pack, TRAFFIC + 18),
        forks=rows_of(pack, TRAFFIC + 19, 3),
    )


@inner
def surroundings_of(pack):
    """`Surroundings` of a World."""
    return Surroundings(
        origin=reals_of(pack, TRAFFIC + 20),
        size=wholes_of(pack, TRAFFIC + 21),
        offsets=wholes_of(pack, TRAFFIC + 22),
        samples=wholes_of(pack, TRAFFIC + 23),
        owners=wholes_of(pack, TRAFFIC + 24),
        successor_offsets=wholes_of(pack, TRAFFIC + 25),
        successors=wholes_of(pack, TRAFFIC + 26),
    )


@inner
def demand_of(pack):
    """`Demand` of a World."""
    return Demand(
        flows=rows_of(pack, TRAFFIC + 27, 5),
        pool_rows=whole_rows_of(pack, TRAFFIC + 28, 5),
        targets=rows_of(pack, TRAFFIC + 29, 2),
        mixes=wholes_of(pack, TRAFFIC + 30),
        mix_rows=rows_of(pack, TRAFFIC + 31, 2),
        drivers=rows_of(pack, TRAFFIC + 32, 17),
    )


@inner
def state_of(floats, ints, sizes):
    """`State` of a Snapshot: the columns in its two blocks, as many rows as `Layout.sizes` says."""
    bodies, vehicles, movers, history_rows, moving, followers, delay_rows, controller_values, cars, pools = sizes
    orientation, velocity, angular, command = 3 * bodies, 7 * bodies, 10 * bodies, 13 * bodies
    actuator, wheel = command + 6 * vehicles, command + 12 * vehicles
    command_delay = wheel + 4 * vehicles
    pose_history = command_delay + 2 * delay_rows
    travel = pose_history + 13 * history_rows
    pool_next = travel + 6 * cars
    controller_state = pool_next + pools
    goal, intent = 2 + movers, 2 + movers + followers
    pool_counts = intent + 6 * cars
    active_contacts = pool_counts + 3 * pools
    return State(
        position=floats[:orientation].reshape((bodies, 3)),
        orientation=floats[orientation:velocity].reshape((bodies, 4)),
        velocity=floats[velocity:angular].reshape((bodies, 3)),
        angular_velocity=floats[angular:command].reshape((bodies, 3)),
        command=floats[command:actuator].reshape((vehicles, 6)),
        actuator=floats[actuator:wheel].reshape((vehicles, 6)),
        wheel=floats[wheel:command_delay].reshape((vehicles, 4)),
        command_delay=floats[command_delay:pose_history].reshape((delay_rows, 2)),
        pose_history=floats[pose_history:travel].reshape((history_rows, 13)),
        travel=floats[travel:pool_next].reshape((cars, 6)),
        pool_next=floats[pool_next:controller_state],
        controller_state=floats[controller_state : controller_state + controller_values],
        clock=ints[:1],
        seed=ints[1:2],
        trajectory_segment=ints[2:goal],
        goal=ints[goal:intent],
        intent=ints[intent:pool_counts].reshape((cars, 6)),
        pool_counts=ints[pool_counts:active_contacts].reshape((pools, 3)),
        active_contacts=ints[active_contacts:].reshape((moving, 4)),
    )
