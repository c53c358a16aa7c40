"""Events in recordings: when each came true, which was overruled, and the rule that asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

import cbsim
from cbsim.errors import UsageError
from cbsim.evaluation.judge import Judge, judge
from cbsim.evaluation.outcome import execute
from cbsim.recording.recording import Recording
from cbsim.spec.events import Event
from cbsim.spec.scenario import Expectation
from cbsim.world.compile import compile_world
from cbsim.world.scene import Scene, Settings
from tests.events.scenes import do, when, world
from tests.worlds import bot, mover

CAR = mover("Car", (10.0, 3.0, 60.0, 0.0))
EVENTS = (
    Event("late", when("after", when("event", name="gone"), delay=2.0)),
    Event("gone", when("standstill", object="Car", for_=1.0)),
    Event("never", when("time", at=100.0)),
)
SCENARIO = """\
duration: 12
add:
  - {name: Car, kind: dynamic, script: [{speed: 10, pause: 3, distance: 60, angle: 0}]}
events:
  - {name: gone, when: {standstill: {object: Car, for: 1}}}
  - {name: late, when: {after: {delay: 2, when: {event: gone}}}}
expect:
  - event: {name: gone, before: 7.5}
  - event: {name: late, after: 8.5, before: 9.5}
  - event: {name: late, before: 8.5}
"""


def rule(**arguments) -> Expectation:
    return Expectation("event", tuple(({"after": None, "before": None} | arguments).items()))


@pytest.fixture
def path(tmp_path) -> Path:
    file = tmp_path / "gone.yaml"
    file.write_text(SCENARIO)
    return file


def told(recording: Recording) -> list[tuple[float, str, str]]:
    return [(round(one.time, 6), one.kind, one.object) for one in recording.events()]


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_recording_says_when_each_event_came_true(step, tmp_path):
    recording = cbsim.run(world(CAR, bot(), events=EVENTS, step=step), duration=10.0)
    expected = [(7.0, "event", "gone"), (9.0, "event", "late")]
    assert told(recording) == expected
    recording.save(tmp_path / "r.mcap")
    assert told(Recording.open(tmp_path / "r.mcap")) == told(recording)


def test_recording_from_a_later_snapshot_knows_what_has_come_true_before(tmp_path):
    made = world(CAR, events=EVENTS)
    snapshot = made.start
    for _ in range(160):
        snapshot = cbsim.step(made, snapshot)
    recording = cbsim.run(made, duration=2.0, snapshot=snapshot)
    assert told(recording) == [(7.0, "event", "gone"), (9.0, "event", "late")]


@pytest.mark.parametrize(
    ("arguments", "passed", "message"),
    [
        ({"name": "gone"}, True, "came true at 7.00 s, expected once"),
        ({"name": "gone", "before": 7.0}, True, "came true at 7.00 s, expected between 0 s and 7 s"),
        ({"name": "gone", "before": 6.9}, False, "came true at 7.00 s, expected between 0 s and 6.9 s"),
        ({"name": "gone", "after": 7.1}, False, "came true at 7.00 s, expected after 7.1 s"),
        ({"name": "late", "after": 8.0, "before": 9.0}, True, "came true at 9.00 s, expected between 8 s and 9 s"),
        ({"name": "never"}, False, "never came true, expected once"),
        ({"name": "never", "before": 5.0}, False, "never came true, expected between 0 s and 5 s"),
    ],
)
def test_rule_asks_for_an_event_in_a_window(arguments, passed, message):
    expectations = (rule(**arguments),)
    scene = Scene("test", (CAR,), settings=Settings(duration=12.0), events=EVENTS, expectations=expectations)
    made = compile_world(scene)
    (check,) = execute(made).checks
    assert (check.name, check.passed, check.message) == (f"event {arguments['name']}", passed, message)
    (again,) = judge(cbsim.run(made), scene).checks
    assert again == check


def test_rule_about_an_unknown_event_is_refused():
    made = world(CAR, events=EVENTS)
    live = Judge((rule(name="gon"),))
    with pytest.raises(UsageError, match=r"no event 'gon' to wait for .did you mean 'gone'"):
        live.begin(cbsim.run(made, duration=0.1).header, b"", {})


def test_scenario_with_events_runs_and_is_judged(path, tmp_path):
    made = cbsim.load(str(path))
    outcome = execute(made, record=tmp_path / "r.mcap")
    assert [check.passed for check in outcome.checks] == [True, True, False]
    assert judge(tmp_path / "r.mcap").checks == outcome.checks


def test_later_line_wins_and_that_is_told():
    first = Event("first", when("time", at=1.0), (do("run_state", object="CajunBot", state="PAUSE"),))
    second = Event("second", when("time", at=1.0), (do("run_state", object="CajunBot", state="DISABLE"),))
    other = Event("other", when("time", at=1.05), (do("run_state", object="CajunBot", state="RUN"),))
    made = world(bot(), events=(first, second, other))
    recording = cbsim.run(made, duration=2.0)
    assert told(recording) == [
        (1.0, "event", "first"), (1.0, "event", "second"), (1.0, "overruled", "first"), (1.05, "event", "other")
    ]  # fmt: skip
    outcome = execute(made, steps=40)
    (complaint,) = outcome.complaints
    assert complaint.startswith("an action of the event 'first' at 1 s was overruled")
    assert outcome.snapshot.columns.run_state[0] == 2
