"""Slicing of packed blocks: tables of a World from a `cbsim.world.packed.Pack`, columns of a Snapshot."""

from __future__ import annotations

from cbsim.jit import inlined, inner
from cbsim.world.tables import Constants, Shapes, State

__all__ = ["constants_of", "reals_of", "rows_of", "shapes_of", "state_of", "whole_rows_of", "wholes_of"]

SHAPES = 25  # place of the first of `Shapes` in the pack of a World, after `Constants`


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
def state_of(floats, ints, sizes):
    """`State` of a Snapshot: the columns in its two blocks, as many rows as `Layout.sizes` says."""
    bodies, vehicles, movers, history_rows, moving, followers, delay_rows, controller_values = sizes
    orientation, velocity, angular, command = 3 * bodies, 7 * bodies, 10 * bodies, 13 * bodies
    actuator, wheel = command + 6 * vehicles, command + 12 * vehicles
    command_delay = wheel + 4 * vehicles
    pose_history = command_delay + 2 * delay_rows
    controller_state = pose_history + 13 * history_rows
    goal, active_contacts = 2 + movers, 2 + movers + followers
    return State(
        position=floats[:orientation].reshape((bodies, 3)),
        orientation=floats[orientation:velocity].reshape((bodies, 4)),
        velocity=floats[velocity:angular].reshape((bodies, 3)),
        angular_velocity=floats[angular:command].reshape((bodies, 3)),
        command=floats[command:actuator].reshape((vehicles, 6)),
        actuator=floats[actuator:wheel].reshape((vehicles, 6)),
        wheel=floats[wheel:command_delay].reshape((vehicles, 4)),
        command_delay=floats[command_delay:pose_history].reshape((delay_rows, 2)),
        pose_history=floats[pose_history:controller_state].reshape((history_rows, 13)),
        controller_state=floats[controller_state : controller_state + controller_values],
        clock=ints[:1],
        seed=ints[1:2],
        trajectory_segment=ints[2:goal],
        goal=ints[goal:active_contacts],
        active_contacts=ints[active_contacts:].reshape((moving, 4)),
    )
