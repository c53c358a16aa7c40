"""Terrain of a Shift model: solid ground with the heights of a picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import FileError, Problems
from cbsim.formats.shift.elevation import read_tiff
from cbsim.formats.values import quote
from cbsim.geometry.linear import times
from cbsim.models.shift.assembly import Assembled
from cbsim.models.shift.build import Built, Names
from cbsim.models.shift.meshes import find
from cbsim.models.shift.network import GROUND, HERE, Network, Place
from cbsim.models.shift.upright import quaternion_of
from cbsim.paths import Files
from cbsim.spec.mechanism.colliders import Collider, HeightField
from cbsim.spec.shift.model import ShiftModel, Terrain

__all__ = ["standing", "terrain_of"]

FLIP = np.diag([1.0, -1.0, -1.0])  # heights along −z, which is up in SAE's axes


def terrain_of(
    assembled: Assembled,
    built: Built,
    turn: Floats,
    friction: float,
    folder: Path,
    files: Files,
    problems: Problems,
    names: Names,
) -> list[Collider]:
    """Build the colliders of the terrains of a model."""
    found = []
    for terrain, frame, heights in standing(assembled.network, folder, files, problems):
        rotation = times(times(turn, frame.rotation), FLIP if terrain.sae else np.eye(3))
        shape = HeightField(
            heights=heights, spacing=terrain.scale, position_offset=times(turn, frame.origin),
            orientation_offset=quaternion_of(rotation),
        )  # fmt: skip
        found.append(Collider(built.origin, shape, friction, name=names((terrain.name or "terrain",), "terrain")))
    return found


def standing(
    network: Network, folder: Path, files: Files, problems: Problems
) -> Iterator[tuple[Terrain, Place, Floats]]:
    """Return the active terrains of a model, with their frames and heights (rows, columns) [m].

    Heights are those of the pixels, in metres, above the terrain's frame, whose origin is under the middle of the
    picture, with triangles between pixels. Terrains that cannot be read are reported and left out (W998).
    """
    for terrain in network.model.terrain:
        if not terrain.active:
            continue
        frame, reason = _frame(network, terrain)
        heights = None
        if frame is not None:
            heights, reason = _heights(terrain, network.model, folder, files)
        if frame is None or heights is None:
            what = f"terrain {quote(terrain.name)}" if terrain.name else "a terrain"
            problems.warning("W998", f"{what} {reason}; nothing touches it", terrain.location)
        else:
            yield terrain, frame, heights


def _frame(network: Network, terrain: Terrain) -> tuple[Place | None, str]:
    """Frame of a terrain: a frame of the ground, or the ground itself; otherwise an error message."""
    if terrain.parent is None:
        return HERE, ""
    name = quote(":".join((*terrain.parent.path, terrain.parent.frame)))
    if terrain.parent.path != ("fixed",):
        return None, f"stands in {name}, expected a frame of 'fixed'"
    return network.frame(GROUND, terrain.parent.frame), f"stands in {name}, which is not there"


def _heights(terrain: Terrain, model: ShiftModel, folder: Path, files: Files) -> tuple[Floats | None, str]:
    """Read the heights of a terrain, or return an error message."""
    if not terrain.elevation_map:
        return None, "has no elevation_map"
    path, reason = find(terrain.elevation_map, model, folder, files)
    if path is None:
        return None, f"has an elevation_map {quote(terrain.elevation_map)} that {reason}"
    try:
        return read_tiff(files.read(path, asked_at=terrain.location)), ""
    except (FileError, ValueError) as wrong:
        return None, f"has an elevation_map {quote(terrain.elevation_map)} that {str(wrong)[:120]}"
