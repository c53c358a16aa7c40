"""`LocalPool`: worker processes of this machine, one chunk each at a time."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from cbsim.sweep.plan import Plan
from cbsim.sweep.runs.task import Chunk, Description, describe, forget, run_chunk, working_directory
from cbsim.sweep.runs.worker import read_message, write_message
from cbsim.sweep.space import Point

__all__ = ["Done", "InProcessPool", "LocalPool", "LostWorkerError", "Pool", "available_cores", "pool_of"]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class LostWorkerError(Exception):
    """A worker died."""


class Done(NamedTuple):
    """A chunk that has ended.

    Attributes
    ----------
    chunk : Chunk
    rows : list of dict or None
        None if its worker died.
    reason : str
        Why it died.
    """

    chunk: Chunk
    rows: list[dict[str, Any]] | None
    reason: str = ""


class Pool(Protocol):
    """Where chunks run."""

    @property
    def free(self) -> int:
        """How many more chunks it takes now."""

    def describe(self, plan: Plan, point: Point) -> Description:
        """Describe a plan, in a worker."""

    def submit(self, plan: Plan, chunk: Chunk) -> None:
        """Begin a chunk."""

    def wait(self, timeout: float, progress: Callable[[int, int], None]) -> list[Done]:
        """Wait for chunks to end; `progress` is called with a chunk's number and its rows done."""

    def close(self) -> None:
        """End all workers."""


def available_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Worker:
    """A worker process, started when it is first needed."""

    def __init__(self) -> None:
        environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
        command = [sys.executable, "-m", "cbsim.sweep.runs.worker"]
        paths = os.pathsep.join(path for path in sys.path if path)
        environment["PYTHONPATH"] = paths
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            bufsize=0,  # else a message that waits in a buffer would not be noticed by `select`
        )
        self.chunk: Chunk | None = None

    def send(self, *message: object) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # a worker that is gone is noticed when its result is read
            write_message(self.process.stdin, message)

    def receive(self) -> tuple[str, Any]:
        assert self.process.stdout is not None
        try:
            kind, value = read_message(self.process.stdout)
        except EOFError:
            code = self.process.wait()
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            raise LostWorkerError(f"its process {how}") from None
        return kind, value

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()


class LocalPool:
    """Worker processes of this machine.

    Parameters
    ----------
    jobs : int
        How many.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()

    @property
    def free(self) -> int:
        """How many more chunks it takes now."""
        return self.jobs - sum(worker.chunk is not None for worker in self._workers)

    def describe(self, plan: Plan, point: Point) -> Description:
        """Describe a plan, in a worker.

        Raises
        ------
        LostWorkerError
            If the worker died.
        """
        worker = self._idle()
        worker.send(describe, (plan, point))
        try:
            kind, value = worker.receive()
        except LostWorkerError:
            self._remove(worker)
            raise
        if kind == "error":
            raise value
        return Description(*value)

    def submit(self, plan: Plan, chunk: Chunk) -> None:
        """Begin a chunk."""
        worker = self._idle()
        worker.chunk = chunk
        worker.send(run_chunk, (plan, chunk))

    def wait(self, timeout: float, progress: Callable[[int, int], None]) -> list[Done]:
        """Wait for chunks to end; `progress` is called with a chunk's number and its rows done."""
        found: list[Done] = []
        for key, _ in self._selector.select(timeout):
            worker: _Worker = key.data
            chunk = worker.chunk
            assert chunk is not None
            try:
                kind, value = worker.receive()
            except LostWorkerError as lost:
                self._remove(worker)
                found.append(Done(chunk, None, str(lost)))
                continue
            if kind == "progress":
                progress(chunk.number, value)
                continue
            worker.chunk = None
            if kind == "error":
                raise value
            found.append(Done(chunk, value))
        return found

    def close(self) -> None:
        """End all workers."""
        for worker in list(self._workers):
            self._remove(worker)
        self._selector.close()

    def _idle(self) -> _Worker:
        found = next((worker for worker in self._workers if worker.chunk is None), None)
        if found is None:
            found = _Worker()
            self._workers.append(found)
            assert found.process.stdout is not None
            self._selector.register(found.process.stdout, selectors.EVENT_READ, found)
        return found

    def _remove(self, worker: _Worker) -> None:
        assert worker.process.stdout is not None
        self._selector.unregister(worker.process.stdout)
        self._workers.remove(worker)
        worker.close()


class InProcessPool:
    """Runs chunks in this process, one after another: for debuggers, and where processes cost more than they save."""

    def __init__(self) -> None:
        forget()
        self._waiting: list[tuple[Plan, Chunk]] = []

    @property
    def free(self) -> int:
        """How many more chunks it takes now."""
        return 1 - len(self._waiting)

    def describe(self, plan: Plan, point: Point) -> Description:
        """Describe a plan."""
        with working_directory(plan.folder):
            return describe(plan, point)

    def submit(self, plan: Plan, chunk: Chunk) -> None:
        """Take a chunk."""
        self._waiting.append((plan, chunk))

    def wait(self, _timeout: float, progress: Callable[[int, int], None]) -> list[Done]:
        """Run the chunk."""
        plan, chunk = self._waiting.pop()
        with working_directory(plan.folder):
            return [Done(chunk, run_chunk(plan, chunk, lambda done: progress(chunk.number, done)))]

    def close(self) -> None:
        """Forget the Worlds."""
        forget()


def pool_of(jobs: int | None) -> Pool:
    """Make a pool of some processes of this machine, by default one per core; 0 for none but this one."""
    return InProcessPool() if jobs == 0 else LocalPool(available_cores() if jobs is None else jobs)
