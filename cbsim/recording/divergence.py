"""`Divergence`: the first difference of two runs, and its search in two batches of the same steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.recording.batch import Batch, Header, motion_of_rows
from cbsim.world.motion import MOTION, MOTION_WIDTH

__all__ = ["Divergence", "first_difference", "setup_differences", "software_differences"]


@dataclass(frozen=True, slots=True)
class Divergence:
    """First difference of two runs.

    Attributes
    ----------
    step : int
    time : float
        [s].
    object : str
        The body that differs most there; empty if only hidden state differs or one run ends.
    column : str
        ``position``, ``orientation``, ``velocity``, ``angular_velocity``, ``hash``, ``end``, or
        ``step`` where their lengths differ.
    difference : float
        Largest absolute difference of that column there; 0 if numbers are equal but their bits are not.
    ended : str
        Which run ends there, and how, if the other continues.
    """

    step: int
    time: float
    object: str
    column: str
    difference: float
    ended: str = ""

    def __str__(self) -> str:
        if self.ended:
            return f"equal up to step {self.step} (t={self.time:.3f} s), then {self.ended} while the other goes on"
        if self.column == "step":
            return "the recordings have different steps"
        where = f"object '{self.object}', |Δ {self.column}| = {self.difference:.3g}" if self.object else "hidden state"
        return f"first at step {self.step} (t={self.time:.3f} s): {where}"


def first_difference(one: Header, a: Batch, other: Header, b: Batch) -> Divergence | None:
    """Compare two batches of the same steps, hashes and motion bit for bit.

    Parameters
    ----------
    one, other : Header
        Of the runs; of the same objects.
    a, b : Batch
        A body that only one of them holds is not compared.

    Returns
    -------
    Divergence or None
        None if every bit is the same.
    """
    apart = a.hashes != b.hashes
    ours, theirs = _held(one, a), _held(other, b)
    common = ours if ours is theirs else np.intersect1d(ours, theirs, assume_unique=True)
    if one.moving == other.moving:
        mine, yours = motion_of_rows(a.motion, ours, common), motion_of_rows(b.motion, theirs, common)
        apart |= (_bits(mine) != _bits(yours)).any(axis=(1, 2))
    if not apart.any():
        return None
    index, pairs = int(apart.argmax()), ((one, a), (other, b))
    step = a.first_step + index
    rows = _comparable(one, other, common)
    return Divergence(step, step * one.step, *_worst(one, rows, *(_rows(h, c, rows, index) for h, c in pairs)))


def setup_differences(one: Header, other: Header) -> list[str]:
    """List the differences of two headers that explain a divergence: seed, World, software."""
    found: list[tuple[str, int | str, int | str]] = [("seed", one.seed, other.seed)]
    if one.step != other.step:
        found.append(("step", f"{one.step:g} s", f"{other.step:g} s"))
    if one.world_digest != other.world_digest:
        found.append(("world", one.world_digest, other.world_digest))
    unequal = [f"{name} {here} and {there}" for name, here, there in found if here != there]
    return unequal + software_differences(one.software, other.software)


def software_differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """List differences of versions and compile targets; CPUs count only where one was compiled for."""
    shared = [name for name in one if name in other]
    if "target" in shared:  # recordings made before there were targets depend on the CPU
        shared.remove("cpu")
    return [f"{name} {one[name]} and {other[name]}" for name in shared if one[name] != other[name]]


def _bits(motion: Floats) -> NDArray[np.uint64]:
    return np.ascontiguousarray(motion).view(np.uint64)


def _held(header: Header, batch: Batch) -> Ints:
    """Rows whose motion a batch holds."""
    return np.array(header.moving, np.int64) if batch.rows is None else batch.rows


def _comparable(one: Header, other: Header, common: Ints) -> list[int]:
    """Rows that both have: those whose motion both hold, and those at rest in both."""
    still = (set(range(len(header.objects))) - set(header.moving) for header in (one, other))
    return sorted({*common.tolist(), *set.intersection(*still)})


def _rows(header: Header, batch: Batch, rows: list[int], index: int) -> Floats:
    """Motion (rows, 13) of bodies at one step of a batch, those at rest included."""
    moving = set(header.moving)
    found = np.zeros((len(rows), MOTION_WIDTH))
    for k, row in enumerate(rows):
        if row not in moving:
            item = header.objects[row]
            found[k, MOTION["position"]], found[k, MOTION["orientation"]] = item["position"], item["orientation"]
    kept = np.array([row in moving for row in rows], bool)
    held = motion_of_rows(batch.motion[index : index + 1], _held(header, batch), np.array(rows, np.int64)[kept])
    found[kept] = held[0]
    return found


def _worst(header: Header, rows: list[int], a: Floats, b: Floats) -> tuple[str, str, float]:
    """Name the body and column whose numbers differ most; nan counts as an infinite difference."""
    worst = ("", "hash", -1.0)
    with np.errstate(invalid="ignore", over="ignore"):
        gaps = np.where(_bits(a) == _bits(b), -1.0, np.nan_to_num(np.abs(a - b), nan=np.inf))
    for column, part in MOTION.items():
        largest = gaps[:, part].max(axis=1, initial=-1.0)
        row = int(largest.argmax()) if len(largest) else 0
        if len(largest) and largest[row] > worst[2]:
            worst = (header.objects.names[rows[row]], column, float(largest[row]))
    return worst[0], worst[1], max(worst[2], 0.0)
