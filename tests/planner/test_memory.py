"""Memory of planners: recorded at checkpoints, given back, and planners that differ when they continue."""

from __future__ import annotations

import pytest

import cbsim
from cbsim.errors import FileError, RecordingError, UsageError
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.resume import resume
from cbsim.planner import PlannerError
from cbsim.recording.checkpoints import CheckpointRow, checkpoint_rows_of
from cbsim.recording.container import DamageError
from cbsim.recording.recording import Recording
from cbsim.spec.planner import Seat
from cbsim.spec.traffic import Spread
from tests.common import ROOT
from tests.planner.remembering import Counts, Forgetful, Forgets, Loud, Odd, Stuck
from tests.worlds import bot, level, world


def site(*confs, **seat):
    seats = (Seat("CajunBot", checkpoint=0.25, **seat),)
    return world(bot("CajunBot", *confs), step=0.05, duration=1.0, seats=seats)


@pytest.fixture
def recorded(tmp_path):
    def record(made, planner):
        outcome = execute(made, planner=planner, record=tmp_path / "run.mcap")
        assert outcome.verdict == "pass", outcome.checks
        return Recording.open(tmp_path / "run.mcap")

    return record


@pytest.mark.parametrize("confs", [(), (level(rate=10.0),)], ids=["quiet", "laser"])
@pytest.mark.parametrize("seat", [{}, {"rate": 10.0, "latency": Spread(0.2, 0.05)}], ids=["each step", "late"])
def test_planner_continues_from_each_checkpoint_with_the_bits_of_the_whole_run(recorded, confs, seat, tmp_path):
    made = site(*confs, **seat)
    recording = recorded(made, Counts())
    rows = recording.checkpoints()
    assert [row.step for row in rows] == [0, 5, 10, 15]
    asked = (lambda k: k) if not seat else (lambda k: (k + 1) // 2)
    assert [int(row.memory) for row in rows] == [asked(row.step) for row in rows]
    assert resume(recording, Counts, made) is None
    recording.save(tmp_path / "copy.mcap")
    assert Recording.open(tmp_path / "copy.mcap").checkpoints() == rows


def test_recording_of_checkpoints_changes_no_bit():
    plain = world(bot("CajunBot"), step=0.05, duration=1.0)
    assert execute(site(), planner=Counts()).digest == execute(plain, planner=Counts()).digest


@pytest.mark.parametrize(("planner", "checkpoint", "time"), [(Forgetful, 0.25, 0.25), (Forgets, 0.25, 0.4)])
def test_planner_that_differs_is_named(recorded, planner, checkpoint, time):
    made = site()
    found = resume(recorded(made, planner()), planner, made)
    assert found is not None
    assert (found.name, found.checkpoint) == ("CajunBot", pytest.approx(checkpoint))
    assert found.time == pytest.approx(time)
    assert str(found).startswith("the planner of 'CajunBot' differs at ")


def test_isolated_planner_has_memory_too(recorded, monkeypatch):
    monkeypatch.chdir(ROOT)
    made = site(isolated=True)
    name = "tests.planner.remembering:Counts"
    recording = recorded(made, name)
    assert [row.memory for row in recording.checkpoints()] == [b"0", b"5", b"10", b"15"]
    assert resume(recording, lambda: name, made) is None
    (fault,) = execute(made, planner="tests.planner.remembering:Odd").checks
    assert "save() returned str, expected bytes" in fault.message


@pytest.mark.parametrize(
    ("planner", "told"), [(Odd(), "save() returned str, expected bytes"), (Loud(), "RuntimeError: no room")]
)
def test_planner_that_cannot_be_saved_fails(planner, told):
    (fault,) = execute(site(), planner=planner).checks
    assert told in fault.message
    assert fault.time == 0.0


def test_planner_that_cannot_be_restored_fails(recorded):
    made = site()
    with pytest.raises(PlannerError, match="ValueError: not mine"):
        resume(recorded(made, Stuck()), Stuck, made)


def test_planner_without_the_methods_is_misuse():
    class Plain:
        def start(self, *_):
            pass

        def plan(self, observation):
            return cbsim.Command()

    with pytest.raises(UsageError, match="has checkpoints, but no method save and no restore"):
        execute(site(), planner=Plain())


def test_recording_without_checkpoints_is_told(recorded):
    made = world(bot("CajunBot"), step=0.05, duration=0.2)
    with pytest.raises(RecordingError, match="there are no checkpoints"):
        resume(recorded(made, Counts()), Counts, made)


def test_rows_are_read_as_they_are_written_and_damage_is_told():
    rows = [CheckpointRow(3, "Böt", b"abc", b"snap"), CheckpointRow(9, "", b"", b"")]
    data = b"".join(row.to_bytes() for row in rows)
    assert list(checkpoint_rows_of(data)) == rows
    for cut in (1, 20, len(rows[0].to_bytes()) - 1):
        with pytest.raises(DamageError):
            list(checkpoint_rows_of(data[:cut]))


SCENARIO = "network: four_way_stop\nadd: [{name: Bot, kind: autonomous, at: 1.1.1}]\nduration: 1\nplanner:\n  Bot:\n"


def test_command_line_continues_planners(tmp_path, monkeypatch):
    import subprocess
    import sys

    monkeypatch.chdir(ROOT)
    for planner, code in (("Counts", 0), ("Forgets", 1)):
        path, record = tmp_path / f"{planner}.yaml", tmp_path / f"{planner}.mcap"
        path.write_text(f"{SCENARIO}    {{class: 'tests.planner.remembering:{planner}', checkpoint: 0.25}}\n")
        run = [sys.executable, "-m", "cbsim"]
        subprocess.run([*run, "run", path, "--record", record, "-q"], check=True)
        assert subprocess.run([*run, "replay", record], check=False).returncode == 0
        done = subprocess.run([*run, "replay", record, "--planners"], capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        if code:
            assert "the planner of 'Bot' differs at 0.4 s" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [("checkpoint: 0", "greater than 0"), ("checkpoint: 5, drives: speed", "'checkpoint' needs a whole driver")],
)
def test_mistake_is_told_at_its_line(tmp_path, text, told):
    path = tmp_path / "scenario.yaml"
    path.write_text(f"{SCENARIO}    {{class: 'a:B', {text}}}\n")
    with pytest.raises(FileError, match=r"scenario\.yaml:6") as error:
        cbsim.load(path)
    assert told in str(error.value)
