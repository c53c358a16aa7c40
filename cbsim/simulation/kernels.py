"""Compiled batches of steps without Python in between; a batch of n gives the same bits as n single steps."""

from __future__ import annotations

import numpy as np

from cbsim.collision.kernels.active_contacts import order_rows, release_apart, release_contacts
from cbsim.collision.kernels.body_paths import trajectory_of
from cbsim.collision.kernels.broad import has_left
from cbsim.collision.kernels.literal import find_literal_contacts, first_literal_pair
from cbsim.collision.kernels.stage import models_from, near_pairs, pairs_on
from cbsim.collision.kernels.workspace import HORIZON, are_valid, store_pairs, workspace_of
from cbsim.dynamics.kernels.columns import ROTATION, SPIN
from cbsim.dynamics.kernels.columns import VELOCITY as STATE_VELOCITY
from cbsim.events.kernels.actions.run_state import brake_stopped, give_back
from cbsim.events.kernels.guided import bound_guided, move_guided
from cbsim.events.kernels.look import look_at_events
from cbsim.events.kernels.people import walk
from cbsim.geometry.kernels.columns import ANGULAR_VELOCITY, ORIENTATION, VELOCITY
from cbsim.jit import deferred, inlined, inner, kernel, view
from cbsim.simulation.scratch import StepScratch
from cbsim.traffic.kernels.cars import drive_cars, mark_hits, refresh_cars
from cbsim.traffic.kernels.demand.events import note_events
from cbsim.traffic.kernels.driving.driven import mark_hit_vehicles, remember_driven_cars
from cbsim.traffic.kernels.driving.follower import follow_trajectories
from cbsim.traffic.kernels.driving.vehicles import drive_vehicles, read_vehicles
from cbsim.traffic.kernels.literal import move_literally
from cbsim.traffic.kernels.ways.bounds import bound_cars, have_left
from cbsim.traffic.kernels.workspace import parts_of, path_of
from cbsim.world.kernels import HISTORY_YAW_RATE, hash_leaves_into, hash_words
from cbsim.world.packed.kernels import constants_of, road_of, shapes_of, state_of, unpacker

__all__ = ["advance_into", "settle_into"]

scratch_of = unpacker(StepScratch)


@inlined
def record_into(state, rows, out):
    """Write position, orientation, velocity and angular velocity of some bodies to (rows, 13)."""
    for r in range(rows.shape[0]):
        body = rows[r]
        for c in range(3):
            out[r, c] = state.position[body, c]
            out[r, VELOCITY + c] = state.velocity[body, c]
            out[r, ANGULAR_VELOCITY + c] = state.angular_velocity[body, c]
        for c in range(4):
            out[r, ORIENTATION + c] = state.orientation[body, c]


@inlined
def begin_vehicles(constants, state, planar):
    """Command followers of trajectories, and read the motion of all vehicles, after the clock has advanced."""
    follow_trajectories(constants, state, (state.clock[0] - 1) * constants.step)
    read_vehicles(constants, state, planar)


@inlined
def step_vehicles(constants, shapes, state, scratch, segments, workspace, contacts, pairs, found):
    """Drive all vehicles and let them collide, as `drive_vehicles`."""
    # who is stopped brakes in this step alone: the planner's command is kept in the Snapshot
    brake_stopped(constants, state, scratch.commands)
    found, pairs = drive_vehicles(
        *(constants, shapes, state, scratch.planar, (scratch.arcs, scratch.group, scratch.lanes), scratch.nodes),
        *(segments, workspace, scratch.touch, pairs, contacts, found),
    )
    give_back(state, scratch.commands)
    return found, pairs


@deferred("int64")
def meet_literally(pack, scratch_pack, sizes, floats, ints, workspaces, contacts, pairs, found):
    """Find contacts without vehicles, as `find_literal_contacts`; `workspaces` as `step_vehicles` has them."""
    constants, shapes, scratch = constants_of(pack), shapes_of(pack), scratch_of(scratch_pack)
    workspace_floats, workspace_ints, car_floats = workspaces
    state = state_of(floats, ints, sizes)
    segments = trajectory_of(constants, state, path_of(state.intent.shape[0], parts_of(constants.step), car_floats))
    workspace = workspace_of(shapes.kind.shape[0], scratch.planar.shape[0], workspace_floats, workspace_ints)
    clock = state.clock[0]
    return find_literal_contacts(
        *(segments, state.velocity, state.active_contacts, shapes, workspace),
        *(((clock - 1) * constants.step, clock * constants.step), pairs, scratch.pair, scratch.paths),
        *(contacts, found),
    )


