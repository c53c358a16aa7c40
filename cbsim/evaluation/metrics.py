"""Metrics: what the rules measure, without bounds, as a table."""

from __future__ import annotations

import csv
import importlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cbsim.errors import FileError, Location, UsageError, did_you_mean
from cbsim.evaluation.judge import Judge, scene_of
from cbsim.evaluation.rules import RULES, Context, Rule
from cbsim.paths import writing
from cbsim.recording.batch import Header
from cbsim.recording.recording import Recording
from cbsim.spec.metrics import METRICS
from cbsim.spec.scenario import Expectation
from cbsim.world.scene import Scene

__all__ = ["METRICS", "Metric", "measuring_rules", "metrics", "write_metrics"]


class Metric(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    object, rule, metric : str
        Whose, by which rule, and what.
    value : float or None
        None where there was nothing to measure.
    unit : str
    time : float or None
        When it was so, where it is the value of a moment [s].
    """

    object: str
    rule: str
    metric: str
    value: float | None
    unit: str
    time: float | None


def metrics(
    recording: Recording | str | Path, objects: Sequence[str] | None = None, scene: Scene | None = None
) -> list[Metric]:
    """Measure objects of a recording by the rules that measure, whatever its scenario expects.

    Parameters
    ----------
    recording : Recording or path
    objects : sequence of str, optional
        By default all autonomous objects.
    scene : Scene, optional
        With network and mission; by default that of the files in the recording.

    Returns
    -------
    list of Metric
        Rules are left out that need a network or a mission which the scenario does not have, or others that are not
        recorded.

    Raises
    ------
    UsageError
        If there is no such object, or none that is autonomous.
    RecordingError
        If the recording has no source files.
    """
    recording = recording if isinstance(recording, Recording) else Recording.open(recording)
    scene = scene_of(recording) if scene is None else scene
    known = recording.header.objects
    names = list(objects or (one["name"] for one in known.single if one.get("type") == "autonomous"))
    if not names:
        raise UsageError("no autonomous object to measure here; cbsim.metrics(recording, objects) measures others")
    for name in names:
        if known.row(name) is None:
            hint = did_you_mean(name, known.examples)
            raise UsageError(f"no object '{name}' to measure" + (f" ({hint})" if hint else ""))
    judge = Judge(measuring_rules(recording.header, scene, names), scene.roadmap, scene.mission)
    judge.begin(recording.header, recording.snapshot, recording.sources)
    for batch in recording.batches():
        judge.take(batch)
    judge.end()
    return [
        Metric(rule.subject, rule.expectation.rule, *measure) for rule in judge.rules for measure in rule.measures()
    ]


def measuring_rules(header: Header, scene: Scene, names: Sequence[str]) -> tuple[Expectation, ...]:
    """Rules that measure some objects, without bounds that anything exceeds, as far as they apply to a run."""
    return tuple(
        Expectation(rule, (("object", name), *arguments), Location("metrics"))
        for name in names
        for rule, arguments in METRICS
        if _applies(rule, Expectation(rule, (("object", name), *arguments)), header, scene)
    )


def _applies(name: str, expectation: Expectation, header: Header, scene: Scene) -> bool:
    """Whether a rule has the network, the mission and the others that it needs."""
    try:
        rule: Rule = RULES[name](expectation, Context(header, scene.roadmap, scene.mission))
    except UsageError:
        return False
    except FileError:  # others that it needs are not recorded
        if not header.is_recorded(header.objects.row(str(expectation["object"])) or 0):
            raise
        return False
    return rule.decided is False


def write_metrics(rows: Sequence[Metric], path: str | Path) -> None:
    """Write metrics as CSV, JSON or Parquet, by the ending of the path.

    Raises
    ------
    UsageError
        If it has another ending, cannot be written, or Parquet needs the extra ``frames``.
    """
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise UsageError(f"metrics are written as {', '.join(WRITERS)}, not '{ending or path}'")
    with writing(path):
        WRITERS[ending](rows, Path(path))


def _csv(rows: Sequence[Metric], path: Path) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Metric._fields)
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")


def _json(rows: Sequence[Metric], path: Path) -> None:
    table: list[dict[str, Any]] = [row._asdict() for row in rows]
    path.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def _parquet(rows: Sequence[Metric], path: Path) -> None:
    try:
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'cbsim[frames]'") from None
    kinds = [*[arrow.string()] * 3, arrow.float64(), arrow.string(), arrow.float64()]
    schema = arrow.schema(list(zip(Metric._fields, kinds, strict=True)))
    parquet.write_table(arrow.Table.from_pylist([row._asdict() for row in rows], schema=schema), str(path))


WRITERS = {".csv": _csv, ".json": _json, ".parquet": _parquet}
