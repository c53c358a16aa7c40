"""Files of the kernel cache, each checked against its digest before anything in it is unpickled.

A power cut leaves empty or truncated files; a damaged one is reported once, and counts as missing.
"""

from __future__ import annotations

import contextlib
import pickle
import uuid
from hashlib import blake2b
from pathlib import Path
from typing import Any

from numba.core.serialize import dumps

from cbsim.kernel_compiler.messages import warn_once

__all__ = ["READ_ONLY", "read_entry", "write_entry"]

DIGEST = 32  # [bytes] of the digest at the start of a file, over the rest of it
READ_ONLY: list[Path] = []
"""Folders that are searched before the user's cache and never written: code in the package, caches taken along."""


def read_entry(path: Path) -> tuple[Any, Any] | None:
    """Read the key and the content of an entry; None if it does not exist or is damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if _digest(content[DIGEST:]) != content[:DIGEST]:
        warn_once(f"the kernel cache is damaged ('{path}'); damaged entries are compiled again")
        return None
    key, payload = pickle.loads(content[DIGEST:])
    return key, payload


def write_entry(path: Path, key: Any, payload: Any) -> None:
    """Write an entry atomically; the digest reveals one that a power cut truncated."""
    body = dumps((key, payload))
    draft = path.with_name(f"{path.name}.tmp.{uuid.uuid4().hex[:16]}")
    try:
        draft.write_bytes(_digest(body) + body)
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=DIGEST).digest()