@deferred("none")
def measure_contacts(pack, scratch_pack, sizes, floats, ints):
    """Release ended contacts of bodies that belong to no model, as `release_contacts`."""
    constants, shapes, state = constants_of(pack), shapes_of(pack), state_of(floats, ints, sizes)
    models, _ = models_from(constants, shapes.kind.shape[0])
    release_contacts(
        *(constants.moving, state.position, state.orientation, state.active_contacts, shapes, 0, models),
        scratch_of(scratch_pack).pair,
    )


@inlined
def advance_one(pack, scratch_pack, sizes, blocks, workspaces, notes, rows, steps, out, made):
    """Advance one Snapshot in place, as `advance_into`; hash it where `hashes` has room.

    Parameters
    ----------
    pack, scratch_pack, sizes, notes, rows, steps
        As `advance_into` has them.
    blocks, workspaces, out : tuple of ndarray
        The parts of those of `advance_into` that belong to this Snapshot.
    made : tuple
        Constants, shapes and scratch, which the entry point slices once for all Snapshots.
    """
    floats, ints, leaves, live = blocks
    workspace_floats, workspace_ints, car_floats, car_ints = workspaces
    note_floats, note_ints, events = notes
    hashes, record, contacts = out
    constants, shapes, scratch = made
    state, planar = state_of(floats, ints, sizes), scratch.planar
    float_words, int_words = floats.view(np.uint64), ints.view(np.uint64)
    parts, car_rows = parts_of(constants.step), road_of(pack).car_rows
    segments = trajectory_of(constants, state, path_of(state.intent.shape[0], parts, car_floats))
    workspace = workspace_of(shapes.kind.shape[0], planar.shape[0], workspace_floats, workspace_ints)
    tables = workspace_floats, workspace_ints, car_floats
    pairs, anchors, cars = pairs_on(workspace), workspace.anchors, state.intent.shape[0]
    moving, active_contacts, start = constants.moving, state.active_contacts, state.clock[0]
    if cars > 0:
        refresh_cars(pack, sizes, floats, ints, car_floats, car_ints)
    waiting, found, most = state.event.shape[0], 0, 4 * constants.moving.shape[0]
    models, _ = models_from(constants, shapes.kind.shape[0])
    for k in range(steps):
        # a step that could overfill the table is not begun: the caller empties the table and goes on from here
        if found + most > contacts.shape[0]:
            store_pairs(workspace, pairs)
            return k, found, first_non_finite(constants, state)
        happened = 0
        if waiting > 0:
            happened = look_at_events(pack, sizes, floats, ints, start, scratch.conditions, note_ints, events)
        if happened > 0 and cars > 0:  # cars may have appeared
            refresh_cars(pack, sizes, floats, ints, car_floats, car_ints)
        if state.guided.shape[0] > 0:
            walk(pack, sizes, floats, ints, start * constants.step)
        # from here on, the clock is that of the end of the step
        state.clock[0] += 1
        if planar.shape[0] > 0:
            begin_vehicles(constants, state, planar)
        if cars > 0:
            drive_cars(pack, sizes, floats, ints, car_floats, car_ints)
        # pairs are those of some steps at once: valid while nothing has happened and nobody has left the bounds they
        # rest on
        is_valid = happened == 0 and are_valid(workspace, start) and not has_left(planar, anchors)
        is_valid = is_valid and (k > 0 or state.guided.shape[0] == 0)  # bounds of guided bodies are those of one run
        if not is_valid or have_left(car_rows, constants.step, parts, state, shapes.radius, workspace.bounds):
            if cars > 0:
                bound_cars(pack, sizes, floats, ints, HORIZON, workspace.bounds, workspace.reach)
            bound_guided(constants, shapes.radius, state, HORIZON, workspace.bounds, workspace.reach)
            pairs = near_pairs(constants, shapes.radius, start, segments, planar, workspace, pairs)
        # bodies on given paths come first: vehicles collide with them where they are at the end of the step
        since, until, before = start * constants.step, state.clock[0] * constants.step, found
        move_literally(constants, state, until)
        if state.guided.shape[0] > 0:
            move_guided(pack, sizes, floats, ints, until)
        span, literal, count = (since, until), pairs.literal, pairs.literal_count
        first = first_literal_pair(segments, state.velocity, active_contacts, shapes, workspace, span, literal, count)
        if first < count:
            found = meet_literally(
                *(pack, scratch_pack, sizes, floats, ints, tables, contacts, literal[first:count], found)
            )
        if planar.shape[0] > 0:
            found, pairs = step_vehicles(
                *(constants, shapes, state, scratch, segments, workspace),
                *(contacts, pairs, found),
            )
        if cars > 0:
            remember_driven_cars(constants, road_of(pack), state)
            mark_hit_vehicles(road_of(pack), contacts, before, found, state.intent)
            mark_hits(contacts, before, found, workspace.roles, constants.mover_body.shape[0], state.intent)
            if note_ints.shape[0] > 0:
                note_events(pack, sizes, floats, ints, note_floats, note_ints, events)
        # after the contacts of this step: a pair that stays together begins no second one
        if release_apart(moving, state.position, state.orientation, active_contacts, shapes, 0, models):
            measure_contacts(pack, scratch_pack, sizes, floats, ints)
        # movers and vehicles wrote their rows apart, and the order must not depend on that of the stages
        order_rows(contacts, before, found)
        start += 1
        # leaves that no step changes keep their hashes
        if k < hashes.shape[0]:
            hash_leaves_into(float_words, live, leaves)
            hashes[k] = hash_words(int_words, hash_words(leaves, np.uint64(0)))
        if rows.shape[0] > 0:
            record_into(state, rows, record[k])
    store_pairs(workspace, pairs)
    return steps, found, first_non_finite(constants, state)


