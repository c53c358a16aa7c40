"""Scene files of placed meshes (dae, glb and 3mf), read by trimesh within bounds.

Files may be hostile, so they are checked before trimesh parses them: no XML entities, no archive that unpacks beyond a
bound, no table of more numbers than the file has bytes for, no scene whose nodes repeat its meshes beyond a bound.
Other files that it names, such as pictures and buffers, are not read.
"""

from __future__ import annotations

import importlib.util
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry.linear import times

__all__ = ["SCENES", "RefusedMeshError", "parse_scene"]

SCENES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "dae": (("collada", "pycollada"), ("lxml", "lxml")),
    "glb": (),
    "3mf": (("lxml", "lxml"), ("networkx", "networkx")),
}
"""Ending → what reading it imports, and the package that has it."""

LARGEST = 256 * 2**20  # largest size of an unpacked archive in bytes, as of any file
TRIANGLES = 4_000_000  # limit of all nodes together
DEEPEST = 64  # depth of nodes
NUMBERS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}


class RefusedMeshError(ValueError):
    """A file is refused; the message completes a sentence about it."""


def parse_scene(data: bytes, kind: str) -> tuple[Floats, NDArray[np.int64]]:
    """Read vertices (n, 3) and triangles (m, 3) of all nodes, in the file's units and axes.

    Raises
    ------
    RefusedMeshError
        If its package isn't installed, or it exceeds a limit.
    Exception
        Of any type, for malformed files.
    """
    for module, package in SCENES[kind]:
        if importlib.util.find_spec(module) is None:
            raise RefusedMeshError(f"needs the package {package} to be read: pip install {package}")
    {"dae": _check_markup, "glb": _check_tables, "3mf": _check_archive}[kind](data)
    import trimesh

    options: dict[str, Any] = {"skip_materials": True} if kind == "glb" else {}
    return _together(trimesh.load_scene(io.BytesIO(data), file_type=kind, **options))


# --- bounds -----------------------------------------------------------------------------------------------------------
def _check_markup(data: bytes) -> None:
    """Refuse XML with entities, and encodings that could hide them."""
    if b"\0" in data[:4096] or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise RefusedMeshError("is XML in 16 or 32 bits a character, expected UTF-8")
    head = data.upper()
    if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
        raise RefusedMeshError("has a document type or entities, which are not read")


def _check_archive(data: bytes) -> None:
    """Refuse an archive that unpacks beyond the limit of files, or whose XML has entities."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > LARGEST:
            raise RefusedMeshError(f"unfolds to more than {LARGEST} bytes")
        for member in members:
            if member.filename.lower().endswith((".model", ".rels", ".xml")):
                _check_markup(archive.read(member))


def _check_tables(data: bytes) -> None:
    """Refuse a glTF whose tables have more numbers than there are bytes, or that names other files."""
    length = int.from_bytes(data[12:16], "little")
    if data[:4] != b"glTF" or len(data) < 20 + length:
        raise RefusedMeshError("is no binary glTF of version 2")
    tree = json.loads(data[20 : 20 + length])
    for table in tree.get("accessors", []):
        if int(table["count"]) * NUMBERS[table["type"]] > len(data):
            raise RefusedMeshError(f"has a table of {int(table['count'])} rows, more than the file has room for")
    if any("uri" in buffer for buffer in tree.get("buffers", [])):
        raise RefusedMeshError("keeps its numbers in another file, which is not read")
    if tree.get("extensionsRequired"):
        raise RefusedMeshError(f"needs the extensions {', '.join(map(str, tree['extensionsRequired'][:3]))}")


# --- scenes -----------------------------------------------------------------------------------------------------------
def _together(scene: Any) -> tuple[Floats, NDArray[np.int64]]:
    """Combine the meshes of all nodes, with their placements."""
    graph = scene.graph
    placed = [(node, scene.geometry[graph.transforms.node_data[node]["geometry"]]) for node in graph.nodes_geometry]
    placed = [(node, mesh) for node, mesh in placed if hasattr(mesh, "faces")]
    if sum(len(mesh.faces) for _, mesh in placed) > TRIANGLES:
        raise RefusedMeshError(f"has more than {TRIANGLES} triangles in all its nodes together")
    corners, faces, first = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    for node, mesh in placed:
        where = _place(graph, node)
        points = times(np.asarray(mesh.vertices, float), where[:3, :3].T) + where[:3, 3]
        rows = np.asarray(mesh.faces, np.int64)
        mirrored = float(times(np.cross(where[:3, 0], where[:3, 1]), where[:3, 2])) < 0.0
        corners.append(points)
        faces.append(first + (rows[:, ::-1] if mirrored else rows))
        first += len(points)
    return np.concatenate(corners), np.concatenate(faces)


def _place(graph: Any, node: str) -> Floats:
    """Return the product of the placements (4, 4) from the scene down to a node."""
    edges, parents = graph.transforms.edge_data, graph.transforms.parents
    out, at = np.eye(4), node
    for _ in range(DEEPEST):
        above = parents.get(at)
        if above is None:
            return out
        out = times(np.asarray(edges[above, at].get("matrix", np.eye(4)), float), out)
        at = above
    raise RefusedMeshError(f"has nodes more than {DEEPEST} deep")
