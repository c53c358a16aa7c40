"""Work that is never lost: files replaced in one go, and a copy of unsaved work that outlives a crash."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cbsim.errors import UsageError

__all__ = ["Rescue", "Rescued", "replace_file"]

LIMIT = 512 * 2**20  # [bytes] of a copy that is read back


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that at every moment it is whole, the old one or the new one; rights and links stay.

    Raises
    ------
    UsageError
        If it cannot be written; what was there is untouched.
    """
    try:
        target = path.resolve()
        mode = target.stat().st_mode & 0o7777 if target.exists() else None
        if target.exists() and not os.access(target, os.W_OK):
            raise UsageError(f"cannot write '{path}': it is read-only")
        _replace(target, data, mode)
    except (OSError, ValueError, RuntimeError) as reason:
        raise UsageError(f"cannot write '{path}': {getattr(reason, 'strerror', None) or reason}") from None


def _replace(target: Path, data: bytes, mode: int | None) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(0o666 & ~_umask() if mode is None else mode)
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


@dataclass(frozen=True)
class Rescued:
    """Unsaved work that was found.

    Attributes
    ----------
    data : bytes
        The file as it was to become.
    when : str
        Local time of the last step.
    same_base : bool
        Whether the file is still the one that the work began with.
    """

    data: bytes
    when: str
    same_base: bool


class Rescue:
    """A copy of unsaved work on a file, beside it, or in the user's state folder where that cannot be written.

    Parameters
    ----------
    path : Path
        The file.
    state : Path, optional
        A folder for copies that cannot stand beside their files; by default the user's own.
    """

    def __init__(self, path: Path, state: Path | None = None) -> None:
        self.path = path.absolute()
        folder = state or Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "cbsim" / "edits"
        digest = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]
        self.places = [self.path.with_name(f".{self.path.name}.cbsim-edits"), folder / f"{digest}.cbsim-edits"]

    def keep(self, data: bytes, base: bytes) -> str:
        """Keep unsaved work, and the file that it began with by its digest; a complaint where nothing can be kept."""
        kept = {
            "path": str(self.path),
            "time": time.strftime("%Y-%m-%d %H:%M:%S"),
            "base": hashlib.sha256(base).hexdigest(),
            "data": base64.b64encode(data).decode("ascii"),
        }
        text = json.dumps(kept).encode("ascii")
        for place in self.places:
            try:
                if place is not self.places[0]:
                    place.parent.mkdir(parents=True, exist_ok=True)
                replace_file(place, text)
            except (UsageError, OSError):
                continue
            return ""
        return "unsaved work cannot be kept: neither the file's folder nor the state folder can be written"

    def find(self, base: bytes) -> Rescued | None:
        """Find work that was not saved; None where there is none, or where it is what the file holds."""
        for place in self.places:
            with suppress(OSError, ValueError, KeyError, TypeError, binascii.Error):
                if place.stat().st_size > LIMIT:
                    continue
                kept = json.loads(place.read_bytes())
                data = base64.b64decode(kept["data"], validate=True)
                if kept["path"] == str(self.path) and data != base:
                    return Rescued(data, str(kept["time"])[:32], kept["base"] == hashlib.sha256(base).hexdigest())
        return None

    def forget(self) -> None:
        """Take the copy away: the work is saved, or given up."""
        for place in self.places:
            with suppress(OSError):
                place.unlink()
