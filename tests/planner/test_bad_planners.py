"""Planners that misbehave in every way: each fails its own run with its own traceback, and disturbs nothing else."""

from __future__ import annotations

import bdb
import contextlib
import dataclasses
import os
import signal
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core import event

import cbsim
from cbsim.errors import UsageError
from cbsim.evaluation.judge import judge
from cbsim.evaluation.outcome import execute
from cbsim.planner import deadline
from cbsim.planner.deadline import CallTimeout, DeadlineError
from cbsim.recording.recording import Recording
from tests.worlds import bot, level, world

HEAD = """
import math, sys, time, os
import numpy as np
from cbsim import Command


class Planner:
    def start(self, mission, network, vehicle):
        {start}

    def plan(self, observation):
        if observation.time < 0.12:
            return Command(throttle=0.1)
        {plan}
"""


@pytest.fixture
def run(tmp_path, monkeypatch, request):
    """Write a module and run its planner for half a second, with a deadline of a quarter of a second."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    name = f"bad_{abs(hash(request.node.name))}"

    def run(text: str, record=None):
        (tmp_path / f"{name}.py").write_text(text)
        made = world(bot("CajunBot", level()), step=0.05, duration=0.5, deadline=0.25)
        outcome = execute(made, planner=f"{name}:Planner", record=record)
        (fault,) = outcome.checks
        return outcome, fault

    yield run
    sys.modules.pop(name, None)


IN_PLAN = {
    "raises": ("raise RuntimeError('lost')", "RuntimeError: lost"),
    "exits": ("sys.exit(0)", "SystemExit: 0"),
    "raises what Ctrl-C does": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "ends the process": ("os._exit(0)", "os._exit(0) would end the run"),
    "raises what is no Exception": ("raise BaseException('odd')", "BaseException: odd"),
    "gives a number that is none": ("return Command(throttle=math.nan)", "throttle is nan, expected a number from -1"),
    "is out of range": ("return Command(steering=1.5)", "steering is 1.5, expected a number from -1 to 1"),
    "gives text for a number": ("return Command(throttle='full')", "throttle is 'full'"),
    "recurses": ("return self.plan(observation)", "RecursionError"),
    "writes into its scan": ("next(iter(observation.scans.values())).ranges[:] = 0", "read-only"),
    "makes its scan writable": (
        "next(iter(observation.scans.values())).ranges.setflags(write=True)",
        "cannot set WRITEABLE flag to True of this array",
    ),
    "divides by zero": ("return Command(1 / 0)", "ZeroDivisionError"),
}


@pytest.mark.parametrize("name", IN_PLAN)
def test_mistake_in_a_decision_fails_with_its_line_and_reason(run, name):
    plan, reason = IN_PLAN[name]
    outcome, fault = run(HEAD.format(start="pass", plan=plan))
    assert outcome.verdict == "fail"
    assert (fault.name, fault.time) == ("planner Planner", pytest.approx(0.15))
    assert reason in fault.message
    assert plan in fault.message
    assert "in plan" in fault.message
    assert "cbsim/" not in fault.message
    assert outcome.snapshot.time == pytest.approx(0.15)


@pytest.mark.parametrize(
    "plan", ["raise RuntimeError('lost')", "return Command(throttle=math.nan)", "while True: pass", "return 'left'"]
)
def test_failure_is_in_the_recording_and_judged_alike(run, tmp_path, plan):
    outcome, fault = run(HEAD.format(start="pass", plan=plan), record=tmp_path / "run.mcap")
    recording = Recording.open(tmp_path / "run.mcap")
    found = judge(recording, outcome.world.scene)
    assert found.verdict == outcome.verdict == "fail"
    assert found.checks == outcome.checks == [fault]
    assert recording.complete
    assert recording.faults == [(fault.name, fault.time, fault.message)]
    recording.save(tmp_path / "copy.mcap")
    assert Recording.open(tmp_path / "copy.mcap").faults == recording.faults


def test_failure_before_the_first_step_is_in_the_recording_too(run, tmp_path):
    _, fault = run(HEAD.format(start="1 / 0", plan="pass"), record=tmp_path / "run.mcap")
    ((name, at, said),) = Recording.open(tmp_path / "run.mcap").faults
    assert (name, at, said) == (fault.name, 0.0, fault.message)
    assert "ZeroDivisionError" in said


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ("return None", "plan() returned NoneType, expected a Command"),
        ("return (0.1, 0.0)", "plan() returned tuple, expected a Command"),
        ("return Command", "plan() returned type, expected a Command"),
    ],
)
def test_what_is_not_a_command_fails(run, plan, reason):
    assert run(HEAD.format(start="pass", plan=plan))[1].message == reason


def test_command_that_was_tampered_with_fails(run):
    plan = "c = Command(); object.__setattr__(c, 'throttle', math.inf); return c"
    assert "numbers outside -1 to 1" in run(HEAD.format(start="pass", plan=plan))[1].message


HANGS = {
    "loops": "while True: pass",
    "sleeps": "time.sleep(60)",
    "swallows every Exception": """
        while True:
            try:
                time.sleep(0.001)
            except Exception:
                pass""",
    "swallows everything": """
        while True:
            try:
                time.sleep(0.001)
            except BaseException:
                pass""",
    "swallows everything twice": """
        while True:
            try:
                try:
                    sum(range(1000))
                except:
                    pass
                finally:
                    sum(range(1000))
            except:
                continue""",
    "waits for nobody": "import threading; threading.Event().wait()",
    "stops the timer": "import signal; signal.setitimer(signal.ITIMER_REAL, 0); time.sleep(60)",
    "ignores the timer's signal": "import signal; signal.signal(signal.SIGALRM, signal.SIG_IGN); time.sleep(60)",
    "blocks the timer's signal": "import signal as s; s.pthread_sigmask(s.SIG_BLOCK, [s.SIGALRM]); time.sleep(60)",
    "takes every signal away": """
        import signal
        for number in (signal.SIGALRM, signal.SIGVTALRM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        while True:
            pass""",
}


@pytest.mark.parametrize("where", ["plan", "start"])
@pytest.mark.parametrize("name", HANGS)
def test_planner_that_hangs_is_ended_where_it_hangs(run, name, where, monkeypatch):
    monkeypatch.setattr("cbsim.planner.driver.START_FACTOR", 1.0)
    text = {"start": "pass", "plan": "return Command()", where: HANGS[name]}
    began = time.perf_counter()
    outcome, fault = run(HEAD.format(**text))
    assert time.perf_counter() - began < 5.0
    assert outcome.verdict == "fail"
    assert fault.message.splitlines()[-1] == f"{where}() took longer than its deadline of 0.25 s"
    assert f"in {where}" in fault.message
    assert "deadline.py" not in fault.message
    assert sys.gettrace() is None or "_raise" not in repr(sys.gettrace())


@pytest.fixture(autouse=True)
def signals():
    """Give the signals of this process back as they were."""
    numbers = (signal.SIGALRM, signal.SIGVTALRM, signal.SIGINT)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
    for number, handler in before.items():
        signal.signal(number, handler)


def test_hang_on_another_thread_is_ended_too(tmp_path):
    class Loop:
        def start(self, *_):
            pass

        def plan(self, observation):
            while True:
                pass

    found = []

    def work():
        found.append(execute(world(bot(), step=0.05, duration=0.5, deadline=0.1), planner=Loop()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(20.0)
    (outcome,) = found
    assert outcome.verdict == "fail"
    assert "plan() took longer than its deadline of 0.1 s" in outcome.checks[0].message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise OSError('no map')", "OSError: no map"),
        ("import no_such_module_at_all", "No module named 'no_such_module_at_all'"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("class Planner:\n  def __init__(self): raise ValueError('unborn')\n", "ValueError: unborn"),
        ("class Planner:\n  def __init__(self, needed): pass\n", "missing 1 required positional argument"),
        ("def broken(:", "SyntaxError"),
        ("while True: pass", "importing it took longer than its deadline of 0.25 s"),
    ],
)
def test_failure_before_the_start_is_the_planners_too(run, text, reason, monkeypatch):
    monkeypatch.setattr("cbsim.planner.driver.START_FACTOR", 1.0)
    outcome, fault = run(text)
    assert (outcome.verdict, fault.time) == ("fail", 0.0)
    assert reason in fault.message
    assert "importlib" not in fault.message


def test_failure_to_start_tells_the_lines_of_all_that_led_to_it(run):
    start = """
        try:
            {}['map']
        except KeyError as reason:
            raise LookupError('no way') from reason"""
    _, fault = run(HEAD.format(start=start, plan="return Command()"))
    assert "KeyError: 'map'" in fault.message
    assert "LookupError: no way" in fault.message
    assert fault.message.count("in start") == 2


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere:Planner", r"no module named 'nowhere'"),
        ("cbsim.nowhere:Planner", r"no module named 'cbsim\.nowhere'"),
        ("tests.worlds:bott", r"has no 'bott' \(did you mean 'bot'\?\)"),
        ("tests.worlds:SIZE", r"cannot be created"),
        ("tests.worlds:Path", r"has no 'Path'"),
        ("pathlib:Path", r"has no method start and no plan"),
        ("pathlib", r"not of the form module:Class"),
    ],
)
def test_name_that_is_not_there_is_misuse_and_not_the_planners_fault(name, told):
    with pytest.raises(UsageError, match=told):
        execute(world(bot()), planner=name)


def test_modules_that_a_planner_removes_come_back(run):
    plan = "[sys.modules.pop(name) for name in list(sys.modules) if name.split('.')[0] in ('numpy', 'cbsim')]"
    numpy, ours = sys.modules["numpy"], sys.modules["cbsim.simulation.loop"]
    outcome, fault = run(HEAD.format(start="pass", plan=plan))
    assert outcome.verdict == "fail"
    assert "removed modules from sys.modules" in fault.message
    assert sys.modules["numpy"] is numpy
    assert sys.modules["cbsim.simulation.loop"] is ours


def test_what_a_planner_does_to_the_process_is_undone(run, tmp_path, capsys):
    (tmp_path / "away").mkdir()
    plan = "os.chdir('away'); np.seterr(all='raise'); sys.stdout = None; raise RuntimeError('after')"
    out, errors, here = sys.stdout, np.geterr(), Path.cwd()
    run(HEAD.format(start="pass", plan=plan))
    assert (sys.stdout, np.geterr(), Path.cwd()) == (out, errors, here)


def test_flood_of_text_does_not_disturb_the_run(tmp_path, capsys):
    class Loud:
        def start(self, *_):
            pass

        def plan(self, observation):
            print("x" * 100_000)
            return cbsim.Command()

    assert execute(world(bot(), step=0.05, duration=0.5), planner=Loud()).verdict == "pass"
    assert len(capsys.readouterr().out) == 10 * 100_001


def test_endless_message_is_cut(run):
    _, fault = run(HEAD.format(start="pass", plan="raise RuntimeError('x' * 10_000_000)"))
    assert len(fault.message) < 25_000


def test_nothing_a_planner_does_to_its_readings_reaches_the_recording(tmp_path):
    class Vandal(Keeper):
        def plan(self, observation):
            for scan in observation.scans.values():
                arrays = [getattr(scan, field.name) for field in dataclasses.fields(scan)]
                arrays = [one for one in [*arrays, *scan.pose] if isinstance(one, np.ndarray)]
                for array in [*arrays, *(one.base for one in arrays if isinstance(one.base, np.ndarray))]:
                    with contextlib.suppress(ValueError):
                        array.setflags(write=True)
                        array[...] = 0
            return super().plan(observation)

    made = world(bot("CajunBot", level()), step=0.05, duration=0.5)
    for name, planner in (("kept", Keeper()), ("spoiled", Vandal())):
        execute(made, planner=planner, record=tmp_path / f"{name}.mcap")
    kept, spoiled = (Recording.open(tmp_path / f"{name}.mcap") for name in ("kept", "spoiled"))
    (sensor,) = made.sensors
    assert len(kept.scans(sensor.key)) > 5
    for one, other in zip(kept.scans(sensor.key), spoiled.scans(sensor.key), strict=True):
        assert np.array_equal(one.ranges, other.ranges)
        assert np.array_equal(one.points, other.points, equal_nan=True)
    assert sensor.directions.any()


def test_interrupt_of_the_user_is_not_the_planners_fault():
    class Waiting(Keeper):
        def plan(self, observation):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        execute(world(bot(), step=0.05, duration=0.5), planner=Waiting())


def test_forked_child_of_a_planner_may_end_itself():
    class Forking(Keeper):
        def plan(self, observation):
            child = os.fork()
            if not child:
                os._exit(7)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
            return super().plan(observation)

    leave = os._exit
    assert execute(world(bot(), step=0.05, duration=0.2), planner=Forking()).verdict == "pass"
    assert os._exit is leave


class Keeper:
    """Drives in a circle and keeps its deadline."""

    def start(self, *_):
        pass

    def plan(self, observation):
        return cbsim.Command(0.5, np.sin(observation.time))


def test_deadline_changes_no_bit_of_a_run_that_keeps_it():
    digests = {execute(world(bot(), duration=2.0, deadline=limit), planner=Keeper()).digest for limit in (0.5, 50.0)}
    assert len(digests) == 1


def test_timer_of_somebody_else_is_left_alone():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with CallTimeout() as timeout, pytest.raises(DeadlineError):
            timeout.call(0.3, lambda: [None for _ in iter(int, 1)])
        assert rung == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_deadline_waits_for_a_debugger():
    class Patient(bdb.Bdb):
        def user_line(self, frame):
            pass

    def work():
        time.sleep(0.3)
        return "done"

    with CallTimeout() as timeout:
        assert Patient().runcall(timeout.call, 0.1, work) == "done"


def kernel_named(module):
    def kernel():
        pass

    kernel.__module__ = module
    return SimpleNamespace(py_func=kernel)


def compiling(module, seconds):
    """Take some time as numba does while it compiles a function of a module."""
    with event.trigger_event("numba:compile", {"dispatcher": kernel_named(module)}):
        time.sleep(seconds)


@pytest.mark.parametrize("of_a_thread", [False, True])
def test_time_that_kernels_take_to_compile_is_no_time_of_the_planner(of_a_thread):
    def call():
        with CallTimeout() as timeout:
            timeout.call(0.2, compiling, "cbsim.sensing.kernels.scans", 0.5)  # kept although it takes longer
            for late in (lambda: compiling("my_planner", 0.5), lambda: [None for _ in iter(int, 1)]):
                with pytest.raises(DeadlineError):
                    timeout.call(0.2, late)
            with pytest.raises(DeadlineError):  # compiling first does not help a planner that hangs afterwards
                timeout.call(0.2, lambda: (compiling("cbsim.a", 0.3), [None for _ in iter(int, 1)]))
        return "done"

    if of_a_thread:
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(call).result() == "done"
    else:
        assert call() == "done"


def test_watch_gives_the_timer_back():
    before = signal.getsignal(signal.SIGALRM)
    with CallTimeout() as timeout, timeout:
        assert timeout.call(1.0, max, 3, 4) == 4
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_interruption_that_comes_once_more_on_the_way_out_does_not_hide_where_a_call_hung(monkeypatch):
    def hang():
        raise DeadlineError

    # the signal's handler raises in the frame that it interrupts, which is one of the module's
    text = "def interrupted():\n    if late:\n        raise late.pop()\n    disarm()"
    with CallTimeout() as timeout:
        interrupter = timeout._interrupter
        names = {"late": [DeadlineError()], "disarm": interrupter.disarm}
        exec(compile(text, deadline.__file__, "exec"), names)
        monkeypatch.setattr(interrupter, "disarm", names["interrupted"])
        with pytest.raises(DeadlineError) as caught:
            timeout.call(1.0, hang)
    assert "hang" in [frame.name for frame in traceback.extract_tb(caught.tb)]


class Lingering:
    """Takes its time to go."""

    def __del__(self):
        until = time.monotonic() + 0.3
        while time.monotonic() < until:
            pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interruption_that_a_destructor_swallows_is_not_told_and_comes_again(capfd):
    def linger():
        for _ in range(50):
            Lingering()

    hook = sys.unraisablehook
    with CallTimeout() as timeout, pytest.raises(DeadlineError):
        timeout.call(0.1, linger)
    assert sys.unraisablehook == hook
    assert capfd.readouterr().err == ""
