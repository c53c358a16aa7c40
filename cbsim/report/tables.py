"""Text parts of a report as static HTML, readable without scripts."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from cbsim.evaluation.score import ScoreResult
from cbsim.report.channels import CHANNELS
from cbsim.report.compare import Difference
from cbsim.report.data import CONTACTS, Event, Run
from cbsim.report.pack import ANGLE, PLACE, PackedData
from cbsim.road.drawing import EDGE_ERROR

__all__ = [
    "LETTERS",
    "badge",
    "checks",
    "command",
    "comparison",
    "contacts",
    "environment",
    "events",
    "notes",
    "summary",
]

LETTERS = ("A", "B")
VERDICTS = {"pass": "✓ pass", "fail": "✗ fail", "error": "! error", "": "– no verdict"}
RESULTS = {
    True: '<span class="ok">✓ passed</span>',
    False: '<span class="bad">✗ failed</span>',
    None: '<span class="open">? undecided</span>',
}


def badge(verdict: str) -> str:
    """Format a verdict as a badge."""
    return f'<strong class="badge {verdict or "none"}">{VERDICTS[verdict]}</strong>'


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """Render a table of HTML cells; `numbers` are right-aligned columns."""
    top = "".join(f'<th scope="col"{_side(i in numbers)}>{escape(head)}</th>' for i, head in enumerate(heads))
    lines = []
    for row in rows:
        first, *rest = row
        cells = "".join(f"<td{_side(i in numbers)}>{cell}</td>" for i, cell in enumerate(rest, 1))
        lines.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    body = "\n".join(lines)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _side(number: bool) -> str:
    return ' class="number"' if number else ""


def _jump(event: Event) -> str:
    """Render a time as a button that jumps there."""
    if event.time is None:
        return "–"
    place = "" if event.place is None else f' data-x="{event.place[0]:.3f}" data-y="{event.place[1]:.3f}"'
    return f'<button type="button" class="jump" data-time="{event.time!r}"{place}>{event.time:.2f} s</button>'


def _place(event: Event) -> str:
    return "–" if event.place is None else _point(*event.place)


def _point(x: float, y: float) -> str:
    return f'<span class="place">({_number(x)}, {_number(y)})</span>'


def _number(value: float, digits: int = 2) -> str:
    """Format a number with a true minus sign; values that round to zero have none."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def summary(runs: Sequence[Run]) -> str:
    """Render one line per run: verdict, scenario and length."""
    lines = []
    for letter, run in zip(LETTERS, runs, strict=False):
        end, steps = float(run.times[-1]), int(run.steps[-1])
        lead = f"<b>{letter}</b> " if len(runs) > 1 else ""
        passed = sum(event.passed is True for event in run.events)
        undecided = sum(event.passed is None for event in run.events)
        more = f", {undecided} undecided" if undecided else ""
        count = f"{passed} of {len(run.events)} checks passed{more} · " if run.events else ""
        lines.append(f"<p>{lead}{badge(run.verdict)} {count}{end:g} s in {steps} steps · {escape(run.file)}</p>")
    return "\n".join(lines)


def notes(runs: Sequence[Run]) -> str:
    """Render the reasons why the report is incomplete."""
    told = []
    for letter, run in zip(LETTERS, runs, strict=False):
        lead = f"{letter}: " if len(runs) > 1 else ""
        told += [f"<li>{escape(lead + line)}</li>" for line in run.problems]
    roads = [(run.road.name, run.road.origin) for run in runs if run.road is not None]
    if len(set(roads)) > 1:
        told.append(
            "<li>The runs are on different networks; the road drawn is that of A, places are each run's own.</li>"
        )
    return f'<ul id="notes" role="note">{"".join(told)}</ul>' if told else ""


def checks(runs: Sequence[Run]) -> str:
    """Render all checks with time and position."""
    parts = []
    for letter, run in zip(LETTERS, runs, strict=False):
        rows = [
            (
                RESULTS[event.passed],
                escape(event.name),
                _jump(event),
                _place(event),
                f'<span class="said">{escape(event.message)}</span>',
            )
            for event in run.events
        ]
        caption = f"Checks of {letter}" if len(runs) > 1 else "Checks"
        heads = ("Result", "Check", "Decided at", "Place [m]", "Seen")
        parts.append(table(caption, heads, rows) if rows else f"<p>{caption}: none.</p>")
        if run.score is not None:
            parts.append(_score(run.score, f" of {letter}" if len(runs) > 1 else ""))
    return "\n".join(parts)


