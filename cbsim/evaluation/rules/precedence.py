"""``precedence``: an object enters junctions in its turn, by the right of way of the road."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.passages import END, Entry, Gate, Passage, Passages, leaving
from cbsim.evaluation.rules.rule import Check, Invariant
from cbsim.recording.batch import Batch
from cbsim.road.kernels.right_of_way import fill_ties, order_arrivals, who_yields
from cbsim.road.lanelets import build_lanelets
from cbsim.road.right_of_way import Rule, find_conflicts, find_junctions
from cbsim.spec.scenario import Expectation

__all__ = ["Precedence"]

TIE = 0.5  # [s] arrivals no further apart are forgiven
HORIZON = 15.0  # [s] after a passage, in which others show where they go
STILL = 0.1  # [m/s] slower counts as rest
ROOM, SLOW = 15.0, 6.0  # [m], [m/s] who is slower up to there beyond a junction leaves no room behind it yet


class Violation(NamedTuple):
    """Whom the object took the right of way, and by how much."""

    row: int
    told: str


class Precedence(Invariant):
    """Whenever the object enters a junction, whoever goes first by the road's right of way has gone (B.2).

    Entries are compared with all others whose ways conflict, in the order in which both reach the conflict area. Where
    both have stop lines the order of arrival decides; ties of up to half a second, and who has been first and free to
    go for `patience`, are forgiven, and so is who has no room beyond. Else whoever yields has cleared the conflict area
    by the time at which the other would reach it at the speed that it had at the entry. Junctions with lights are not
    judged.
    """

    needs_others = True

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        roadmap = self.require_roadmap("right of way needs")
        self.patience = self.number("patience")
        self.lanelets = build_lanelets(roadmap, context.mission)
        self.conflicts = find_conflicts(self.lanelets)
        lights = np.diff(self.lanelets.lights.offsets) > 0
        every = find_junctions(self.conflicts)
        self.junctions = tuple(one for one in every if not lights[list(one.lanelets)].any())
        self.passages = Passages(context.header, self.conflicts, self.junctions, self.row)
        self.stuck: list[tuple[int, Passage]] = []  # others who stand in a junction at the end
        self.entries = self.judged = 0

    def see(self, batch: Batch) -> None:
        """Follow the vehicles nearby, and judge passages whose rivals are known."""
        self.passages.see(batch)
        self.time = float(batch.steps[-1] * self.step)
        self._judge(self.time - HORIZON)

    def forget(self) -> None:
        """Forget the step before: nobody stands in a junction who is absent."""
        self.passages.forget()

    def _judge(self, until: float) -> None:
        """Judge the passages of the object that ended by a time [s]."""
        waiting = self.passages.own
        while waiting and waiting[0][1].end <= until and self.failure is None:
            junction, passage = waiting.pop(0)
            self.passages.past.append((junction, passage))
            self.entries += 1
            found = self._violation(junction, passage)
            if found is not None:
                self._fail(junction, passage, found)

    def _judge_stuck(self) -> None:
        """Judge at the end whom the object met that still stands in a junction, or where it stands itself."""
        moving = self.context.header.moving
        others = [one for row in moving if row != self.row for one in self.passages.stuck(row)]
        self.stuck = [one for one in others if self.time - one[1].begin >= HORIZON]
        own = [one for one in self.passages.stuck(self.row) if self.time - one[1].begin >= HORIZON]
        for junction, passage in [*(self.passages.past if self.stuck else ()), *own]:
            if self.failure is None and self.passages.has_entry(junction, passage.begin):
                found = self._violation(junction, passage)
                if found is not None:
                    self._fail(junction, passage, found)

    def _fail(self, junction: int, passage: Passage, found: Violation) -> None:
        x, y = self.passages.entry(junction, passage.begin).motion[self.row][0].tolist()
        name = self.lanelets.names[passage.lanelet]
        where = f"entered {name} at {passage.begin:.2f} s at ({x:.2f}, {y:.2f})"
        who = self.context.name(found.row, passage.begin)
        self.fail(passage.begin, f"{where} out of turn, before '{who}', {found.told}")

    def _undecided(self) -> str:
        """Tell on which lanelet the object is at the end with others there, and when it entered it."""
        for junction, lanelet, begin in self.passages.unfinished():
            alone = set(self.passages.entry(junction, begin).motion) <= {self.row}
            front = self.passages.front
            if alone or front is None:
                continue
            points = self.lanelets.points[self.lanelets.samples_of(lanelet)]
            away = float(np.hypot(*(points - front).T).min())
            if away <= 0.5 * self.lanelets.widths[lanelet]:  # else it has taken another way from the same line
                return f"within {self.lanelets.names[lanelet]}, entered at {begin:.2f} s"
        return ""

    def _violation(self, junction: int, passage: Passage) -> Violation | None:
        entry = self.passages.entry(junction, passage.begin)
        table = self.conflicts.by_lanelet
        part = slice(int(table.offsets[passage.lanelet]), int(table.offsets[passage.lanelet + 1]))
        turns = self._turns(junction, passage, entry)
        for conflict, other, side in zip(table.rows[part], table.others[part], table.sides[part], strict=True):
            if int(conflict) not in passage.crossed:
                continue
            for rival in self._rivals(junction, int(other), passage):
                reached = rival.crossed.get(int(conflict), np.inf)
                if reached < passage.crossed[int(conflict)]:
                    continue  # it has gone first
                found = self._against(passage, entry, rival, (int(conflict), int(side)), turns)
                if found is not None:
                    return found
        return self._unmoved(junction, passage, entry, turns)

    def _rivals(self, junction: int, lanelet: int, passage: Passage) -> list[Passage]:
        """Passages of others over a lanelet around that of the object."""
        return [one for one in self._around(junction, passage) if one.lanelet == lanelet]

    def _around(self, junction: int, passage: Passage) -> list[Passage]:
        """Passages of others that end while the object passes, or up to 15 s later."""
        every = (one for number, one in self.passages.others if number == junction)
        ended = [one for one in every if passage.begin < one.end <= passage.end + HORIZON]
        stuck = (one for number, one in self.stuck if number == junction)
        return ended + [one for one in stuck if one.begin < passage.end]

    def _turns(self, junction: int, passage: Passage, entry: Entry) -> dict[int, int]:
        """Places in the order of arrival of those who wait, and of the object, by rows."""
        rows = [row for row in entry.waiting if row != self.row]
        starts = self.lanelets.ends[:, 0]
        movements = []
        for row in rows:
            taken = [
                one.lanelet
                for one in self._around(junction, passage)
                if one.row == row and starts[one.lanelet] == entry.waiting[row].node
            ]
            at_line = [k for k in self.junctions[junction].lanelets if starts[k] == entry.waiting[row].node]
            movements.append((taken or at_line or [passage.lanelet])[0])
        own = entry.waiting.get(self.row)
        rows, movements = [*rows, self.row], [*movements, passage.lanelet]
        since = [entry.waiting[row].since for row in rows[:-1]] + [np.inf if own is None else own.since]
        ways = np.array(movements, np.int64)
        ties, places = np.zeros((len(rows), len(rows)), bool), np.empty(len(rows), np.int64)
        fill_ties(*self.conflicts.by_lanelet, self.conflicts.yields, ways, ties)
        order_arrivals(np.array(since, float), self.conflicts.approaches[ways], ties, places)
        return dict(zip(rows, places.tolist(), strict=True))

    def _against(
        self, passage: Passage, entry: Entry, rival: Passage, conflict: tuple[int, int], turns: dict[int, int]
    ) -> Violation | None:
        """Whether the object went before a rival that goes first."""
        row, side = conflict
        rule = int(self.conflicts.rules[row])
        inside = rule == Rule.ARRIVAL and rival.begin < passage.begin
        own, theirs = turns[self.row], turns.get(rival.row, len(turns))
        places = (own, theirs) if side == 0 else (theirs, own)
        occupied = (False, inside) if side == 0 else (inside, False)
        rules = (rule, int(self.conflicts.yields[row]), int(self.conflicts.yields_at_green[row]))
        if who_yields(*rules, *occupied, False, False, *places) != side:
            return None
        junction = self._junction_of(row)
        if inside:
            return Violation(rival.row, f"which was in the junction since {rival.begin:.2f} s")
        if rule == Rule.ARRIVAL:
            waits = rival.row in entry.waiting and not self._is_full(junction, rival.lanelet, entry)
            return self._out_of_order(rival.row, entry) if waits else None
        place, speed = entry.motion.get(rival.row, (np.full(2, np.inf), 0.0))
        if speed < STILL:
            return None
        gates = self.passages.gates(junction)
        at = gates.places[gates.gates.index(Gate(rival.lanelet, row))]
        gap = float(np.hypot(*(at - place))) / speed
        clear = passage.crossed.get(leaving(row), passage.end) - passage.begin
        if gap >= clear:
            return None
        told = Rule(rule).name.lower().replace("_", " ")
        away = f"was {gap:.2f} s away, {clear - gap:.2f} s less than it took to clear its way"
        return Violation(rival.row, f"which goes first ({told}) and {away}")

    def _is_full(self, junction: int, lanelet: int, entry: Entry) -> bool:
        """Whether a vehicle stands so close beyond a lanelet that the next car from it has no room and waits."""
        gates = self.passages.gates(junction)
        end = gates.gates.index(Gate(lanelet, END))
        for front, speed in entry.motion.values():
            way = front - gates.places[end]
            along, across = float(way @ gates.along[end]), float(way @ gates.left[end])
            if speed < SLOW and 0.0 < along < ROOM and abs(across) <= gates.half_widths[end]:
                return True
        return False

    def _junction_of(self, conflict: int) -> int:
        return next(k for k, one in enumerate(self.junctions) if conflict in one.conflicts)

    def _out_of_order(self, row: int, entry: Entry) -> Violation | None:
        """Whether the object went before a vehicle that had waited longer, and had not been free to go for long."""
        theirs, own = entry.waiting[row], entry.waiting.get(self.row)
        if own is not None and own.since - theirs.since <= TIE + 1e-9:
            return None
        if entry.time - max(theirs.since, entry.unchanged) > self.patience:
            return None
        waited = f"which had waited since {theirs.since:.2f} s"
        if own is None:
            return Violation(row, f"{waited}, without a stop")
        return Violation(row, f"{waited}, {own.since - theirs.since:.2f} s longer")

    def _unmoved(self, junction: int, passage: Passage, entry: Entry, turns: dict[int, int]) -> Violation | None:
        """Whether the first in the order has not gone yet, and all of its ways conflict."""
        starts, pairs = self.lanelets.ends[:, 0], self.conflicts.pairs
        gone = {one.row for one in self._around(junction, passage)}
        for row, waiting in entry.waiting.items():
            if row in gone or row == self.row or turns[row] > turns[self.row]:
                continue
            ways = [k for k in self.junctions[junction].lanelets if starts[k] == waiting.node]
            both = [
                np.flatnonzero(np.all(np.sort(pairs, axis=1) == sorted((k, passage.lanelet)), axis=1)) for k in ways
            ]
            full = any(self._is_full(junction, way, entry) for way in ways)
            if (
                ways
                and not full
                and all(len(found) and self.conflicts.rules[found[0]] == Rule.ARRIVAL for found in both)
            ):
                found = self._out_of_order(row, entry)
                if found is not None:
                    return found
        return None

    def result(self) -> Check:
        """Pass if every entry was in turn, and there were enough."""
        if self.failure is None:
            self._judge(np.inf)
        if self.failure is None:
            self._judge_stuck()
        return super().result()

    def kept(self) -> Check:
        """Pass if there were enough entries."""
        told = f"{self.entries} entr{'y' if self.entries == 1 else 'ies'} into junctions"
        return self.enough(self.entries, told, f"{told}, each in turn", self._undecided())
