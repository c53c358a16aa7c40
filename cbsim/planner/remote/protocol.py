"""Messages between cbsim and a planner in another program: the schema of docs/planner_protocol.md, as MessagePack."""

from __future__ import annotations

import importlib
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any

import numpy as np

from cbsim.errors import CbsimError, UsageError
from cbsim.geometry.pose import Pose
from cbsim.road.lanelet_map import LaneletMap
from cbsim.road.roadmap import RoadMap
from cbsim.spec.command import Command, Observation, Vehicle
from cbsim.spec.mission import Mission
from cbsim.world.world import Sensor

__all__ = [
    "LARGEST",
    "PROTOCOL",
    "ProtocolError",
    "command_in",
    "decode",
    "encode",
    "observation_message",
    "start_message",
]

PROTOCOL = 1  # version; another one is refused
LARGEST = 1 << 20  # bytes of a message from a planner
COMMAND_KEYS = ("throttle", "steering", "levers", "reverse", "handbrake")
GIVEN_ONCE = ("angles", "directions")  # arrays of scans that do not change; they are in the first message


class ProtocolError(CbsimError):
    """A message is not what the protocol says."""


def _msgpack() -> Any:
    return importlib.import_module("msgpack")  # of an extra, and without types


def encode(message: dict[str, Any]) -> bytes:
    """Encode a message."""
    data: bytes = _msgpack().packb(message, default=_plain)
    return data


def decode(data: bytes) -> dict[str, Any]:
    """Decode a message of a planner.

    Raises
    ------
    ProtocolError
        If it is too long, no MessagePack, or no map with a type.
    """
    if len(data) > LARGEST:
        raise ProtocolError(f"a message of {len(data)} bytes, more than {LARGEST}")
    try:
        message = _msgpack().unpackb(data, strict_map_key=False)
    except Exception as error:  # msgpack raises ValueError and its own
        raise ProtocolError(f"a message that is no MessagePack: {error}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ProtocolError("a message that is no map with a 'type'")
    return message


def start_message(
    mission: Mission | None,
    network: RoadMap | None,
    vehicle: Vehicle,
    sensors: tuple[Sensor, ...] = (),
    steps: tuple[float, int] = (0.05, 1),
) -> dict[str, Any]:
    """Make the message that begins a run.

    Parameters
    ----------
    mission, network, vehicle
        As a planner's `start` takes them.
    sensors : tuple of Sensor
        Of its bot.
    steps : (float, int)
        Length of a step [s], and steps between two decisions.
    """
    road = None if network is None else LaneletMap(network, mission)
    return {
        "type": "start",
        "protocol": PROTOCOL,
        "step_length": steps[0],
        "period": steps[1],
        "vehicle": vehicle,
        "sensors": {one.key: _sensor(one) for one in sensors},
        "mission": None if mission is None else _mission(mission, road),
        "lanelets": [] if road is None else _lanelets(road),
    }


def observation_message(step: int, observation: Observation) -> dict[str, Any]:
    """Make the message that asks for a command."""
    message = {field.name: getattr(observation, field.name) for field in fields(Observation)}
    for of_models in ("state", "controls"):
        del message[of_models]
    message |= {"scans": dict(observation.scans), "readings": dict(observation.readings)}
    return {"type": "plan", "step": step, **message}


def command_in(message: dict[str, Any]) -> Command:
    """Read the command of a message.

    Raises
    ------
    ProtocolError
        If it has other keys, or values of other types or out of range.
    """
    given = {key: value for key, value in message.items() if key not in ("type", "step")}
    for key, value in given.items():
        if key not in COMMAND_KEYS:
            raise ProtocolError(f"a command with the key {key!r:.40}; known are {', '.join(COMMAND_KEYS)}")
        if key in ("reverse", "handbrake") and not isinstance(value, bool):
            raise ProtocolError(f"a command with {key} {value!r:.40}, expected true or false")
    levers = given.get("levers")
    if levers is not None:
        if not isinstance(levers, list) or len(levers) != 2:
            raise ProtocolError(f"a command with levers {levers!r:.40}, expected nil or two numbers")
        given["levers"] = tuple(levers)
    try:
        return Command(**given)
    except UsageError as error:
        raise ProtocolError(f"a {error}") from None


def _plain(value: Any) -> Any:
    """Spell what MessagePack has no type for."""
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.newbyteorder("<").str, "shape": value.shape, "data": value.tobytes()}
    if isinstance(value, Pose):
        return {"position": value.position.tolist(), "orientation": value.orientation.tolist()}
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in fields(value) if one.name not in GIVEN_ONCE}
    if isinstance(value, Real):
        return float(value)
    raise TypeError(f"no message holds a {type(value).__name__}")


def _sensor(sensor: Sensor) -> dict[str, Any]:
    mount = {"position": sensor.mount.position.tolist(), "orientation": sensor.mount.orientation.tolist()}
    return {
        "type": sensor.conf.type,
        "rate": float(sensor.conf.rate),
        "max_range": float(sensor.conf.max_range),
        "mount": mount,
        "angles": sensor.azimuths,
        "directions": sensor.directions,
    }


def _mission(mission: Mission, road: LaneletMap | None) -> dict[str, Any]:
    route: list[list[int] | None] = []
    if road is not None:
        try:
            route = [None if leg is None else leg.lanelets.tolist() for leg in road.mission_route()]
        except CbsimError:  # checkpoints that the network does not have
            route = []
    return {
        "name": mission.name,
        "checkpoints": [one.number for one in mission.checkpoints],
        "speed_limits": [
            {"segment": one.segment, "minimum": one.minimum, "maximum": one.maximum}
            for one in mission.speed_limits or ()
        ],
        "route": route,
    }


def _lanelets(road: LaneletMap) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "length": one.length,
            "limit": float(one.limit),
            "stop": bool(one.stop),
            "successors": [other.row for other in one.successors],
            "centreline": one.samples,
            "left": one.left,
            "right": one.right,
        }
        for one in road.lanelets
    ]
