from __future__ import annotations

import json

import numpy as np
import pytest

from cbsim.errors import FileError, Problems, UsageError
from cbsim.formats.reader import Source
from cbsim.formats.scenario import read_with, write
from cbsim.spec.sweep import Choice, Count, Normal, Range, SweepSpec, Variation
from cbsim.sweep.constraints import Constraint
from cbsim.sweep.plan import Plan
from cbsim.sweep.space import Space, setting_text
from cbsim.sweep.table import type_of
from cbsim.sweep.texts import variation_of, variations_of


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("gap=5:64:1", Range(5.0, 64.0, 1.0)),
        ("gap=5:64", Range(5.0, 64.0)),
        ("speed=5,8,11", Choice((5, 8, 11))),
        ("speed=normal:10:2", Normal(10.0, 2.0)),
        ("seed=count:100", Count(100)),
        ("seed=count:100:7", Count(100, 7)),
        ("seed={count: 100}", Count(100)),
        ("add.Truck.size=[2, 4, 3],[2, 8, 3]", Choice(([2, 4, 3], [2, 8, 3]))),
        ("kind=car,'a, b',true", Choice(("car", "a, b", True))),
    ],
)
def test_variation_is_read_from_the_command_line(text, values):
    assert variations_of([text])[0].values == values


@pytest.mark.parametrize("text", ["gap", "=3", "seed=count:x", "gap=normal:a:b", "gap={range: [1]}", "gap={a: 1}"])
def test_other_texts_are_refused(text):
    with pytest.raises(UsageError):
        variations_of([text])


def test_grid_has_every_combination_and_the_seed_changes_fastest():
    space = Space(variations_of(["seed=count:3", "gap=5:7:1", "speed=5,8.5"]))
    points = [one.values for one in space]
    assert len(space) == len(set(points)) == 18
    assert points[:4] == [(1, 5, 5), (2, 5, 5), (3, 5, 5), (1, 5, 8.5)]
    assert points[-1] == (3, 7, 8.5)
    assert all(isinstance(seed, int) and isinstance(gap, int) for seed, gap, _ in points)


def test_ranges_include_their_ends_without_drift():
    values = [one.values[0] for one in Space(variations_of(["gap=0:1:0.1"]))]
    assert values == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert [one.values[0] for one in Space(variations_of(["gap=3:1:-1"]))] == [3, 2, 1]


def test_constraints_keep_points_that_satisfy_them():
    space = Space(variations_of(["gap=1:5:1", "speed=1:5:1"]), ["gap > speed", "abs(gap - 3) <= 1 or speed == 1"])
    expected = [(g, s) for g in range(1, 6) for s in range(1, 6) if g > s and (abs(g - 3) <= 1 or s == 1)]
    assert [one.values for one in space] == expected


@pytest.mark.parametrize("method", ["latin", "sobol"])
def test_samples_are_reproducible_and_fill_the_space(method):
    varied = variations_of(["gap=10:20", "speed=normal:10:2", "seed=count:8"])
    space = Space(varied, method=method, sample=512, seed=3)
    points = [one.values for one in space]
    assert points == [one.values for one in Space(varied, method=method, sample=512, seed=3)]
    assert points != [one.values for one in Space(varied, method=method, sample=512, seed=4)]
    gaps, speeds = np.array([one[0] for one in points]), np.array([one[1] for one in points])
    assert np.histogram(gaps, 16, (10, 20))[0].tolist() == [32] * 16  # stratified
    assert abs(speeds.mean() - 10.0) < 0.05
    assert abs(speeds.std() - 2.0) < 0.05
    assert {one[2] for one in points} == set(range(1, 9))


@pytest.mark.parametrize("method", ["latin", "sobol"])
def test_samples_satisfy_constraints_and_are_as_many_as_asked_for(method):
    space = Space(variations_of(["gap=0:10", "speed=0:10"]), ["gap > 2 * speed"], method, 100)
    assert len(space) == 100
    assert all(gap > 2 * speed for gap, speed in (one.values for one in space))


def test_pairwise_points_have_every_pair_of_values():
    space = Space(variations_of(["a=1:4:1", "b=1:4:1", "c=1:4:1", "d=1:4:1"]), method="pairwise")
    points = [one.values for one in space]
    assert len(points) < 40
    for i in range(4):
        for j in range(i):
            assert len({(one[i], one[j]) for one in points}) == 16


