"""`compile_world`: a World and its first Snapshot from a Scene. Pure: it reads no files and no clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.errors import ModelError, StepError
from cbsim.geometry import elementary as math
from cbsim.geometry.forest import Forest
from cbsim.geometry.pose import Pose, forward
from cbsim.spec.objects import Controller, Kind, ShapeKind, TrafficObject, Wheels, WheelType
from cbsim.spec.sensor import SIMULATED
from cbsim.spec.traffic import CLASSES
from cbsim.vehicle.parameters import PARAMETERS, drive_code, vehicle_parameters
from cbsim.world.bodies import Bodies, Body, PoolRows
from cbsim.world.command_queue import queues_of
from cbsim.world.digest import digest_of
from cbsim.world.events.actions import EventContext, guided_rows
from cbsim.world.events.compile import compile_events
from cbsim.world.events.mission_clock import clock_events, restart_poses, restarted_actor
from cbsim.world.events.sensor_faults import with_freezes
from cbsim.world.events.start import put_events
from cbsim.world.events.tables import Events
from cbsim.world.figures import outline_of
from cbsim.world.memory import command_delay_steps, pose_history_steps
from cbsim.world.model_places import check_places
from cbsim.world.people.compile import compile_people
from cbsim.world.places import frame_of, start_poses, trajectories_of
from cbsim.world.scene import Actor, Scene
from cbsim.world.seats import seats_of
from cbsim.world.sensors import sensor_of
from cbsim.world.set_down import set_down
from cbsim.world.shapes import ground_of, shapes_of
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import Constants, Layout, Shapes
from cbsim.world.traffic.tables import BODY, FIRST_CAR, LAST_CAR, NO_TRAFFIC, POOL, VEHICLE, Traffic, closure_rows
from cbsim.world.trajectories import Trajectories, trajectory_tables
from cbsim.world.world import Sensor, World

if TYPE_CHECKING:
    from cbsim.world.model_instances import ModelInstance
    from cbsim.world.traffic.cars import TrafficStart

__all__ = ["compile_world", "is_vehicle"]

SUBSTEP = 0.005  # [s] longest vehicle substep


def compile_world(scene: Scene) -> World:
    """Compile a scene.

    Raises
    ------
    ModelError
        If an object refers to a waypoint that the network does not have, or has no network to refer to.
    """
    poses = start_poses(scene.actors, scene)
    outlines = [outline_of(body.shape, model.scale) for model in scene.models for body in model.description.bodies]
    traffic, cars = _traffic(scene, poses)
    shapes = shapes_of(scene.actors, outlines, _pool_sizes(scene, traffic))
    ground = ground_of(scene.actors, poses, shapes)
    bodies = _bodies(scene, shapes, traffic)
    instances = _instances(scene, len(bodies) - len(outlines))
    guided = guided_rows(scene)
    movers = [k for k, actor in enumerate(scene.actors) if k in guided or _follows_trajectory(actor.item)]
    trajectories = trajectories_of(movers, poses, scene)
    vehicles = [k for k, actor in enumerate(scene.actors) if is_vehicle(actor.item)]
    sensors = tuple(_sensors(scene.actors, bodies, shapes))
    memory = pose_history_steps(with_freezes(sensors, scene.events, bodies), scene.settings.step)
    constants = _constants(scene, (trajectories, guided), vehicles, ground, poses, memory, traffic)
    starts = (np.zeros((0, 11)), np.zeros((0, 6), np.int64)) if cars is None else (cars.travel, cars.intent)
    kinds = [actor.item.kind for actor in scene.actors]
    queues = queues_of(seats_of(scene, vehicles, bodies), scene.settings.step)
    car_rows = traffic.road.car_rows[:, BODY]
    context = EventContext(bodies, constants, car_rows, starts, scene.roadmap, kinds, sensors, queues)
    events = _events(scene, context)
    layout = Layout(
        bodies=len(bodies),
        vehicles=len(vehicles),
        movers=len(constants.mover_body),
        history_rows=len(constants.tracked_body) * memory,
        moving=len(constants.moving),
        followers=len(constants.follower_vehicle),
        delay_rows=len(vehicles) * constants.delay_steps,
        controller_values=sum(len(instance.memory) for instance in instances),
        cars=len(traffic.road.car_rows),
        pools=len(traffic.demand.flows),
        watched=_watched(constants, len(bodies)) if cars is not None else 0,
        events=len(events.names),
        conditions=len(events.memory),
        run_states=events.run_states,
        guided_bodies=len(constants.guided_body),
        ordered=events.ordered,
        lights=events.lights,
        queued=max((queue.last for queue in queues), default=0),
        closures=closure_rows(len(traffic.road.lanelets)),
        parkers=0 if cars is None else len(cars.parking),
        forks=scene.settings.forks,
        held_draws=len(traffic.road.car_rows) + len(traffic.demand.flows) if scene.settings.forks else 0,
    )
    people = compile_people(scene.actors, constants.guided_body, scene.roadmap)
    digest = digest_of(constants, shapes, bodies, sensors, poses, instances, scene, (traffic, events, people, queues))
    start = _start(scene, layout, digest, poses, constants)
    if cars is not None:
        _put_cars(start, traffic, cars)
    put_events(start.columns, events, constants, context.car_rows)
    for instance in instances:
        instance.write(start, instance.start, instance.memory)
    rows = np.repeat(constants.tracked_body, memory)
    columns = start.columns
    columns.pose_history[:, 0:3], columns.pose_history[:, 3:7] = columns.position[rows], columns.orientation[rows]
    _seal(constants, shapes, bodies, sensors)
    parts = traffic, events, people, queues
    return World(scene, bodies, shapes, constants, layout, sensors, digest, start, instances, *parts)


def _events(scene: Scene, context: EventContext) -> Events:
    """Compile the events of a scene, and those of its mission's clock."""
    bodies, constants = context.bodies, context.constants
    vehicles = enumerate(constants.vehicle_body.tolist())
    bots = {bodies[row].name: k for k, row in vehicles if _is_commanded(scene.actors[row].item)}
    first = restarted_actor(scene)
    bot = "" if first is None else bodies[first].name
    clock = clock_events(scene, list(bots), bot)
    if not clock:
        return compile_events(scene.events, context)
    poses = restart_poses(scene)
    for pose in poses.values() if len(constants.ground_triangles) else ():
        set_down(constants, bots[bot], pose.position, pose.orientation)
    held = tuple(bots.values()) if scene.clock is not None and scene.clock.delay is not None else ()
    return compile_events((*scene.events, *clock), replace(context, poses=poses), held)


