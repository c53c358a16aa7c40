"""The report of a sweep: a self-contained page of pass rates, parallel coordinates, a heat map and the worst runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from cbsim.page import build_page
from cbsim.paths import writing
from cbsim.sweep.again import command_of, point_of
from cbsim.sweep.folder import Folder
from cbsim.sweep.reports.bins import Axis, axis_of, cells, rates
from cbsim.sweep.reports.rare_report import environment, nearest_paths, rare_page
from cbsim.sweep.runs.row import parameter_column
from cbsim.sweep.statistics import wilson
from cbsim.sweep.table import arrow, read

__all__ = ["page_of", "worst_rows", "write_page"]

ORDER = {"fail": 0, "error": 1}  # of verdicts, the worst first
WORST, MOST_LINES, MOST_AXES, MOST_PAIRED = 10, 2000, 10, 8
PREFERRED = ("margin.ttc", "margin.pet", "standoff.clearance", "collision.hardest_impact", "score")
LOW_IS_BAD = {"margin.ttc", "margin.pet", "margin.thw", "standoff.clearance", "score", "progress.share"}


def worst_rows(folder: str | Path, count: int = WORST) -> list[int]:
    """Rows of the worst runs: failures first, then errors, and by score or by the smallest margin.

    Of an estimate of a rare event these are the paths that reached it, of different seeds first.

    Parameters
    ----------
    folder : str or Path
    count : int
        How many at most.
    """
    opened = Folder.opened(folder)
    if opened.plan.search.get("kind") == "rare":
        return nearest_paths(folder, count)
    known = {name for name, _ in opened.columns}
    table = read(folder, ["verdict", *(name for name in PREFERRED if name in known)])
    measures = [name for name in ("score", *PREFERRED) if name in known]
    measure = next((name for name in measures if table[name].null_count < len(table)), None)
    verdicts = _column(table["verdict"])
    order = np.full(len(verdicts), len(ORDER))
    for verdict, rank in ORDER.items():
        order[verdicts == verdict] = rank
    values = np.full(len(order), np.inf)
    if measure is not None:
        numbers = _column(table[measure])
        values = np.where(np.isfinite(numbers), numbers if measure in LOW_IS_BAD else -numbers, np.inf)
    chosen = np.lexsort((np.arange(len(order)), values, order))[:count]
    return [int(row) for row in table["row"].to_numpy()[chosen]]


def _column(column: Any) -> np.ndarray:
    """Values of a column: numbers as floats with NaN where there are none, all else as objects."""
    found = np.asarray(column.to_numpy(zero_copy_only=False))
    return found.astype(float) if found.dtype.kind in "iuf" else found


def _axis(name: str, column: Any) -> Axis:
    values = _column(column)
    return axis_of(name, values if values.dtype.kind == "f" else column.to_pylist())


def write_page(folder: str | Path, target: str | Path, replays: Mapping[int, str] | None = None) -> Path:
    """Write the report of a sweep to an HTML file.

    Parameters
    ----------
    folder : str or Path
    target : str or Path
    replays : mapping, optional
        Row → address of its replay, as seen from the page.

    Raises
    ------
    UsageError
        If there are no rows, or the file cannot be written.
    """
    text = page_of(folder, replays or {})
    with writing(target):
        Path(target).write_text(text, encoding="utf-8")
    return Path(target)


def page_of(folder: str | Path, replays: Mapping[int, str]) -> str:
    """Render the page; the same rows and replays yield equal text."""
    opened = Folder.opened(folder)
    if opened.plan.search.get("kind") == "rare":
        return rare_page(folder, replays)
    varied = [parameter_column(one.key) for one in opened.plan.variations]
    kinds = dict(opened.columns)
    metrics = [name for name in PREFERRED if name in kinds]
    checks = [name for name in kinds if name.startswith("check.")]
    table = read(folder, list(dict.fromkeys([*varied, "seed", "verdict", "failure", *metrics, *checks])))
    verdicts = _column(table["verdict"])
    passed = verdicts == "pass"
    axes = {name: _axis(name, table[name]) for name in varied}
    measured = [_axis(name, table[name]) for name in metrics if table[name].null_count < len(table)]
    mapped = [name for name in varied if name != "seed"][:MOST_PAIRED] or varied
    data = {
        "axes": [{"name": one.name, "ends": list(one.ends)} for one in (*axes.values(), *measured)][:MOST_AXES],
        "lines": _lines([*axes.values(), *measured][:MOST_AXES], verdicts),
        "maps": [
            {
                "x": one, "y": other, "xs": axes[one].labels, "ys": axes[other].labels,
                "cells": cells(axes[one], axes[other], passed),
            }
            for number, one in enumerate(mapped) for other in mapped[number + 1 :]
        ],
    }  # fmt: skip
    parts = {
        "title": escape(f"{Path(opened.plan.scenario).stem}: {len(table)} runs"),
        "summary": _summary(verdicts, opened),
        "checks": _checks(table, checks),
        "rates": "".join(_rates(axes[name], passed) for name in mapped[:MOST_PAIRED]),
        "worst": _worst(opened, table, worst_rows(folder), varied, replays),
        "environment": environment(opened),
    }
    return build_page("cbsim.sweep", "assets", ("sweep.js",), data, parts)


def _lines(axes: Sequence[Axis], verdicts: np.ndarray) -> list[list[Any]]:
    """Where some runs cross the axes: those that did not pass first, then others, evenly."""
    bad, good = np.flatnonzero(verdicts != "pass"), np.flatnonzero(verdicts == "pass")
    half = MOST_LINES // 2
    shown = [_evenly(bad, max(half, MOST_LINES - len(good))), _evenly(good, max(half, MOST_LINES - len(bad)))]
    found: list[list[Any]] = []
    for k in np.sort(np.concatenate(shown)).tolist():
        values = [float(axis.values[k]) for axis in axes]
        found.append([verdicts[k], *(round(value, 4) if np.isfinite(value) else None for value in values)])
    return found


def _evenly(rows: np.ndarray, most: int) -> np.ndarray:
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def _rate(total: int, good: int) -> str:
    low, high = wilson(good, total)
    return f"{100.0 * good / max(1, total):.2f} % [{100.0 * low:.2f}, {100.0 * high:.2f}]"


def _summary(verdicts: np.ndarray, folder: Folder) -> str:
    total = len(verdicts)
    counts = {name: int((verdicts == name).sum()) for name in ("pass", "fail", "error")}
    verdict = "error" if counts["error"] else "fail" if counts["fail"] else "pass"
    words = f"{counts['pass']} passed, {counts['fail']} failed, {counts['error']} errors"
    planner = ", ".join(folder.plan.planner.values())
    driven = f" · planner {escape(planner)}" if planner else ""
    badge = f'<span class="badge {verdict}">{verdict}</span>'
    return f"<p>{badge} <b>pass rate {_rate(total, counts['pass'])}</b> of {total} runs: {words}{driven}</p>"


def _checks(table: Any, checks: Sequence[str]) -> str:
    rows = []
    for name in checks:
        good = int(arrow("compute").sum(table[name]).as_py() or 0)
        bad = len(table) - table[name].null_count - good
        kind = "bad" if bad else "ok"
        rows.append(
            f'<tr><td class="{kind}">{"failed" if bad else "passed"}</td><th scope="row">{escape(name[6:])}</th>'
            f'<td class="number">{bad}</td><td class="number">{_rate(good + bad, good)}</td></tr>'
        )
    head = "<thead><tr><th></th><th>check</th><th>failed</th><th>pass rate, 95 %</th></tr></thead>"
    return f"<table>{head}<tbody>{''.join(rows)}</tbody></table>" if rows else '<p class="none">no checks</p>'


def _rates(axis: Axis, passed: np.ndarray) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(label)}</th><td class="number">{total}</td>'
        f'<td class="bar">{_bar(total, good)}</td><td class="number">{_rate(total, good)}</td></tr>'
        for label, (total, good) in rates(axis, passed).items()
        if total
    )
    head = f"<thead><tr><th>{escape(axis.name)}</th><th>runs</th><th></th><th>pass rate, 95 %</th></tr></thead>"
    return f'<div class="wide"><table>{head}<tbody>{rows}</tbody></table></div>'


def _bar(total: int, good: int) -> str:
    """Draw a rate with its interval."""
    low, high = wilson(good, total)
    share = good / max(1, total)
    return (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect width="100" height="10" class="rest"/>'
        f'<rect width="{100.0 * share:.2f}" height="10" class="good"/>'
        f'<line x1="{100.0 * low:.2f}" x2="{100.0 * high:.2f}" y1="5" y2="5"/></svg>'
    )


def _worst(folder: Folder, table: Any, rows: Sequence[int], varied: Sequence[str], replays: Mapping[int, str]) -> str:
    numbers = table["row"].to_numpy()
    found = []
    for row in rows:
        values = table.slice(int(numbers.searchsorted(row)), 1).to_pylist()[0]
        kind = {"pass": "ok", "fail": "bad"}.get(values["verdict"], "open")
        told = ", ".join(f"{name} = {values[name]}" for name in varied)
        last = ((values["failure"] or "").strip().splitlines() or [""])[-1]
        link = f'<a href="{escape(replays[row], quote=True)}">replay</a>' if row in replays else ""
        command = escape(command_of(folder, point_of(folder, values)))
        found.append(
            f'<tr><td class="number">{row}</td><td class="{kind}">{values["verdict"]}</td><td>{escape(told)}</td>'
            f'<td class="said">{escape(last)}</td><td>{link}</td><td><code>{command}</code></td></tr>'
        )
    head = "<tr><th>row</th><th></th><th>parameters</th><th>what was found</th><th></th><th>again</th></tr>"
    return f'<div class="wide"><table><thead>{head}</thead><tbody>{"".join(found)}</tbody></table></div>'
