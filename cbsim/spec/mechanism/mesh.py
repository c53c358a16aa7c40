"""Mesh shapes from files or arrays, with inertia by trimesh, which is imported when needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.geometry.linear import times
from cbsim.spec.mechanism.shapes import Shape, inertia_of, matrix
from cbsim.spec.mechanism.values import array, floats

if TYPE_CHECKING:
    from cbsim.spec.mechanism.bodies import Body

__all__ = ["Mesh"]

KINDS = ("obj", "off", "ply", "stl")
LARGEST = 500_000_000  # bytes of a file, so that memory stays bounded


@dataclass(frozen=True, eq=False)
class Mesh(Shape):
    """Triangles from a file (obj, off, ply or stl) or from arrays.

    Parameters
    ----------
    path : str or Path, optional
        The file.
    mass : float, optional
        Mass [kg].
    vertices : array_like, shape (n, 3), optional
        Corners [m], in place of a file.
    faces : array_like, shape (m, 3), optional
        Rows of `vertices`, counter-clockwise from outside.
    inertia_matrix : array_like, shape (3, 3), optional
        Inertia about the centre of mass [kg m²], where the triangles do not say: they enclose no volume, or are hollow.
    """

    path: str | Path | None = None
    mass: float | None = None
    vertices: Any = field(default=None, kw_only=True)
    faces: Any = field(default=None, kw_only=True)
    inertia_matrix: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.path is None) == (self.vertices is None):
            raise ModelError("needs either a file or vertices and faces", subject="Mesh")
        if self.vertices is not None:
            corners = floats(self.vertices, "Mesh", "vertices", "(n, 3) numbers")
            rows = _whole_rows(self.faces)
            if corners.ndim != 2 or corners.shape[1] != 3 or not np.isfinite(corners).all():
                raise ModelError(f"vertices have the shape {corners.shape}, expected (n, 3) numbers", subject="Mesh")
            if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in "iu" or not len(rows):
                raise ModelError(f"faces have the shape {rows.shape}, expected (m, 3) whole numbers", subject="Mesh")
            if rows.min() < 0 or rows.max() >= len(corners):
                raise ModelError(f"faces name vertices beyond the {len(corners)} there are", subject="Mesh")
            self._settle("vertices", corners)
            self._settle("faces", rows.astype(np.int64))
        if self.inertia_matrix is not None:
            self._settle("inertia_matrix", array(self.inertia_matrix, (3, 3), "Mesh", "inertia_matrix"))

    @cached_property
    def triangles(self) -> Any:
        """The mesh of trimesh."""
        import trimesh

        if self.path is None:
            return trimesh.Trimesh(self.vertices, self.faces, process=False)
        kind = Path(self.path).suffix.lower().lstrip(".")
        if kind not in KINDS:
            raise ModelError(f"'{self.path}' is none of {', '.join(KINDS)}", subject="Mesh")
        try:
            if Path(self.path).stat().st_size > LARGEST:
                raise ModelError(f"'{self.path}' has more than {LARGEST} bytes", subject="Mesh")
            with Path(self.path).open("rb") as stream:  # a stream, so that nothing else is read beside it
                return trimesh.load(stream, file_type=kind, force="mesh", skip_materials=True)
        except ModelError:
            raise
        except OSError as problem:
            raise ModelError(f"'{self.path}' cannot be read: {problem.strerror}", subject="Mesh") from None
        except Exception as problem:  # any bytes may be in a file, and readers of trimesh raise anything
            raise ModelError(f"'{self.path}' is no mesh: {problem}", subject="Mesh") from None

    @property
    def surface(self) -> Floats:
        """Triangles (n, 3, 3) [m] in the mesh's frame, without scale."""
        mesh = self.triangles
        corners: Floats = np.asarray(mesh.vertices, float)[np.asarray(mesh.faces)].reshape(-1, 3, 3)
        return corners

    @property
    def moments(self) -> Floats:
        """Second moments of the volume inside."""
        mesh = self.triangles
        if not (mesh.is_watertight and mesh.is_winding_consistent and abs(mesh.volume) > 0.0):
            raise ModelError("does not enclose a volume: give inertia_matrix=…", subject="Mesh")
        inertia = np.asarray(mesh.moment_inertia) / float(mesh.volume)
        return np.asarray(0.5 * np.trace(inertia) * np.eye(3) - inertia)

    @property
    def centre(self) -> Floats:
        """Centre of mass (3,) [m] in the mesh's frame; its origin where it does not enclose a volume."""
        mesh = self.triangles
        return np.asarray(mesh.center_mass if mesh.is_watertight else np.zeros(3), float)

    def inertia(self, mass: float | None = None) -> Floats:
        """Inertia (3, 3) [kg m²] about the centre of mass, in the body's frame."""
        if self.inertia_matrix is None:
            return inertia_of(self.weight(mass), self.turned_moments())
        rotation = matrix(self.orientation_offset)
        return np.asarray(times(times(rotation, self.inertia_matrix), rotation.T))

    def body(self, mass: float | None = None, *, name: str = "") -> Body:
        """Build a body whose centre of mass is that of the volume; the mesh is drawn with the opposite offset."""
        if self.inertia_matrix is not None:
            return super().body(mass, name=name)
        arm = times(matrix(self.orientation_offset), self.scale * self.centre)
        moved = self.replaced(position_offset=self.position_offset - arm)
        return Shape.body(moved, mass, name=name)


def _whole_rows(value: Any) -> Any:
    """Return what may be an array of whole numbers; an empty one where it is none."""
    try:
        return np.array([] if value is None else value)
    except ValueError:  # rows of different lengths
        return np.zeros(0)
