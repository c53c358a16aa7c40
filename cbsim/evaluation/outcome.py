"""`execute`: a judged and optionally recorded run, and its `Outcome`."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cbsim.collision.contacts import CONTACT
from cbsim.coupling.diagnostics import FORMER_WORDS, DiagnosticSummary, describe
from cbsim.evaluation.judge import Judge
from cbsim.evaluation.rules import Check
from cbsim.evaluation.score import ScoreResult
from cbsim.evaluation.summary import Summary, Verdict, times
from cbsim.planner import PlannerError
from cbsim.planner.driver import default_driven_object
from cbsim.recording.batch import Batch, Header
from cbsim.recording.drawings import PERIOD
from cbsim.recording.recorder import FileRecorder, Recorder
from cbsim.simulation.annotations import PlannerAnnotations
from cbsim.simulation.loop import Run, RunObserver, drive, step_count
from cbsim.world.motion import ABSENT_BELOW
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.events import OVERRULED
from cbsim.world.traffic.tables import BODY
from cbsim.world.world import World, expect_world

__all__ = ["InterruptedRun", "MakeRecorder", "Outcome", "TrafficTotals", "execute"]

BODIES = [CONTACT.index("body_a"), CONTACT.index("body_b")]
NOBODY = (
    "of traffic nobody is recorded but whom rules name: only cars near an autonomous object would be, and there is "
    "none; 'record: {traffic: all}' in the scenario records everybody"
)

MakeRecorder = Callable[[str | Path, World, Callable[[], Sequence[Check]]], Recorder]
"""Makes a recorder from a path, the World, and a function that returns the checks so far."""


class TrafficTotals(NamedTuple):
    """What reactive cars did in a run.

    Attributes
    ----------
    appeared, left : int
        Cars of flows that appeared, and cars of pools that left.
    waiting_outside : int
        Cars of flows that have arrived, but found no room yet.
    contacts : int
        Begins of touching in which one of them took part.
    hardest_braking : float
        Largest deceleration of a car that has not been hit [m/s²].
    longest_standstill : float
        Longest time at rest of a car that has neither been hit nor pauses at a goal [s].
    """

    appeared: int
    left: int
    waiting_outside: int
    contacts: int
    hardest_braking: float
    longest_standstill: float

    @classmethod
    def of(cls, run: Run, contacts: int) -> TrafficTotals | None:
        """Sum up a run; None where there is no reactive traffic."""
        columns, notes = run.snapshot.columns, run.notes
        if not len(columns.intent):
            return None
        arrived, appeared, left = (int(total) for total in columns.pool_counts.sum(axis=0))
        return cls(appeared, left, arrived - appeared, contacts, notes.hardest_braking, notes.longest_standstill)


@dataclass(frozen=True, slots=True, repr=False)
class Outcome:
    """Result of a run, shown in a terminal or a notebook with its verdict and checks.

    Attributes
    ----------
    world : World
    snapshot : Snapshot
        The last.
    verdict : str
        ``pass``, ``fail`` or ``error``.
    checks : list of Check
    digest : str
        64-bit digest of the hashes of all steps, in hexadecimal: equal for equal runs.
    wall_time : float
        [s].
    problems : tuple of str
        Failures of planners to draw, which don't affect the verdict, and models with steps solved with fallback
        settings.
    diagnostics : tuple of DiagnosticSummary
        The latter as numbers.
    traffic : TrafficTotals or None
        What reactive cars did; None where there are none.
    score : ScoreResult or None
        Score of the run; None where the scenario has none.
    """

    world: World
    snapshot: Snapshot
    verdict: Verdict
    checks: list[Check]
    digest: str
    wall_time: float
    complaints: tuple[str, ...] = ()
    diagnostics: tuple[DiagnosticSummary, ...] = ()
    traffic: TrafficTotals | None = None
    score: ScoreResult | None = None

    @property
    def real_time_factor(self) -> float:
        """Simulated time over wall-clock time."""
        return self.snapshot.time / max(self.wall_time, 1e-9)

    @property
    def summary(self) -> Summary:
        """Summary for people."""
        took = f"{self.snapshot.time:g} s in {self.snapshot.step} steps"
        ran = f"{took}, {times(self.real_time_factor)} x real time, digest {self.digest}"
        return Summary(self.world.name, self.verdict, ran, tuple(self.checks), self.complaints, self.score)

    def __repr__(self) -> str:
        return self.summary.text

    def _repr_html_(self) -> str:
        return self.summary.html

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with the keys of docs/python.md."""
        objects = []
        for body in self.world:
            pose = body.pose(self.snapshot)
            if pose.position[2] < ABSENT_BELOW:  # a car of a pool that is not there
                continue
            objects.append(
                {
                    "name": body.name,
                    "type": str(body.kind),
                    "position": pose.position.tolist(),
                    "heading": pose.heading,
                    "speed": body.speed(self.snapshot),
                }
            )
        return {
            "scenario": self.world.name,
            "verdict": self.verdict,
            "checks": [asdict(check) for check in self.checks],
            "steps": self.snapshot.step,
            "time": self.snapshot.time,
            "digest": self.digest,
            "real_time_factor": self.real_time_factor,
            "objects": objects,
            **({} if self.score is None else {"score": self.score.to_dict()}),
            **self._traffic(),
            **self._mechanics(),
        }

    def _traffic(self) -> dict[str, Any]:
        """Give what reactive cars did; empty where there are none."""
        return {} if self.traffic is None else {"traffic": self.traffic._asdict()}

    def _mechanics(self) -> dict[str, Any]:
        """Energy [J], largest joint violation [m, half rad], relaxed steps and diagnostics of models."""
        instances = self.world.instances
        if not instances:
            return {}
        relaxed = sum(one.steps for one in self.diagnostics if one.what == "relaxed")
        return {
            "energy": math.fsum(instance.energy(self.snapshot) for instance in instances),
            "constraint_error": max(instance.constraint_error(self.snapshot) for instance in instances),
            "loose_steps": relaxed,
            "relaxed_steps": relaxed,
            "remarks": [
                {**one._asdict(), "what": FORMER_WORDS[one.what]}
                for one in self.diagnostics
                if one.what in FORMER_WORDS
            ],
            "diagnostics": [one._asdict() for one in self.diagnostics],
        }