@kernel
def advance_into(pack, scratch_pack, sizes, blocks, workspaces, notes, rows, worlds, steps, out):
    """Advance Snapshots of one World in place, or by fewer steps if the contact table fills up.

    Parameters
    ----------
    pack : Pack
        `Constants` and `Shapes` of the World.
    scratch_pack : Pack
        `StepScratch`, for one call at a time; written.
    sizes : tuple
        `Layout.sizes`.
    blocks : tuple of ndarray
        The floats (worlds · n,) and ints (worlds · m,) of Snapshots, one after another; hashes of the leaves of the
        floats (worlds · leaves,) uint64; which of them a step may change and writes (live,) int64
        (`cbsim.world.static_cache`). All but the last are written.
    workspaces : tuple of ndarray
        Floats and ints of a workspace for each Snapshot, filled for its static bodies
        (`cbsim.collision.kernels.workspace`), and of one of reactive cars (`cbsim.traffic.kernels.workspace`), empty
        where there are none; written.
    notes : tuple of ndarray
        What cars of traffic do, floats and ints (`cbsim.traffic.kernels.demand.events`), and events of the scenario;
        empty where nobody wants to know, as with several Snapshots; written.
    rows : (r,) int64
        Bodies whose motion is recorded.
    worlds, steps : int
        Number of Snapshots, and steps of each.
    out : tuple of ndarray
        Hash after each step, (worlds · steps,) or (0,) uint64; none is computed without room. Position, orientation,
        velocity and angular velocity of `rows` after each, (worlds · steps, r, 13). A row for each contact that begins,
        (worlds · capacity, 12), columns as in `cbsim.collision.contacts.CONTACT`: a step begins only if there is room
        for as many as it can add, four per moving body. What is returned, of each Snapshot, (worlds or 0, 3) int64.

    Returns
    -------
    steps, found : int
        Steps taken and contacts written, of the last Snapshot.
    failed : int
        First row in the table of vehicles whose motion is not finite after the last step; -1 if there is none.
        Non-finite values persist, so earlier steps need no check.
    """
    taken, found, failed = 0, 0, -1
    made = constants_of(pack), shapes_of(pack), scratch_of(scratch_pack)
    floats, ints, leaves, live = blocks
    workspace_floats, workspace_ints, car_floats, car_ints = workspaces
    hashes, record, contacts, outcomes = out
    for w in range(worlds):
        taken, found, failed = advance_one(
            pack,
            scratch_pack,
            sizes,
            (share_of(floats, w, worlds), share_of(ints, w, worlds), share_of(leaves, w, worlds), live),
            (
                *(share_of(workspace_floats, w, worlds), share_of(workspace_ints, w, worlds)),
                *(share_of(car_floats, w, worlds), share_of(car_ints, w, worlds)),
            ),
            notes,
            rows,
            steps,
            (share_of(hashes, w, worlds), share_of(record, w, worlds), share_of(contacts, w, worlds)),
            made,
        )
        if w < outcomes.shape[0]:
            outcomes[w, 0], outcomes[w, 1], outcomes[w, 2] = taken, found, failed
    return taken, found, failed


