"""`compile_world`: a Scene to a World and its first Snapshot. Pure: reads no file, asks no clock."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from cbsim.errors import Location, ModelError
from cbsim.geometry.pose import Pose, heading_quaternion, mounting_quaternion, multiply, rotate
from cbsim.road.roadmap import RoadMap
from cbsim.spec.objects import Controller, Kind, ShapeKind, TrafficObject, Wheels, WheelType
from cbsim.spec.road import PointId
from cbsim.spec.sensor import SIMULATED, SensorConf
from cbsim.vehicle.parameters import PARAMETERS, drive_code, drive_name, vehicle_parameters
from cbsim.world.kernels import ground_height
from cbsim.world.legs import LegBuilder, Target, goal_legs, leg_tables, script_legs
from cbsim.world.meshes import plant
from cbsim.world.scene import Actor, Scene
from cbsim.world.sensors import sensor_of
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import Constants, Floats, Layout, Shapes
from cbsim.world.world import Body, Sensor, World

__all__ = ["compile_world"]

SUBSTEP = 0.005  # [s] longest vehicle substep (DESIGN §2)
SKY = 1e6  # [m] above any drivable mesh
MEMORY_LIMIT = 100_000  # steps


def compile_world(scene: Scene) -> World:
    """Compile a scene.

    Raises
    ------
    ModelError
        If an object refers to a waypoint that the network does not have, or has no network to refer to.
    """
    poses = [_start_pose(actor, scene) for actor in scene.actors]
    shapes = _shapes(scene.actors)
    triangles = _ground(scene.actors, poses, shapes)
    bodies = _bodies(scene.actors, shapes)
    legs = {k: _legs(actor, poses[k], scene) for k, actor in enumerate(scene.actors) if _follows_legs(actor.item)}
    vehicles = [k for k, actor in enumerate(scene.actors) if _is_vehicle(actor.item)]
    sensors = tuple(_sensors(scene.actors, bodies, shapes))
    memory = _memory(sensors, scene.settings.step)
    constants = _constants(scene, legs, vehicles, triangles, poses, memory)
    movers, followers = len(constants.mover_body), len(constants.follower_vehicle)
    layout = Layout(
        bodies=len(bodies),
        vehicles=len(vehicles),
        movers=movers,
        memories=len(vehicles) * memory,
        moving=len(constants.moving),
        followers=followers,
        holds=len(vehicles) * constants.hold,
    )
    digest = _digest(constants, shapes, bodies, sensors, poses)
    start = _start(scene, layout, digest, poses, constants)
    _seal(constants, shapes, bodies, sensors)
    return World(scene, bodies, shapes, constants, layout, sensors, digest, start)


def _seal(constants: Constants, shapes: Shapes, bodies: tuple[Body, ...], sensors: tuple[Sensor, ...]) -> None:
    """Make every array of a World read-only, so that nobody who is shown one can change it."""
    sizes = (body.size for body in bodies)
    parts = (part for s in sensors for part in (s.azimuths, s.directions, s.mount.position, s.mount.orientation))
    for array in (*constants, *shapes, *sizes, *parts):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False


def _follows_legs(item: TrafficObject) -> bool:
    """Literal movers and followers: whoever has goals or a script and the controller for them (D8)."""
    return item.controller in (Controller.WAYPOINT, Controller.SCRIPT)


def _is_vehicle(item: TrafficObject) -> bool:
    """Vehicles: bots, whoever drives them, and whatever is driven by hand; without commands they stay parked."""
    return item.controller in (Controller.SENSOR, Controller.MANUAL) or (
        item.kind is Kind.AUTONOMOUS and _follows_legs(item)
    )


def _wheels(item: TrafficObject) -> Wheels:
    return item.wheels or Wheels()


def _find(scene: Scene, item: TrafficObject, point: PointId, asked_at: Location) -> RoadMap:
    """Return the network once it is sure to have that waypoint."""
    if scene.roadmap is None:
        raise ModelError("refers to a waypoint, but there is no road network", subject=item.name, location=asked_at)
    if not scene.roadmap.has(point):
        hint = f"did you mean '{scene.roadmap.nearest(point)}'?"
        message = f"no waypoint '{point}' in the network ({hint})"
        raise ModelError(message, subject=item.name, location=asked_at)
    return scene.roadmap


def _height(kind: ShapeKind, size: Floats) -> float:
    """Vertical extent of a shape [m] (D20): a sphere's diameter is its x, a wheel's its y."""
    return float({ShapeKind.SPHERE: size[0], ShapeKind.WHEEL: size[1]}.get(kind, size[2]))


def _anchor(actor: Actor, scene: Scene) -> tuple[Floats, float]:
    """Point (3,) [m] and heading [rad] that an object's offsets are relative to (D3, D18)."""
    item, place = actor.item, actor.placement
    if place is not None and place.position is not None:
        return np.asarray(place.position, float), place.heading or 0.0
    point = item.anchor if place is None else place.waypoint
    if point is None:
        return np.zeros(3), 0.0
    roadmap = _find(scene, item, point, item.anchor_location if place is None else place.location)
    if place is None:
        spot, heading = roadmap.position(point), roadmap.heading(point)
    else:
        spot, heading = roadmap.place(point, place.station, place.offset)
        heading = heading if place.heading is None else place.heading
    return np.array([spot[0], spot[1], 0.0]), heading


