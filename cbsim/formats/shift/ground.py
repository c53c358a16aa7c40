"""Terrain of a Shift model: solid ground with the heights of a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cbsim.errors import FileError, Problems
from cbsim.formats.shift.assembly import Assembled
from cbsim.formats.shift.build import Built, Names
from cbsim.formats.shift.elevation import read_tiff
from cbsim.formats.shift.kinematics import Array
from cbsim.formats.shift.meshes import find
from cbsim.formats.shift.network import GROUND, HERE, Place
from cbsim.formats.shift.upright import quaternion_of
from cbsim.formats.values import quote
from cbsim.paths import Files
from cbsim.spec.mechanism.colliders import Collider, HeightField
from cbsim.spec.shift.model import Terrain

__all__ = ["terrain_of"]

FLIP = np.diag([1.0, -1.0, -1.0])  # heights along −z, as SAE's axes have up


def terrain_of(
    assembled: Assembled,
    built: Built,
    turn: Array,
    friction: float,
    folder: Path,
    files: Files,
    problems: Problems,
    names: Names,
) -> list[Collider]:
    """Make colliders of the terrains of a model; one whose picture cannot be had is told of and left out (W998).

    Heights are those of the pixels, in metres, above the terrain's frame, whose origin is under the middle of the
    picture; between pixels they are those of triangles.
    """
    found = []
    model = assembled.network.model
    for terrain in model.terrain:
        what = f"terrain {quote(terrain.name)}"
        frame = _frame(assembled, terrain)
        heights, reason = _heights(terrain, assembled, folder, files)
        if frame is None:
            reason = "stands in a frame that is not there, or that moves"
        if heights is None or frame is None:
            problems.warning("W998", f"{what} {reason}; nothing touches it", terrain.location)
            continue
        rotation = turn @ frame.rotation @ (FLIP if terrain.sae else np.eye(3))
        shape = HeightField(
            heights=heights, spacing=terrain.scale, position_offset=turn @ frame.origin,
            orientation_offset=quaternion_of(rotation),
        )  # fmt: skip
        found.append(Collider(built.origin, shape, friction, name=names((terrain.name or "terrain",), "terrain")))
    return found


def _frame(assembled: Assembled, terrain: Terrain) -> Place | None:
    """Where a terrain stands: a frame of the ground, or the ground itself."""
    if terrain.parent is None:
        return HERE
    if terrain.parent.path != ("fixed",):
        return None
    return assembled.network.frame(GROUND, terrain.parent.frame)


def _heights(terrain: Terrain, assembled: Assembled, folder: Path, files: Files) -> tuple[Array | None, str]:
    """Read the heights of a terrain, or say why not."""
    if not terrain.elevation_map:
        return None, "has no elevation_map"
    path, reason = find(terrain.elevation_map, assembled.network.model, folder, files)
    if path is None:
        return None, f"has an elevation_map {quote(terrain.elevation_map)} that {reason}"
    try:
        return read_tiff(files.read(path, asked_at=terrain.location)), ""
    except (FileError, ValueError) as wrong:
        return None, f"has an elevation_map {quote(terrain.elevation_map)} that {str(wrong)[:120]}"
