"""`Context`: data shared by the rules of a run: header, network, mission and tracks of objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.evaluation.rules.corridors import corridors
from cbsim.evaluation.rules.run_states import RunStates
from cbsim.evaluation.rules.standing import Standing, footprint
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch, Header
from cbsim.recording.roster import Roster
from cbsim.road.matching import Match
from cbsim.road.roadmap import RoadMap
from cbsim.spec.mission import Mission
from cbsim.world.motion import ABSENT_BELOW, MOTION_WIDTH

__all__ = ["EVERYBODY", "Context", "Places", "Shared"]

Kind = TypeVar("Kind", bound="Shared")
EVERYBODY = -1  # in place of a row, for what rules about all objects share


class Shared:
    """What several rules of a run use together."""

    def begin_anew(self, row: int) -> None:
        """Forget where an object was, as `Context.begin_anew`."""


class Places(NamedTuple):
    """Where recorded bodies are at each step of a batch, shapes (n, m).

    Attributes
    ----------
    x, y : ndarray
        Of their centres [m].
    there : ndarray of bool
        Whether they are there.
    """

    x: Floats
    y: Floats
    there: NDArray[np.bool_]

    def part(self, start: int, stop: int) -> Places:
        """Those at some steps."""
        return Places(self.x[start:stop], self.y[start:stop], self.there[start:stop])


class Context:
    """Context of a rule.

    Parameters
    ----------
    header : Header
        Of the run or the recording.
    roadmap : RoadMap or None
    mission : Mission or None
    """

    def __init__(self, header: Header, roadmap: RoadMap | None = None, mission: Mission | None = None) -> None:
        self.header, self.roadmap, self.mission = header, roadmap, mission
        self.names = header.objects.names
        self.roster = Roster(header.objects)
        self.run_states = RunStates(header)
        self._moving = np.array(header.moving, np.int64)
        self._can_move = frozenset(header.moving)
        self._footprints: Floats = np.full((0, 2), np.nan)  # by row; nan for those that nobody has asked for
        self._places: tuple[Batch, Places] | None = None
        self._presence: tuple[Batch | None, dict[tuple[str, int], NDArray[np.bool_]]] = None, {}
        self._batch: Batch | None = None
        self._tracks: dict[int, Track] = {}
        self._last: dict[int, tuple[float, Floats]] = {}
        self._matches: dict[int, Match] = {}
        self._halts: dict[int, Floats] = {}
        self._standing: Standing | None = None
        self._shared: dict[tuple[type, int], Shared] = {}  # what several rules use, by class and row

    def shared(self, kind: type[Kind], row: int, make: Callable[[], Kind]) -> Kind:
        """Return what all rules about an object share, made for the first that asks."""
        found = self._shared.get((kind, row))
        if found is None:
            found = self._shared[kind, row] = make()
        assert isinstance(found, kind)
        return found

    def name(self, row: int, time: float) -> str:
        """Name of who is in a row at a time [s]: a row of a flow holds one car after another."""
        return self.roster.name(row, round(time / self.header.step))

    def rows_of(self, name: str) -> list[int]:
        """Find the rows of an object, of a body of a model, or of all bodies of a model; empty for an unknown name.

        A car of a flow that has not appeared yet has the first row of its flow; all of them are alike.
        """
        objects = self.header.objects
        if self.is_of_flow(name):
            span = self.roster.span(name)
            pool, _ = objects.numbered(name) or (None, 0)
            return [span.row] if span is not None else [pool.first] if pool is not None and pool.count else []
        row = objects.row(name)
        if row is not None:
            return [row]
        bodies = [k for k, one in enumerate(objects.single) if one.get("type") == "model"]
        return [objects.row_of(k) for k in bodies if objects.single[k]["name"].startswith(f"{name}/")]

    def footprint(self, row: int) -> tuple[float, float]:
        """Width and length of an object on the ground [m]; 0 where the header has none."""
        width, length = self.footprints(np.array([row]))[0].tolist()
        return width, length

    def footprints(self, rows: Ints) -> Floats:
        """Widths and lengths of objects, shape (n, 2) [m], as `footprint` has them."""
        if len(rows) and int(rows.max()) >= len(self._footprints):
            room = np.full((int(rows.max()) + 1 - len(self._footprints), 2), np.nan)
            self._footprints = np.concatenate([self._footprints, room])
        found = self._footprints[rows]
        new = np.isnan(found[:, 0])
        if new.any():
            for row in np.unique(rows[new]).tolist():
                self._footprints[row] = footprint(self.header, row)
            found = self._footprints[rows]
        return found

    def is_of_flow(self, name: str) -> bool:
        """Whether a name is that of a car of a flow, which is in a row for a while."""
        objects = self.header.objects
        found = objects.numbered(name)
        return found is not None and found[0].is_flow and name not in objects.names.single

    def presence(self, name: str, row: int, batch: Batch) -> NDArray[np.bool_]:
        """Whether an object is there at each step of a batch, shape (n,): events and flows let some come and go."""
        if self._presence[0] is not batch:
            self._presence = batch, {}
        known = self._presence[1]
        if (name, row) not in known:
            known[name, row] = self._find_presence(name, row, batch)
        return known[name, row]

    def _find_presence(self, name: str, row: int, batch: Batch) -> NDArray[np.bool_]:
        if row not in self._can_move:
            return np.ones(len(batch.hashes), bool)
        held = self.recorded(batch)
        column = int(np.searchsorted(held, row))
        if column == len(held) or held[column] != row:
            return np.zeros(len(batch.hashes), bool)
        found = np.asarray(batch.motion[:, column, 2] > ABSENT_BELOW)
        if self.is_of_flow(name):
            span = self.roster.span(name)
            if span is None:
                return np.zeros(len(batch.hashes), bool)
            found &= (batch.steps >= span.first) & (batch.steps < span.stop)
        return found

    def can_move(self, rows: Ints) -> NDArray[np.bool_]:
        """Whether objects can move, shape (n,)."""
        if not len(self._moving):
            return np.zeros(len(rows), bool)
        return np.asarray(self._moving[np.searchsorted(self._moving, rows).clip(max=len(self._moving) - 1)] == rows)

    def track(self, row: int, batch: Batch) -> Track:
        """Track of an object in a batch, cached for the newest batch."""
        if batch is not self._batch:
            self._last = {row: (track.steps[-1], track.motion[-1]) for row, track in self._tracks.items()}
            self._batch, self._tracks, self._matches = batch, {}, {}
        if row not in self._tracks:
            motion = self.motion(row, batch)
            steps = batch.steps.astype(float)
            before = self._last.get(row, (steps[0], motion[0]))
            self._tracks[row] = Track(
                np.concatenate([[before[0]], steps]),
                self.header.step,
                np.concatenate([before[1][None], motion]),
                *self.footprint(row),
            )
        return self._tracks[row]

    def begin_anew(self, row: int) -> None:
        """Forget where an object was: before the next batch, it has been set to another place, or has appeared."""
        self._tracks.pop(row, None)
        self._last.pop(row, None)
        for one in self._shared.values():
            one.begin_anew(row)

    def on_corridor(self, row: int, track: Track) -> Match:
        """Line of the `Corridors` under an object's centre at each step of its track, shape (n,)."""
        if row not in self._matches:
            assert self.roadmap is not None
            self._matches[row] = corridors(self.roadmap).index.match(track.centres[1:], track.headings[1:])
        return self._matches[row]

    def standing(self, batch: Batch) -> Standing:
        """Objects that stand, as known after a batch; rules that ask do so in every batch."""
        if self._standing is None:
            assert self.roadmap is not None
            self._standing = Standing(self.header, self.roadmap)
        self._standing.see(batch)
        return self._standing

    def others(self, row: int, batch: Batch) -> NDArray[np.bool_]:
        """Columns of a batch's motion that belong to other objects."""
        return np.asarray(self.recorded(batch) != row)

    def places(self, batch: Batch) -> Places:
        """Where the recorded bodies are, kept for the newest batch: columns that are contiguous."""
        if self._places is None or self._places[0] is not batch:
            x, y, z = (batch.motion[:, :, k] for k in range(3))
            self._places = batch, Places(x.copy(), y.copy(), z > ABSENT_BELOW)
        return self._places[1]

    def recorded(self, batch: Batch) -> Ints:
        """Rows whose motion a batch holds, in the order of its columns."""
        return self._moving if batch.rows is None else batch.rows

    def halts(self, row: int) -> Floats:
        """Places where an object has to slow down: stop lines, ends of lanes, standing objects, shape (h, 2) [m]."""
        if row not in self._halts:
            objects = self.header.objects
            single = ((objects.row_of(k), one["position"][:2]) for k, one in enumerate(objects.single))
            still = [place for other, place in single if other != row and other not in self._can_move]
            places = [np.array(still, float).reshape(-1, 2)]
            if self.roadmap is not None:
                stops = (stop.point for lane in self.roadmap.network.lanes for stop in lane.stops)
                rows = {self.roadmap.rows[point] for point in stops if self.roadmap.has(point)}
                ends = set((self.roadmap.offsets[1:] - 1).tolist())
                places.append(self.roadmap.positions[sorted(rows | ends)])
            self._halts[row] = np.concatenate(places)
        return self._halts[row]

    def motion(self, row: int, batch: Batch) -> Floats:
        """Motion of an object in a batch, shape (n, 13); static objects have the pose of the header."""
        if row in self._can_move:
            held = self.recorded(batch)
            at = int(np.searchsorted(held, row))
            if at < len(held) and held[at] == row:
                return batch.motion[:, at]
            return batch.of_rows(np.array([row]), self._moving)[:, 0]
        item = self.header.objects[row]
        still = np.zeros(MOTION_WIDTH)
        still[:7] = *item["position"], *item["orientation"]
        return np.broadcast_to(still, (len(batch.hashes), MOTION_WIDTH))
