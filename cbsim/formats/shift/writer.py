"""Writer of Shift JSON: a `ShiftModel` as text, in SI, with the keys of the format's later dialect."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from cbsim.spec.shift.forces import Controller, ForceModule, Restraint, Tyre
from cbsim.spec.shift.model import (
    UPRIGHT,
    Assembly,
    Body,
    Dormant,
    Frame,
    Joint,
    Kept,
    Light,
    Placement,
    Reference,
    ShiftModel,
    Simulation,
    Terrain,
)

__all__ = ["write"]

Record = dict[str, Any]
UNITS = {"angle": "radians", "length": "meters", "mass": "kilograms", "time": "seconds"}
INLINE = 100  # longest list or object on one line
DECIMALS = ("Ixx", "Iyy", "Izz", "Ixy", "Iyz", "Izx")


def write(spec: ShiftModel) -> str:
    """Write a Shift file."""
    parameters: Record = {"version": spec.version, "units": UNITS, "gravity": list(spec.gravity)}
    parameters["include_directories"] = list(spec.folders)
    simulation = _simulation(spec.simulation)
    others = [json.loads(text) for text in spec.simulation.others]
    if simulation or others:
        parameters |= {"integrators": [simulation, *others]} if others else {"simulation": simulation}
    parameters |= _kept(spec.kept)
    root: Record = {"model_parameters": parameters}
    for name, records in (
        ("frames", [_frame(one) for one in spec.frames]),
        ("lights", [_light(one) for one in spec.lights]),
        ("terrain", [_terrain(one) for one in spec.terrain]),
    ):
        if records:
            root[name] = records
    root["assemblies"] = [_assembly(one) for one in spec.assemblies]
    _wake(root, spec.dormant)
    return _text(root, "") + "\n"


def _text(value: Any, indent: str) -> str:
    """Format JSON with short values on one line."""
    short = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, dict | list) or not value or len(indent) + len(short) <= INLINE:
        return short
    inner = indent + "  "
    if isinstance(value, list):
        rows: Iterable[str] = (inner + _text(one, inner) for one in value)
        return "[\n" + ",\n".join(rows) + f"\n{indent}]"
    rows = (f"{inner}{json.dumps(key, ensure_ascii=False)}: {_text(one, inner)}" for key, one in value.items())
    return "{\n" + ",\n".join(rows) + f"\n{indent}}}"


def _kept(kept: Kept) -> Record:
    return {name: json.loads(text) for name, text in kept}


def _matrix(rotation: tuple[float, ...]) -> list[list[float]]:
    return [list(rotation[row : row + 3]) for row in (0, 3, 6)]


def _placement(placement: Placement) -> Record:
    record: Record = {}
    if placement.rotation != UPRIGHT:
        record["R"] = _matrix(placement.rotation)
    if any(placement.translation):
        record["T"] = list(placement.translation)
    return record


def _reference(reference: Reference) -> list[Any]:
    return [":".join(reference.path) if reference.rooted else list(reference.path), reference.frame]


def _frame(frame: Frame) -> Record:
    return {"name": frame.name, **_placement(frame.placement)}


def _light(light: Light) -> Record:
    record: Record = _named(light.name) | {"type": light.kind}
    if light.parent is not None:
        record["parent"] = _reference(light.parent)
    return record | _switch(light.active) | _kept(light.kept)


def _terrain(terrain: Terrain) -> Record:
    record: Record = {"name": terrain.name, "elevation_map": terrain.elevation_map, "scale": list(terrain.scale)}
    if terrain.parent is not None:
        record["parent"] = _reference(terrain.parent)
    if terrain.sae:
        record["coordinate_type"] = "sae"
    return record | _switch(terrain.active) | _kept(terrain.kept)


def _simulation(simulation: Simulation) -> Record:
    record: Record = {}
    if simulation.span is not None:
        record["time_span"] = simulation.span
    if simulation.step is not None:
        record["time_step"] = simulation.step
    return record | _kept(simulation.kept)


def _assembly(assembly: Assembly) -> Record:
    record: Record = {"name": assembly.name, "active": assembly.active}
    record["bodies"] = [_body(one) for one in assembly.bodies]
    record["joints"] = [_joint(one) for one in assembly.joints]
    for name, records in (
        ("restraints", [_restraint(one) for one in assembly.restraints]),
        ("force_modules", [_module(one) for one in assembly.force_modules]),
        ("assemblies", [_assembly(one) for one in assembly.assemblies]),
    ):
        if records:
            record[name] = records
    _wake(record, assembly.dormant)
    return record | _kept(assembly.kept)


def _wake(record: Record, dormant: Iterable[Dormant]) -> None:
    """Restore unread entries, after the others of their lists."""
    for one in dormant:
        record.setdefault(one.key, []).append(json.loads(one.text))


def _body(body: Body) -> Record:
    record: Record = {"name": body.name} | _switch(body.active)
    if not body.is_massless:
        record["center_of_mass"] = list(body.center_of_mass)
        record["inertia"] = {"mass": body.mass} | dict(zip(DECIMALS, body.inertia, strict=True))
    elif any(body.center_of_mass):
        record["center_of_mass"] = list(body.center_of_mass)
    if body.frames:
        record["frames"] = [_frame(one) for one in body.frames]
    if body.geometry:
        record["geometry"] = [
            {"type": "mesh", "filename": [one.filename, one.material] if one.material else [one.filename]}
            for one in body.geometry
        ]
    if body.collision:
        record["collision_geometry"] = body.collision
    return record | _kept(body.kept)


def _named(name: str) -> Record:
    """Write a name, where there is one: an empty one is an error in a file, and none is not."""
    return {"name": name} if name else {}


def _switch(active: bool) -> Record:
    return {} if active else {"active": False}


def _joint(joint: Joint) -> Record:
    record: Record = _named(joint.name) | {"type": joint.kind} | _switch(joint.active)
    record |= {"parent": _reference(joint.parent), "child": _reference(joint.child)}
    if joint.kind in ("revolute", "prismatic"):
        record |= {"axis": list(joint.axis), "initial_displacement": joint.displacement}
        record["initial_velocity"] = joint.rates[0] if joint.rates else 0.0
    else:
        record["initial_displacement"] = _placement(joint.placement)
        if joint.rates:
            record["initial_velocity"] = list(joint.rates)
    for name, numbers in (("stiffness", joint.stiffness), ("damping", joint.damping)):
        if numbers:
            record[name] = list(numbers)
    return record | _kept(joint.kept)


def _restraint(restraint: Restraint) -> Record:
    record: Record = _named(restraint.name) | {"type": restraint.kind} | _switch(restraint.active)
    if restraint.pair is None:
        record["joint"] = list(restraint.joint)
    else:
        record["body_frame_pair"] = [_reference(one) for one in restraint.pair]
    if restraint.along:
        record["distance_type"] = "T" + restraint.along
    record |= {"knot_points": list(restraint.knots), "coefficients": [list(piece) for piece in restraint.pieces]}
    return record | _kept(restraint.kept)


def _module(module: ForceModule) -> Record:
    record: Record = {"type": module.kind} | _named(module.name) | _switch(module.active)
    if isinstance(module.law, Controller):
        record |= _controller(module.law)
    elif isinstance(module.law, Tyre):
        record |= {"tire_type": module.law.kind, "wheel_body": list(module.law.wheel)} | dict(module.law.numbers)
        if module.law.definition:
            record["definition"] = module.law.definition
    return record | _kept(module.kept)


def _controller(law: Controller) -> Record:
    watched: Record = {"type": "joint" if law.joint else "frame"}
    if law.joint:
        watched["joint"] = list(law.joint)
    if law.frame is not None:
        watched["body_frame_pair"] = _reference(law.frame)
        watched |= {"dof": law.dof, "coordinate_system": "local" if law.local else "global"}
    watched["target_type"] = "velocity" if law.watches_rate else "position"
    p, i, d = law.gains
    driven = {"type": "joint", "joint": list(law.output)}
    return {"p": p, "i": i, "d": d, "target": law.target, "input": watched, "output": driven}
