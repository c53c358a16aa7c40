"""Reader of mesh files of models, by trimesh."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.formats.scenes import SCENES, RefusedMeshError, parse_scene

__all__ = ["KINDS", "MeshData", "parse_triangles"]

KINDS = ("obj", "off", "ply", "stl", *SCENES)
MeshData = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Vertices (n, 3) in the file's unit, and triangles (m, 3)."""


def parse_triangles(data: bytes, kind: str) -> tuple[str, MeshData | None]:
    """Read a file's bytes; returns an error message or an empty text, and the data.

    Parameters
    ----------
    data : bytes
        Any.
    kind : str
        One of `KINDS`.
    """
    if kind not in KINDS:
        return f"is none of {', '.join(KINDS)}", None
    try:
        vertices, faces = parse_scene(data, kind) if kind in SCENES else _parse_mesh(data, kind)
    except RefusedMeshError as reason:
        return str(reason)[:150], None
    except Exception as reason:  # any bytes may be in a file, and readers of trimesh raise anything
        return f"is no mesh: {str(reason)[:100] or type(reason).__name__}", None
    if vertices.ndim != 2 or faces.ndim != 2 or not len(faces) or not np.isfinite(vertices).all():
        return "has no triangles", None
    return "", (vertices, faces)


def _parse_mesh(data: bytes, kind: str) -> MeshData:
    import trimesh

    mesh: Any = trimesh.load(io.BytesIO(data), file_type=kind, force="mesh", skip_materials=True)
    return np.array(mesh.vertices, float), np.array(mesh.faces, np.int64)
