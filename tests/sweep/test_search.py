from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cbsim.errors import FileError, UsageError
from cbsim.spec.sweep import Choice, Variation
from cbsim.sweep import read, replay, resume, search
from cbsim.sweep.again import point_of
from cbsim.sweep.folder import Folder
from cbsim.sweep.searchers import Optimizer
from cbsim.sweep.searching import best_rows
from cbsim.sweep.table import Table, columns_of, parts, type_of, value_of
from cbsim.sweep.texts import variations_of
from tests.cli.conftest import cli
from tests.sweep.test_engine import rows

__all__ = ["cli"]

pytest.importorskip("pyarrow")
pytest.importorskip("optuna")


def test_optimizer_finds_the_smallest_value_and_asks_the_same_again():
    def found(seed):
        searcher = Optimizer(variations_of(["x=0:10", "kind=a,b", "n=1:9:1"]), ["x > 1"], "y", seed=seed)
        seen = []
        for _ in range(12):
            asked = searcher.ask(8)
            values = [(x - 3.0) ** 2 + (kind == "a") + 0.1 * n for x, kind, n in asked]
            searcher.tell([{"verdict": "pass", "y": value} for value in values])
            seen += zip(values, asked, strict=True)
        return seen

    once = found(1)
    assert once == found(1)
    assert once != found(2)
    value, (_, kind, _) = min(once)
    assert value < 0.6
    assert kind == "b"
    assert all(point[0] > 1 for _, point in once)


def test_runs_without_a_value_are_the_worst():
    searcher = Optimizer(variations_of(["x=0:10"]), [], "y", maximize=True)
    for _ in range(10):
        asked = searcher.ask(4)
        searcher.tell([{"verdict": "pass", "y": None if x > 5 else x} for (x,) in asked])
    late = [searcher.ask(1)[0][0] for _ in range(1)]
    searcher.tell([{"verdict": "error", "y": None}])
    assert late[0] <= 10.0


def test_search_for_the_smallest_margin_is_the_same_with_two_workers_and_resumed(small):
    vary = {"wall": "3:9", "add.Bot.parameters.mass": "900:3000"}
    options = {"minimize": "comfort.acceleration", "runs": 16, "batch": 4, "record": "none"}
    table = search("small.yaml", vary, folder="one", jobs=0, **options)
    assert len(table) == 16
    assert (small / "one" / "search.log").stat().st_size > 1000
    best = best_rows("one")[0]
    assert best["comfort.acceleration"] == min(table["comfort.acceleration"].to_pylist())
    kept = rows("one")
    for part in parts("one")[6:]:
        part.unlink()
    resume("one", jobs=0, record="none")
    assert rows("one") == kept
    assert replay("one", 9).differences == []


@pytest.mark.slow
def test_search_with_two_workers_has_the_rows_of_one(small):
    options = {"minimize": "travel.distance", "runs": 12, "batch": 4, "record": "none"}
    search("small.yaml", {"wall": "3:9"}, folder="one", jobs=0, **options)
    search("small.yaml", {"wall": "3:9"}, folder="two", jobs=2, **options)
    assert rows("two") == rows("one")


def test_boundary_of_a_scenario_is_bracketed(small):
    table = search("small.yaml", {"wall": "3:9"}, folder="edge", boundary=True, runs=10, batch=1, jobs=0, record="none")
    walls = np.array(table["wall"].to_pylist())
    good = np.array(table["verdict"].to_pylist()) == "pass"
    assert 0.0 < walls[good].min() - walls[~good].max() < 0.2
    assert replay("edge", 7).differences == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"minimize": "comfort.brakng"}, "no column of numbers 'comfort.brakng' .*did you mean 'comfort.braking'"),
        ({"minimize": "verdict"}, "no column of numbers"),
        ({"minimize": "wall_time"}, "no column of numbers"),
        ({}, "exactly one of minimize, maximize and boundary"),
        ({"minimize": "a", "boundary": True}, "exactly one"),
        ({"boundary": True, "runs": 0}, "0 runs in batches of 8"),
        ({"boundary": True, "sample": 7}, "--sample and --method are for sweeps"),
        ({"boundary": True, "where": ["wal > 3"]}, "E807"),
    ],
)
def test_searches_that_make_no_sense_are_refused(small, options, message):
    with pytest.raises((UsageError, FileError), match=message):
        search("small.yaml", {"wall": "3:9"}, folder="bad", jobs=0, **options)
    assert not (small / "bad").exists()


def test_rows_of_lists_are_replayed_by_the_values_of_the_variation(cli, small):
    vary = {"add.Wall.size": [[6, 1, 1], [7, 1, 1]], "wall": [8, 3]}
    search("small.yaml", vary, folder="edge", boundary=True, runs=6, batch=2, jobs=0, record="none")
    folder, table = Folder.opened("edge"), read("edge").to_pylist()
    points = [point_of(folder, row) for row in table]
    assert {type(one.values[0]) for one in points} == {list}
    assert {type(one.values[1]) for one in points} == {int}
    for row in table:
        assert replay("edge", row["row"]).differences == []
    row = next(row["row"] for row, one in zip(table, points, strict=True) if one.values == ([6, 1, 1], 3))
    assert "--set 'add.Wall.size=[6, 1, 1]' --set wall=3" in cli("sweep", "replay", "edge", row).out


@pytest.mark.parametrize(
    ("values", "kind"),
    [(("a", [1]), "string"), (("1", 1), "json"), ((None, "null"), "string"), ((5, 8.0), "float64"), ((True,), "bool")],
)
def test_values_of_a_choice_are_found_by_their_cells(values, kind):
    one = Variation("x", Choice(values))
    table = Table(Path(), columns_of([one], [], []), "")
    assert type_of(one) == kind
    assert [repr(value_of(one, table.fitted({"x": value})["x"])) for value in values] == list(map(repr, values))


@pytest.mark.parametrize("how", [{"minimize": "travel.distance"}, {"boundary": True}])
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("5:8:0", "its step is 0"),
        ("8:5:1", "the range 8:5:1 of 'wall' has no values"),
        ("8:5", "the range 8:5 of 'wall' has no values"),
        ("1:2:1e-320", "more than 9007199254740992 values"),
        ("normal:1:-1", "the deviation -1"),
        ("count:3:9223372036854775806", "beyond the largest whole number"),
    ],
)
def test_values_of_a_search_are_checked(small, how, values, message):
    with pytest.raises(UsageError, match=message):
        search("small.yaml", [f"wall={values}"], folder="bad", jobs=0, **how)
    assert not (small / "bad").exists()


def test_command_tells_the_best_runs(cli, small):
    words = (
        "sweep",
        "small.yaml",
        "--vary",
        "wall=3:9",
        "--minimize",
        "travel.distance",
        "--runs",
        6,
        "-j",
        0,
        "-o",
        "s",
    )
    said = cli(*words, "--record", "none")
    assert said.code in (0, 1)
    best = best_rows("s")[0]
    assert f"row {best['row']}: travel.distance {best['travel.distance']:.6g} with wall={best['wall']}" in said.out
    assert len(read("s")) == 6
    said = cli("sweep", "resume", "s", "-j", 0, "--json")
    assert json.loads(said.out.splitlines()[-1])["result"]["total"] == 6
