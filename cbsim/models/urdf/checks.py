"""Checks of robots that need their mesh files."""

from __future__ import annotations

from cbsim.errors import Problems
from cbsim.formats import Reading
from cbsim.models.urdf.meshes import read_meshes
from cbsim.paths import Files

__all__ = ["lint"]


def lint(reading: Reading, files: Files, problems: Problems, *, strict: bool = False) -> None:
    """Find and read the mesh files of a robot."""
    read_meshes(reading.spec, reading.source.folder, files, problems, strict=strict)
