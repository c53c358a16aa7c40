"""The step of a gathering: `meet` takes models and their guests through one step of the World together.

What drives a vehicle has been worked out before, as if it were alone; here it acts as a force all through the step. A
behaviour is asked when a step of its own model begins, and what it says holds until the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.coupling.actor_proxies import Member
from cbsim.coupling.contact_island import Gathering
from cbsim.coupling.contact_margin import Outlook
from cbsim.coupling.contact_recorder import Encounter, Watch
from cbsim.coupling.instance_steps import slow_down, take_step
from cbsim.coupling.penetration import Overlap, eased, overlaps
from cbsim.dynamics.failure import step_error
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.geometry.pose import conjugate, multiply, rotate
from cbsim.spec.mechanism.state import step_quaternion
from cbsim.world.model_instances import Manners
from cbsim.world.tables import Floats

__all__ = ["Ends", "Met", "meet", "who_overlaps"]

HOLD = 1e-6  # share of its speed that what does as it is told may lose before it is held
MOST_TURN = 1.4  # [rad] that a body of a model turns in a step of its own at most: from √2 on it has no next one
LOOKS = 4  # times that a step is made anew, each time looking twice as far for what a body may be thrown at


class Ends(NamedTuple):
    """Where all begin a step of the World, and where they would end it alone, in the World.

    Attributes
    ----------
    states, minds : dict of int → ndarray
        Of models by their numbers: (bodies, 13) and (m,), before the step.
    goals : dict of int → ndarray
        States after it, of those that are moved without dynamics.
    before, after : ndarray, shape (guests, 13)
    """

    states: dict[int, Floats]
    minds: dict[int, Floats]
    goals: dict[int, Floats]
    before: Floats
    after: Floats


class Met(NamedTuple):
    """What came of a step of the World.

    Attributes
    ----------
    states, minds : dict of int → ndarray
        Of the models that the solver moves, by their numbers, in the World.
    guests : (guests, 13)
        In the World.
    moved : (guests,) bool
        Whether a model has touched it, or one that it has touched.
    touches : list of Encounter
        First touch of each pair.
    loose : int
        Solutions that were had to looser tolerances than usual.
    """

    states: dict[int, Floats]
    minds: dict[int, Floats]
    guests: Floats
    moved: NDArray[np.bool_]
    touches: list[Encounter]
    loose: int


def who_overlaps(gathering: Gathering, ends: Ends) -> list[Overlap]:
    """Find who is in whom when the step begins."""
    workspaces = gathering.take_workspaces()
    found = overlaps(gathering, workspaces, _start(gathering, ends)[0])
    gathering.give_workspaces(workspaces)
    return found


def meet(
    gathering: Gathering, ends: Ends, step: int, start: float, overlapping: Sequence[Overlap] = (), manners: int = 4
) -> Met:
    """Go through one step of the World together.

    Parameters
    ----------
    gathering : Gathering
    ends : Ends
        Left as they are.
    step, start : int, float
        Number and time [s] of the World's step.
    overlapping : sequence of Overlap
        Who is in whom, and comes out slowly.
    manners : int
        Of the solver, that are tried in turn for each step of the gathering.

    Raises
    ------
    StepError
        If the solver fails.
    """
    workspaces, h, cars = gathering.take_workspaces(), gathering.spec.timestep, gathering.cars
    z, pushes, turns = _start(gathering, ends)
    minds = {member.number: ends.minds[member.number].copy() for member in gathering.members}
    watch, masses, inertias = Watch(gathering, start), gathering.masses[:, None], gathering.inertias
    inputs = np.zeros((1, max(1, gathering.compiled.inputs)))
    loose = 0
    external, driven = np.zeros((len(z), 6)), np.zeros((len(z), 6))
    outlook = Outlook(workspaces, len(z), eased(gathering, overlapping))
    solver = _Solver(gathering, workspaces, outlook, gathering.manners[:manners])
    for n in range(gathering.steps):
        for member in gathering.members:
            if member.begins(n):
                _act(member, step, member.at(n), z, minds[member.number], inputs[0, member.inputs], driven)
        external[:] = driven
        for member in (*gathering.members, *gathering.carried):
            external[member.rows, :3] += rotate(conjugate(z[member.rows, 6:10]), member.weight)
        external[cars, :3] = rotate(conjugate(z[cars, 6:10]), masses * (pushes - gathering.spec.gravity))
        external[cars, 5] = inertias * turns
        was, free = z.copy(), z.copy()
        free[cars, 3:6] += h * pushes
        free[cars, 12] += h * turns
        loose += solver.go(z, free, inputs, external, start + n * h)
        given = rotate(was[cars, 6:10], external[cars, :3]) + masses * gathering.spec.gravity
        blows = masses * (z[cars, 3:6] - was[cars, 3:6]) - h * given
        twists = inertias * (z[cars, 12] - was[cars, 12]) - h * external[cars, 5]
        watch.look(workspaces, was, blows, n)
        free[cars, 3:6] += blows * gathering.lightness[:, None] / masses
        free[cars, 12] += twists * gathering.lightness / inertias
        free[:, :3] += h * free[:, 3:6]
        free[:, 6:10] = multiply(free[:, 6:10], step_quaternion(free[:, 10:], h))
        z[gathering.told] = free[gathering.told]
        for member in gathering.members:
            if member.begins(n + 1):
                slow_down(z[member.rows], min(member.instance.most_turn, MOST_TURN) / member.instance.spec.timestep)
    outlook.restore()
    gathering.give_workspaces(workspaces)
    states = {member.number: gathering.frame.outwards(z[member.rows]) for member in gathering.members}
    return Met(states, minds, gathering.frame.outwards(z[cars]), watch.moved, watch.touches, loose)


def _act(member: Member, step: int, n: int, z: Floats, mind: Floats, inputs: Floats, forces: Floats) -> None:
    """Ask the behaviour of a model, in its own frame and units, what drives its next step."""
    behaviour, instance, frame = member.instance.behaviour, member.instance, member.frame
    if behaviour is None:
        return
    inputs[:], forces[member.rows] = 0.0, 0.0
    behaviour.act(instance.time(step, n), frame.inwards(z[member.rows]).copy(), mind, inputs, forces[member.rows])
    inputs *= member.feeds
    if frame.scale != 1.0 or frame.weight != 1.0:
        forces[member.rows, :3] *= frame.weight * frame.scale
        forces[member.rows, 3:] *= frame.work


def _start(gathering: Gathering, ends: Ends) -> tuple[Floats, Floats, Floats]:
    """Give all bodies (bodies, 13) as they start, and what drives guests: accelerations (guests, 3) and (guests,)."""
    frame, length = gathering.frame, gathering.steps * gathering.spec.timestep
    parts = [frame.inwards(ends.states[member.number]) for member in gathering.members]
    for member in gathering.carried:
        own, goal = frame.inwards(ends.states[member.number]), frame.inwards(ends.goals[member.number])
        parts.append(_underway(own, goal, length))
    start, goal = frame.inwards(ends.before), frame.inwards(ends.after)
    told = np.isinf([guest.mass for guest in gathering.guests])
    if told.any():
        start[told] = _underway(start[told], goal[told], length)
    gain = np.where(told[:, None], 0.0, (goal[:, 3:6] - start[:, 3:6]) / length)
    turn = np.where(told, 0.0, (goal[:, 12] - start[:, 12]) / length)
    return np.concatenate([*parts, gathering.rest, start]), gain, turn


def _underway(start: Floats, goal: Floats, length: float) -> Floats:
    """Give states (n, 13) that go straight from one to the other in a time [s], turned as at its end."""
    out = start.copy()
    out[:, 3:6] = (goal[:, :3] - start[:, :3]) / length
    out[:, 6:10], out[:, 10:] = goal[:, 6:10], 0.0
    return out


class _Solver(NamedTuple):
    """What makes steps of a gathering, in the first of some manners in which they can be made."""

    gathering: Gathering
    workspaces: SolverWorkspaces
    outlook: Outlook
    manners: Manners

    def go(self, z: Floats, free: Floats, inputs: Floats, external: Floats, time: float) -> int:
        """Make one step; what does as it is told is held to its way by a force, found in a first try.

        Counts solutions to looser tolerances.
        """
        was, told = z.copy(), self.gathering.told
        loose = self.solve(z, inputs, external, time)
        slowed, turned = z[told, 3:6] - free[told, 3:6], z[told, 10:] - free[told, 10:]
        if not (np.abs(slowed) > HOLD * (1.0 + np.abs(free[told, 3:6]))).any():
            return loose
        spec = self.gathering.spec
        bodies = [body for body, is_told in zip(spec.bodies, told, strict=True) if is_told]
        mass, inertia = np.array([body.mass for body in bodies]), np.array([body.inertia for body in bodies])
        external[told, :3] -= rotate(conjugate(was[told, 6:10]), mass[:, None] * slowed / spec.timestep)
        external[told, 3:] -= np.einsum("bij,bj->bi", inertia, turned) / spec.timestep
        z[:] = was
        return loose + self.solve(z, inputs, external, time)

    def solve(self, z: Floats, inputs: Floats, external: Floats, time: float) -> int:
        """Solve a step, looking for contacts as far as bodies then go; 1 where that took looser tolerances."""
        was, farther, spec, report = z.copy(), 0.0, self.gathering.spec, np.zeros(c.REPORT)
        try:
            for _ in range(LOOKS):
                manner = take_step(self.workspaces, self.manners, z, inputs, external, report)
                if not manner:
                    break
                fastest = self.outlook.short_of(was, z, spec.timestep, farther)
                if not fastest:
                    return int(manner > 1)
                farther = max(fastest, 2.0 * farther)
                z[:] = was
                self.outlook.widen(z, farther)
            workspaces = self.workspaces
            raise step_error(
                spec, self.gathering.compiled, z, workspaces.others, report, time, workspaces.other_colliders
            )
        finally:
            self.outlook.narrow()
