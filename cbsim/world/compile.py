"""`compile_world`: a Scene to a World and its first Snapshot. Pure: reads no file, asks no clock."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from cbsim.errors import Location, ModelError, StepError
from cbsim.geometry import elementary as math
from cbsim.geometry.forest import Forest
from cbsim.geometry.kernels.bvh import DEPTH
from cbsim.geometry.kernels.ground import ground_height, lean_into, stand
from cbsim.geometry.pose import Pose, forward
from cbsim.spec.objects import Controller, Kind, ShapeKind, TrafficObject, Wheels, WheelType
from cbsim.spec.sensor import SIMULATED
from cbsim.vehicle.kernels.columns import TRACK, WHEELBASE
from cbsim.vehicle.parameters import PARAMETERS, drive_code, vehicle_parameters
from cbsim.world.figures import outline_of
from cbsim.world.memory import command_delay_steps, pose_history_steps
from cbsim.world.places import frame_of, start_pose, trajectory_of
from cbsim.world.scene import Actor, Scene
from cbsim.world.sensors import sensor_of
from cbsim.world.shapes import ground_of, shapes_of
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import Constants, Layout, Shapes, State
from cbsim.world.trajectories import TrajectoryBuilder, trajectory_tables
from cbsim.world.world import Body, Sensor, World

if TYPE_CHECKING:
    from cbsim.world.model_instances import ModelInstance

__all__ = ["compile_world", "is_vehicle"]

SUBSTEP = 0.005  # [s] longest vehicle substep
SKY = 1e6  # [m] above any drivable mesh
TRIES = 8  # to find the place of the wheels, which hangs on the slope, which hangs on the place


def compile_world(scene: Scene) -> World:
    """Compile a scene.

    Raises
    ------
    ModelError
        If an object refers to a waypoint that the network does not have, or has no network to refer to.
    """
    poses = [start_pose(actor, scene) for actor in scene.actors]
    outlines = [outline_of(body.shape, model.scale) for model in scene.models for body in model.description.bodies]
    shapes = shapes_of(scene.actors, outlines)
    ground = ground_of(scene.actors, poses, shapes)
    bodies = _bodies(scene, shapes)
    instances = _instances(scene)
    segments = {
        k: trajectory_of(actor, poses[k], scene)
        for k, actor in enumerate(scene.actors)
        if _follows_trajectory(actor.item)
    }
    vehicles = [k for k, actor in enumerate(scene.actors) if is_vehicle(actor.item)]
    sensors = tuple(_sensors(scene.actors, bodies, shapes))
    memory = pose_history_steps(sensors, scene.settings.step)
    constants = _constants(scene, segments, vehicles, ground, poses, memory)
    movers, followers = len(constants.mover_body), len(constants.follower_vehicle)
    layout = Layout(
        bodies=len(bodies),
        vehicles=len(vehicles),
        movers=movers,
        history_rows=len(constants.tracked_body) * memory,
        moving=len(constants.moving),
        followers=followers,
        delay_rows=len(vehicles) * constants.delay_steps,
        controller_values=sum(len(instance.memory) for instance in instances),
    )
    digest = _digest(constants, shapes, bodies, sensors, poses, instances)
    start = _start(scene, layout, digest, poses, constants)
    for instance in instances:
        instance.write(start, instance.start, instance.memory)
    rows = np.repeat(constants.tracked_body, memory)
    columns = start.columns
    columns.pose_history[:, 0:3], columns.pose_history[:, 3:7] = columns.position[rows], columns.orientation[rows]
    _seal(constants, shapes, bodies, sensors)
    return World(scene, bodies, shapes, constants, layout, sensors, digest, start, instances)


def _instances(scene: Scene) -> tuple[ModelInstance, ...]:
    """Compile the models, whose rows come after those of the actors."""
    if not scene.models:
        return ()
    from cbsim.world.model_instances import instance_of  # traffic alone need not wait for the rigid-body core

    instances: list[ModelInstance] = []
    first, controller_row = len(scene.actors), 0
    for model in scene.models:
        try:
            instances.append(instance_of(model, first, controller_row, frame_of(model, scene)))
        except ModelError as error:
            if error.location is not None or not model.location.path:
                raise
            raise ModelError(str(error), subject=f"model '{model.name}'", location=model.location) from None
        except StepError as error:
            reason = f"cannot be set up: {error.reason}"
            raise ModelError(reason, subject=f"model '{model.name}'", location=model.location) from None
        first, controller_row = first + len(model.description.bodies), instances[-1].controller_rows.stop
    return tuple(instances)


def _seal(constants: Constants, shapes: Shapes, bodies: tuple[Body, ...], sensors: tuple[Sensor, ...]) -> None:
    """Make every array of a World read-only, so that nobody who is shown one can change it."""
    sizes = (body.size for body in bodies)
    parts = (part for s in sensors for part in (s.azimuths, s.directions, s.mount.position, s.mount.orientation))
    for array in (*constants, *shapes, *sizes, *parts):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False


def _follows_trajectory(item: TrafficObject) -> bool:
    """Literal movers and followers: whoever has goals or a script and the controller for them (D8)."""
    return item.controller in (Controller.WAYPOINT, Controller.SCRIPT)


def is_vehicle(item: TrafficObject) -> bool:
    """Vehicles: bots, whoever drives them, and whatever is driven by hand; without commands they stay parked."""
    return item.controller in (Controller.SENSOR, Controller.MANUAL) or (
        item.kind is Kind.AUTONOMOUS and _follows_trajectory(item)
    )


def _wheels(item: TrafficObject) -> Wheels:
    return item.wheels or Wheels()


def _named(scene: Scene) -> list[tuple[str, Kind | Literal["model"]]]:
    """List names and kinds of all rows as their files have them; a model among others puts its own before a body's."""
    named: list[tuple[str, Kind | Literal["model"]]] = [
        (actor.item.name, Kind.MESH if actor.mesh is not None else actor.item.kind) for actor in scene.actors
    ]
    for model in scene.models:
        named += [
            (body.name if scene.alone else f"{model.name}/{body.name}", "model") for body in model.description.bodies
        ]
    return named


