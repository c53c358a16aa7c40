"""The page of a rare event: its probability, the levels that were passed, its cost, and the paths that reached it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from cbsim.errors import UsageError
from cbsim.page import build_page
from cbsim.sweep.again import command_of
from cbsim.sweep.folder import Folder
from cbsim.sweep.rare_events import event_of, path_of_row, rare_result
from cbsim.sweep.reports.charts import Chart
from cbsim.sweep.reports.rare_levels import Repetition, mean_curve, repetitions_of, way_of
from cbsim.sweep.runs.paths import LOWEST
from cbsim.sweep.table import read

__all__ = ["nearest_paths", "rare_page"]

REPLAYED, MOST_LISTED, MOST_WAYS = 10, 200, 60
COLUMNS = (
    "repetition", "seed", "parent", "fork_step", "forks", "marks", "verdict", "cost", "steps", "time", "wall_time",
)  # fmt: skip


def nearest_paths(folder: str | Path, count: int = REPLAYED) -> list[int]:
    """Rows of the paths that reached the event, else of those that came nearest; of different seeds first.

    Parameters
    ----------
    folder : str or Path
    count : int
        How many at most.
    """
    column = Folder.opened(folder).plan.search["column"]
    return [row["row"] for row in _nearest(read(folder, [*COLUMNS, column]).to_pylist())[:count]]


def _nearest(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Paths that reached the event, or all if none did, in turns of one for each seed."""
    reached = [row for row in rows if row["verdict"] == "fail"]
    ranked = sorted(reached or rows, key=lambda row: (-_top(row), row["row"]))
    turns: dict[int, int] = {}
    order: list[tuple[int, int, dict[str, Any]]] = []
    for row in ranked:
        turn = turns[row["seed"]] = turns.get(row["seed"], -1) + 1
        order.append((turn, len(order), row))
    return [row for _, _, row in sorted(order, key=lambda one: one[:2])]


def _top(row: Mapping[str, Any]) -> float:
    """Level of a whole path."""
    return float(json.loads(row["marks"])[-1][1]) if row["marks"] else LOWEST


def rare_page(folder: str | Path, replays: Mapping[int, str]) -> str:
    """Render the page of an estimate, also while it is running; the same rows and replays yield equal text."""
    opened = Folder.opened(folder)
    how = opened.plan.search
    rows = read(folder, [*COLUMNS, how["column"]]).to_pylist()
    try:
        found: dict[str, Any] = rare_result(folder)
    except UsageError:
        found = {}
    repetitions = repetitions_of(opened.plan, rows)
    reached = sum(row["verdict"] == "fail" for row in rows)
    titled = f"Paths that reached the event ({reached})" if reached else "Nearest paths"
    parts = {
        "title": escape(f"{Path(opened.plan.scenario).stem}: probability of {event_of(how)}"),
        "summary": _summary(opened, found, rows),
        "curve": _curve(how, repetitions, found),
        "quantiles": _quantiles(how, repetitions),
        "reached": titled,
        "ways": _ways(how, rows),
        "paths": _paths(opened, rows, replays),
        "repetitions": "".join(_repetition(how, number, one) for number, one in enumerate(repetitions)),
        "cost": _cost(found, rows),
        "environment": environment(opened),
    }
    return build_page("cbsim.sweep", "assets", (), {}, parts, "rare.html")


def environment(folder: Folder) -> str:
    """Versions that a sweep was made with, as a table."""
    rows = {**folder.manifest["identity"]["version"], "scenario": folder.plan.scenario}
    cells = (f'<tr><th scope="row">{escape(str(k))}</th><td>{escape(str(v))}</td></tr>' for k, v in rows.items())
    return f"<table><tbody>{''.join(cells)}</tbody></table>"


def _power(number: float) -> str:
    """Write a probability: 0.012, or 1.25·10⁻⁶."""
    if number == 0.0 or number >= 1e-3:
        return f"{number:.3g}"
    mantissa, exponent = f"{number:.2e}".split("e")
    return f"{mantissa}·10<sup>−{abs(int(exponent))}</sup>"


def _round(number: float) -> str:
    """Write a count with two digits, such as 32 000."""
    return (
        f"{float(f'{number:.2g}'):,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
        if number >= 10.0
        else f"{number:.2g}"
    )


def _value(how: Mapping[str, Any], level: float) -> str:
    """Write the value of the metric at a level."""
    return "none" if level == LOWEST else f"{level if how['rises'] else -level:.6g}"


