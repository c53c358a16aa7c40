"""Writer of mechanisms as JSON: one line per part, numbers with all digits."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from cbsim.formats.mechanism.grammar import FAMILIES, MARK, VERSION, keys_of
from cbsim.spec.mechanism.bodies import Body, Node, Origin
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.shapes import EmptyShape
from cbsim.spec.mechanism.stored import StoredMechanism

__all__ = ["write"]

TYPED = {kind for family in FAMILIES.values() for kind in family.values()}


def write(stored: StoredMechanism) -> str:
    """Write a mechanism; reading it back is exact to the last bit."""
    spec = stored.spec
    lines = [f'"{MARK}": {VERSION}', f'"timestep": {_text(spec.timestep)}', f'"gravity": {_text(spec.gravity)}']
    if spec.input_scaling is not None:
        lines.append(f'"input_scaling": {_text(spec.input_scaling)}')
    if not isinstance(spec.origin.shape, EmptyShape):
        lines.append(f'"origin": {_text({"shape": spec.origin.shape})}')
    lines += [_listed(key, map(_record, getattr(spec, key))) for key in ("bodies", "joints", "contacts", "colliders")]
    names = [body.name for body in spec.bodies]
    for key, state in (("state", stored.state), ("next_state", stored.next_state)):
        if state is not None:
            lines.append(_mapped(key, dict(zip(names, state, strict=True))))
    lines += [_mapped(key, values) for key in ("inputs", "external") if (values := getattr(stored, key))]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _text(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _listed(key: str, records: Iterable[dict[str, Any]]) -> str:
    rows = ",\n".join(f"  {_text(record)}" for record in records)
    return f'"{key}": [\n{rows}\n]' if rows else f'"{key}": []'


def _mapped(key: str, values: Mapping[str, Any]) -> str:
    rows = ",\n".join(f"  {_text(name)}: {_text(value)}" for name, value in values.items())
    return f'"{key}": {{\n{rows}\n}}'


def _record(part: Any) -> dict[str, Any]:
    """Return the fields of a part, without those that are None."""
    out: dict[str, Any] = {"type": type(part).__name__} if type(part) in TYPED else {}
    for key in keys_of(type(part)):
        value = getattr(part, key)
        if value is not None:
            out[key] = value.name if isinstance(value, (Body, Origin)) else value
    if isinstance(part, Mesh) and part.path is not None:  # so that the file is self-contained
        triangles = part.triangles
        out["vertices"], out["faces"] = np.asarray(triangles.vertices, float), np.asarray(triangles.faces)
    return out


def _plain(value: Any) -> Any:
    """Return a value for JSON; numbers that JSON lacks are texts."""
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Node) or hasattr(value, "__dataclass_fields__"):
        return _plain(_record(value))
    return value
