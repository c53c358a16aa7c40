"""Rare events of runs: a bot behind a car that brakes by mistake, whose probability is known (`tests.sweep.gap`)."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cbsim
from cbsim.errors import FileError, UsageError
from cbsim.sweep import compare, rare, read, replay, resume, run
from cbsim.sweep.folder import Folder
from cbsim.sweep.rare_events import rare_result
from cbsim.sweep.reports.rare_levels import mean_curve, repetitions_of, way_of
from cbsim.sweep.reports.report import page_of, worst_rows
from cbsim.sweep.table import parts
from tests.browser import browser, opened
from tests.cli.conftest import cli
from tests.sweep.gap import nearest, write_gap
from tests.sweep.test_engine import rows

__all__ = ["browser", "cli", "opened"]

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


def test_page_of_an_estimate_has_its_levels_its_cost_and_the_paths_that_reached_the_event(cli, gap):
    write_gap(gap, seconds=3, rate=0.4)
    made = rare("gap.yaml", "standoff.clearance", folder="r", at_most=nearest(3), **SMALL)
    table = read("r").to_pylist()
    found = repetitions_of(Folder.opened("r").plan, table)
    assert [one.estimate for one in found] == list(made.estimate.repetitions)
    assert [one.probabilities[-1] for one in found] == pytest.approx(list(made.estimate.repetitions))
    assert sum(len(one.rows) for one in found) == made.paths
    assert [len(one.passages) - 1 for one in found] == list(made.iterations)  # the last is the event itself
    for one in found:
        levels = [passage.level for passage in one.passages]
        assert levels == sorted(levels)
        assert [round(20 * passage.share) + passage.ended for passage in one.passages] == [20] * len(levels)
    levels, means = mean_curve(found)
    assert means[-1] == pytest.approx(made.probability)
    assert np.all(np.diff(means) <= 0.0)
    known = {row["row"]: row for row in table}
    deep = max(table, key=lambda row: len(json.loads(row["forks"])))
    way = way_of(deep, known)
    assert [at for at, _ in way] == sorted({at for at, _ in way})
    assert [level for _, level in way] == sorted({level for _, level in way})
    assert way[0][0] < json.loads(deep["forks"])[0][0]
    reached = [row["row"] for row in table if row["verdict"] == "fail"]
    assert cli("report", "r").code == 0
    page = (gap / "r" / "report.html").read_text()
    assert f"probability {made.probability:.3g} [{made.interval[0]:.3g}, {made.interval[1]:.3g}] at 95 %" in page
    assert f"Paths that reached the event ({len(reached)})" in page
    assert f"as many as {made.cost:.0f} whole runs have" in page
    for passage, probability in zip(found[1].passages, found[1].probabilities, strict=True):
        assert f'{100.0 * passage.share:.1f} %</td><td class="number">{probability:.3g}</td>' in page
    assert all(f'<td class="number">{row}</td>' in page for row in reached)
    for row in worst_rows("r"):
        assert row in reached
        assert f'<a href="report_replays/row-{row}.html">replay</a>' in page
        assert (gap / "r" / "report_replays" / f"row-{row}.html").is_file()
    seeds = [known[row]["seed"] for row in worst_rows("r")]
    assert len(set(seeds)) == min(len(seeds), len({known[row]["seed"] for row in reached}))


def test_page_of_an_estimate_that_is_running_or_reached_nothing_says_so(gap):
    write_gap(gap, seconds=3, rate=0.4)
    rare("gap.yaml", "standoff.clearance", folder="r", at_most=nearest(3), **SMALL)
    (gap / "r" / "rare.json").unlink()
    files = parts("r")
    files[-1].unlink()
    known = repetitions_of(Folder.opened("r").plan, read("r").to_pylist())
    assert [one.estimate is None for one in known] == [False, True]
    assert sum(len(one.rows) for one in known) <= len(read("r"))
    files[len(files) // 4].unlink()  # a part that another worker has still to write
    short = repetitions_of(Folder.opened("r").plan, read("r").to_pylist())
    assert [one.estimate for one in short] == [None]
    assert short[0].passages == known[0].passages[: len(short[0].passages)]
    page = page_of("r", {})
    assert f"Not complete: {len(read('r'))} paths so far" in page
    assert "<code>cbsim sweep resume r</code> continues" in page
    rare("gap.yaml", "standoff.clearance", folder="never", at_most=0.1, **SMALL | {"repeats": 1})
    page = page_of("never", {})
    assert "never reached" in page
    assert "Nearest paths" in page


@pytest.mark.slow
def test_page_of_an_estimate_is_shown_without_a_script(gap, opened):
    write_gap(gap, seconds=2, rate=0.5)
    rare("gap.yaml", "standoff.clearance", folder="r", at_most=nearest(2), **SMALL)
    path = gap / "page.html"
    path.write_text(page_of("r", {0: "replays/row-0.html"}))
    with opened(path.as_uri(), offline=True, size=(1300, 900)) as page:
        assert page.said == []
        assert page.locator("svg.chart").count() == 2
        assert page.locator("svg .thin").count() == 2
        thick = page.locator("svg .thick").get_attribute("points").split()
        assert thick[-1].split(",")[0] == page.locator("svg .bound").first.get_attribute("x1")
        page.locator("summary", has_text="1: estimate").click()
        assert page.locator("details[open] tbody tr").first.is_visible()


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