def test_sample_of_a_grid_keeps_some_of_its_points_in_order():
    whole = [one.values for one in Space(variations_of(["a=1:40:1"]))]
    some = [one.values for one in Space(variations_of(["a=1:40:1"]), method="grid", sample=10)]
    assert len(some) == 10
    assert some == [one for one in whole if one in some]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["gap=5:4:1"], "the grid is empty: the range 5:4:1 of 'gap'"),
        (["gap=5:64"], "the grid is infinite: 'gap' is continuous"),
        (["gap=normal:1:2", "b=1:2"], "'gap' and 'b' are continuous"),
        (["gap=1:2:0"], "its step is 0"),
        (["gap=0:1e9:1"], "the grid has 1000000001 points"),
        (["gap=0:4000:1", "b=0:4000:1"], r"16008001 points \(4001 x 4001\)"),
        (["gap=1,2", "b=1", "gap=3,4"], "'gap' is varied twice: --vary gap=1,2 and --vary gap=3,4; expected all of"),
    ],
)
def test_spaces_that_cannot_be_run_are_refused_with_their_size(texts, message):
    with pytest.raises(UsageError, match=message):
        Space(variations_of(texts))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("1:2:1e-320", "more than 9007199254740992 values cannot be counted"),
        ("-1e308:1e308", "is not finite"),
        ("count:3:9223372036854775806", "beyond the largest whole number 9223372036854775807"),
        ([2**63], "a whole number of .* bits, at most 63"),
        ([10**400], "a whole number of .* bits, at most 63"),
        (Count(0), "counts 0 values"),
        (Count(1.5), "expected whole numbers"),
        ([], "has no values"),
        ([object()], "is varied by <object"),
        ({1, 2}, "expected values such as"),
        (b"ab", "expected values such as"),
    ],
)
def test_values_that_cannot_be_counted_or_kept_are_refused(values, message):
    with pytest.raises(UsageError, match=message):
        Space(variations_of({"x": values}), sample=3)


def test_scalars_and_arrays_of_numpy_are_plain_values():
    given = {
        "a": list(np.arange(5, 8)), "b": np.linspace(0.0, 1.0, 3), "c": [np.array([2, 6]), (1, np.float32(0.5))],
        "d": Range(np.float64(1.0), np.int64(3), np.int64(1)), "e": {"count": np.int64(3)},
        "f": [np.True_, np.str_("x")],
    }  # fmt: skip
    space = Space(variations_of(given))
    plan = Plan("small", variations=space.variations)
    assert Plan.from_json(json.loads(plan.text)) == plan
    assert [one.values for one in space.variations] == [
        Choice((5, 6, 7)), Choice((0.0, 0.5, 1.0)), Choice(([2, 6], [1, 0.5])), Range(1.0, 3, 1), Count(3),
        Choice((True, "x")),
    ]  # fmt: skip
    assert {type(value) for value in space[0].values} == {int, float, list, bool}


def test_range_whose_begin_exceeds_an_integer_column_is_of_numbers():
    assert type_of(Variation("x", Range(-1e19, 5.0, 1e18))) == "float64"


def test_constraints_that_nothing_satisfies_are_refused():
    with pytest.raises(UsageError, match="none of the 4 points"):
        Space(variations_of(["gap=1:4:1"]), ["gap > 9"])
    with pytest.raises(UsageError, match="0 satisfy the constraints, 10 are needed"):
        Space(variations_of(["gap=1:4"]), ["gap > 9"], "latin", 10)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "gap.real", "gap ** gap", "[x for x in gap]", "lambda: 1",
        "gap if gap else 1", "open('x')", "gap > ", "max(gap, key=abs)", "f'{gap}'", "(" * 5000, "gap" + "+1" * 900,
    ],
)  # fmt: skip
def test_constraints_are_no_programs(text):
    with pytest.raises((UsageError, FileError)):
        Constraint(text, ["gap"])({"gap": 1})


def test_unknown_name_in_a_constraint_is_e807_with_a_suggestion():
    with pytest.raises(FileError, match=r"E807.*did you mean 'gap'"):
        Constraint("gpa > 3", ["gap"])


@pytest.mark.parametrize("value", [1, 2.5, True, None, "word", "12", "a: b", "[x", "", " x", "no", [1, 2], {"a": [1]}])
def test_texts_of_settings_read_back_as_the_same_values(value):
    assert variation_of("k", "{choice: [" + setting_text(value) + "]}").values == Choice((value,))


TEXT = """
parameters: {gap: 10.0}
add:
  - {name: Truck, kind: dynamic, at: {waypoint: 1.1.2, station: "${gap}"}}
sweep:
  gap: {range: [4, 20, 1]}
  add.Truck.size: {choice: [[2, 6, 3], [2, 8, 3]]}
  seed: {count: 100, first: 7}
  where: "${gap} > 5"
  sample: 20
  method: sobol
"""


def read(text: str, **settings: str):
    problems = Problems()
    return read_with(Source.decode("s.yaml", text.encode()), problems, settings), problems