class InterruptedRun(KeyboardInterrupt):
    """The user interrupted a run.

    Attributes
    ----------
    scenario : str
        Its name.
    steps, time : int, float
        Steps and time [s] up to which it was judged and recorded.
    of : int
        Steps of the whole run.
    checks : list of Check
        Final results.
    digest : str
        Of the steps so far.
    """

    def __init__(self, scenario: str, steps: int, time: float, of: int, checks: list[Check], digest: str) -> None:
        self.scenario, self.steps, self.time, self.of = scenario, steps, time, of
        self.checks, self.digest = checks, digest
        done = f"after {time:g} s ({steps} of {of} steps)" if steps else "before the first step"
        super().__init__(f"interrupted {done}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with the keys of a result that are known."""
        checks = [asdict(check) for check in self.checks]
        told = {"scenario": self.scenario, "verdict": "error", "checks": checks, "message": str(self)}
        return told | {"steps": self.steps, "time": self.time, "digest": self.digest}


def _undriven(run: Run) -> list[str]:
    """Warn of a bot with a mission and no planner."""
    world, name = run.world, default_driven_object(run.world)
    if world.scene.mission is None or name is None or run.drivers:
        return []
    return [f"'{name}' has a mission and no planner: nobody drives it; name one with --planner or 'planner: …'"]


class Digest:
    """A recorder that digests the hashes of all steps, and counts them and the contacts of reactive cars.

    It notes the events of which an action was overruled, with the steps in which that was.
    """

    def __init__(self, world: World) -> None:
        self._digest = hashlib.blake2b(digest_size=8)
        self._cars = world.traffic.road.car_rows[:, BODY]
        self.steps = self.contacts = 0
        self.overruled: dict[int, int] = {}

    def begin(self, _header: Header, _snapshot: bytes, _sources: Mapping[str, bytes]) -> None:
        """Nothing to do."""

    def take(self, batch: Batch) -> None:
        """Digest the hashes of these steps, and count contacts."""
        self._digest.update(batch.hashes.tobytes())
        self.steps = batch.first_step + len(batch.hashes) - 1
        if len(self._cars) and len(batch.contacts):
            self.contacts += int(np.isin(batch.contacts[:, BODIES], self._cars).any(axis=1).sum())
        for step, _, event, _ in batch.events[batch.events[:, 1] == OVERRULED].tolist():
            self.overruled.setdefault(event, step)

    def fault(self, _name: str, _time: float, _message: str) -> None:
        """Nothing to do."""

    def end(self) -> None:
        """Nothing to do."""

    @property
    def text(self) -> str:
        """The digest so far, in hexadecimal."""
        return self._digest.hexdigest()


def _overruled(world: World, events: Mapping[int, int]) -> list[str]:
    """Tell which events were overruled by later lines of the scenario."""
    names, step = world.events.names, world.step
    return [
        f"an action of the event '{names[event]}' at {number * step:g} s was overruled: a later line of the scenario "
        "changes the same thing in the same step"
        for event, number in events.items()
    ]


def execute(  # noqa: PLR0913 - the public face spells out every option
    world: World,
    *,
    record: str | Path | None = None,
    recorder: MakeRecorder | None = None,
    planner: object = None,
    steps: int | None = None,
    progress: Callable[[int], None] | None = None,
    observer: RunObserver | None = None,
    seed: int | None = None,
    start: Snapshot | None = None,
    listeners: Sequence[Recorder] = (),
    judge: Judge | None = None,
) -> Outcome:
    """Run a World for its duration, judged and, if asked for, recorded.

    Parameters
    ----------
    world : World
    record : path, optional
        File of the recording.
    recorder : callable, optional
        Makes the recorder; by default `cbsim.recording.recorder.FileRecorder`. Recordings made by
        `cbsim.foxglove.foxglove_recorder` can be opened in Foxglove and Lichtblick; the bits of the run stay the same.
    planner : object or mapping, optional
        As `cbsim.simulation.loop.run`.
    steps : int, optional
        In place of the scenario's duration.
    progress : callable, optional
        Called with the number of steps done.
    observer : RunObserver, optional
        A viewer, or a clock that limits the speed.
    seed : int, optional
        In place of the World's. Pools that are spread at random stay as the World has them; `cbsim.load` with a seed
        spreads them anew.
    start : Snapshot, optional
        In place of the World's; it is not changed.
    listeners : sequence of Recorder, optional
        Further recorders, which take every batch of the run.
    judge : Judge, optional
        In place of one that is made: of the scenario's expectations, and for what it measures besides.

    Raises
    ------
    InterruptedRun
        If the user interrupts the run; the recording up to then is complete.
    """
    scene, digest = expect_world(world, "execute").scene, Digest(world)
    if judge is None:
        judge = Judge(scene.expectations, scene.roadmap, scene.mission, scene.score)
    listening: list[Recorder] = [judge, digest, *listeners]
    if record is not None:
        listening.append(recorder(record, world, lambda: judge.checks) if recorder else FileRecorder(record))
    onlookers = [] if observer is None else list(observer.listeners)
    looked_at = observer is not None and bool(observer.listeners)
    wanted = record is not None or looked_at
    annotations = PlannerAnnotations(0.0 if looked_at else PERIOD) if wanted else None
    first = world.start if start is None else start.copy()
    if seed is not None:
        first.columns.seed[0] = seed
    run = Run(world, first, [], listening, record_scans=wanted, annotations=annotations, onlookers=onlookers)
    count = step_count(world.settings.duration, world.step) if steps is None else steps
    began = time.perf_counter()
    try:
        with suppress(PlannerError):  # the judge has been notified
            drive(run, count, progress, planner, observer)
    except KeyboardInterrupt as stop:
        at = digest.steps * world.step
        raise InterruptedRun(world.name, digest.steps, at, count, judge.decided, digest.text) from stop
    wall = time.perf_counter() - began
    complaints = *(annotations.warnings if annotations is not None else ()), *describe(run.diagnostics)
    complaints = *complaints, *_undriven(run), *_overruled(world, digest.overruled)
    if record is not None and run.recorded.misses_all:
        complaints = *complaints, NOBODY
    checks, diagnostics = judge.checks, tuple(run.diagnostics)
    totals = TrafficTotals.of(run, digest.contacts)
    return Outcome(
        world, run.snapshot, judge.verdict, checks, digest.text, wall, complaints, diagnostics, totals, judge.score
    )
