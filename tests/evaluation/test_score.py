"""The score of a run: gates times a weighted mean, in a scenario, its results, and its errors."""

from __future__ import annotations

import json

import pytest

import cbsim
from cbsim.errors import FileError
from cbsim.evaluation.judge import judge
from cbsim.evaluation.metrics import metrics
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.score import Line, ScoreResult
from cbsim.planner.pilot import Pilot
from cbsim.spec.metrics import MEASURED, METRICS

BOT = "{name: Bot, kind: autonomous, size: [1.7, 3.68, 2.16], at: 3.2.1}"
HEAD = f"network: four_way_stop\nmission: four_way_stop\nduration: 12\nadd:\n  - {BOT}\n"
TRUCK = "  - {name: Truck, kind: dynamic, controller: manual, size: [2.5, 8, 3], at: {waypoint: 3.2.2, station: 130}}\n"
SCORE = """score:
  gates:
    - collision: {object: Bot, at_fault: true}
    - wrong_way: {object: Bot}
  mean:
    - {metric: share, object: Bot, worst: 0, best: 0.5, weight: 5}
    - {metric: ttc, object: Bot, worst: 0.94, best: 0.95, weight: 5}
    - {rule: {comfort: {object: Bot}}, weight: 2}
    - {rule: {travel: {object: Bot, at_least: 1000}}}
"""


def scenario(folder, score=SCORE, head=HEAD + TRUCK, expect=""):
    path = folder / "one.yaml"
    path.write_text(f"{head}{expect}{score}")
    return path


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("score")
    path = scenario(folder, expect="expect:\n  - wrong_way: {object: Bot}\n")
    return execute(cbsim.load(path), planner=Pilot(), record=folder / "one.mcap"), folder / "one.mcap"


def test_names_of_metrics_are_those_that_rules_measure(outcome):
    table = metrics(outcome[1])
    assert {row.metric: row.rule for row in table} == MEASURED
    assert list(dict.fromkeys(MEASURED.values())) == [rule for rule, _ in METRICS]


def test_score_is_the_product_of_gates_times_the_weighted_mean(outcome):
    score = outcome[0].score
    values = {row.metric: row.value for row in metrics(outcome[1])}
    assert [line.name for line in score.gates] == ["collision Bot", "wrong_way Bot"]
    assert [line.value for line in score.gates] == [1.0, 1.0]
    assert [line.weight for line in score.mean] == [5.0, 5.0, 2.0, 1.0]
    share, ttc, comfort, travel = (line.value for line in score.mean)
    assert share == pytest.approx(values["share"] / 0.5)
    assert ttc == min(max((values["ttc"] - 0.94) / 0.01, 0.0), 1.0)
    assert (comfort in {0.0, 1.0}, travel) == (True, 0.0)
    assert score.value == pytest.approx((5.0 * share + 5.0 * ttc + 2.0 * comfort) / 13.0)
    assert 0.0 < score.value < 1.0
    assert outcome[0].verdict == "pass"  # a score is no check


def test_score_is_the_same_from_the_recording_and_printed_line_by_line(outcome, tmp_path, cli):
    run, recording = outcome
    again = judge(recording).score
    assert again == run.score
    lines = list(run.score.lines())
    assert lines[0] == f"score {run.score.value:.3f} = gates 1.000 x mean {run.score.average:.3f}"
    assert lines[1].startswith("  gate 1.000  collision Bot: ")
    assert lines[3].startswith(f"  5 x {run.score.mean[0].value:.3f}  share Bot: ")
    assert len(lines) == 7
    assert all(line in run.summary.text for line in lines)
    assert lines[0] in run.summary.html
    done = cli("judge", recording, "--json", tmp_path / "out.json")
    assert all(line in done.out for line in lines)
    told = json.loads((tmp_path / "out.json").read_text())["score"]
    assert told == json.loads(json.dumps(run.to_dict()["score"]))
    assert (told["value"], told["mean"][0]["weight"]) == (run.score.value, 5.0)
    page = tmp_path / "page.html"
    assert cli("report", recording, "-o", page).code == 0
    assert f"Score: {lines[0]}" in page.read_text()


def test_run_prints_the_score(tmp_path, cli):
    path = scenario(tmp_path, "score: {mean: [{metric: distance, object: Bot, worst: 0, best: 10}]}\n", HEAD)
    done = cli("run", path, "--duration", "1")
    assert "  score 0.000 = gates 1.000 x mean 0.000\n" in done.out
    assert "    1 x 0.000  distance Bot: 0.000 m, 0 at 0, 1 at 10\n" in done.out


