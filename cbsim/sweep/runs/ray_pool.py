"""`RayPool`: chunks of a sweep on the nodes of a Ray cluster."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from cbsim.errors import UsageError
from cbsim.sweep.plan import Plan
from cbsim.sweep.runs.pool import Done, LostWorkerError
from cbsim.sweep.runs.task import Chunk, Description, describe, run_chunk
from cbsim.sweep.space import Point

__all__ = ["RayPool"]

COUNTED_FOR = 5.0  # [s] after which the cores of the cluster are counted anew
LOST = (
    "LocalRayletDiedError", "NodeDiedError", "ObjectLostError", "OutOfMemoryError", "OwnerDiedError", "RaySystemError",
    "WorkerCrashedError",
)  # fmt: skip


class RayPool:
    """Workers of a Ray cluster: one chunk per core is in flight, so that neither queues nor the object store grow.

    Parameters
    ----------
    address : str
        ``auto``, or that of the cluster.

    Raises
    ------
    UsageError
        If Ray is not installed, there is no such cluster, or it has another version.
    """

    def __init__(self, address: str) -> None:
        self._ray = ray = _ray()
        self._owns = not ray.is_initialized()
        if self._owns:
            try:
                ray.init(address=address, log_to_driver=False, logging_level="error")
            except (ConnectionError, ValueError, RuntimeError, OSError) as reason:
                with suppress(Exception):  # what was begun
                    ray.shutdown()
                raise UsageError(f"no Ray cluster at '{address}' that can be used: {_shown(reason)}") from None
        options = {"num_cpus": 1, "max_retries": 0, "scheduling_strategy": "SPREAD"}
        self._run = ray.remote(**options)(run_chunk)
        self._describe = ray.remote(**options)(describe)
        self._flying: dict[Any, Chunk] = {}
        self._cores, self._counted = 0, -COUNTED_FOR

    @property
    def free(self) -> int:
        """How many more chunks it takes now."""
        if time.monotonic() - self._counted > COUNTED_FOR:
            self._counted = time.monotonic()
            self._cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        return max(0, self._cores - len(self._flying))

    def describe(self, plan: Plan, point: Point) -> Description:
        """Describe a plan, in a worker.

        Raises
        ------
        LostWorkerError
            If the worker died.
        """
        return Description(*self._value(self._describe.remote(plan, point)))

    def submit(self, plan: Plan, chunk: Chunk) -> None:
        """Begin a chunk."""
        self._flying[self._run.remote(plan, chunk)] = chunk

    def wait(self, timeout: float, _progress: Callable[[int, int], None]) -> list[Done]:
        """Wait for chunks to end; what they return leaves the object store with this."""
        ready, _ = self._ray.wait(list(self._flying), num_returns=1, timeout=timeout)
        found: list[Done] = []
        for reference in ready:
            chunk = self._flying.pop(reference)
            try:
                found.append(Done(chunk, self._value(reference)))
            except LostWorkerError as lost:
                found.append(Done(chunk, None, str(lost)))
        return found

    def close(self) -> None:
        """Cancel what is in flight, and leave the cluster."""
        for reference in self._flying:
            with suppress(Exception):
                self._ray.cancel(reference, force=True)
        self._flying.clear()
        if self._owns:
            self._ray.shutdown()

    def _value(self, reference: Any) -> Any:
        """Return the result of a task, or raise its own error."""
        try:
            return self._ray.get(reference)
        except Exception as error:
            if type(error).__name__ in LOST:
                raise LostWorkerError(f"its worker died: {_shown(error)}") from None
            raise getattr(error, "cause", None) or error from None


def _ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise UsageError("--ray needs Ray: pip install 'cbsim[ray]'") from None


def _shown(error: Exception) -> str:
    """Show an error on one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines)[:400] if lines else type(error).__name__
