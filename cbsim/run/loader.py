"""`Loader`: finds and reads every file that a scenario refers to, and collects the problems of all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cbsim.errors import FileError, Location, Problems, Severity
from cbsim.formats import Reading, read_file
from cbsim.formats.mesh import read_mesh
from cbsim.formats.reader import Source
from cbsim.lint.objects import find_mesh_file
from cbsim.paths import Files, sensor_folders
from cbsim.spec.objects import SensorMount, TrafficObject
from cbsim.spec.sensor import SensorConf
from cbsim.world.tables import Floats, Ints

__all__ = ["Loader"]


@dataclass
class Loader:
    """Reads files; goes on after mistakes, so that all of them are told at once.

    Attributes
    ----------
    files : Files
        What may be read.
    strict : bool
        Missing sensor confs are errors.
    problems : Problems
        Of all files.
    """

    files: Files
    strict: bool = False
    problems: Problems = field(default_factory=Problems)
    _confs: dict[Path, SensorConf | None] = field(default_factory=dict)

    def read(self, path: str | Path, formats: tuple[str, ...], asked_at: Location | None = None) -> Any:
        """Read a file that has to be of one of some formats; None if it has errors."""
        try:
            reading: Reading = read_file(path, self.files, asked_at=asked_at)
        except FileError as error:
            self.problems.extend(error.problems)
            return None
        if reading.format.name not in formats:
            message = f"this is a file of format '{reading.format.name}', expected {' or '.join(formats)}"
            self.problems.error("E002", message, asked_at or Location(str(path), 1))
            return None
        return self.accept(reading)

    def accept(self, reading: Reading) -> Any:
        """Keep a reading's problems; its spec only if there is no error among them."""
        self.problems.extend(reading.problems)
        return None if reading.problems.count(Severity.ERROR) else reading.spec

    def confs(self, item: TrafficObject, folder: Path) -> tuple[tuple[str, SensorConf], ...]:
        """Find and read the sensor confs of an object; a missing one gives the default model (DESIGN §3)."""
        return tuple((Path(mount.conf).stem, self._conf(item, mount, folder)) for mount in item.sensors)

    def _conf(self, item: TrafficObject, mount: SensorMount, folder: Path) -> SensorConf:
        path = self.files.find(mount.conf, sensor_folders(item.name, folder, self.files.environment))
        if path is None:  # the linter of object files says which line asked for it
            return SensorConf(location=mount.location)
        if path not in self._confs:
            self._confs[path] = self.read(path, ("sensor-conf",), mount.location)
        return self._confs[path] or SensorConf(location=mount.location)

    def mesh(self, item: TrafficObject, folder: Path) -> tuple[Floats, Ints] | None:
        """Read the vertices and indices of a mesh object."""
        sources = []
        for part in (item.vertices, item.indices):
            path = None if part is None else find_mesh_file(part, folder, self.files)
            if path is None:  # the linter of object files says which line asked for it
                return None
            try:
                sources.append(Source.decode(path, self.files.read(path, asked_at=part.location if part else None)))
            except FileError as error:
                self.problems.extend(error.problems)
                return None
        mesh: tuple[Floats, Ints] | None = read_mesh(sources[0], sources[1], self.problems)
        return mesh