def _score(score: ScoreResult, whose: str) -> str:
    """Render a score with its lines."""
    rows = [
        (
            "gate" if line.weight is None else f"{line.weight:g}",
            "undecided" if line.value is None else _number(line.value, 3),
            escape(line.name),
            f'<span class="said">{escape(line.message)}</span>',
        )
        for line in (*score.gates, *score.mean)
    ]
    return table(f"Score{whose}: {score.head}", ("Weight", "Value", "Of", "Seen"), rows)


def contacts(runs: Sequence[Run]) -> str:
    """Render all contacts."""
    parts = []
    for letter, run in zip(LETTERS, runs, strict=False):
        caption = f"Contacts of {letter}" if len(runs) > 1 else "Contacts"
        rows = [(escape(m.name), _jump(m), _place(m), escape(m.message)) for m in run.contacts]
        if not rows:
            parts.append(f"<p>{caption}: nothing touched anything.</p>")
            continue
        parts.append(table(caption, ("Bodies", "From", "Place [m]", "Met"), rows))
        if run.contact_count > CONTACTS:
            parts.append(f"<p>… and {run.contact_count - CONTACTS} more.</p>")
    return "\n".join(parts)


def events(runs: Sequence[Run]) -> str:
    """Render the events of the scenario that came true; empty where no run has any."""
    parts = []
    for letter, run in zip(LETTERS, runs, strict=False):
        if not run.header.events:
            continue
        caption = f"Events of {letter}" if len(runs) > 1 else "Events"
        rows = [(escape(one.name), _jump(one), escape(one.message)) for one in run.happened]
        parts.append(table(caption, ("Event", "At", "What"), rows) if rows else f"<p>{caption}: none came true.</p>")
    return "\n".join(parts)


def extremes(runs: Sequence[Run]) -> str:
    """Render the extremes of every plotted body, over all steps."""
    parts = []
    for letter, run in zip(LETTERS, runs, strict=False):
        rows = []
        for body in run.plotted:
            found = body.extremes()
            cells = []
            for channel in CHANNELS:
                at = found.get(channel.key)
                if at is None:
                    cells.append("–")
                    continue
                time, value = float(run.times[at]), float(body.values[channel.key][at])
                partner = f" ({escape(run.bodies[body.partner[at]].name)})" if channel.key == "ttc" else ""
                cells.append(f"{_number(value)} {channel.unit}{partner} {_jump(Event('', '', True, time, -1, None))}")
            rows.append((escape(run.bodies[body.row].name), f"{body.distance:.1f} m", *cells))
        heads = (
            "Body",
            "Distance",
            *(_HEADS[channel.extreme] + channel.title.split(",")[0].lower() for channel in CHANNELS),
        )
        caption = f"Extremes of {letter}" if len(runs) > 1 else "Extremes"
        if rows:
            parts.append(table(caption, heads, rows))
        left = len(run.header.moving) - len(run.plotted)
        if left > 0:
            parts.append(f"<p>{left} more {'body moves' if left == 1 else 'bodies move'} in the replay alone.</p>")
    return "\n".join(parts)


_HEADS = {"high": "Highest ", "low": "Lowest ", "large": "Largest "}


def objects(runs: Sequence[Run]) -> str:
    """Render all bodies with their final poses."""
    parts = []
    for letter, run in zip(LETTERS, runs, strict=False):
        rows = []
        for row, body in enumerate(run.bodies):
            motion = run.motions[row]
            size = " × ".join(f"{value:.2f}" for value in body.size)
            if motion.there[-1]:
                end = _point(float(motion.x[-1]), float(motion.y[-1]))
                turned = f"{np.round(np.degrees(motion.heading[-1]), 1) % 360.0:.1f}"
            else:
                end, turned = "not there", "–"
            rows.append((escape(body.name), escape(body.kind), escape(body.shape), size, end, turned))
        caption = f"Objects of {letter}" if len(runs) > 1 else "Objects"
        heads = ("Name", "Type", "Shape", "Width × length × height [m]", "Place at the end [m]", "Heading [°]")
        parts.append(table(caption, heads, rows, numbers=(3, 4, 5)))
    return "\n".join(parts)