def _start_pose(actor: Actor, scene: Scene) -> Pose:
    """Pose of the body centre at t = 0: anchor pose ∘ offset (D16, D18, D19)."""
    item = actor.item
    anchor, heading = _anchor(actor, scene)
    turn = item.orientation_offset
    q = multiply(heading_quaternion(heading), mounting_quaternion(turn.x, turn.y, turn.z))
    axes = heading if scene.settings.offset_frame == "lane" else 0.0
    place = anchor + rotate(heading_quaternion(axes), np.asarray(item.position_offset, float))
    if actor.mesh is not None:
        return Pose(place + rotate(q, _mesh_centre(actor)), q)
    return Pose(place + np.array([0.0, 0.0, 0.5 * _height(item.shape, np.asarray(item.size))]), q)


def _mesh_centre(actor: Actor) -> Floats:
    """Middle of the mesh's bounding box in its own axes; the body frame of a mesh is centred there."""
    if actor.mesh is None or not len(actor.mesh[0]):
        return np.zeros(3)
    return np.asarray(0.5 * (actor.mesh[0].min(axis=0) + actor.mesh[0].max(axis=0)))


def _shapes(actors: tuple[Actor, ...]) -> Shapes:
    kinds, sizes, radii, first, last, planted = [], [], [], [], [], []
    corners: list[Floats] = []
    count = 0
    for actor in actors:
        kind, size = actor.item.shape, np.asarray(actor.item.size, float)
        first.append(count)
        if actor.mesh is not None:
            vertices, indices = actor.mesh
            kind, size = ShapeKind.MESH, np.ptp(vertices, axis=0) if len(vertices) else np.zeros(3)
            corners.append((vertices - _mesh_centre(actor))[indices].reshape(-1, 3, 3))
            planted.append(len(first) - 1)
            count += len(indices)
        elif kind is ShapeKind.SPHERE:
            size = np.full(3, size[0])
        elif kind is ShapeKind.CYLINDER:
            size = np.array([size[0], size[0], size[2]])
        elif kind is ShapeKind.WHEEL:
            size = np.array([size[0], size[1], size[1]])
        kinds.append(int(kind))
        sizes.append(size)
        radii.append(0.5 * size[0] if kind is ShapeKind.SPHERE else 0.5 * float(np.linalg.norm(size)))
        last.append(count)
    forest = plant(corners)
    root = np.full(len(kinds), -1, np.int64)
    root[planted] = np.where([len(mesh) > 0 for mesh in corners], forest.root, -1)
    return Shapes(
        np.array(kinds, np.int64),
        np.array(sizes).reshape(-1, 3),
        np.array(radii, float),
        np.array([actor.mesh is None or not actor.item.drivable for actor in actors], np.int64),
        forest.triangles,
        np.array(first, np.int64),
        np.array(last, np.int64),
        forest.node_box,
        forest.node_link,
        root,
    )


def _ground(actors: tuple[Actor, ...], poses: list[Pose], shapes: Shapes) -> Floats:
    """Collect the triangles (n, 3, 3) of drivable meshes, in the world."""
    parts = [
        poses[k].apply(shapes.triangles[shapes.first[k] : shapes.last[k]])
        for k, actor in enumerate(actors)
        if actor.mesh is not None and actor.item.drivable
    ]
    return np.ascontiguousarray(np.concatenate(parts)) if parts else np.zeros((0, 3, 3))


def _bodies(actors: tuple[Actor, ...], shapes: Shapes) -> tuple[Body, ...]:
    """Name the rows; a name that is taken gets a number, so that every handle is unique."""
    seen: Counter[str] = Counter()
    taken = {actor.item.name for actor in actors}
    bodies = []
    for row, actor in enumerate(actors):
        name = actor.item.name
        seen[name] += 1
        while seen[name] > 1 and (unique := f"{name} ({seen[name]})") in taken:
            seen[name] += 1
        if seen[name] > 1:
            taken.add(unique)
            name = unique
        kind = Kind.MESH if actor.mesh is not None else actor.item.kind
        bodies.append(Body(name, row, kind, ShapeKind(int(shapes.kind[row])), shapes.size[row]))
    return tuple(bodies)


