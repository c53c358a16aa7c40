"""Rare events of runs: a bot behind a car that brakes by mistake, whose probability is known (`tests.sweep.gap`)."""

from __future__ import annotations

import json

import pytest

import cbsim
from cbsim.errors import FileError, UsageError
from cbsim.sweep import compare, rare, read, replay, resume, run
from cbsim.sweep.rare_events import rare_result
from cbsim.sweep.report import worst_rows
from cbsim.sweep.table import parts
from tests.cli.conftest import cli
from tests.sweep.gap import nearest, write_gap
from tests.sweep.test_engine import rows

__all__ = ["cli"]

pytest.importorskip("pyarrow")

SMALL = {"particles": 20, "repeats": 2, "jobs": 0}


def test_paths_are_replayed_and_resumed_bit_for_bit(gap):
    write_gap(gap, seconds=3, rate=0.4)
    options = {"at_most": nearest(3), **SMALL}
    made = rare("gap.yaml", "standoff.clearance", folder="one", **options)
    assert 0.4**3 / 4 < made.probability < 0.4**3 * 4
    table = read("one").to_pylist()
    assert made.paths == len(table)
    assert made.cost < made.paths
    chains = [json.loads(row["forks"]) for row in table]
    deep = max(range(len(table)), key=lambda k: len(chains[k]))
    assert len(chains[deep]) >= 2
    assert table[deep]["parent"] is not None
    for number in (0, deep, len(table) - 1):
        assert replay("one", number).differences == []
    kept, result = rows("one"), rare_result("one")
    assert replay("one", deep, record="deep.mcap").differences == []
    recording = cbsim.Recording.open("deep.mcap")
    assert cbsim.replay(recording) is None
    files = parts("one")
    for part in files[len(files) // 2 :]:
        part.unlink()
    resume("one", jobs=0, record="none")
    assert rows("one") == kept
    assert rare_result("one") == result
    other = rare("gap.yaml", "standoff.clearance", folder="two", seed=2, **options)
    assert other.estimate.repetitions != made.estimate.repetitions


@pytest.mark.slow
def test_two_workers_have_the_rows_of_one(gap):
    write_gap(gap, seconds=3, rate=0.4)
    options = {"at_most": nearest(3), **SMALL}
    rare("gap.yaml", "standoff.clearance", folder="one", **options)
    rare("gap.yaml", "standoff.clearance", folder="two", **options | {"jobs": 2})
    assert rows("two") == rows("one")


@pytest.mark.slow
def test_one_in_two_hundred_agrees_with_plain_monte_carlo_and_the_closed_form(gap):
    write_gap(gap, seconds=3, rate=0.17)
    bound, exact = nearest(3), 0.17**3
    made = rare("gap.yaml", "standoff.clearance", at_most=bound, folder="rare", particles=60, repeats=8, jobs=2)
    assert made.interval[0] <= exact <= made.interval[1]
    table = cbsim.sweep.run("gap.yaml", {"seed": "count:2000"}, folder="plain", metrics=["standoff"], jobs=2,
                            record="none")  # fmt: skip
    hits = sum(value is not None and value <= bound for value in table["standoff.clearance"].to_pylist())
    low, high = cbsim.sweep.statistics.wilson(hits, 2000)
    assert low <= exact <= high
    assert max(low, made.interval[0]) < min(high, made.interval[1])


@pytest.mark.slow
def test_one_in_a_million_is_estimated_in_fewer_than_ten_thousand_runs(gap):
    write_gap(gap, seconds=6, rate=0.1)
    made = rare("gap.yaml", "standoff.clearance", at_most=nearest(6), folder="g", particles=100, repeats=10, jobs=2)
    assert made.cost < 10_000
    assert made.interval[0] <= 1e-6 <= made.interval[1]
    assert made.interval[1] < 10 * made.interval[0]


def test_command_estimates_and_tells_what_it_costs(cli, gap):
    write_gap(gap, seconds=2, rate=0.5)
    bound = nearest(2)
    words = ("sweep", "gap.yaml", "--rare", "standoff.clearance", "--at-most", bound, "--particles", 10, "-j", 0)
    said = cli(*words, "--repeats", 1, "-o", "r")
    assert said.code == 0
    assert f"standoff.clearance ≤ {bound:g}: probability" in said.out
    assert "as many steps as" in said.out
    assert "ask for more repeats" in said.out
    said = cli("sweep", "replay", "r", 0)
    assert said.code == 0
    assert "the same in every bit" in said.out
    said = cli("sweep", "resume", "r", "-j", 0, "--json", "-")
    assert json.loads(said.out.splitlines()[-1])["result"]["paths"] == len(read("r"))
    assert cli(*words, "--vary", "rate=0:1", "-o", "s").code == 2


def test_report_and_comparison_know_paths_by_their_forks(cli, gap):
    write_gap(gap, seconds=2, rate=0.5)
    rare("gap.yaml", "standoff.clearance", folder="r", at_most=nearest(2), **SMALL | {"repeats": 1})
    table = read("r").to_pylist()
    assert len({row["seed"] for row in table}) < len(table)
    found = compare("r", "r")
    assert (found.pairs, found.equal_digests, found.moved) == (len(table), len(table), [])
    said = cli("sweep", "report", "r")
    assert said.code == 0
    page = (gap / "r" / "report.html").read_text()
    forked = [row for row in worst_rows("r") if table[row]["forks"] != "[]"]
    assert forked
    assert all(f"<code>cbsim sweep replay r {row}</code>" in page for row in forked)
    said = cli("sweep", "replay", "r", forked[0])
    assert said.out.splitlines()[-1].strip() == f"cbsim sweep replay r {forked[0]}"
    run("gap.yaml", {"seed": "count:2"}, folder="plain", jobs=0, record="none")
    with pytest.raises(UsageError, match="'r' has the paths of a rare event, and 'plain' plain runs"):
        compare("plain", "r")


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        (
            "standoff.clearence",
            {"at_most": 1.0},
            "no metric that is the extreme of a moment .*did you mean 'standoff.cl",
        ),
        ("travel.distance", {"at_least": 1.0}, "no metric that is the extreme of a moment"),
        ("standoff.clearance", {"at_least": 1.0}, "a smallest value: give --at-most"),
        ("Egon: margin.ttc", {"at_most": 1.0}, "no autonomous object 'Egon' .*did you mean 'Ego'"),
        ("margin.ttc", {}, "one of at_most and at_least"),
        ("margin.ttc", {"at_most": 1.0, "particles": 1}, "1 particles"),
        ("margin.ttc", {"at_most": float("nan")}, "must be finite"),
        ("margin.ttc", {"at_most": 1.0, "settings": {"rate": 0.0}}, "gap.yaml.*nothing is random .*E812"),
        (
            "margin.ttc",
            {"at_most": 1.0, "planner": "gap_planner:Forgetful"},
            "planner of 'Ego' has no method save and no",
        ),
    ],
)
def test_what_cannot_be_estimated_is_refused(gap, metric, options, message):
    with (gap / "gap_planner.py").open("a") as stream:
        stream.write("\n\nclass Forgetful:\n    start = Steady.start\n    plan = Steady.plan\n")
    with pytest.raises((UsageError, FileError), match=message):
        rare("gap.yaml", metric, folder="bad", jobs=0, **options)
    assert not (gap / "bad").exists()
