"""JUnit XML: the shape that build servers expect, well-formed whatever a planner says."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from cbsim.errors import Location
from cbsim.evaluation.junit import Failure, junit
from cbsim.evaluation.outcome import Outcome, execute
from cbsim.evaluation.rules import Check
from cbsim.spec.scenario import Expectation
from cbsim.world.compile import compile_world
from cbsim.world.scene import Scene, Settings
from tests.worlds import bot, world

NUMBERS = ("tests", "failures", "errors", "skipped")
ALLOWED = {
    "testsuites": {"name", "tests", "failures", "errors", "time"},
    "testsuite": {"name", *NUMBERS, "time"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"classname", "name", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
}
INSIDE = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"failure", "error"},
}


def parsed(data: bytes) -> ET.Element:
    """Read it back, and hold it against the schema: elements, attributes, counts."""
    root = ET.fromstring(data.decode())
    for node in root.iter():
        assert set(node.attrib) == ALLOWED[node.tag]
        assert {child.tag for child in node} <= INSIDE.get(node.tag, set())
    for suite in root:
        tags = [child.tag for child in suite]
        assert "properties" not in tags[1:]
        assert int(suite.attrib["tests"]) == tags.count("testcase")
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(suite.attrib["errors"]) == len(suite.findall("testcase/error"))
        names = [(case.attrib["classname"], case.attrib["name"]) for case in suite.iter("testcase")]
        assert len(set(names)) == len(names)
    for key in ("tests", "failures", "errors"):
        assert int(root.attrib[key]) == sum(int(suite.attrib[key]) for suite in root)
    return root


def outcome(*checks: Check) -> Outcome:
    made = world(bot())
    verdict = "pass" if all(check.passed for check in checks) else "fail"
    return Outcome(made, made.start, verdict, list(checks), "0123456789abcdef", 0.25)


def test_run_has_a_case_for_itself_and_one_for_each_check():
    rest = Expectation("rest", (("object", "CajunBot"), ("from", 0.0)), Location("s.yaml", 3))
    far = Expectation("travel", (("object", "CajunBot"), ("at_least", 5.0), ("at_most", None)), Location("s.yaml", 4))
    scene = Scene("yard", (bot(),), settings=Settings(duration=1.0, seed=7), expectations=(rest, rest, far))
    made = execute(compile_world(scene))
    (suite,) = parsed(junit([made]))
    assert suite.attrib["name"] == "yard"
    assert [case.attrib["name"] for case in suite.iter("testcase")] == [
        *("run", "rest CajunBot", "rest CajunBot #2"),
        "travel CajunBot",
    ]
    (failure,) = suite.iter("failure")
    assert failure.attrib["type"] == "travel"
    assert "travelled 0.00 m, expected at least 5 m" in (failure.text or "")
    found = {item.attrib["name"]: item.attrib["value"] for item in suite.iter("property")}
    assert found["seed"] == "7"
    assert found["step"] == "0.05"
    assert found["digest"] == made.digest
    assert found["verdict"] == "fail"


def test_error_stands_apart_from_failures():
    root = parsed(junit([Failure("gone", "gone.yaml:3: error: no such file 'x' [E011]"), outcome()]))
    assert (root.attrib["errors"], root.attrib["failures"], root.attrib["tests"]) == ("1", "0", "2")
    (error,) = root.iter("error")
    assert error.attrib["message"] == "gone.yaml:3: error: no such file 'x' [E011]"


def test_undecided_check_is_an_error_and_makes_the_verdict_one():
    checks = [Check("passing P", None, 1.0, "undecided: the run ends"), Check("lane P", True, 2.0, "stayed")]
    made = outcome(*checks)
    (suite,) = parsed(junit([made]))
    assert (suite.attrib["errors"], suite.attrib["failures"]) == ("1", "0")
    (error,) = suite.iter("error")
    assert (error.attrib["type"], error.text) == ("passing", "at 1.000 s of simulated time: undecided: the run ends")
    assert [check["passed"] for check in made.to_dict()["checks"]] == [None, True]
    assert "  undecided  passing P: undecided: the run ends" in made.summary.text
    assert [check.status for check in checks] == ["undecided", "passed"]


def test_reason_of_a_traceback_is_the_message():
    text = 'Traceback (most recent call last):\n  File "p.py", line 3, in plan\nRuntimeError: lost'
    (failure,) = parsed(junit([outcome(Check("planner P", False, 1.0, text))])).iter("failure")
    assert failure.attrib["message"] == "RuntimeError: lost"
    assert "line 3, in plan" in (failure.text or "")


@given(st.lists(st.tuples(st.text(), st.booleans(), st.text()), max_size=3), st.text())
def test_any_text_gives_well_formed_xml(checks, scenario):
    made = outcome(*(Check(name, passed, None, message) for name, passed, message in checks))
    parsed(junit([made, Failure(scenario, scenario)]))


def test_control_characters_stand_as_escapes():
    message = "\x1b[31mred\x00\ud800\uffff"
    (failure,) = parsed(junit([outcome(Check("planner P", False, 1.0, message))])).iter("failure")
    assert "\\x1b[31mred\\x00\\ud800\\uffff" in (failure.text or "")
