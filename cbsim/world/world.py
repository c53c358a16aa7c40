"""`World`: everything about a run that never changes, with read-only handles for users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

from cbsim.arrays import Floats, Ints
from cbsim.errors import UsageError, did_you_mean
from cbsim.geometry.pose import Pose
from cbsim.paths import find_shipped, is_regular, shipped_names
from cbsim.spec.sensor import SensorConf
from cbsim.world.bodies import Bodies, Body
from cbsim.world.command_queue import CommandQueue
from cbsim.world.events.run_control import RunControl, run_control_of
from cbsim.world.events.tables import NO_EVENTS, Events
from cbsim.world.packed import Pack, pack
from cbsim.world.people.tables import NO_PEOPLE, People
from cbsim.world.scene import Scene, Settings
from cbsim.world.snapshot import Snapshot
from cbsim.world.static_cache import StaticCaches
from cbsim.world.tables import Constants, Layout, Shapes
from cbsim.world.traffic.tables import NO_TRAFFIC, VEHICLE, Traffic

if TYPE_CHECKING:
    from cbsim.road.lanelet_map import LaneletMap
    from cbsim.world.model_instances import ModelInstance

__all__ = ["Body", "Sensor", "World", "expect_world"]


@dataclass(frozen=True, slots=True, repr=False)
class Sensor:
    """One device of one bot.

    Attributes
    ----------
    key : str
        ``<object name>/<conf file stem>``.
    body : int
        Row of the bot.
    conf : SensorConf
        What its conf file says.
    mount : Pose
        Of the sensor in the bot's body frame, relative to the body's centre.
    azimuths : (beams,) [rad]
        In the sensor frame, 0 forward, counter-clockwise, in the order of the readings.
    directions : (layers, beams, 3)
        Unit vectors in the sensor frame.
    wheel_radius : float
        Of the bot that carries it [m].
    """

    key: str
    body: int
    conf: SensorConf
    mount: Pose
    azimuths: Floats
    directions: Floats
    wheel_radius: float = 0.38

    def __repr__(self) -> str:
        layers, beams = self.directions.shape[:2]
        rays = f" layers: {layers} beams: {beams}" if layers * beams else ""
        return f"<Sensor {self.key!r} type={self.conf.type!r} rate={self.conf.rate:g} Hz{rays}>"


@dataclass(frozen=True, eq=False, repr=False)
class World:
    """Constants of a run; made by `cbsim.load` or `cbsim.world.compile.compile_world`.

    Attributes
    ----------
    scene : Scene
        The description it was compiled from.
    bodies : Bodies
        One row each.
    shapes : Shapes
        Outlines.
    constants : Constants
        Constants that kernels take.
    layout : Layout
        Layout of its Snapshots.
    sensors : tuple of Sensor
        All devices of all bots.
    digest : int
        64-bit digest of all of the above.
    first : Snapshot
        The first Snapshot; `start` returns a copy.
    instances : tuple of ModelInstance
        Its models.
    traffic : Traffic
        Tables of reactive cars and of their road.
    events : Events
        Conditions and actions.
    people : People
        Who walks, and where.
    queues : tuple of CommandQueue
        Vehicles whose commands act later than they are given.
    """

    scene: Scene
    bodies: Bodies
    shapes: Shapes
    constants: Constants
    layout: Layout
    sensors: tuple[Sensor, ...]
    digest: int
    first: Snapshot
    instances: tuple[ModelInstance, ...] = ()
    traffic: Traffic = NO_TRAFFIC
    events: Events = NO_EVENTS
    people: People = NO_PEOPLE
    queues: tuple[CommandQueue, ...] = ()

    @property
    def start(self) -> Snapshot:
        """A new copy of the first Snapshot."""
        return self.first.copy()

    def require(self, snapshot: Snapshot | object) -> None:
        """Check that a Snapshot belongs to this World, before a kernel reads past its end.

        Raises
        ------
        UsageError
            If it does not belong to this World.
        """
        if not isinstance(snapshot, Snapshot):
            found = type(snapshot).__name__
            raise UsageError(
                f"expected a Snapshot, as World.start or cbsim.step return it, found an object of type {found}"
            )
        is_alike = snapshot.layout is self.layout or snapshot.layout == self.layout
        if snapshot.world_digest != self.digest or not is_alike:
            raise UsageError(f"this snapshot belongs to another world, not to '{self.name}'")

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self.scene.name

    @property
    def moving(self) -> Ints:
        """Rows of bodies that can move, in order."""
        return self.constants.moving

    @property
    def step(self) -> float:
        """Length of a step [s]."""
        return float(self.constants.step)

    @property
    def settings(self) -> Settings:
        """Step, seed, duration and the like."""
        return self.scene.settings

    @cached_property
    def road(self) -> LaneletMap:
        """The road network as lanelets, with speed limits of the mission; made when first asked for.

        Raises
        ------
        UsageError
            If there is no road network.
        """
        if self.scene.roadmap is None:
            raise UsageError(f"'{self.name}' has no road network")
        from cbsim.road.lanelet_map import LaneletMap

        return LaneletMap(self.scene.roadmap, self.scene.mission)

    @cached_property
    def static_caches(self) -> StaticCaches:
        """Static bodies, and their caches."""
        return StaticCaches(self.layout, self.constants.moving)

    @cached_property
    def carried(self) -> Mapping[int, tuple[str, ...]]:
        """Row of a body → keys of its sensors."""
        keys: dict[int, tuple[str, ...]] = {}
        for sensor in self.sensors:
            keys[sensor.body] = (*keys.get(sensor.body, ()), sensor.key)
        return keys

    @cached_property
    def run_control(self) -> RunControl:
        """Which events set run states of vehicles, or let a mission begin anew."""
        return run_control_of(self.events, self.constants.vehicle_body)

    @cached_property
    def has_run_control(self) -> bool:
        """Whether events set run states of vehicles, or let a mission begin anew."""
        return bool(self.run_control)

    @cached_property
    def may_end(self) -> bool:
        """Whether an event may end the run: the mission has a clock, and a vehicle may be disabled."""
        return self.scene.clock is not None and any(one.state == "DISABLE" for one in self.run_control.states)

    @cached_property
    def pack(self) -> Pack:
        """`constants` and `shapes` in two blocks, for kernels that are called often."""
        return pack((*self.constants, *self.shapes, *self.traffic.tables(), *self.events.tables, *self.people))

    @cached_property
    def controls(self) -> Mapping[str, int]:
        """Name of a control → its row in the column `controller_state`.

        The control of a model alone is ``joystick1.y``; in a scenario it is ``walker/joystick1.y``.
        """
        return {
            name if self.scene.alone else f"{instance.name}/{name}": place
            for instance in self.instances
            for name, place in instance.controls.items()
        }

    @cached_property
    def _vehicles(self) -> dict[int, int]:
        cars = self.traffic.road.car_rows
        followers = {*self.constants.follower_vehicle.tolist(), *cars[:, VEHICLE].tolist()}
        return {int(body): v for v, body in enumerate(self.constants.vehicle_body) if v not in followers}

    @cached_property
    def _drivers(self) -> dict[str, int]:
        return {self.bodies[row].name: v for row, v in self._vehicles.items()}

    @property
    def vehicle_rows(self) -> Mapping[int, int]:
        """Row of a vehicle's body → its row in the table of vehicles."""
        return self._vehicles

    def __getitem__(self, name: str) -> Body:
        row = self.bodies.row(name)
        if row is None:
            names = self.bodies.names
            known = ", ".join(names) or "none"
            hint = did_you_mean(name, names)
            raise UsageError(f"no object '{name}'; there is {known[:400]}" + (f" ({hint})" if hint else ""))
        return self.bodies[row]

    def __repr__(self) -> str:
        counts = f"bodies: {len(self.bodies)} sensors: {len(self.sensors)} models: {len(self.instances)}"
        return f"<World {self.name!r} {counts} step={self.step:g} s digest={self.digest:016x}>"

    def __iter__(self) -> Iterator[Body]:
        return iter(self.bodies)

    def __len__(self) -> int:
        return len(self.bodies)

    def vehicle(self, name: str) -> int:
        """Row in the table of vehicles of the object with that name.

        Raises
        ------
        UsageError
            If there is no such object, or it does not take commands.
        """
        found = self._drivers.get(name)
        if found is None:
            drivers = ", ".join(self._drivers) or "none"
            raise UsageError(f"object '{self[name].name}' takes no commands; those that do: {drivers}")
        return found

    def restore(self, data: bytes) -> Snapshot:
        """Read back the bytes of `Snapshot.to_bytes`, bit for bit.

        Raises
        ------
        RecordingError
            If they are damaged or belong to another World.
        """
        return Snapshot.from_bytes(data, self.layout, self.digest, self.constants.step)


def expect_world(given: World | object, function: str) -> World:
    """Return what a function of the public face was given in place of a World, if it is one.

    Raises
    ------
    UsageError
        If it is anything else; of a name or a path it says how to load that.
    """
    if isinstance(given, World):
        return given
    if not isinstance(given, str | PurePath):
        found = type(given).__name__
        raise UsageError(f"cbsim.{function} expects a World, as cbsim.load returns it, found an object of type {found}")
    name = str(given)[:100]
    is_there = is_regular(name) or find_shipped(name) is not None
    hint = "" if is_there else did_you_mean(PurePath(name).stem, shipped_names("scenarios", (".yaml", ".yml")))
    text = f"cbsim.{function} expects a World, found '{name}'; load it first: cbsim.load('{name}')"
    raise UsageError(text + (f" ({hint})" if hint else ""))