def _is_commanded(item: TrafficObject) -> bool:
    """Whether an object is autonomous and takes commands, so that a mission is its own."""
    return item.kind is Kind.AUTONOMOUS and item.controller in (Controller.SENSOR, Controller.MANUAL)


def _instances(scene: Scene, first_row: int) -> tuple[ModelInstance, ...]:
    """Compile the models, whose rows come after those of the actors."""
    if not scene.models:
        return ()
    from cbsim.world.model_instances import (
        instance_of,
    )  # imported here: traffic alone does not need the rigid-body core

    instances: list[ModelInstance] = []
    first, controller_row = first_row, 0
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
        check_places(instances[-1], model)
        first, controller_row = first + len(model.description.bodies), instances[-1].controller_rows.stop
    return tuple(instances)


def _seal(constants: Constants, shapes: Shapes, bodies: Bodies, sensors: tuple[Sensor, ...]) -> None:
    """Make every array of a World read-only."""
    sizes = (body.size for body in bodies.single)
    parts = (part for s in sensors for part in (s.azimuths, s.directions, s.mount.position, s.mount.orientation))
    for array in (*constants, *shapes, *sizes, *parts):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False


def _is_car(item: TrafficObject) -> bool:
    """Whether an object is a reactive car."""
    return item.reactive and item.kind in (Kind.DYNAMIC, Kind.AUTONOMOUS)


