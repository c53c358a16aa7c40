"""`Loader`: reader of all files that a scenario refers to, with their problems collected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cbsim.errors import Location, Problems, Severity
from cbsim.formats import read_as
from cbsim.formats.companions import Companions, Mesh
from cbsim.paths import Files
from cbsim.spec.objects import TrafficObject
from cbsim.spec.sensor import SensorConf, stand_in_conf

__all__ = ["Loader"]


class Loader:
    """Reads files and continues after errors, so that all of them are reported at once.

    Parameters
    ----------
    files : Files
        Readable files.
    strict : bool
        Missing sensor confs are errors.

    Attributes
    ----------
    problems : Problems
        Of all files.
    """

    def __init__(self, files: Files, strict: bool = False) -> None:
        self.files, self.strict = files, strict
        self.problems = Problems()
        self.companions = Companions(files, self.problems)

    def read(self, path: str | Path, formats: tuple[str, ...], asked_at: Location | None = None) -> Any:
        """Read a file of one of the given formats; None if it has errors."""
        reading = read_as(formats, path, self.files, self.problems, asked_at=asked_at)
        return None if reading is None or reading.problems.count(Severity.ERROR) else reading.spec

    def confs(self, item: TrafficObject, folder: Path) -> tuple[tuple[str, SensorConf], ...]:
        """Find and read the sensor confs of an object; `stand_in_conf` takes the place of a missing one."""
        return tuple(
            (
                Path(mount.conf).stem,
                self.companions.conf(item, mount, folder) or stand_in_conf(item.size.y, mount.location),
            )
            for mount in item.sensors
        )

    def mesh(self, item: TrafficObject, folder: Path) -> Mesh | None:
        """Read the vertices and triangles of a mesh object."""
        return self.companions.mesh(item, folder)
