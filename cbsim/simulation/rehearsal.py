"""Rehearsal of a run: its first step, taken ahead so that every kernel is compiled before the run is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import CodeType, FunctionType
from typing import Any, Protocol

from numba.core import event

from cbsim.errors import StepError
from cbsim.kernel_compiler import DeviceDispatcher, DeviceFunction, EntryPoint
from cbsim.sensing import sense
from cbsim.simulation.loop import Run
from cbsim.world.world import World

__all__ = ["Progress", "compiled", "counting", "rehearse"]

EXAMPLE = "cbsim.planner.pilot:"  # the planner with kernels of its own


class Progress(Protocol):
    """Receiver of the progress of loading and compilation."""

    def enter(self, stage: str) -> None:
        """Enter a stage."""

    def count(self, done: int, total: int) -> None:
        """Report the number of compiled functions of a kernel, and their total."""


def rehearse(world: World, tell: Callable[[str], object] = lambda _stage: None) -> None:
    """Compile the kernels of a run of a World by taking its first step; planners are not called.

    Parameters
    ----------
    world : World
    tell : callable, optional
        Called with each stage before it begins.
    """
    tell("sensing")
    sense(world, world.start)
    run = Run(world, world.start.copy())
    run.begin()
    tell("stepping")
    with suppress(StepError):  # the run itself will report it, with time and place
        run.advance(1)
    vehicles = [world.bodies[row].name for row in world.vehicle_rows]
    if vehicles and any(planner.startswith(EXAMPLE) for _, planner in world.settings.planners):
        from cbsim.simulation.warmup import drive_about

        tell("planning")
        drive_about(world, vehicles[0])
    if world.instances and vehicles:
        from cbsim.simulation.warmup import meet_model

        tell("encounters")
        meet_model()


def compiled(load: Callable[[], World], progress: Progress) -> World:
    """Load a World and rehearse it, reporting the progress."""
    with counting(progress.count):
        world = load()
        rehearse(world, progress.enter)
    return world


@contextmanager
def counting(count: Callable[[int, int], object]) -> Iterator[None]:
    """Report the progress of each kernel that is compiled in the context: functions compiled, and their total.

    Parameters
    ----------
    count : callable
        Takes both numbers; both are 0 once the kernel is ready.
    """
    counter = _Counter(count)
    event.register("numba:compile", counter)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        event.unregister("numba:compile", counter)  # type: ignore[no-untyped-call]


class _Counter(event.Listener):
    """Counts the functions of the kernel that is being compiled."""

    def __init__(self, count: Callable[[int, int], object]) -> None:
        self._count, self._done, self._all = count, 0, 0
        self._kernel: Any = None

    def on_start(self, begun: event.Event) -> None:
        dispatcher = begun.data["dispatcher"]
        if self._kernel is None and isinstance(dispatcher, EntryPoint):
            self._kernel, self._done = dispatcher, 0
            self._all = 1 + sum(not each.dispatcher.overloads for each in _called_by(dispatcher.py_func))
            self._count(self._done, self._all)

    def on_end(self, ended: event.Event) -> None:
        dispatcher = ended.data["dispatcher"]
        if dispatcher is self._kernel:
            self._kernel = None
            self._count(0, 0)
        elif self._kernel is not None and isinstance(dispatcher, DeviceDispatcher):
            self._done = min(self._done + 1, self._all - 1)  # overloads compile a function again
            self._count(self._done, self._all)


def _called_by(function: Callable[..., Any]) -> list[DeviceFunction]:
    """List the device functions that a kernel calls, directly or not."""
    found: dict[int, DeviceFunction] = {}
    pending = [function]
    while pending:
        caller = pending.pop()
        assert isinstance(caller, FunctionType)
        for name in _names(caller.__code__):
            called = caller.__globals__.get(name)
            called = called.device if isinstance(called, EntryPoint) else called
            if isinstance(called, DeviceFunction) and id(called) not in found:
                found[id(called)] = called
                pending.append(called.py_func)
    return list(found.values())


def _names(code: CodeType) -> Iterator[str]:
    """Names that code refers to, with those of functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