def _bodies(scene: Scene, shapes: Shapes) -> tuple[Body, ...]:
    """Name the rows; a name that is taken gets a number, so that every handle is unique."""
    seen: Counter[str] = Counter()
    named = _named(scene)
    taken = {name for name, _ in named}
    bodies = []
    for row, (name, kind) in enumerate(named):
        seen[name] += 1
        while seen[name] > 1 and (unique := f"{name} ({seen[name]})") in taken:
            seen[name] += 1
        chosen = name if seen[name] == 1 else unique
        taken.add(chosen)
        bodies.append(Body(chosen, row, kind, ShapeKind(int(shapes.kind[row])), shapes.size[row]))
    return tuple(bodies)


def _constants(
    scene: Scene,
    segments: dict[int, TrajectoryBuilder],
    vehicles: list[int],
    ground: Forest,
    poses: list[Pose],
    memory: int,
) -> Constants:
    items = [scene.actors[k].item for k in vehicles]
    step = scene.settings.step
    return Constants(
        step=step,
        substeps=max(1, math.ceil(step / SUBSTEP - 1e-9)),
        memory=memory,
        delay_steps=command_delay_steps(items, step),
        moving=np.array([*sorted({*segments, *vehicles}), *_rows_of_models(scene)], np.int64),
        **trajectory_tables(segments, vehicles),
        follower_levers=np.array(
            [_wheels(scene.actors[k].item).type is WheelType.SKID for k in segments if k in vehicles], np.int64
        ),
        vehicle_body=np.array(vehicles, np.int64),
        vehicle_drive=np.array([drive_code(item) for item in items], np.int64),
        vehicle_parameters=np.array([vehicle_parameters(item) for item in items], float).reshape(-1, len(PARAMETERS)),
        vehicle_height=np.array([poses[k].position[2] for k in vehicles], float),
        ground_triangles=ground.triangles,
        ground_box=ground.node_box,
        ground_link=ground.node_link,
        tracked_body=np.array([*vehicles, *_rows_of_models(scene)], np.int64),
    )