def _summary(folder: Folder, found: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    how, planner = folder.plan.search, ", ".join(folder.plan.planner.values())
    asked = f"{how['repeats']} repetitions of {how['particles']} paths, seed {folder.plan.sample_seed}"
    driven = f" · planner {escape(planner)}" if planner else ""
    if not found:
        again = escape(f"cbsim sweep resume {folder.path}")
        return f"<p><b>Not complete: {len(rows)} paths so far</b> · {asked}{driven}; <code>{again}</code> continues</p>"
    if not found["probability"]:
        told = "<b>never reached</b>; more particles may reach it"
        return f"<p>{told} · {len(rows)} paths · {asked}{driven}</p>"
    interval = f"[{_power(found['low'])}, {_power(found['high'])}]"
    missed = sum(one == 0.0 for one in found["repetitions"])
    lines = [f"<p><b>probability {_power(found['probability'])} {interval} at 95 %</b> · {asked}{driven}</p>"]
    if missed:
        of_all = f"{missed} of {len(found['repetitions'])} repetitions"
        lines.append(f'<p class="bad">{of_all} did not reach the event: ask for more particles.</p>')
    if found["interval"] == "asymptotic":
        lines.append(
            '<p class="open">The interval is that of an ideal level, and too narrow for others: ask for repeats.</p>'
        )
    return "\n".join(lines)


def _curve(how: Mapping[str, Any], repetitions: Sequence[Repetition], found: Mapping[str, Any]) -> str:
    """Draw the probability to pass each level."""
    known = [one for one in repetitions if any(passage.level > LOWEST for passage in one.passages)]
    if not known:
        return '<p class="none">no level has been passed yet</p>'
    low = min(passage.level for one in known for passage in one.passages if passage.level > LOWEST)
    ends = [one.estimate or (one.probabilities[-1] or 0.0) for one in known]
    least = min([p for one in known for p in one.probabilities if p > 0.0] + [p for p in ends if p] + [0.1])
    least = min(least, found.get("low") or 1.0)
    decades = math.ceil(-math.log10(least) - 1e-9)
    sign = 1.0 if how["rises"] else -1.0
    chart = Chart((sign * min(low, how["target"]), sign * how["target"]), (-decades, 0.0), how["column"], "probability")
    chart.rows([(-k, f"10<tspan dy='-4' font-size='9'>−{k}</tspan>" if k else "1") for k in range(decades + 1)])
    for number, one in enumerate(known, 1):
        name = f"repetition {number}: {one.estimate:.3g}" if one.estimate is not None else f"repetition {number}"
        chart.line(_steps(how, [passage.level for passage in one.passages], one.probabilities), "thin", name)
    complete = [one for one in known if one.estimate is not None] or known
    levels, means = mean_curve(complete)
    chart.line(_steps(how, levels.tolist(), means.tolist()), "thick", "mean")
    chart.column(sign * how["target"], "bound", "event")
    if found.get("probability"):
        ends = [math.log10(max(found[key], 10.0**-decades)) for key in ("low", "high")]
        chart.line([(sign * how["target"], end) for end in ends], "interval", "interval at 95 %")
    return chart.svg("Estimated probability to pass each level")


def _steps(
    how: Mapping[str, Any], levels: Sequence[float], probabilities: Sequence[float]
) -> list[tuple[float, float]]:
    """Corners of the curve that falls at each level: value, and logarithm of the probability."""
    sign = 1.0 if how["rises"] else -1.0
    first = next((level for level in levels if level > LOWEST), how["target"])
    points, before = [], 0.0
    for level, probability in zip(levels, probabilities, strict=True):
        if probability <= 0.0:
            break
        now = math.log10(probability)
        at = sign * max(level, first)
        points += [(at, before), (at, now)]
        before = now
    return points


def _quantiles(how: Mapping[str, Any], repetitions: Sequence[Repetition]) -> str:
    """Tell the values that runs reach with probabilities of powers of ten, as a table."""
    complete = [one for one in repetitions if one.estimate is not None] or list(repetitions)
    levels, means = mean_curve(complete)
    rows = []
    for power in range(1, 19):
        passed = np.flatnonzero(means <= 10.0**-power)
        if not len(passed) or levels[passed[0]] >= how["target"]:
            break
        sense = "≥" if how["rises"] else "≤"
        value = _value(how, float(levels[passed[0]]))
        rows.append(f'<tr><td class="number">{_power(10.0**-power)}</td><td>{sense} {value}</td></tr>')
    if not rows:
        return ""
    head = f"<thead><tr><th>with probability</th><th>{escape(how['column'])}</th></tr></thead>"
    return f"<details><summary>Values and probabilities</summary><table>{head}{''.join(rows)}</table></details>"


def _ways(how: Mapping[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    """Draw how the metric of the nearest paths came to its value, and that of other first paths."""
    known = {row["row"]: row for row in rows}
    step = next((row["time"] / row["steps"] for row in rows if row["steps"]), 0.0)
    near = [way_of(row, known) for row in _nearest(rows)[:MOST_WAYS]]
    far = [way_of(row, known) for row in rows if row["parent"] is None and row["verdict"] != "fail"][:MOST_WAYS]
    finite = [(at, level) for way in (*near, *far) for at, level in way if level > LOWEST]
    if not finite or not step:
        return ""
    sign = 1.0 if how["rises"] else -1.0
    last = max(row["time"] or 0.0 for row in rows)
    levels = [level for _, level in finite]
    lowest = max(min(levels), how["target"] - 4.0 * max(how["target"] - float(np.median(levels)), 1e-9))
    chart = Chart((0.0, last), (sign * lowest, sign * max(*levels, how["target"])), "time [s]", how["column"])
    chart.rows()
    for ways, kind, end in ((far, "far", last), (near, "near", 0.0)):
        for way in ways:
            inside = [(at * step, max(level, lowest)) for at, level in way if level > LOWEST]
            points = [(at, sign * level) for at, level in inside]
            corners = [
                corner for before, (at, y) in zip([points[0], *points], points, strict=False)
                for corner in ((at, before[1]), (at, y))
            ] if points else []  # fmt: skip
            chart.line([*corners, (max(end, corners[-1][0]), corners[-1][1])] if corners else [], kind, "")
    chart.row(sign * how["target"], "bound", "event")
    told = f"{len(near)} paths that came nearest to the event, from step 0 over all forks; {len(far)} first paths pale."
    return f'<p class="none">The newest extreme of {escape(how["column"])}: {told}</p>{chart.svg("Ways to the event")}'


def _paths(folder: Folder, rows: Sequence[dict[str, Any]], replays: Mapping[int, str]) -> str:
    """List the paths that reached the event, or came nearest."""
    listed = _nearest(rows)
    shown = listed[: MOST_LISTED if any(row["verdict"] == "fail" for row in rows) else REPLAYED]
    lines = []
    for row in shown:
        forks = json.loads(row["forks"])
        told = f"{len(forks)}, the last at step {forks[-1][0]}" if forks else "none"
        number = row["row"]
        link = f'<a href="{escape(replays[number], quote=True)}">replay</a>' if number in replays else ""
        value = row[folder.plan.search["column"]]
        command = escape(command_of(folder, path_of_row(row)))
        reached = "none" if value is None else f"{value:.6g}"
        numbers = (number, row["repetition"] + 1, row["seed"], reached, f"{row['time']:.2f}")
        cells = "".join(f'<td class="number">{one}</td>' for one in numbers)
        lines.append(f"<tr>{cells}<td>{told}</td><td>{link}</td><td><code>{command}</code></td></tr>")
    head = "".join(
        f"<th>{name}</th>"
        for name in ("row", "repetition", "seed", folder.plan.search["column"], "ended [s]", "forks", "", "again")
    )
    more = (
        f'<p class="none">{len(listed) - len(shown)} more in the table of rows.</p>' if len(listed) > len(shown) else ""
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return f'<div class="wide">{table}</div>{more}'


def _repetition(how: Mapping[str, Any], number: int, one: Repetition) -> str:
    """Show the levels of a repetition, with the share of paths that passed each."""
    reached = sum(row["verdict"] == "fail" for row in one.rows)
    estimate = "not complete" if one.estimate is None else f"estimate {_power(one.estimate)}"
    told = f"{number + 1}: {estimate}, {len(one.passages)} levels, {len(one.rows)} paths, {reached} reached the event"
    rows = "".join(
        f'<tr><td class="number">{k}</td><td class="number">{_value(how, passage.level)}</td>'
        f'<td class="number">{passage.ended}</td><td class="number">{100.0 * passage.share:.1f} %</td>'
        f'<td class="number">{_power(probability)}</td></tr>'
        for k, (passage, probability) in enumerate(zip(one.passages, one.probabilities, strict=True), 1)
    )
    names = ("", escape(how["column"]), "paths that ended", "passed", "probability so far")
    head = "".join(f"<th>{name}</th>" for name in names)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<details><summary>{told}</summary>{table}</details>"


def _cost(found: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Compare with waiting for the event."""
    cost = math.fsum(row["cost"] or 0.0 for row in rows)
    seconds = math.fsum(row["wall_time"] or 0.0 for row in rows)
    forked = sum(row["parent"] is not None for row in rows)
    lines = [
        ("paths", f"{len(rows)}, of which {forked} continue another from a fork"),
        ("simulated steps", f"as many as {cost:.0f} whole runs have"),
        ("time of all paths", f"{seconds:.0f} s"),
    ]
    error = _relative_error(found)
    if error:
        p = found["probability"]
        plain = (1.0 - p) / (p * error * error)
        lines += [
            ("standard error", f"{100.0 * error:.0f} % of the probability"),
            ("plain runs for the same error", f"{_round(plain)}, {_round(plain / max(cost, 1e-9))} times as many"),
        ]
    cells = "".join(f'<tr><th scope="row">{name}</th><td>{told}</td></tr>' for name, told in lines)
    return f"<table><tbody>{cells}</tbody></table>"


def _relative_error(found: Mapping[str, Any]) -> float:
    """Return the standard error of the mean of the repetitions, as a share of it; 0 where it is not known."""
    values = found.get("repetitions", [])
    if len(values) < 2 or not found["probability"]:
        return 0.0
    return float(np.std(values, ddof=1)) / math.sqrt(len(values)) / float(found["probability"])
