"""`Snapshot`: everything that changes in a run, in two blocks, with copies, hashes and bytes."""

from __future__ import annotations

import struct
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.errors import RecordingError
from cbsim.jit import wrapping
from cbsim.world.kernels import hash_block, hash_words
from cbsim.world.tables import Layout, State

__all__ = ["Snapshot"]

MAGIC = b"CBSNAP09"
HEAD = struct.Struct(f"<8sQ{len(fields(Layout))}q")  # magic, digest of the World, then `Layout.sizes`
CLOCK, SEED = (Layout(0, 0, 0).first(name) for name in ("clock", "seed"))  # single numbers before all tables of ints


class Snapshot:
    """Every body's pose and velocity, actuators, controller states, seed and clock at one moment.

    A Snapshot is a value: `cbsim.step` returns a new one and leaves the old unchanged. `state` and `floats` are
    writable; once one of them has been read, the rows of static bodies are compared with their cache before its use.

    Parameters
    ----------
    layout : Layout
        Layout of the columns.
    floats, ints : ndarray
        The two blocks; taken, not copied.
    world_digest : int
        Digest of its World.
    step_length : float
        [s], turns the clock into a time.

    Attributes
    ----------
    static_cache : StaticCache or None
        `cbsim.world.static_cache` of the static bodies, where it is known.
    is_checked : bool
        True if the rows of static bodies are known to equal those of the cache, since no writable view was handed
        out.
    """

    __slots__ = (
        "_columns",
        "_floats",
        "_ints",
        "_is_shown",
        "is_checked",
        "layout",
        "static_cache",
        "step_length",
        "world_digest",
    )

    def __init__(self, layout: Layout, floats: Floats, ints: Ints, world_digest: int, step_length: float) -> None:
        self.layout = layout
        self.world_digest = world_digest
        self.step_length = step_length
        self.static_cache: object = None
        self.is_checked = False
        self._floats = floats
        self._ints = ints
        self._is_shown = False
        self._columns: State | None = None

    @property
    def blocks(self) -> tuple[Floats, Ints]:
        """The two blocks, for callers that leave the rows of static bodies unchanged."""
        return self._floats, self._ints

    @property
    def columns(self) -> State:
        """The columns, for callers that leave the rows of static bodies unchanged."""
        if self._columns is None:
            self._columns = self.layout.views(self._floats, self._ints)
        return self._columns

    @property
    def state(self) -> State:
        """The columns, to be read and written."""
        self._is_shown, self.is_checked = True, False
        return self.columns

    @property
    def floats(self) -> Floats:
        """The block of real numbers, to be read and written."""
        self._is_shown, self.is_checked = True, False
        return self._floats

    @property
    def ints(self) -> Ints:
        """The block of whole numbers, to be read and written."""
        return self._ints

    def tell(self, vehicle: int, command: tuple[float, ...]) -> None:
        """Write the command (6,) of a vehicle, given by its row in the table of vehicles."""
        at = self.layout.first("command") + 6 * vehicle
        self._floats[at : at + 6] = command

    def set_static_cache(self, static_cache: object) -> None:
        """Set the cache, whose rows equal those of this Snapshot now, and for good unless they can be written to."""
        self.static_cache, self.is_checked = static_cache, not self._is_shown

    @classmethod
    def empty(cls, layout: Layout, world_digest: int, step_length: float) -> Snapshot:
        """Make a Snapshot of zeros."""
        floats = np.zeros(layout.size("float"))
        return cls(layout, floats, np.zeros(layout.size("int"), np.int64), world_digest, step_length)

    @property
    def step(self) -> int:
        """Number of steps since the start."""
        return self._ints.item(CLOCK)

    @property
    def time(self) -> float:
        """Simulated time [s]; a product, not a sum, so it carries no drift."""
        return self._ints.item(CLOCK) * self.step_length

    @property
    def seed(self) -> int:
        """Seed of every random stream."""
        return self._ints.item(SEED)

    @property
    def hash(self) -> int:
        """64-bit hash of both blocks: XXH64 of the ints, seeded with `cbsim.world.kernels.hash_block` of the floats."""
        with wrapping():
            first = hash_block(self._floats.view(np.uint64))
            return int(hash_words(self._ints.view(np.uint64), np.uint64(first)))

    def copy(self) -> Snapshot:
        """Copy both blocks."""
        made = Snapshot(self.layout, self._floats.copy(), self._ints.copy(), self.world_digest, self.step_length)
        made.static_cache, made.is_checked = self.static_cache, self.is_checked
        return made

    def to_bytes(self) -> bytes:
        """Return the whole Snapshot as bytes, little-endian; `World.restore` reads them back bit for bit."""
        head = HEAD.pack(MAGIC, self.world_digest, *self.layout.sizes)
        return b"".join((head, self._floats.astype("<f8", copy=False).data, self._ints.astype("<i8", copy=False).data))

    @classmethod
    def from_bytes(cls, data: bytes, layout: Layout, world_digest: int, step_length: float) -> Snapshot:
        """Read `to_bytes` back.

        Raises
        ------
        RecordingError
            If the bytes are damaged or belong to another World.
        """
        floats, ints = layout.size("float"), layout.size("int")
        if len(data) != HEAD.size + 8 * (floats + ints) or data[:8] != MAGIC:
            expected = HEAD.size + 8 * (floats + ints)
            raise RecordingError(f"not a snapshot of this world: {len(data)} bytes, expected {expected}")
        _, digest, *found = HEAD.unpack_from(data)
        if digest != world_digest or tuple(found) != layout.sizes:
            raise RecordingError(f"this snapshot belongs to another world: {digest:016x}, expected {world_digest:016x}")
        first: NDArray[np.float64] = np.frombuffer(data, "<f8", floats, HEAD.size).astype(np.float64)
        second: NDArray[np.int64] = np.frombuffer(data, "<i8", ints, HEAD.size + 8 * floats).astype(np.int64)
        return cls(layout, first, second, world_digest, step_length)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Snapshot) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Snapshot(step={self.step}, time={self.time:.3f} s, bodies={self.layout.bodies}, hash={self.hash:016x})"
