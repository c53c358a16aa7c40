"""From a recording to what a report tells of it, as plain data: no page, no text of one; `page.py` puts it on one.

A recording is walked once for its motion and once by its judge; of every moving body the place, the heading and the
velocity are kept, so a run of an hour with a hundred cars takes half a gigabyte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cbsim.collision.contacts import CONTACT, Contact
from cbsim.errors import RecordingError
from cbsim.evaluation.judge import Verdict, judge, scene_of
from cbsim.evaluation.rules import Check
from cbsim.geometry.pose import heading, rotate
from cbsim.geometry.ttc import Footprint
from cbsim.recording.batch import Header
from cbsim.recording.drawings import DrawingRow
from cbsim.recording.outlines import Body, bodies_of
from cbsim.recording.recording import Recording
from cbsim.report.figures import Figure, corners_of, figure_of
from cbsim.report.frames import Motion
from cbsim.report.series import CHANNELS, acceleration, extreme, lateral, nearest, steering
from cbsim.road.drawing import Road, road_of
from cbsim.world.compile import is_vehicle
from cbsim.world.scene import Scene

__all__ = ["SUBJECTS", "Mark", "Run", "Subject", "run_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SUBJECTS = 12  # bodies with plots at most
CONTACTS = 1000  # contacts listed at most
BODY, PARTNER = CONTACT.index("body_a"), CONTACT.index("body_b")


@dataclass(frozen=True, eq=False)
class Mark:
    """Something that was seen: a check, or a contact; `time` [s] and `place` (2,) [m] where it has them."""

    name: str
    message: str
    passed: bool
    time: float | None
    row: int
    place: tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Subject:
    """A body with plots.

    Attributes
    ----------
    row : int
        Of the body.
    values : dict
        Channel key → (n,) at every step, nan where there is no value.
    whom : ndarray of int, shape (n,)
        Row of the body that the time to collision is with; -1 for none.
    distance : float
        Travelled [m].
    """

    row: int
    values: dict[str, Floats]
    whom: Ints
    distance: float

    def extremes(self) -> dict[str, int]:
        """Channel key → row of the extreme that is told; channels without values are left out."""
        rows = {channel.key: extreme(self.values[channel.key], channel.told) for channel in CHANNELS}
        return {key: row for key, row in rows.items() if row >= 0}


@dataclass(frozen=True, eq=False)
class Run:
    """What a report tells of one recording.

    Attributes
    ----------
    file : str
        Its name, without folders.
    header : Header
    verdict : str
        Empty where there is none, because the recording carries no files.
    marks : list of Mark
        Checks, in the order of the scenario.
    contacts : list of Mark
        Contacts, the first thousand.
    contact_count : int
        All of them.
    trouble : list of str
        What keeps the report from being whole.
    steps : ndarray, shape (n,)
        Step numbers.
    bodies : list of Body
        In row order.
    motions : dict
        Row → where that body is at every step; of bodies that stay where they start, one row.
    subjects : list of Subject
    road : Road or None
    sources : tuple of str
        Names of the files that it carries.
    digest : str
        64-bit digest of the hashes of all steps, as `cbsim run` prints it.
    drawings : list of DrawingRow
        What planners showed.
    figures : dict
        Row of a body of a model that moves → how it stands.
    alone : bool
        Whether all bodies are those of one model, which bear their own names, whatever signs are in them.
    """

    file: str
    header: Header
    verdict: Verdict | str
    marks: list[Mark]
    contacts: list[Mark]
    contact_count: int
    trouble: list[str]
    steps: Ints
    bodies: list[Body]
    motions: dict[int, Motion]
    subjects: list[Subject]
    road: Road | None
    sources: tuple[str, ...]
    digest: str
    drawings: list[DrawingRow] = field(default_factory=list)
    figures: dict[int, Figure] = field(default_factory=dict)
    alone: bool = False

    @property
    def times(self) -> Floats:
        """Times (n,) [s]."""
        return np.asarray(self.steps * self.header.step)


@dataclass(eq=False)
class Walk:
    """What one walk over a recording gathers."""

    steps: Ints
    place: Floats  # (n, moving, 3)
    heading: Floats  # (n, moving)
    velocity: Floats  # (n, moving, 2)
    forward: Floats  # (n, moving) speed along the forward axis
    turning: Floats  # (n, moving)
    commands: dict[int, list[tuple[int, tuple[float, ...]]]]
    contacts: Floats
    drawings: list[DrawingRow]
    stands: dict[int, Floats]  # column → (n, 7) position and orientation

    @classmethod
    def over(cls, recording: Recording, tilting: Iterable[int] = ()) -> Walk:
        """Walk over all batches; of tilting columns keep all of the pose."""
        stands: dict[int, list[Floats]] = {column: [] for column in tilting}
        rows, columns, contacts = list[Ints](), list[tuple[Floats, ...]](), [np.zeros((0, len(CONTACT)))]
        commands, drawings = dict[int, list[tuple[int, tuple[float, ...]]]](), list[DrawingRow]()
        for batch in recording.batches():
            rows.append(batch.steps)
            motion, forward = batch.motion, rotate(batch.motion[..., 3:7], np.array([0.0, 1.0, 0.0]))
            turned = np.arctan2(-forward[..., 0], forward[..., 1])
            along = (forward * motion[..., 7:10]).sum(axis=-1)
            columns.append((motion[..., :3].copy(), turned, motion[..., 7:9].copy(), along, motion[..., 12].copy()))
            contacts.append(batch.contacts)
            drawings += batch.drawings
            for column, poses in stands.items():
                poses.append(motion[:, column, :7].copy())
            for step, vehicle, row in batch.commands:
                commands.setdefault(vehicle, []).append((step, row))
        if not rows:
            raise RecordingError(f"{recording.path or 'the recording'}: error: there is no step in it to report on")
        place, turned, velocity, along, turning = (np.concatenate(parts) for parts in zip(*columns, strict=True))
        steps, touches = np.concatenate(rows), np.concatenate(contacts)
        whole = {column: np.concatenate(poses) for column, poses in stands.items()}
        return cls(steps, place, turned, velocity, along, turning, commands, touches, drawings, whole)


def run_of(recording: Recording, *, subjects: int = SUBJECTS) -> Run:
    """Gather what a report tells of a recording.

    Parameters
    ----------
    recording : Recording
        One that breaks off or is damaged is told up to there.
    subjects : int
        Bodies with plots at most: those that are watched, then bots that move, others that move, and those that stay.

    Raises
    ------
    RecordingError
        If there is no step in it.
    FileError
        If a file that it carries is missing or has errors.
    """
    trouble = list[str]()
    scene = _scene(recording, trouble)
    spanned = corners_of(recording.header, scene)
    walk = Walk.over(recording, [k for k, row in enumerate(recording.header.moving) if row in spanned])
    if recording.ending:
        trouble.append(f"The recording {recording.ending}: what is told here ends there too.")
    header = recording.header
    bodies = bodies_of(header, scene)
    motions = _motions(header, walk)
    verdict, marks = _judged(recording, scene, walk, motions)
    watched = [mark.row for mark in marks if mark.row >= 0]
    contacts = [Contact.of(row, recording.names) for row in walk.contacts[:CONTACTS]]
    return Run(
        recording.path.name if recording.path is not None else "",
        header,
        verdict,
        marks,
        [_touch(contact, row) for contact, row in zip(contacts, walk.contacts, strict=False)],
        len(walk.contacts),
        trouble,
        walk.steps,
        bodies,
        motions,
        _subjects(header, scene, walk, bodies, motions, watched, subjects),
        None if scene is None or scene.roadmap is None else road_of(scene.roadmap),
        tuple(recording.sources),
        hashlib.blake2b(recording.hashes.tobytes(), digest_size=8).hexdigest(),
        walk.drawings,
        {header.moving[k]: figure_of(spanned[header.moving[k]], poses) for k, poses in walk.stands.items()},
        scene is not None and scene.alone,
    )


def _scene(recording: Recording, trouble: list[str]) -> Scene | None:
    """Read the files that a recording carries; without any there is no road and no verdict."""
    if not recording.sources:
        trouble.append("The recording carries no files: there is no road to draw, and no verdict.")
        return None
    return scene_of(recording)


def _motions(header: Header, walk: Walk) -> dict[int, Motion]:
    """Give each row its motion."""
    found = dict[int, Motion]()
    for row, item in enumerate(header.objects):
        x, y, _ = item["position"]
        found[row] = Motion(np.array([x]), np.array([y]), np.atleast_1d(heading(np.array(item["orientation"]))))
    for column, row in enumerate(header.moving):
        x, y = walk.place[:, column, 0], walk.place[:, column, 1]
        found[row] = Motion(x, y, np.unwrap(walk.heading[:, column]))
    return found


def _judged(
    recording: Recording, scene: Scene | None, walk: Walk, motions: dict[int, Motion]
) -> tuple[Verdict | str, list[Mark]]:
    if scene is None:
        return "", []
    found = judge(recording, scene)
    checks = sorted(found.checks, key=lambda check: check.passed)  # failures first
    marks = [_mark(check, recording, walk, motions) for check in checks]
    return found.verdict, marks


def _mark(check: Check, recording: Recording, walk: Walk, motions: dict[int, Motion]) -> Mark:
    """Say where the body that a check watches was when it was decided; of a collision, where it touched."""
    _, _, name = check.name.partition(" ")
    row = _row(recording.names, name)
    place = None
    if row >= 0 and check.time is not None:
        motion, times = motions[row], walk.steps * recording.header.step
        at = (float(np.interp(check.time, times, np.broadcast_to(c, times.shape))) for c in (motion.x, motion.y))
        place = (next(at), next(at))
        if check.name.startswith("collision ") and not check.passed:
            own = np.any(walk.contacts[:, (BODY, PARTNER)] == row, axis=1)
            hit = walk.contacts[own & (walk.contacts[:, 0] == check.time)]
            place = (float(hit[0, 3]), float(hit[0, 4])) if len(hit) else place
    return Mark(check.name, check.message, check.passed, check.time, row, place)


def _row(names: list[str], name: str) -> int:
    """Row of a body, or of the first of a model, which stands for it; -1 for none."""
    parts = (row for row, one in enumerate(names) if one.startswith(f"{name}/"))
    return names.index(name) if name in names else next(parts, -1)


def _touch(contact: Contact, row: Floats) -> Mark:
    one, other = contact.bodies
    said = f"with {contact.closing_speed:.2f} m/s, {contact.impulse:.0f} N s"
    place = float(contact.place[0]), float(contact.place[1])
    return Mark(f"{one} and {other}", said, False, contact.time, int(row[BODY]), place)


def _subjects(
    header: Header,
    scene: Scene | None,
    walk: Walk,
    bodies: list[Body],
    motions: dict[int, Motion],
    watched: list[int],
    most: int,
) -> list[Subject]:
    """Compute the plots of the bodies that matter most."""
    rows = sorted(header.moving, key=lambda row: (not motions[row].turns, bodies[row].kind != "autonomous"))
    wanted = [row for row in dict.fromkeys([*watched, *rows]) if row in header.moving][:most]
    vehicles = [] if scene is None else [row for row, actor in enumerate(scene.actors) if is_vehicle(actor.item)]
    given = {vehicles[number]: rows for number, rows in walk.commands.items() if number < len(vehicles)}
    prints = list(_footprints(header, walk, bodies, motions)) if wanted else []
    return [_subject(header, scene, walk, bodies, motions[row], row, given.get(row, []), prints) for row in wanted]


def _footprints(
    header: Header, walk: Walk, bodies: list[Body], motions: dict[int, Motion]
) -> Iterable[tuple[int, Footprint]]:
    count = len(walk.steps)
    for row, body in enumerate(bodies):
        motion, half = motions[row], 0.5 * body.size[2]
        if not body.solid or not body.size[0]:
            continue
        if row in header.moving:
            column = header.moving.index(row)
            velocity, height = walk.velocity[:, column], walk.place[:, column, 2]
        else:
            velocity, height = np.zeros((count, 2)), np.full(count, float(header.objects[row]["position"][2]))
        centre = np.broadcast_to(np.stack([motion.x, motion.y], axis=1), (count, 2))
        turned = np.broadcast_to(motion.heading, (count,))
        yield row, Footprint(centre, velocity, turned, body.size[0], body.size[1], height - half, height + half)


def _subject(
    header: Header,
    scene: Scene | None,
    walk: Walk,
    bodies: list[Body],
    motion: Motion,
    row: int,
    commands: list[tuple[int, tuple[float, ...]]],
    prints: list[tuple[int, Footprint]],
) -> Subject:
    column, nothing = header.moving.index(row), np.full(len(walk.steps), np.nan)
    speeds = walk.forward[:, column]
    roadmap = None if scene is None else scene.roadmap
    own = dict(prints).get(row)
    others = [(other, body) for other, body in prints if other != row]
    ttc, whom = nothing, np.full(len(nothing), -1)
    if own is not None:
        ttc, whom = nearest(own, others)
    values = {
        "speed": speeds,
        "acceleration": acceleration(speeds, header.step),
        "steering": steering(walk.steps, commands, bodies[row].skid),
        "yaw_rate": np.degrees(walk.turning[:, column]),
        "lateral": nothing if roadmap is None else lateral(roadmap, motion),
        "ttc": ttc,
    }
    return Subject(row, values, whom, float(np.hypot(np.diff(motion.x), np.diff(motion.y)).sum()))