@view
def share_of(block, share, shares):
    """Rows of a block that belong to one of several Snapshots."""
    rows = block.shape[0] // shares
    return block[share * rows : (share + 1) * rows]


@inner
def first_non_finite(constants, state):
    """Find the first vehicle with a non-finite pose, motion, wheel or actuator; -1 for none."""
    for v in range(constants.vehicle_body.shape[0]):
        body = constants.vehicle_body[v]
        total = state.angular_velocity[body, 2]
        for c in range(3):
            total += state.position[body, c] + state.velocity[body, c]
        for c in range(4):
            total += state.orientation[body, c] + state.wheel[v, c]
        for c in range(6):
            total += state.actuator[v, c]
        if total - total != 0.0:  # NaN for NaN and for both infinities
            return v
    return -1


@kernel
def settle_into(sizes, blocks, memory, path, controller_states, bodies, ticks, rows, hashes, record):
    """Store the states of models in a Snapshot, step by step, and hash it after each.

    Parameters
    ----------
    sizes, blocks
        As `advance_into` has them.
    memory : int
        Steps that `State.pose_history` holds of each body.
    path : (steps, n, 13) float64
        Position, velocity, orientation and angular velocity of bodies of models after each step.
    controller_states : (steps, m) float64
        Of all models after each step.
    bodies : (n,) int64
        Their rows in the table of bodies.
    ticks : int
        Steps by which the clock advances with each of them: 1, or 0 if it has been advanced.
    rows, hashes, record
        As `advance_into` has them; `hashes` is as long as `path`.
    """
    floats, ints, leaves, live = blocks
    state = state_of(floats, ints, sizes)
    float_words, int_words, vehicles = floats.view(np.uint64), ints.view(np.uint64), state.command.shape[0]
    for k in range(path.shape[0]):
        state.clock[0] += ticks
        for i in range(bodies.shape[0]):
            body = bodies[i]
            for c in range(3):
                state.position[body, c] = path[k, i, c]
                state.velocity[body, c] = path[k, i, STATE_VELOCITY + c]
                state.angular_velocity[body, c] = path[k, i, SPIN + c]
            for c in range(4):
                state.orientation[body, c] = path[k, i, ROTATION + c]
            if memory > 0:
                pose_history = state.pose_history[(vehicles + i) * memory + state.clock[0] % memory]
                for c in range(3):
                    pose_history[c], pose_history[VELOCITY + c] = path[k, i, c], path[k, i, STATE_VELOCITY + c]
                for c in range(4):
                    pose_history[ORIENTATION + c] = path[k, i, ROTATION + c]
                pose_history[HISTORY_YAW_RATE] = path[k, i, SPIN + 2]
        for i in range(controller_states.shape[1]):
            state.controller_state[i] = controller_states[k, i]
        hash_leaves_into(float_words, live, leaves)
        hashes[k] = hash_words(int_words, hash_words(leaves, np.uint64(0)))
        record_into(state, rows, record[k])
