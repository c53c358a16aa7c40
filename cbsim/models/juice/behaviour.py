"""Behaviour of a Juice model: engine, clockworks and networks request positions, servos turn them into velocities.

Requests to a joint in a step are added up. Velocities take precedence over positions; a position becomes a velocity, a
tenth of the joint's gain times the error in degrees (or metres); a joint without requests is released.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.models.juice.build import Servo
from cbsim.models.juice.compliance import Point, Yielding
from cbsim.models.juice.controls import CONTROLS, MEMORY, PHASE, SPEED, TIME
from cbsim.models.juice.program import Ask, program_of
from cbsim.models.juice.servos import Servos
from cbsim.spec.juice import JuiceModel

__all__ = ["JuiceBehaviour"]

TURN = 2.0 * math.pi


class JuiceBehaviour:
    """Drives the joints of a model.

    Parameters
    ----------
    model : JuiceModel
    servos : mapping
        ID of a joint → `Servo`.
    pose_phase : float
        Of the engine while it waits [rad].
    points : sequence of Point
        Joints with compliant points.
    """

    def __init__(
        self, model: JuiceModel, servos: Mapping[int, Servo], pose_phase: float, points: Sequence[Point] = ()
    ) -> None:
        places = {body.id: k for k, body in enumerate(model.bodies)}
        self.delay = float(model.pose_delay)
        self.rate = TURN * float(model.standard_speed) / 60.0
        self.servos = Servos(list(servos.values()))
        self.points = Yielding(points, float(model.erp))
        number = {joint: k for k, joint in enumerate(servos)}
        self.asks: list[Callable[[Ask], None]] = program_of(model, number, places)
        start = np.zeros(MEMORY)
        start[PHASE], start[SPEED] = pose_phase, float(model.speed_factor)
        start.flags.writeable = False
        self._start = start
        self._program = np.frombuffer(repr(model.behaviours).encode(), np.uint8)

    @property
    def memory(self) -> Floats:
        """Phase of the engine [rad] and the time it is of [s], then the controls."""
        return self._start

    @property
    def controls(self) -> Mapping[str, int]:
        """Joysticks, keys and the speed factor → their places in the memory."""
        return MappingProxyType(CONTROLS)

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that it depends on."""
        yield self._start
        yield np.array([self.delay, self.rate])
        yield self._program
        yield from self.servos.tables()
        yield from self.points.tables()

    def act(self, time: float, state: Floats, memory: Floats, inputs: Floats, forces: Floats) -> None:  # noqa: ARG002
        """Advance the engine, evaluate all behaviours, and drive the motors; see `Behaviour.act`."""
        step, passed = time - memory[TIME], time - max(self.delay, memory[TIME])
        memory[TIME] = time
        if passed > 0.0:
            memory[PHASE] = (memory[PHASE] + self.rate * memory[SPEED] * passed) % TURN
        ask = Ask(len(self.servos), state, memory.tolist())
        for behaviour in self.asks:
            behaviour(ask)
        self.servos.drive(state, ask, inputs, float(step))
        self.points.drive(state, inputs, float(step))
