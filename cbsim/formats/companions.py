"""`Companions`: reader of the sensor confs and meshes that objects refer to, for linter and runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import FileError, Problems, Severity
from cbsim.formats import read_as, read_source
from cbsim.paths import Files, sensor_folders
from cbsim.spec.objects import MeshFile, SensorMount, TrafficObject
from cbsim.spec.sensor import SensorConf

__all__ = ["Companions", "Mesh", "find_mesh_file", "mesh_folders"]

Mesh = tuple[NDArray[np.float64], NDArray[np.int64]]  # vertices (n, 3) [m], triangles (m, 3)


def mesh_folders(mesh: MeshFile, object_folder: Path) -> list[Path]:
    """List the search path of a mesh file (D27): ``full`` unchanged, ``base`` also beside the object file."""
    return [Path()] if mesh.mode == "full" else [Path(), object_folder]


def find_mesh_file(mesh: MeshFile, object_folder: Path, files: Files) -> Path | None:
    """Find a vertices or indices file; None if it is missing."""
    return files.find(mesh.path, mesh_folders(mesh, object_folder))


@dataclass
class Companions:
    """Reader of confs and meshes, each read once, so that its problems are reported once.

    A missing file yields None without a problem; the linter of object files reports the line that refers to it.

    Attributes
    ----------
    files : Files
        Readable files.
    problems : Problems
        Collects all problems.
    """

    files: Files
    problems: Problems
    _confs: dict[Path, SensorConf | None] = field(default_factory=dict)
    _meshes: dict[tuple[Path, Path], Mesh | None] = field(default_factory=dict)

    def read(self, items: Iterable[TrafficObject], folder: Path) -> None:
        """Read all files that objects refer to, to collect their problems."""
        for item in items:
            for mount in item.sensors:
                self.conf(item, mount, folder)
            self.mesh(item, folder)

    def conf(self, item: TrafficObject, mount: SensorMount, folder: Path) -> SensorConf | None:
        """Read a sensor conf of an object of a file in a folder; None if it is missing or has errors."""
        path = self.files.find(mount.conf, sensor_folders(item.name, folder, self.files.environment))
        if path is None:
            return None
        if path not in self._confs:
            reading = read_as(("sensor-conf",), path, self.files, self.problems, asked_at=mount.location)
            sound = reading is not None and not reading.problems.count(Severity.ERROR)
            self._confs[path] = reading.spec if reading is not None and sound else None
        return self._confs[path]

    def mesh(self, item: TrafficObject, folder: Path) -> Mesh | None:
        """Read the mesh of an object of a file in a folder; None if it has none, or the mesh has errors."""
        if item.vertices is None or item.indices is None:
            return None
        vertices, indices = (find_mesh_file(part, folder, self.files) for part in (item.vertices, item.indices))
        if vertices is None or indices is None:
            return None
        if (vertices, indices) not in self._meshes:
            self._meshes[vertices, indices] = self._read_mesh(item.vertices, vertices, item.indices, indices)
        return self._meshes[vertices, indices]

    def _read_mesh(self, first: MeshFile, vertices: Path, second: MeshFile, indices: Path) -> Mesh | None:
        from cbsim.formats.mesh import read_mesh

        try:
            points = read_source(vertices, self.files, asked_at=first.location)
            corners = read_source(indices, self.files, asked_at=second.location)
        except FileError as error:
            self.problems.extend(error.problems)
            return None
        return read_mesh(points, corners, self.problems)
