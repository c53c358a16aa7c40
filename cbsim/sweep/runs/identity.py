"""Identity of a sweep's rows: files, planner and versions that they depend on besides the plan; compared by name."""

from __future__ import annotations

import hashlib
import platform
import sys
import sysconfig
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import cbsim
from cbsim.recording.header import software
from cbsim.spec.planner import is_external
from cbsim.world.world import World

__all__ = ["differences", "identity_of", "versions"]

WORDS = {"version": "the version of {}", "file": "the file '{}'", "planner": "the planner's module '{}'"}
Identity = Mapping[str, Mapping[str, str]]


def digest(data: bytes) -> str:
    """64-bit digest in hexadecimal."""
    return hashlib.blake2b(data, digest_size=8).hexdigest()


@cache
def sources_digest() -> str:
    """Digest of cbsim's own sources, which a version under development does not tell."""
    root = Path(cbsim.__file__).parent
    found = hashlib.blake2b(digest_size=8)
    for path in sorted(root.rglob("*.py")):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def versions() -> dict[str, str]:
    """Versions that the bits of a run depend on; the CPU model is no part of it."""
    known = {name: text for name, text in software().items() if name != "cpu"}
    return known | {"machine": platform.machine(), "sources": sources_digest()}


def identity_of(world: World) -> dict[str, dict[str, str]]:
    """Files of a World, its planners' sources, and versions; planners have been imported."""
    files = {name: digest(data) for name, data in world.scene.sources.items()}
    planners: dict[str, str] = {}
    for _, planner in world.settings.planners:
        planners |= _planner_files(planner)
    return {"file": files, "planner": planners, "version": versions()}


def _planner_files(planner: str) -> dict[str, str]:
    """Digests of a planner's module, and of modules beside it that it has imported."""
    if is_external(planner):
        words = planner.removeprefix("cmd:").split() if planner.startswith("cmd:") else []
        return {word: digest(Path(word).read_bytes()) for word in words if Path(word).is_file()}
    module = sys.modules.get(planner.partition(":")[0])
    path = getattr(module, "__file__", None)
    if path is None:
        return {planner: "not found"}
    root, installed = Path(path).resolve().parent, Path(sysconfig.get_paths()["purelib"]).resolve()
    found: dict[str, str] = {}
    for name, one in sorted(sys.modules.items()):
        text = getattr(one, "__file__", None)
        where = None if text is None else Path(text).resolve()
        if name.partition(".")[0] == "cbsim" and name != planner.partition(":")[0]:
            continue  # its versions are compared by themselves
        if where is None or where.suffix != ".py" or not where.is_file() or not where.is_relative_to(root):
            continue
        if name == planner.partition(":")[0] or not where.is_relative_to(installed):
            found[name] = digest(where.read_bytes())
    return found


def differences(kept: Identity, now: Identity) -> list[str]:
    """Describe what has changed, by name."""
    found = []
    for kind in ("version", "file", "planner"):
        before, after = kept.get(kind, {}), now.get(kind, {})
        for name in sorted({*before, *after}):
            if before.get(name) != after.get(name):
                told = f"{before.get(name, 'none')} before, {after.get(name, 'none')} now"
                found.append(f"{WORDS[kind].format(name)} has changed ({told})")
    return found
