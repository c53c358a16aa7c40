"""The public face: what the docs name is there, errors name what was called, and what is printed fits on a screen."""

from __future__ import annotations

import inspect

import pytest

import cbsim
from cbsim.errors import UsageError
from cbsim.evaluation.rules import Check
from cbsim.evaluation.summary import MOST, Summary
from tests.common import ROOT

SCREEN = 400  # characters that a value may take when it is printed


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    record = tmp_path_factory.mktemp("face") / "run.mcap"
    world = cbsim.load("crash", duration=1.0)
    return cbsim.execute(world, record=record), record


def test_every_name_of_the_face_can_be_had():
    for name in dir(cbsim):
        assert getattr(cbsim, name) is not None


def test_verbs_of_the_face_are_plain_functions():
    assert inspect.isfunction(cbsim.run)
    assert list(inspect.signature(cbsim.run).parameters) == ["world", "duration", "planner", "seed", "snapshot"]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (cbsim.run, TypeError, r"^run\(\) missing 1 required positional argument: 'world'"),
        (lambda: cbsim.run(None, nonsense=1), TypeError, r"^run\(\) got an unexpected keyword argument 'nonsense'"),
        (
            lambda: cbsim.run("crash"),
            UsageError,
            r"^cbsim.run expects a World, found 'crash'; load it first: cbsim.load",
        ),
        (lambda: cbsim.run("crasch"), UsageError, r"cbsim.load\('crasch'\) \(did you mean 'crash'\?\)$"),
        (lambda: cbsim.execute(ROOT / "README.md"), UsageError, r"^cbsim.execute expects a World, found '.*README.md'"),
        (
            lambda: cbsim.sense(None, None),
            UsageError,
            "^cbsim.sense expects a World, as cbsim.load returns it, found an obj",
        ),
        (lambda: cbsim.step([], []), UsageError, "^cbsim.step expects a World, .* found an object of type list"),
        (lambda: cbsim.steer(1, {}, {}), UsageError, "^cbsim.steer expects a World, .* found an object of type int"),
        (lambda: cbsim.nowhere, AttributeError, "^module 'cbsim' has no attribute 'nowhere'"),
    ],
)
def test_errors_name_what_was_called(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_functions_say_what_they_expect_in_place_of_a_snapshot_and_of_the_world_of_a_recording(outcome):
    world = cbsim.load("crash", duration=1.0)
    for call in (cbsim.step, cbsim.sense, lambda *given: cbsim.run(given[0], snapshot=given[1])):
        with pytest.raises(
            UsageError, match=r"^expected a Snapshot, as World\.start or cbsim\.step return it, found an obj"
        ):
            call(world, world)
    with pytest.raises(UsageError, match=r"^cbsim\.replay expects a World, found 'crash'"):
        cbsim.replay(outcome[1], "crash")
    assert cbsim.replay(outcome[1]) is None


def test_result_reads_well_on_a_screen_and_in_a_notebook(outcome):
    result, record = outcome
    judged = cbsim.judge(record)
    for one in (result, judged):
        assert repr(one).startswith("crash: fail   1 s in 20 steps")
        assert repr(one).count("\n") == len(one.checks)
        assert "FAILED  travel Sedan: travelled" in repr(one)
        page = one._repr_html_()
        assert page.count("<tr>") == len(one.checks)
        assert page.count("FAILED") == sum(not check.passed for check in one.checks)
    assert result.digest in repr(result)


def test_what_a_planner_says_is_no_markup_and_no_flood():
    checks = tuple(Check(f"check {k}", k % 2 == 0, None, "first line\n<b>last line</b>") for k in range(4 * MOST))
    shown = Summary("<i>", "fail", "1 s", checks, ("<u>",))
    assert len(shown.text.splitlines()) == MOST + 3
    assert "FAILED  check 1: <b>last line</b>" in shown.text
    assert not any(tag in shown.html for tag in ("<i>", "<u>", "<b>last"))


@pytest.mark.parametrize(
    "name",
    [
        "rndf/city.rndf",
        "rndf/city.mdf",
        "scenarios/four_way_stop.yaml",
        "scenarios/objects/four_way_stop.xml",
        "scenarios/models/hexapod.irt",
        "scenarios/models/cart.jm",
        "scenarios/models/crash_dummy.urdf",
    ],
)
def test_specs_print_in_a_line(name):
    text = repr(cbsim.read(ROOT / name))
    assert len(text) < SCREEN
    assert "\n" not in text
    assert "location" not in text


def test_worlds_print_in_a_line(outcome):
    world = outcome[0].world
    for one in (world, world.scene, world.start, cbsim.Recording.open(outcome[1]), *world.sensors):
        assert len(repr(one)) < SCREEN, type(one)
    assert repr(world).startswith("<World 'crash' bodies: 15 ")