def test_judge_takes_the_score_of_another_scenario(outcome, tmp_path, cli):
    path = scenario(tmp_path, "score: {gates: [travel: {object: Bot, at_least: 1000}]}\n")
    done = cli("judge", outcome[1], "--expect", path)
    assert "score 0.000 = gates 0.000 x mean 1.000" in done.out


def line(value, weight=None):
    return Line("x", value, weight, "")


@pytest.mark.parametrize(
    ("gates", "mean", "value"),
    [
        ([1.0, 1.0], [(0.5, 1.0), (1.0, 3.0)], 0.875),
        ([1.0, 0.0], [(1.0, 1.0)], 0.0),
        ([0.0, None], [(1.0, 1.0)], 0.0),
        ([1.0, None], [(1.0, 1.0)], None),
        ([1.0], [(None, 1.0), (1.0, 1.0)], None),
        ([1.0], [(None, 0.0), (0.25, 1.0)], 0.25),
        ([0.0], [(None, 1.0)], 0.0),
        ([1.0], [], 1.0),
        ([], [(0.25, 2.0)], 0.25),
    ],
)
def test_undecided_terms_leave_it_undecided_unless_a_gate_is_shut(gates, mean, value):
    score = ScoreResult(tuple(map(line, gates)), tuple(line(*one) for one in mean))
    assert score.value == value


def test_nothing_to_measure_counts_as_the_best_and_a_mission_that_is_not_finished_as_the_worst(tmp_path):
    terms = "[{metric: ttc, object: Bot, worst: 0, best: 2}, {metric: mission_time, object: Bot, worst: 100, best: 50}]"
    run = execute(cbsim.load(scenario(tmp_path, f"score: {{mean: {terms}}}\n", HEAD)), steps=20)
    assert [one.value for one in run.score.mean] == [1.0, 0.0]
    assert run.score.value == 0.5


def test_scenario_is_written_as_it_was_read(tmp_path):
    spec = cbsim.read(scenario(tmp_path))
    cbsim.write(spec, tmp_path / "two.yaml")
    assert cbsim.read(tmp_path / "two.yaml").score == spec.score
    assert cbsim.read(scenario(tmp_path, "")).score == ((), ())


MEAN = "score: {mean: [{metric: ttc, object: Bot, worst: 0, best: 1}]}"


@pytest.mark.parametrize(
    ("score", "told"),
    [
        (MEAN.replace("ttc", "tcc"), r"'score.mean.0.metric' is 'tcc', expected one of .*E805.*did you mean 'ttc'"),
        (MEAN.replace("best: 1", "best: 1, weight: -2"), r"'score.mean.0.weight' is '-2', expected at least 0.*E805"),
        (MEAN.replace("best: 1", "best: 1, wieght: 2"), r"no key 'wieght' here.*E803.*did you mean 'weight'"),
        (MEAN.replace("best: 1", "best: 0"), r"'worst' and 'best' are both 0.*E806"),
        (MEAN.replace(", best: 1", ""), r"the metric 'ttc' needs 'best'.*E806"),
        (MEAN.replace("best: 1", "best: 1, weight: 0"), r"the weights sum to 0.*E806"),
        ("score: {mean: [{weight: 1}]}", r"one of 'rule' and 'metric' is needed.*E806"),
        (
            MEAN.replace("mean: [{", "mean: [{rule: {rest: {object: Bot}}, "),
            r"'rule' and 'metric' exclude each other.*E806",
        ),
        ("score: {mean: [{rule: {rest: {object: Bot}}, best: 1}]}", r"'best' belongs to metrics, not to rules.*E806"),
        ("score: {}", r"one of 'gates' and 'mean' is needed.*E806"),
        ("score: {gates: [colision: {object: Bot}]}", r"no key 'colision' here.*E803.*did you mean 'collision'"),
        ("score: {gates: [collision: {object: Bto}]}", r"no object 'Bto'.*E821.*did you mean 'Bot'"),
        (MEAN.replace("Bot", "Bto"), r"no object 'Bto'.*E821.*did you mean 'Bot'"),
    ],
)
def test_mistakes_are_located_and_hinted_at(tmp_path, score, told):
    with pytest.raises(FileError, match=told) as found:
        cbsim.load(scenario(tmp_path, f"{score}\n"))
    assert "one.yaml:7: error" in str(found.value)


def test_metric_that_needs_what_the_scenario_has_not_is_an_error(tmp_path):
    head = "duration: 1\nadd:\n  - {name: Bot, kind: autonomous, position: [0, 0, 0]}\n"
    with pytest.raises(FileError, match=r"the rule 'margin' needs a network.*E826"):
        cbsim.load(scenario(tmp_path, MEAN.replace("ttc", "thw"), head))
    cbsim.load(scenario(tmp_path, MEAN, head))