def comparison(found: Sequence[Difference]) -> str:
    """Render the distances between two runs."""
    rows = []
    for one in found:
        jump = _jump(Event("", "", True, one.time, -1, None)) if one.largest > 0.0 else "–"
        diverged_at = _jump(Event("", "", True, one.diverged_at, -1, None)) if one.diverged_at is not None else "never"
        rows.append((escape(one.name), diverged_at, f"{one.largest:.3f}", jump))
    heads = ("Body", "More than 0.1 m apart from", "Largest distance [m]", "At")
    return table("How far B is from A", heads, rows, numbers=(2,)) if rows else "<p>No body is in both.</p>"


def command(run: Run) -> str:
    """Return the command that reproduces a run."""
    asked = dict(run.header.request)
    words = ["cbsim", "run", *([str(asked["scenario"])] if asked.get("scenario") else [])]
    for key in ("rndf", "objects", "mdf", "step", "duration", "deadline"):
        if asked.get(key) is not None:
            words += [f"--{key}", f"{asked[key]}"]
    words += ["--seed", str(run.header.seed)]
    for name, planner in dict(asked.get("planner") or {}).items():
        words += ["--planner", f"{name}={planner}" if name else str(planner)]
    for key, value in dict(asked.get("settings") or {}).items():
        words += ["--set", f"{key}={value}"]
    words += ["--strict"] if asked.get("strict") else []
    variables = [f"{key}={value}" for key, value in dict(asked.get("environment") or {}).items()]
    return shlex.join([*variables, *words]) if asked else ""


def environment(runs: Sequence[Run], kept: PackedData) -> str:
    """Render versions and digests, how to reproduce the run, and the accuracy of the page."""
    parts = []
    for letter, run in zip(LETTERS, runs, strict=False):
        header = run.header
        file = shlex.quote(run.file or "run.mcap")
        facts = [
            ("Scenario", escape(header.scenario)),
            ("Step", f"{header.step:g} s"),
            ("Seed", str(header.seed)),
            ("Digest of the run", f"<code>{run.digest}</code>"),
            ("Digest of the world", f"<code>{escape(header.world_digest)}</code>"),
            *((escape(str(key)), escape(str(value))) for key, value in header.software.items()),
            ("Files", "<br>".join(escape(name) for name in run.sources) or "none"),
        ]
        again = command(run)
        facts += [("Run again", f"<code>{escape(again)}</code>")] if again and run.sources else []
        facts += [("Prove every step", f"<code>cbsim replay {escape(file)}</code>")] if run.sources else []
        facts += [("Judge again", f"<code>cbsim judge {escape(file)}</code>")] if run.sources else []
        caption = f"Environment of {letter}" if len(runs) > 1 else "Environment"
        parts.append(table(caption, ("What", "Value"), facts))
    return "\n".join([*parts, _quality(runs, kept)])


def _quality(runs: Sequence[Run], kept: PackedData) -> str:
    """State the largest error of what is drawn."""
    thin = any(frames < len(run.steps) for frames, run in zip(kept.frames, runs, strict=True))
    count = ", ".join(f"{frames} of {len(run.steps)}" for frames, run in zip(kept.frames, runs, strict=True))
    lost = (
        f"Of the recorded steps, {count} are frames; between them bodies go straight, at most {kept.place:.3f} m and "
        f"{np.degrees(kept.angle):.2f}° off. Checks, contacts and extremes are among the frames."
        if thin
        else "Every recorded step is a frame."
    )
    return (
        f"<p>{lost} Places are rounded to {PLACE * 1e3:g} mm, headings to {ANGLE:g} rad, edges of lanes are drawn "
        f"within {EDGE_ERROR * 100.0:g} cm. Times to collision are until two footprints touch if both go on as they "
        "are, without turning, up to 10 s ahead; meshes and models are no partners.</p>"
    )