def _traffic(scene: Scene, poses: list[Pose]) -> tuple[Traffic, TrafficStart | None]:
    """Compile reactive traffic and the initial state of its cars; None if there is none."""
    if not scene.pools and not any(_is_car(actor.item) for actor in scene.actors):
        return NO_TRAFFIC, None
    if scene.roadmap is None:
        raise ModelError("reactive traffic needs a road network", subject=scene.name)
    from cbsim.road.lanelet_map import LaneletMap  # imported here: scenarios without reactive traffic do not need it
    from cbsim.world.traffic.cars import compile_traffic
    from cbsim.world.traffic.destinations import ReactiveObject

    objects, vehicles = list[ReactiveObject](), [k for k, actor in enumerate(scene.actors) if is_vehicle(actor.item)]
    for row, (actor, pose) in enumerate(zip(scene.actors, poses, strict=True)):
        if _is_car(actor.item):
            fx, fy, _ = forward(pose.orientation)
            size = np.asarray(actor.item.size, float)
            item, heading = actor.item, math.atan2(-fx, fy)
            objects.append(
                ReactiveObject(
                    *(row, item.name, pose.position, heading, size, item.initial_pause, actor.goals, item.location),
                    vehicles.index(row) if row in vehicles else -1,
                )
            )
    objects.sort(key=lambda one: one.vehicle < 0)
    others = [
        (*pose.position[:2], 0.5 * math.hypot(*actor.item.size[:2]))
        for actor, pose in zip(scene.actors, poses, strict=True)
        if actor.mesh is None and not _is_car(actor.item)
    ]
    places = np.array(others, float).reshape(-1, 3)
    drivers = {driver.name: driver for driver in scene.drivers}
    road = LaneletMap(scene.roadmap, scene.mission)
    return compile_traffic(
        road, scene.pools, drivers, objects, len(scene.actors), scene.settings.seed, places, scene.lights
    )


def _watched(constants: Constants, bodies: int) -> int:
    """Count the bodies that move and are no reactive cars: literal movers, vehicles, and bodies of models."""
    movers = len(constants.mover_body) + len(constants.guided_body) + len(constants.vehicle_body)
    return movers + bodies - constants.first_model


def _pools_of(traffic: Traffic) -> Ints:
    """Pool of each car of a pool, in the order of rows."""
    pools = traffic.road.car_rows[:, POOL]
    return np.asarray(pools[pools >= 0])


def _pool_sizes(scene: Scene, traffic: Traffic) -> Floats:
    """Width, length and height of the bodies of pools, shape (n, 3) [m]."""
    classes = np.array([CLASSES[pool.vehicle_class][:3] for pool in scene.pools], float).reshape(-1, 3)
    return np.asarray(classes[_pools_of(traffic)])


def _put_cars(start: Snapshot, traffic: Traffic, cars: TrafficStart) -> None:
    """Write reactive cars to the first Snapshot."""
    state, rows = start.columns, traffic.road.car_rows[:, BODY]
    state.travel[:], state.intent[:], state.pool_next[:] = cars.travel, cars.intent, cars.pool_next
    state.parking[:] = cars.parking
    posed = traffic.road.car_rows[:, VEHICLE] < 0  # vehicles stand where they have been put
    state.position[rows[posed]], state.orientation[rows[posed]] = cars.positions[posed], cars.orientations[posed]


def _follows_trajectory(item: TrafficObject) -> bool:
    """Whether an object follows goals or a script: literal movers and followers (D8)."""
    if _is_car(item):
        return False
    return item.controller in (Controller.WAYPOINT, Controller.SCRIPT)


def is_vehicle(item: TrafficObject) -> bool:
    """Whether an object is a vehicle: a bot, or driven by a drive; without commands it stays parked."""
    return item.controller in (Controller.SENSOR, Controller.MANUAL) or (
        item.kind is Kind.AUTONOMOUS and (item.reactive or _follows_trajectory(item))
    )


def _wheels(item: TrafficObject) -> Wheels:
    return item.wheels or Wheels()


def _named(scene: Scene) -> list[tuple[str, Kind | Literal["model"]]]:
    """List names and kinds of all rows from their files; names of placed models precede those of their bodies."""
    named: list[tuple[str, Kind | Literal["model"]]] = [
        (actor.item.name, Kind.MESH if actor.mesh is not None else actor.item.kind) for actor in scene.actors
    ]
    for model in scene.models:
        named += [
            (body.name if scene.alone else f"{model.name}/{body.name}", "model") for body in model.description.bodies
        ]
    return named


