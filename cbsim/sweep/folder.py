"""`Folder`: a sweep on disk: its plan, its identity and its rows."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cbsim.errors import UsageError
from cbsim.sweep.plan import Plan

__all__ = ["Folder"]

MANIFEST = "sweep.json"
FORMAT = 1


class Folder:
    """A sweep on disk.

    Parameters
    ----------
    path : str or Path
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest: dict[str, Any] = {}

    @classmethod
    def made(cls, path: str | Path, manifest: dict[str, Any]) -> Folder:
        """Begin a sweep.

        Raises
        ------
        UsageError
            If the folder holds something already.
        """
        folder = cls(path)
        if folder.path.exists() and (not folder.path.is_dir() or any(folder.path.iterdir())):
            there = (folder.path / MANIFEST).is_file()
            hint = f"'cbsim sweep resume {path}' continues the sweep in it" if there else "name another folder with -o"
            raise UsageError(f"'{path}' is not empty: {hint}")
        (folder.path / "rows").mkdir(parents=True)
        folder.manifest = {"format": FORMAT, **manifest}
        unfinished = folder.path / f".{MANIFEST}"
        with unfinished.open("w", encoding="utf-8") as stream:
            json.dump(folder.manifest, stream, indent=1)
            stream.write("\n")
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(folder.path / MANIFEST)
        return folder

    @classmethod
    def opened(cls, path: str | Path) -> Folder:
        """Open a sweep.

        Raises
        ------
        UsageError
            If the folder holds none, or one of a later cbsim.
        """
        folder = cls(path)
        try:
            text = (folder.path / MANIFEST).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise UsageError(f"'{path}' holds no sweep: there is no '{MANIFEST}' in it") from None
        try:
            folder.manifest = json.loads(text)
            known = folder.manifest["format"]
            folder.plan  # noqa: B018 - whether it can be read
        except (ValueError, KeyError, TypeError, AttributeError) as reason:
            raise UsageError(f"'{folder.path / MANIFEST}' is damaged: {type(reason).__name__}: {reason}") from None
        if known != FORMAT:
            raise UsageError(f"'{path}' has version {known} of sweeps, this cbsim reads {FORMAT}")
        return folder

    @property
    def plan(self) -> Plan:
        """What it runs."""
        return Plan.from_json(self.manifest["plan"])

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and types of the columns."""
        return [(name, kind) for name, kind in self.manifest["columns"]]

    @property
    def version(self) -> str:
        """Version of cbsim that made it."""
        return str(self.manifest["identity"]["version"]["cbsim"])