def _legs(actor: Actor, pose: Pose, scene: Scene) -> LegBuilder:
    item = actor.item
    if item.controller is Controller.SCRIPT:
        return script_legs(
            pose.position, pose.orientation, item.initial_pause, item.script, scene.settings.script_angle
        )
    targets = []
    for goal in actor.goals:
        point = PointId(goal.segment, goal.lane, goal.waypoint or 0)
        roadmap = _find(scene, item, point, goal.location)
        x, y = roadmap.position(point)
        targets.append(Target(float(x), float(y), float(goal.speed), float(goal.pause)))
    return goal_legs(pose.position, pose.orientation, item.initial_pause, targets)


def _memory(sensors: tuple[Sensor, ...], step: float) -> int:
    """Count the steps that a reading may look back: to the one before the oldest that is still the newest."""
    steps = 0
    for sensor in sensors:
        needed = math.ceil(_look(sensor.conf) / step + 1e-6) + 2
        if needed > MEMORY_LIMIT:
            message = (
                f"sensor '{sensor.key}' looks back over {needed} steps, more than the {MEMORY_LIMIT} that are kept"
            )
            raise ModelError(message, location=sensor.conf.location if sensor.conf.location.path else None)
        steps = max(steps, needed)
    return steps


def _hold(items: list[TrafficObject], step: float) -> int:
    """Count the steps that the longest dead time of a command looks back; 0 where no drive has any."""
    columns = PARAMETERS.index("throttle_delay"), PARAMETERS.index("steering_delay")
    delays = [vehicle_parameters(item)[list(columns)].max() for item in items if drive_name(item) == "delayed"]
    steps = math.ceil(max(delays) / step) + 2 if delays else 0
    if steps > MEMORY_LIMIT:
        raise ModelError(f"a dead time looks back over {steps} steps, more than the {MEMORY_LIMIT} that are kept")
    return steps


def _look(conf: SensorConf) -> float:
    """How far back a reading needs motion [s]: a tick lies between two, a scan takes time and may freeze."""
    periods = 2.0 if conf.type == "odometry" else 1.0
    frozen = sum(end - start for start, end in conf.freezes) if conf.type == "ladar" else 0.0
    sweep = conf.scan_time if conf.type == "ladar" else 0.0
    return periods / conf.rate + conf.latency + sweep + (frozen + 1.0 / conf.rate if frozen else 0.0)


def _constants(
    scene: Scene, legs: dict[int, LegBuilder], vehicles: list[int], triangles: Floats, poses: list[Pose], memory: int
) -> Constants:
    items = [scene.actors[k].item for k in vehicles]
    step = scene.settings.step
    return Constants(
        step=step,
        substeps=max(1, math.ceil(step / SUBSTEP - 1e-9)),
        memory=memory,
        hold=_hold(items, step),
        moving=np.array(sorted({*legs, *vehicles}), np.int64),
        **leg_tables(legs, vehicles),
        follower_levers=np.array(
            [_wheels(scene.actors[k].item).type is WheelType.SKID for k in legs if k in vehicles], np.int64
        ),
        vehicle_body=np.array(vehicles, np.int64),
        vehicle_drive=np.array([drive_code(item) for item in items], np.int64),
        vehicle_parameters=np.array([vehicle_parameters(item) for item in items], float).reshape(-1, len(PARAMETERS)),
        vehicle_height=np.array([poses[k].position[2] for k in vehicles], float),
        ground_triangles=triangles,
    )


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
    state.actuator[:, 2:4] = 1.0
    state.partner[:] = -1
    state.goal[:] = constants.follower_first
    state.leg[:] = -1  # at rest as placed; the first step turns each mover into its first leg
    if len(constants.ground_triangles):
        for body in constants.vehicle_body:
            x, y, z = state.position[body]
            ground = ground_height(constants.ground_triangles, x, y, SKY)
            state.position[body, 2] = z + ground
    rows = np.repeat(constants.vehicle_body, constants.memory)
    state.past[:, 0:3], state.past[:, 3:7] = state.position[rows], state.orientation[rows]
    return snapshot


def _digest(
    constants: Constants, shapes: Shapes, bodies: tuple[Body, ...], sensors: tuple[Sensor, ...], poses: list[Pose]
) -> int:
    """Digest what a World is made of, so that a Snapshot of another is refused."""
    digest = hashlib.blake2b(digest_size=8)
    for value in (*constants, *shapes):
        digest.update(np.ascontiguousarray(value).tobytes())
    for body, pose in zip(bodies, poses, strict=True):
        digest.update(f"{body.name}\0{body.kind}\0".encode())
        digest.update(pose.position.tobytes() + pose.orientation.tobytes())
    for sensor in sensors:
        digest.update(repr((sensor.key, replace(sensor.conf, location=Location("")))).encode())
        digest.update(sensor.mount.position.tobytes() + sensor.directions.tobytes())
    return int.from_bytes(digest.digest(), "little")