def test_sweep_of_a_scenario_is_read_and_written():
    spec, _ = read(TEXT)
    values = (
        Variation("gap", Range(4.0, 20.0, 1.0)),
        Variation("add.Truck.size", Choice(([2, 6, 3], [2, 8, 3]))),
        Variation("seed", Count(100, 7)),
    )
    assert spec.sweep == SweepSpec(values, ("${gap} > 5",), 20, "sobol")
    again, problems = read(write(spec))
    assert not problems.errors
    assert again.sweep.variations == values


@pytest.mark.parametrize(
    ("wrong", "code", "line"),
    [
        (("[4, 20, 1]", "[4]"), "E805", 6),
        (("{count: 100, first: 7}", "{normal: [1, 2], count: 3}"), "E806", 8),
        (("{count: 100, first: 7}", "{}"), "E806", 8),
        (("count: 100", "cuont: 100"), "E803", 8),
        (("{range: [4, 20, 1]}", "[]"), "E805", 6),
        (("{range: [4, 20, 1]}", "4"), "E805", 6),
        (("${gap} > 5", "${gpa} > 5"), "E807", 9),
        (("method: sobol", "method: sobel"), "E805", 11),
    ],
)
def test_mistakes_of_a_sweep_have_their_line(wrong, code, line):
    spec, problems = read(TEXT.replace(*wrong))
    assert spec is None
    assert (code, line) in [(one.code, one.location.line) for one in problems.errors]


@pytest.mark.parametrize(
    ("listed", "values"),
    [
        ("[4, 20, 1]", (4, 20, 1)),
        ("[5, 8.5, car, true, null]", (5, 8.5, "car", True, None)),
        ("[[2, 6, 3], [2, 8, 3]]", ([2, 6, 3], [2, 8, 3])),
        ("[[2, 6, 3]]", ([2, 6, 3],)),
        ("[{x: 2, y: 6, z: 3}, [2, 8, 3]]", ({"x": 2, "y": 6, "z": 3}, [2, 8, 3])),
    ],
)
def test_plain_list_of_a_sweep_is_short_for_a_choice(listed, values):
    short, problems = read(TEXT.replace("{range: [4, 20, 1]}", listed))
    assert not problems.errors
    assert short.sweep.variations[0] == Variation("gap", Choice(values))
    long, _ = read(TEXT.replace("{range: [4, 20, 1]}", f"{{choice: {listed}}}"))
    assert long.sweep == short.sweep


@pytest.mark.parametrize("key", ["add.Truck.size", "size"])
def test_plain_list_for_a_key_that_is_a_list_must_hold_lists(key):
    text = TEXT.replace("{name: Truck,", "{name: Truck, size: [2, 5, 3],")
    text = text.replace("gap: 10.0", "gap: 10.0, size: [1, 2]")
    text = text.replace("add.Truck.size: {choice: [[2, 6, 3], [2, 8, 3]]}", f"{key}: VALUES")
    _, problems = read(text.replace("VALUES", "[2, 6, 3]"))
    (error,) = problems.errors
    assert (error.code, error.location.line) == ("E805", 7)
    assert error.message == f"'{key}' is a list in this scenario, and none of the values to choose from is"
    assert "[[…]]" in error.hint
    for values in ("[[2, 6, 3]]", "{choice: [2, 6, 3]}", "[[2, 6, 3], [2, 8, 3]]"):
        _, problems = read(text.replace("VALUES", values))
        assert not problems.errors, values


def test_entries_of_lists_are_addressed_by_name():
    sized = TEXT.replace("{name: Truck,", "{name: Truck, size: {x: 2, y: 5, z: 3},")
    spec, problems = read(sized, **{"add.Truck.size.y": "9"})
    assert not problems.errors
    assert spec.add[0].object.size.y == 9.0
    _, problems = read(TEXT, **{"add.Trcuk.size.y": "9"})
    assert [(one.code, one.hint) for one in problems.errors] == [("E809", "did you mean 'Truck'?")]


def test_a_key_of_a_sweep_that_names_nothing_is_told_at_its_line_by_every_command():
    spec, problems = read(TEXT.replace("  gap: {range", "  gpa: {range"))
    assert spec is None
    assert [(one.code, one.location.line, one.hint) for one in problems.errors] == [("E809", 6, "did you mean 'gap'?")]


def test_plan_survives_its_json():
    space = Space(variations_of(["seed=count:3", "gap=5:7:1", "speed=normal:1:2", "a=[1],[2]"]), sample=4)
    plan = Plan("small", {"": "a:B"}, {"x": "1"}, None, 0.1, variations=space.variations, where=("gap > 1",), sample=4)
    assert Plan.from_json(plan.to_json()) == plan