def _bodies(scene: Scene, shapes: Shapes, traffic: Traffic) -> Bodies:
    """Make handles of all rows; repeated names get a number."""
    first, cars = len(scene.actors), len(_pools_of(traffic))
    seen: Counter[str] = Counter()
    named = _named(scene)
    taken = {name for name, _ in named}
    bodies = []
    for number, (name, kind) in enumerate(named):
        row = number if number < first else number + cars
        seen[name] += 1
        while seen[name] > 1 and (unique := f"{name} ({seen[name]})") in taken:
            seen[name] += 1
        chosen = name if seen[name] == 1 else unique
        taken.add(chosen)
        bodies.append(Body(chosen, row, kind, ShapeKind(int(shapes.kind[row])), shapes.size[row]))
    rows = traffic.demand.pool_rows[:, [FIRST_CAR, LAST_CAR]]
    spans = rows + first - (rows[0, 0] if len(rows) else 0)
    pools = [
        PoolRows(pool.name, int(low), int(high) + 1, shapes.size[int(low)])
        for pool, (low, high) in zip(scene.pools, spans.tolist(), strict=True)
        if high >= low
    ]
    return Bodies(tuple(bodies), first, tuple(pools))


def _constants(
    scene: Scene,
    paths: tuple[Trajectories, list[int]],
    vehicles: list[int],
    ground: Forest,
    poses: list[Pose],
    memory: int,
    traffic: Traffic,
) -> Constants:
    models, (trajectories, guided) = _rows_of_models(scene, traffic), paths
    items = [scene.actors[k].item for k in vehicles]
    movers = [trajectories.bodies, np.array(vehicles, np.int64), traffic.road.car_rows[:, BODY]]
    step = scene.settings.step
    return Constants(
        step=step,
        substeps=max(1, math.ceil(step / SUBSTEP - 1e-9)),
        memory=memory,
        delay_steps=command_delay_steps(items, step),
        moving=np.concatenate([np.unique(np.concatenate(movers)), np.array(models, np.int64)]),
        **trajectory_tables(trajectories, vehicles, guided),
        follower_levers=np.array(
            [
                _wheels(scene.actors[k].item).type is WheelType.SKID
                for k in trajectories.bodies[np.isin(trajectories.bodies, vehicles)].tolist()
            ],
            np.int64,
        ),
        vehicle_body=np.array(vehicles, np.int64),
        vehicle_drive=np.array([drive_code(item) for item in items], np.int64),
        vehicle_parameters=np.array([vehicle_parameters(item) for item in items], float).reshape(-1, len(PARAMETERS)),
        vehicle_height=np.array([poses[k].position[2] for k in vehicles], float),
        ground_triangles=ground.triangles,
        ground_box=ground.node_box,
        ground_link=ground.node_link,
        tracked_body=np.concatenate(
            [np.array([*vehicles, *models, *guided], np.int64), traffic.road.car_rows[:, BODY]]
        ),
        first_model=models.start,
    )


def _rows_of_models(scene: Scene, traffic: Traffic) -> range:
    """Rows of the bodies of models."""
    first = len(scene.actors) + len(_pools_of(traffic))
    return range(first, first + sum(len(model.description.bodies) for model in scene.models))


def _sensors(actors: tuple[Actor, ...], bodies: Bodies, shapes: Shapes) -> Iterable[Sensor]:
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
    state.position[: len(poses)] = np.array([pose.position for pose in poses], float).reshape(-1, 3)
    state.orientation[: len(poses)] = np.array([pose.orientation for pose in poses], float).reshape(-1, 4)
    state.seed[0] = scene.settings.seed
    state.command[:, 2:4] = 1.0  # levers at rest
    state.command[:, 5] = 1.0  # parked: the handbrake is on until the first command
    state.actuator[:, 2:4] = 1.0
    state.active_contacts[:] = -1
    state.goal[:] = constants.follower_first
    state.trajectory_segment[:] = -1  # at rest as placed; the first step puts each mover on its first segment
    if len(constants.ground_triangles):
        for vehicle in range(layout.vehicles):
            body = constants.vehicle_body[vehicle]
            set_down(constants, vehicle, state.position[body], state.orientation[body])
    return snapshot