def _rows_of_models(scene: Scene) -> range:
    """Rows that bodies of models have."""
    first = len(scene.actors)
    return range(first, first + sum(len(model.description.bodies) for model in scene.models))


def _sensors(actors: tuple[Actor, ...], bodies: tuple[Body, ...], shapes: Shapes) -> Iterable[Sensor]:
    keys: Counter[str] = Counter()
    for row, actor in enumerate(actors):
        if not actor.confs:
            continue
        given = dict(zip(PARAMETERS, map(float, vehicle_parameters(actor.item)), strict=True))
        for stem, conf in actor.confs:
            key = f"{bodies[row].name}/{stem}"
            keys[key] += 1
            unique = key if keys[key] == 1 else f"{key} ({keys[key]})"
            if conf.enabled and conf.type in SIMULATED:
                yield sensor_of(unique, row, conf, shapes.size[row], given["wheelbase"], given["wheel_radius"])


def _start(scene: Scene, layout: Layout, digest: int, poses: list[Pose], constants: Constants) -> Snapshot:
    snapshot = Snapshot.empty(layout, digest, scene.settings.step)
    state = snapshot.state
    for row, pose in enumerate(poses):
        state.position[row] = pose.position
        state.orientation[row] = pose.orientation
    state.seed[0] = scene.settings.seed
    state.command[:, 2:4] = 1.0  # both levers straight on
    state.command[:, 5] = 1.0  # the handbrake is on until somebody commands: what is parked is braked
    state.actuator[:, 2:4] = 1.0
    state.active_contacts[:] = -1
    state.goal[:] = constants.follower_first
    state.trajectory_segment[:] = -1  # at rest as placed; the first step turns each mover into its first segment
    if len(constants.ground_triangles):
        for vehicle in range(layout.vehicles):
            _set_down(constants, state, vehicle)
    return snapshot


def _set_down(constants: Constants, state: State, vehicle: int) -> None:
    """Put a vehicle, placed on z = 0, onto the highest ground below the sky, tilted as its wheels stand."""
    body, stack = constants.vehicle_body[vehicle], np.empty(DEPTH, np.int64)
    ground = constants.ground_triangles, constants.ground_box, constants.ground_link
    fx, fy, _ = forward(state.orientation[body])
    heading = math.atan2(-fx, fy)
    half_base, half_track = 0.5 * constants.vehicle_parameters[vehicle, [WHEELBASE, TRACK]]
    x, y, centre = map(float, state.position[body])
    p, q = 0.0, 0.0
    for _ in range(TRIES):
        secant = math.sqrt(1.0 + p * p + q * q)
        place = x + centre * p / secant, y + centre * q / secant
        feet = ground_height(*ground, *place, SKY, stack)
        height, p, q = stand(*ground, *place, heading, half_base, half_track, feet, p, q, 2.0 * half_base, stack)
    state.position[body, 2] = height + centre / math.sqrt(1.0 + p * p + q * q)
    if p != 0.0 or q != 0.0 or state.orientation[body, 1:3].any():
        lean_into(heading, p, q, state.orientation[body])


def _digest(
    constants: Constants,
    shapes: Shapes,
    bodies: tuple[Body, ...],
    sensors: tuple[Sensor, ...],
    poses: list[Pose],
    instances: tuple[ModelInstance, ...],
) -> int:
    """Digest what a World is made of, so that a Snapshot of another is refused."""
    digest = hashlib.blake2b(digest_size=8)
    for value in (*constants, *shapes):
        digest.update(np.ascontiguousarray(value).tobytes())
    for body, pose in zip(bodies, poses, strict=False):
        digest.update(f"{body.name}\0{body.kind}\0".encode())
        digest.update(pose.position.tobytes() + pose.orientation.tobytes())
    for body in bodies[len(poses) :]:
        digest.update(f"{body.name}\0{body.kind}\0".encode())
    for instance in instances:
        for table in instance.tables():
            digest.update(np.ascontiguousarray(table).tobytes())
    for sensor in sensors:
        digest.update(repr((sensor.key, replace(sensor.conf, location=Location("")))).encode())
        digest.update(sensor.mount.position.tobytes() + sensor.directions.tobytes())
    return int.from_bytes(digest.digest(), "little")
