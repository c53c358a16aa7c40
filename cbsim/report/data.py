"""Report data of a recording, independent of its presentation.

A recording is read once for its motion and once for its checks. Position, heading and velocity of every moving body are
kept in memory: an hour with a hundred cars takes half a gigabyte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.collision.contacts import CONTACT, Contact
from cbsim.errors import RecordingError
from cbsim.evaluation.judge import Verdict, judge, scene_of
from cbsim.evaluation.rules import Check
from cbsim.evaluation.score import ScoreResult
from cbsim.geometry.pose import heading, rotate
from cbsim.geometry.ttc import Footprint
from cbsim.recording.batch import Header
from cbsim.recording.drawings import DrawingRow
from cbsim.recording.individuals import Individuals
from cbsim.recording.outlines import Body, bodies_of
from cbsim.recording.recording import Recording
from cbsim.report.channels import CHANNELS, acceleration, extreme, lateral_error, least_time_to_collision, steering
from cbsim.report.events import Event, scenario_events, switches_of
from cbsim.report.frames import Motion, unwrapped
from cbsim.report.model_poses import ModelPose, hulls_of, model_pose_of
from cbsim.road.drawing import Road, road_of
from cbsim.road.lights import LaneLights, LightSwitch, lane_lights
from cbsim.world.compile import is_vehicle
from cbsim.world.motion import ABSENT_BELOW
from cbsim.world.scene import Scene
from cbsim.world.traffic.events import HAPPENED, NO_EVENTS

__all__ = ["MAX_PLOTTED", "Event", "PlottedBody", "Run", "run_of"]

MAX_PLOTTED = 12  # bodies with plots at most
CONTACTS = 1000  # contacts listed at most
BODY, PARTNER = CONTACT.index("body_a"), CONTACT.index("body_b")


@dataclass(frozen=True, eq=False)
class PlottedBody:
    """A body with plots.

    Attributes
    ----------
    row : int
        Row of the body.
    values : dict
        Channel key → values (n,) at every step, nan where undefined.
    partner : ndarray of int, shape (n,)
        Row of the body that the time to collision refers to; -1 for none.
    distance : float
        Distance travelled [m].
    """

    row: int
    values: dict[str, Floats]
    partner: Ints
    distance: float

    def extremes(self) -> dict[str, int]:
        """Channel key → row of its extreme; channels without values are omitted."""
        rows = {channel.key: extreme(self.values[channel.key], channel.extreme) for channel in CHANNELS}
        return {key: row for key, row in rows.items() if row >= 0}


@dataclass(frozen=True, eq=False)
class Run:
    """Report data of one recording.

    Attributes
    ----------
    file : str
        File name without folders.
    header : Header
    verdict : str
        Empty if the recording carries no source files.
    events : list of Event
        Checks, failed ones first.
    contacts : list of Event
        The first thousand contacts.
    contact_count : int
        Number of all contacts.
    problems : list of str
        Reasons why the report is incomplete.
    steps : ndarray, shape (n,)
        Step numbers.
    bodies : list of Body
        In row order.
    motions : dict
        Row → motion at every step; a single row for static bodies.
    plotted : list of PlottedBody
    road : Road or None
    sources : tuple of str
        Names of the source files that the recording carries.
    digest : str
        64-bit digest of the hashes of all steps, as printed by `cbsim run`.
    drawings : list of DrawingRow
        Planner annotations.
    figures : dict
        Row of a moving model body → its pose over time.
    alone : bool
        Whether all bodies belong to one model; then their names carry no model prefix and may contain slashes.
    lights : LaneLights or None
        Traffic lights of the network.
    score : ScoreResult or None
        Of the scenario, where it has one.
    switches : list of LightSwitch
        States that events have set of them.
    happened : list of Event
        Events of the scenario that came true, in order of time.
    """

    file: str
    header: Header
    verdict: Verdict | str
    events: list[Event]
    contacts: list[Event]
    contact_count: int
    problems: list[str]
    steps: Ints
    bodies: list[Body]
    motions: dict[int, Motion]
    plotted: list[PlottedBody]
    road: Road | None
    sources: tuple[str, ...]
    digest: str
    drawings: list[DrawingRow] = field(default_factory=list)
    figures: dict[int, ModelPose] = field(default_factory=dict)
    alone: bool = False
    lights: LaneLights | None = None
    score: ScoreResult | None = None
    switches: list[LightSwitch] = field(default_factory=list)
    happened: list[Event] = field(default_factory=list)

    @property
    def times(self) -> Floats:
        """Times (n,) [s]."""
        return np.asarray(self.steps * self.header.step)


@dataclass(eq=False)
class Columns:
    """Columns gathered in one pass over a recording."""

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
    happened: Ints  # (n, 4) events of the scenario

    @classmethod
    def over(cls, recording: Individuals, name: str, tilting: Iterable[int] = ()) -> Columns:
        """Read all batches of a recording of that name; keep full poses of the `tilting` columns."""
        stands: dict[int, list[Floats]] = {column: [] for column in tilting}
        rows, columns, contacts = list[Ints](), list[tuple[Floats, ...]](), [np.zeros((0, len(CONTACT)))]
        happened = [NO_EVENTS]
        commands, drawings = dict[int, list[tuple[int, tuple[float, ...]]]](), list[DrawingRow]()
        for batch in recording.batches():
            rows.append(batch.steps)
            motion, forward = batch.motion, rotate(batch.motion[..., 3:7], np.array([0.0, 1.0, 0.0]))
            turned = np.arctan2(-forward[..., 0], forward[..., 1])
            along = (forward * motion[..., 7:10]).sum(axis=-1)
            found = motion[..., :3].copy(), turned, motion[..., 7:9].copy(), along, motion[..., 12].copy()
            for column in found:
                column[motion[..., 2] < ABSENT_BELOW] = np.nan
            columns.append(found)
            contacts.append(batch.contacts)
            drawings += batch.drawings
            happened.append(batch.events[batch.events[:, 1] >= HAPPENED])
            for column, poses in stands.items():
                poses.append(motion[:, column, :7].copy())
            for step, vehicle, row in batch.commands:
                commands.setdefault(vehicle, []).append((step, row))
        if not rows:
            raise RecordingError(f"{name}: error: there is no step in it to report on")
        place, turned, velocity, along, turning = (np.concatenate(parts) for parts in zip(*columns, strict=True))
        steps, touches = np.concatenate(rows), np.concatenate(contacts)
        whole = {column: np.concatenate(poses) for column, poses in stands.items()}
        told = np.concatenate(happened)
        return cls(steps, place, turned, velocity, along, turning, commands, touches, drawings, whole, told)


def run_of(recording: Recording, *, plotted: int = MAX_PLOTTED) -> Run:
    """Gather the report data of a recording.

    Parameters
    ----------
    recording : Recording
        A truncated or damaged recording is reported up to that point.
    plotted : int
        Bodies with plots at most: checked bodies first, then moving egos, other moving bodies, and static ones.

    Raises
    ------
    RecordingError
        If there is no step in it.
    FileError
        If a source file that it carries is missing or invalid.
    """
    problems = list[str]()
    scene = _scene(recording, problems)
    individuals = Individuals(recording)
    header = individuals.header
    spanned = hulls_of(header, scene)
    tilting = [k for k, row in enumerate(header.moving) if row in spanned]
    columns = Columns.over(individuals, str(recording.path or "the recording"), tilting)
    if recording.ending:
        problems.append(f"The recording {recording.ending}; so does this report.")
    if header.traffic != "all":
        problems.append(f"The recording holds {header.recorded}; others are not shown.")
    bodies = list(bodies_of(header, scene))
    motions = _motions(header, columns)
    verdict, events, score = _judged(recording, header, scene, columns, motions)
    watched = [event.row for event in events if event.row >= 0]
    contacts = [Contact.of(row, header.objects.names) for row in columns.contacts[:CONTACTS]]
    return Run(
        recording.path.name if recording.path is not None else "",
        header,
        verdict,
        events,
        [_touch(contact, row) for contact, row in zip(contacts, columns.contacts, strict=False)],
        len(columns.contacts),
        problems,
        columns.steps,
        bodies,
        motions,
        _plotted(header, scene, columns, bodies, motions, watched, plotted),
        None if scene is None or scene.roadmap is None else road_of(scene.roadmap),
        tuple(recording.sources),
        hashlib.blake2b(recording.hashes.tobytes(), digest_size=8).hexdigest(),
        columns.drawings,
        {header.moving[k]: model_pose_of(spanned[header.moving[k]], poses) for k, poses in columns.stands.items()},
        scene is not None and scene.alone,
        None if scene is None or scene.roadmap is None else lane_lights(scene.roadmap, scene.lights),
        score,
        switches_of(scene, columns.happened),
        scenario_events(header, columns.happened),
    )


def _scene(recording: Recording, problems: list[str]) -> Scene | None:
    """Read the source files that a recording carries; without them there is no road and no verdict."""
    if not recording.sources:
        problems.append("The recording carries no files: there is no road to draw, and no verdict.")
        return None
    return scene_of(recording)


def _motions(header: Header, columns: Columns) -> dict[int, Motion]:
    """Return the motion of each row."""
    found = dict[int, Motion]()
    for row, item in enumerate(header.objects):
        x, y, _ = item["position"]
        found[row] = Motion(np.array([x]), np.array([y]), np.atleast_1d(heading(np.array(item["orientation"]))))
    for column, row in enumerate(header.moving):
        x, y = columns.place[:, column, 0], columns.place[:, column, 1]
        found[row] = Motion(x, y, unwrapped(columns.heading[:, column]))
    return found


def _judged(
    recording: Recording, header: Header, scene: Scene | None, columns: Columns, motions: dict[int, Motion]
) -> tuple[Verdict | str, list[Event], ScoreResult | None]:
    if scene is None:
        return "", [], None
    found = judge(recording, scene)
    checks = sorted(found.checks, key=lambda check: (False, None, True).index(check.passed))  # failures first
    events = [_event(check, header, columns, motions) for check in checks]
    return found.verdict, events, found.score


def _event(check: Check, header: Header, columns: Columns, motions: dict[int, Motion]) -> Event:
    """Create the event of a check, at the position of the checked body or at its contact point."""
    _, _, name = check.name.partition(" ")
    row = _row(header.objects.names, name)
    place = None
    if row >= 0 and check.time is not None:
        motion, times = motions[row], columns.steps * header.step
        at = (float(np.interp(check.time, times, np.broadcast_to(c, times.shape))) for c in (motion.x, motion.y))
        found = next(at), next(at)
        place = found if np.isfinite(found).all() else None
        if check.name.startswith("collision ") and check.passed is False:
            own = np.any(columns.contacts[:, (BODY, PARTNER)] == row, axis=1)
            hit = columns.contacts[own & (columns.contacts[:, 0] == check.time)]
            place = (float(hit[0, 3]), float(hit[0, 4])) if len(hit) else place
    return Event(check.name, check.message, check.passed, check.time, row, place)


def _row(names: Sequence[str], name: str) -> int:
    """Return the row of a body, or of the first body of a model; -1 if unknown."""
    parts = (row for row, one in enumerate(names) if one.startswith(f"{name}/"))
    return names.index(name) if name in names else next(parts, -1)


def _touch(contact: Contact, row: Floats) -> Event:
    one, other = contact.bodies
    said = f"with {contact.closing_speed:.2f} m/s, {contact.impulse:.0f} N s"
    place = float(contact.place[0]), float(contact.place[1])
    return Event(f"{one} and {other}", said, False, contact.time, int(row[BODY]), place)


def _plotted(
    header: Header,
    scene: Scene | None,
    columns: Columns,
    bodies: list[Body],
    motions: dict[int, Motion],
    watched: list[int],
    most: int,
) -> list[PlottedBody]:
    """Compute the plots of the most relevant bodies."""
    rows = sorted(header.moving, key=lambda row: (not motions[row].turns, bodies[row].kind != "autonomous"))
    wanted = [row for row in dict.fromkeys([*watched, *rows]) if row in header.moving][:most]
    vehicles = [] if scene is None else [row for row, actor in enumerate(scene.actors) if is_vehicle(actor.item)]
    given = {vehicles[number]: rows for number, rows in columns.commands.items() if number < len(vehicles)}
    prints = list(_footprints(header, columns, bodies, motions)) if wanted else []
    return [_plot(header, scene, columns, bodies, motions[row], row, given.get(row, []), prints) for row in wanted]


def _footprints(
    header: Header, columns: Columns, bodies: list[Body], motions: dict[int, Motion]
) -> Iterable[tuple[int, Footprint]]:
    count = len(columns.steps)
    for row, body in enumerate(bodies):
        motion, half = motions[row], 0.5 * body.size[2]
        if not body.solid or not body.size[0]:
            continue
        if row in header.moving:
            column = header.moving.index(row)
            velocity, height = columns.velocity[:, column], columns.place[:, column, 2]  # nan: touches nothing
        else:
            velocity, height = np.zeros((count, 2)), np.full(count, float(header.objects[row]["position"][2]))
        centre = np.broadcast_to(np.stack([motion.x, motion.y], axis=1), (count, 2))
        turned = np.broadcast_to(motion.heading, (count,))
        yield row, Footprint(centre, velocity, turned, body.size[0], body.size[1], height - half, height + half)


def _plot(
    header: Header,
    scene: Scene | None,
    columns: Columns,
    bodies: list[Body],
    motion: Motion,
    row: int,
    commands: list[tuple[int, tuple[float, ...]]],
    prints: list[tuple[int, Footprint]],
) -> PlottedBody:
    column, nothing = header.moving.index(row), np.full(len(columns.steps), np.nan)
    speeds = columns.forward[:, column]
    roadmap = None if scene is None else scene.roadmap
    own = dict(prints).get(row)
    others = [(other, body) for other, body in prints if other != row]
    ttc, partner = nothing, np.full(len(nothing), -1)
    if own is not None:
        ttc, partner = least_time_to_collision(own, others)
    values = {
        "speed": speeds,
        "acceleration": acceleration(speeds, header.step),
        "steering": steering(columns.steps, commands, bodies[row].skid),
        "yaw_rate": np.degrees(columns.turning[:, column]),
        "lateral": nothing if roadmap is None else lateral_error(roadmap, motion),
        "ttc": ttc,
    }
    return PlottedBody(row, values, partner, float(np.nansum(np.hypot(np.diff(motion.x), np.diff(motion.y)))))
