"""Metrics: what rules measure, as a table and as files."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

import cbsim
from cbsim.errors import Location, UsageError
from cbsim.evaluation.judge import Judge, parted, scene_of
from cbsim.evaluation.metrics import METRICS, measuring_rules, metrics, write_metrics
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.rules import RULES
from cbsim.planner.pilot import Pilot
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

BOT = "{name: Bot, kind: autonomous, size: [1.7, 3.68, 2.16], at: 3.2.1}"
PARKED = "{name: Parked, kind: dynamic, controller: manual, size: [1.8, 4.5, 1.5], at: {waypoint: 3.2.2, station: 40}}"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Twelve seconds of a bot that drives towards a parked car."""
    folder = tmp_path_factory.mktemp("metrics")
    text = "network: four_way_stop\nmission: four_way_stop\nduration: 12\n"
    (folder / "one.yaml").write_text(f"{text}add:\n  - {BOT}\n  - {PARKED}\n")
    execute(cbsim.load(folder / "one.yaml"), planner=Pilot(look_out=False), record=folder / "one.mcap")
    return folder / "one.mcap"


def test_every_metric_is_measured_by_a_rule_that_nothing_fails(recording):
    table = cbsim.metrics(recording)
    assert {row.rule for row in table} == {rule for rule, _ in METRICS} <= set(RULES)
    assert {row.object for row in table} == {"Bot"}
    values = {row.metric: row.value for row in table}
    assert values["checkpoints"] == 1.0  # it starts before the first
    assert values["mission_time"] is None
    assert values["distance"] > 30.0
    assert 0.0 < values["fastest"] < 12.0
    assert values["longest_wrong_way"] == 0.0
    assert values["clearance"] == 0.0 or values["ttc"] < 3.0


def test_values_are_those_with_which_rules_pass_and_fail(recording):
    values = {row.metric: row for row in cbsim.metrics(recording)}
    scene = scene_of(cbsim.Recording.open(recording))

    def passes(rule: str, **arguments: float) -> bool:
        one = Expectation(rule, (("object", "Bot"), *arguments.items()), Location("x"))
        return cbsim.judge(recording, replace(scene, expectations=(one,))).verdict == "pass"

    for rule, key, metric, less in (
        ("speed", "at_most", "fastest", 1e-3),
        ("comfort", "acceleration", "acceleration", 1e-3),
        ("excess_delay", "longest", "longest_delay", 1e-3),
    ):
        others = dict.fromkeys(dict(next(given for name, given in METRICS if name == rule)), float("inf"))
        others |= {"tolerance": 0.0} if rule == "speed" else {}
        assert passes(rule, **{**others, key: values[metric].value + 1e-6})
        assert values[metric].value == 0.0 or not passes(rule, **{**others, key: values[metric].value - less})


@pytest.mark.parametrize("size", [1, 7, 100])
def test_no_bit_of_a_metric_depends_on_how_many_steps_rules_see_at_once(recording, size):
    opened = cbsim.Recording.open(recording)
    scene = scene_of(opened)
    rules = measuring_rules(opened.header, scene, ["Bot"])

    def measured(batches: list[Batch]) -> list[tuple[str, float | None]]:
        judge = Judge(rules, scene.roadmap, scene.mission)
        judge.begin(opened.header, b"", {})
        for batch in batches:
            judge.take(batch)
            assert judge.rules  # looks at these steps
        return [(one.metric, one.value) for rule in judge.rules for one in rule.measures()]

    whole, parts = Batch.joined(list(opened.batches())), []
    rest = whole
    while len(rest.hashes) > size:
        part, rest = parted(rest, size, opened.header.step)
        parts.append(part)
    assert measured([*parts, rest]) == measured([whole])


def test_files_hold_the_table(recording, tmp_path, cli):
    table = metrics(recording)
    for name in ("m.csv", "m.json"):
        cli("judge", recording, "--metrics", tmp_path / name, "-q")
    with (tmp_path / "m.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["rule"], row["metric"]) for row in rows] == [(row.rule, row.metric) for row in table]
    assert json.loads((tmp_path / "m.json").read_text()) == [row._asdict() for row in table]
    parquet = pytest.importorskip("pyarrow.parquet")
    write_metrics(table, tmp_path / "m.parquet")
    assert parquet.read_table(tmp_path / "m.parquet").to_pylist() == [row._asdict() for row in table]


def test_what_cannot_be_measured_is_refused(recording, tmp_path):
    with pytest.raises(UsageError, match="did you mean 'Bot'"):
        metrics(recording, ["Bott"])
    with pytest.raises(UsageError, match=r"written as .csv, .json, .parquet, not '.txt'"):
        write_metrics([], tmp_path / "m.txt")
    assert {row.object for row in metrics(recording, ["Parked"])} == {"Parked"}
