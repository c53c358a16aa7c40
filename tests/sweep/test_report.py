from __future__ import annotations

import json
import re

import numpy as np
import pytest

from cbsim.sweep.folder import Folder
from cbsim.sweep.plan import Plan
from cbsim.sweep.reports.bins import axis_of, cells
from cbsim.sweep.reports.report import page_of, worst_rows, write_page
from cbsim.sweep.statistics import wilson
from cbsim.sweep.table import Table, columns_of
from cbsim.sweep.texts import variations_of
from tests.browser import browser, opened
from tests.cli.conftest import cli

__all__ = ["browser", "cli", "opened"]

pytest.importorskip("pyarrow")


@pytest.fixture
def swept(tmp_path):
    """Folder of a sweep of which runs with gap < speed failed."""
    varied = tuple(variations_of(["gap=5:14:1", "speed=4:16:2", "kind=car,<bus>", "seed=count:2"]))
    plan = Plan("four_way_stop", variations=varied)
    columns = columns_of(varied, ["check.collision Bot"], ["margin.ttc"])
    manifest = {"plan": plan.to_json(), "identity": {"version": {"cbsim": "0.1.0"}}, "columns": columns}
    table = Table(Folder.made(tmp_path / "sweep", manifest).path, columns, "0.1.0")
    rows = []
    for row, (gap, speed, kind, seed) in plan.space():
        good = gap >= speed
        rows.append(
            {
                "row": row, "gap": gap, "speed": speed, "kind": kind, "seed": seed,
                "verdict": "pass" if good else "fail", "failure": "" if good else "collision Bot: <Wall>",
                "check.collision Bot": good, "margin.ttc": float(max(0, 20 + gap - speed)), "digest": f"{row:016x}",
            }
        )  # fmt: skip
    table.write(0, rows)
    return tmp_path / "sweep"


def test_wilson_interval_has_its_coverage():
    generator = np.random.default_rng(1)
    for rate in (0.02, 0.5, 0.97):
        passed = generator.binomial(60, rate, 4000)
        inside = [low <= rate <= high for low, high in (wilson(int(k), 60) for k in passed)]
        assert 0.92 < np.mean(inside) < 0.985


def test_cells_count_runs_and_passes():
    one, other = axis_of("gap", [1, 1, 2, 2, 2]), axis_of("kind", ["a", "b", "a", "a", None])
    assert (one.labels, other.labels) == (["1", "2"], ["", "a", "b"])
    passed = np.array([True, False, True, False, True])
    assert cells(one, other, passed) == [[(0, 0), (1, 1), (1, 0)], [(1, 1), (2, 1), (0, 0)]]


def test_axis_of_many_numbers_has_equal_bins():
    axis = axis_of("gap", list(np.linspace(0.0, 10.0, 401)))
    assert len(axis.labels) == 20
    assert set(np.bincount(axis.places)) <= {20, 21}
    assert axis.ends == ("0", "10")


def test_worst_rows_are_failures_with_the_smallest_margin(swept):
    points = dict(Folder.opened(swept).plan.space())
    found = [points[row][0] - points[row][1] for row in worst_rows(swept)]
    assert found == [-11] * 4 + [-10] * 4 + [-9] * 2


def test_page_has_rates_maps_and_commands(swept):
    text = page_of(swept, {worst_rows(swept)[0]: "replays/row.html"})
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    one = next(each for each in data["maps"] if (each["x"], each["y"]) == ("gap", "speed"))
    assert [one["xs"][0], one["ys"][-1]] == ["5", "16"]
    assert all(one["cells"][i][j] == [4, 4 if 5 + i >= 4 + 2 * j else 0] for i in range(10) for j in range(7))
    assert len(data["lines"]) == 280
    passed = sum(line[0] == "pass" for line in data["lines"])
    low, high = wilson(passed, 280)
    assert f"{100 * passed / 280:.2f} % [{100 * low:.2f}, {100 * high:.2f}]" in text
    assert '<a href="replays/row.html">replay</a>' in text
    assert "--set kind=car" in text
    assert "<bus>" not in text
    assert "<Wall>" not in text


@pytest.mark.slow
def test_page_draws_its_map_and_keeps_runs_that_are_chosen(swept, opened):
    path = write_page(swept, swept / "report.html")
    with opened(path.as_uri(), offline=True, size=(1300, 900)) as page:
        assert page.said == []
        assert page.locator("#count").inner_text().startswith("280 of 280 lines")
        box = page.locator("#lines").bounding_box()
        page.mouse.move(box["x"] + 60, box["y"] + 60)
        page.mouse.down()
        page.mouse.move(box["x"] + 60, box["y"] + 160)
        page.mouse.up()
        assert not page.locator("#count").inner_text().startswith("280 of")
        page.select_option("#across", "speed")
        page.select_option("#up", "kind")
        box = page.locator("#heat").bounding_box()
        page.mouse.move(box["x"] + 120, box["y"] + 30)
        assert "speed 4, kind car: 20 of 20 passed" in page.locator("#cell").inner_text()


def test_report_of_a_sweep_has_replays_of_its_worst_runs(cli, small):
    assert cli("sweep", "small.yaml", "--vary", "wall=3,5", "-o", "a", "-j", 0, "-q").code == 1
    said = cli("report", "a")
    assert said.code == 0
    assert "2 replays of the worst runs beside it" in said.out
    assert 'href="report_replays/row-0.html"' in (small / "a" / "report.html").read_text()
    assert "collision Bot" in (small / "a" / "report_replays" / "row-0.html").read_text()
    said = cli("sweep", "report", "a", "-o", "page.html", "--json")
    assert json.loads(said.out.splitlines()[-1])["result"]["replays"].keys() == {"0", "1"}
    assert (small / "page_replays" / "row-1.html").is_file()
    said = cli("report", "nothing.mcap")
    assert said.code == 2
    (small / "empty").mkdir()
    said = cli("report", "empty")
    assert (said.code, "holds no sweep" in said.err) == (2, True)
