"""Every shipped scenario passes, twice alike; each thing that one shows, once broken, fails its checks and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

import cbsim
from cbsim.evaluation.outcome import execute
from tests.scenarios.breaking import NAMES, Break, failing, label, run_broken
from tests.scenarios.drivers import Blind, Dawdler, Drifter, Eager, Runner, Shortcut, Sleeper, Speeder, Stranded

XML, LOOP, COURSE = "objects/four_way_stop.xml", "objects/loop.obj", "objects/skid_course.obj"


def goal(segment: int, lane: int, waypoint: int, pause: int = 0) -> str:
    """A goal of a reactive object as the object files write it."""
    return f'<goal pause="{pause}" segment="{segment}" lane="{lane}" waypoint="{waypoint}"/>'


def wreck(scenario: str, place: str) -> tuple[tuple[str, str, str], ...]:
    """A car that stands in the way."""
    entry = f"  - {{name: Wreck, size: [1.8, 4, 1.5], at: {place}}}\nexpect:\n"
    return ((f"{scenario}.yaml", "expect:\n", entry),)


CROSSING = ("reach Bus 2.2.6", "reach Bus 4.2.6", "reach Sedan 2.1.6", "reach Sedan 3.1.4")  # behind the pickup

TRAFFIC = [
    Break(
        "four_way_stop",
        "the pickup comes last",
        (*CROSSING, "reach Pickup 1.1.6", "reach Pickup 3.1.6", "rest Pickup"),
        edits=((XML, "<initial_pause>0<", "<initial_pause>9<"),),
    ),
    Break(
        "four_way_stop",
        "the sedan comes first",
        (*CROSSING[1:], "reach Pickup 1.1.6", "reach Pickup 3.1.6", "rest Pickup"),
        edits=((XML, "<initial_pause>0<", "<initial_pause>3<"),),
    ),
    Break(
        "four_way_stop",
        "the sedan sets off when the others have gone",
        (*CROSSING, "rest Bus", "rest Sedan"),
        edits=((XML, "<initial_pause>1<", "<initial_pause>60<"),),
    ),
    Break(
        "four_way_stop",
        "the sedan turns right instead of left",
        ("reach Bus 2.2.6", "reach Bus 4.2.6", "reach Sedan 2.1.6", "reach Sedan 3.1.4"),
        edits=((XML, goal(3, 1, 4), goal(1, 2, 4)),),
    ),
    Break(
        "four_way_stop",
        "the bus does not wait for its turn",
        (
            "reach Bus 2.2.6",
            "reach Bus 4.2.6",
            "reach Pickup 1.1.6",
            "reach Pickup 3.1.6",
            "reach Sedan 2.1.6",
            "reach Sedan 3.1.4",
            "rest Pickup",
        ),
        edits=((XML, "<initial_pause>4<", "<initial_pause>0<"),),
    ),
    Break(
        "four_way_stop",
        "the bus does not come back",
        ("reach Bus 2.2.6", "travel Bus"),
        edits=((XML, goal(2, 1, 3), ""),),
    ),
    Break(
        "four_way_stop",
        "the bus stands at the end of the road for long",
        ("reach Bus 2.2.6", "rest Bus", "travel Bus"),
        edits=((XML, goal(2, 2, 6, 1), goal(2, 2, 6, 20)),),
    ),
    Break(
        "loop",
        "the lapping car does not stop on its way",
        ("reach object 11 1.1.36",),
        edits=((LOOP, "3 // pause [s]\n1 1 24", "0 // pause [s]\n1 1 24"),),
    ),
    Break(
        "loop",
        "the lapping car crawls at first",
        ("reach object 11 1.1.20", "reach object 11 1.1.36", "travel object 11"),
        edits=((LOOP, "8 // speed [m/s]\n0 // pause [s]\n1 1 4 ", "1 // speed [m/s]\n0 // pause [s]\n1 1 4 "),),
    ),
    Break(
        "loop",
        "the car from the farm runs its stop",
        ("reach object 12 1.2.30",),
        edits=((LOOP, "3 // pause [s]\n2 2 5", "0 // pause [s]\n2 2 5"),),
    ),
    Break(
        "loop",
        "the car from the farm starts late",
        ("reach object 12 2.2.5", "reach object 12 1.2.30", "rest object 12"),
        edits=((LOOP, "0 // pause [s]\n2 2 2", "9 // pause [s]\n2 2 2"),),
    ),
    Break(
        "loop",
        "the angles of the script go round the other way",
        ("reach object 13 (-176, 0)", "reach object 13 (-176, -60)"),
        settings={"script_angle": "cw_north"},
    ),
    Break(
        "loop",
        "the tractor starts slowly",
        (
            "reach object 13 (-200, 0)",
            "reach object 13 (-176, 0)",
            "reach object 13 (-176, -60)",
            "travel object 13",
            "rest object 13",
        ),
        edits=(
            (
                LOOP,
                "3 // speed [m/s]\n1 // pause [s]\n60 // distance [m]\n0 ",
                "1 // speed [m/s]\n1 // pause [s]\n60 // distance [m]\n0 ",
            ),
        ),
    ),
    Break(
        "skid_course",
        "a steering wheel cannot turn it round in the alley",
        ("travel object 1", "collision object 1"),
        may=("reach object 1 (-210, -70)", "reach object 1 (-228, -70)", "reach object 1 (-245, -50)", "rest object 1"),
        edits=((COURSE, "0 // wheel type", "1 // wheel type"),),
    ),
    Break(
        "skid_course",
        "levers that stick",
        (
            "reach object 1 (-190, -40)",
            "reach object 1 (-210, -70)",
            "reach object 1 (-228, -70)",
            "reach object 1 (-245, -50)",
            "travel object 1",
            "collision object 1",
        ),
        may=("rest object 1",),
        edits=((COURSE, "1 // lever rate", "0.05 // lever rate"),),
    ),
    Break(
        "skid_course",
        "the first side is too long",
        (
            "reach object 1 (-230, -40)",
            "reach object 1 (-190, -40)",
            "reach object 1 (-210, -70)",
            "reach object 1 (-228, -70)",
            "reach object 1 (-245, -50)",
            "travel object 1",
            "rest object 1",
        ),
        edits=(
            (
                COURSE,
                "2 // speed [m/s]\n3 // pause [s]\n30 // distance [m]\n0 ",
                "1 // speed [m/s]\n3 // pause [s]\n45 // distance [m]\n0 ",
            ),
        ),
    ),
    Break(
        "skid_course",
        "it waits too long in the end",
        ("reach object 1 (-245, -50)", "travel object 1", "rest object 1"),
        edits=(
            (
                COURSE,
                "3 // pause [s]\n20 // distance [m]\n90 // angle on the map [deg]\n2 // speed [m/s]\n0 ",
                "9 // pause [s]\n20 // distance [m]\n90 // angle on the map [deg]\n2 // speed [m/s]\n0 ",
            ),
        ),
    ),
    Break(
        "skid_course",
        "the car does not stop on its way",
        ("reach object 2 1.1.26",),
        edits=((COURSE, "2 // pause [s]\n1 1 14", "0 // pause [s]\n1 1 14"),),
    ),
    Break(
        "skid_course",
        "the car crawls at first",
        ("reach object 2 1.1.14", "reach object 2 1.1.26", "rest object 2"),
        edits=((COURSE, "7 // speed [m/s]\n0 // pause [s]\n1 1 4 ", "1 // speed [m/s]\n0 // pause [s]\n1 1 4 "),),
    ),
    Break(
        "skid_course",
        "the car goes on",
        ("reach object 2 1.1.26", "travel object 2", "rest object 2"),
        edits=((COURSE, "1 1 26 ", "1 1 28 "),),
    ),
]

BESIDE_A_BOT = [
    Break(
        "roundabout",
        "the taxi comes from further away",
        ("reach Taxi 1.1.8", "reach Taxi 3.2.1"),
        {"add.1.at": "2.1.9"},
        may=("reach Van 1.1.8", "reach Van 5.2.12", "reach Truck 1.1.5"),  # they yield to the taxi, or follow it
    ),
    Break(
        "roundabout",
        "the van comes from further away",
        ("reach Van 5.2.12", "reach Van 1.1.8"),
        {"add.2.at": "5.2.6"},
    ),
    Break(
        "roundabout", "the truck comes from further away", ("reach Truck 1.1.5", "travel Truck"), {"add.3.at": "2.1.4"}
    ),
    Break(
        "roundabout", "the truck goes to the end of the road", ("travel Truck",), {"add.3.goals.0.waypoint": "4.1.12"}
    ),
    Break(
        "merge",
        "the lead car sets off late",
        (
            "reach Delivery van 1.3.5",
            "reach Lead car 1.2.10",
            "reach Lead car 5.1.8",
            "reach Tanker 1.2.10",
            "rest Lead car",
        ),
        {"add.1.initial_pause": 4},
    ),
    Break(
        "merge",
        "the tanker sets off late",
        ("reach Tanker 1.2.10",),
        {"add.2.initial_pause": 2},
    ),
    Break(
        "merge",
        "the van comes late",
        ("reach Delivery van 1.2.10", "reach Delivery van 1.3.5"),
        {"add.3.initial_pause": 3},
    ),
    Break(
        "merge",
        "the wagon closes up",
        ("reach Delivery van 1.2.10", "reach Delivery van 1.3.5", "reach Wagon 1.2.10"),
        {"add.4.initial_pause": 1},
    ),
    Break(
        "merge",
        "the hatchback comes from further away",
        ("reach Hatchback 2.1.12", "reach Hatchback 2.2.13"),
        {"add.5.at": "2.1.4"},
    ),
]

CRASH = [
    *(
        Break("crash", f"no {what} in its way", (f"travel {who}", f"rest {who}"), {f"add.{row}.position": [300, 0, 0]})
        for row, what, who in (
            (0, "barrier", "Sedan"),
            (2, "block", "Pickup"),
            (4, "bollard", "Hatchback"),
            (6, "ball", "ATV"),
            (8, "tyre", "Coupe"),
        )
    ),
    Break("crash", "it hits the ball harder", ("collision ATV",), {"add.7.script.0.speed": 7}),
    Break(
        "crash", "a speed table that nobody can drive over", ("collision Van", "travel Van"), {"add.10.drivable": False}
    ),
    Break("crash", "no truck", ("reach Parked car (60, 46)", "travel Parked car"), {"add.14.position": [300, 0, 0]}),
    Break("crash", "no wall", ("travel Parked car", "rest Parked car"), {"add.13.position": [300, 0, 0]}),
]

HIT_BY_THE_BOT = (
    *("collision CajunBot", "reach Taxi 3.2.1", "travel Truck"),
    *("checkpoints CajunBot", "mission_time CajunBot"),
)

DRIVEN = [
    *(
        case
        for name, mission, lines in (
            ("mission", "mission_time CajunBot", True),
            ("roundabout", "mission_time CajunBot", False),
            ("merge", "mission_time CajunBot", True),
            ("parking", "mission_time CajunBot", True),
        )
        for case in (
            Break(
                name,
                "the driver sleeps",
                ("checkpoints CajunBot", mission) + (("stop_line CajunBot",) if lines else ()),
                driver=Sleeper,
                may=("collision CajunBot", "lane CajunBot", "speed CajunBot"),  # literal traffic pushes it along
            ),
            Break(
                name,
                "the driver speeds",
                ("speed CajunBot",),
                driver=Speeder,
                may=HIT_BY_THE_BOT if name == "roundabout" else (),  # it runs into traffic that has the right of way
            ),
            Break(
                name,
                "the driver drifts to the left",
                ("lane CajunBot",),
                driver=Drifter,
                # between parked cars it may get stuck on one
                may=("collision CajunBot", *(("checkpoints CajunBot", mission) if name == "parking" else ())),
            ),
            Break(
                name,
                "the driver takes a short cut",
                ("checkpoints CajunBot", mission) + (("stop_line CajunBot",) if name in ("mission", "parking") else ()),
                driver=Shortcut,
            ),
            Break(name, "the driver dawdles", (mission,), driver=Dawdler),
            *([Break(name, "the driver runs stop lines", ("stop_line CajunBot",), driver=Runner)] if lines else []),
        )
    ),
    Break(
        "sensors",
        "the driver sleeps",
        ("stop_line Surveyor", "reach Surveyor 3.2.3", "reach Surveyor 3.2.5"),
        driver=Sleeper,
    ),
    Break(
        "sensors",
        "the driver is blind",
        ("collision Surveyor",),
        driver=Blind,
        may=("lane Surveyor", "stop_line Surveyor", "reach Surveyor 3.2.5"),
    ),
    Break("sensors", "the driver speeds", ("speed Surveyor",), driver=Speeder),
    Break("sensors", "the driver drifts to the left", ("lane Surveyor",), driver=Drifter),
    Break("sensors", "the cart stays", ("stop_line Surveyor", "reach Surveyor 3.2.5"), {"add.1.script.0.pause": 60}),
    Break("sensors", "the cart goes too far", ("rest Hay cart",), {"add.1.script.1.distance": 20}),
    *(
        Break(
            name,
            "the driver is blind",
            ("collision CajunBot", "checkpoints CajunBot", "mission_time CajunBot"),
            edits=wreck(name, place),
            driver=Blind,
            may=(
                *("lane CajunBot", "stop_line CajunBot", "reach Lead car 5.1.8"),
                # the wreck is passed by the other lane, and nobody changes to the one on which it stands
                *("reach Lead car 1.2.10", "reach Wagon 1.2.10", "reach Delivery van 1.3.5"),
            ),
        )
        for name, place in (("mission", "3.2.3"), ("roundabout", "4.2.8"), ("merge", "1.2.12"), ("parking", "4.3.2"))
    ),
    Break("parking", "the pedestrian turns back", ("travel Pedestrian",), {"add.8.script.1.distance": 12}),
    Break("parking", "the pedestrian looks about", ("rest Pedestrian",), {"add.8.script.0.pause": 12}),
]
DUMMY = [
    Break("crash_dummy", "the sedan stops before it", ("travel Dummy",), {"add.0.script.0.distance": 9}),
    Break(
        "crash_dummy",
        "the second one stands beside the way",
        ("reach Second (20.2, 45)", "travel Second"),
        {"models.1.position": [24, 20, 0]},
    ),
    Break(
        "crash_dummy",
        "the truck turns back",
        ("travel Truck", "travel Second", "reach Second (20.2, 45)"),
        {"add.1.script.0.distance": 20},
    ),
    Break(
        "crash_dummy",
        "the child stands in the way",
        ("collision Child", "rest Child"),
        {"models.2.position": [0, 22, 0]},
        may=("travel Dummy",),
    ),
]
BLOWS = [
    Break("blows", "the rammer stops before it", ("travel Parked", "travel Rammer"), {"add.0.script.0.distance": 9}),
    Break("blows", "the barrier is beside the way", ("travel Sedan",), {"add.3.position": [-20, 30, 0]}),
    Break(
        "blows",
        "the sedan is too fast",
        ("collision Sedan",),
        {"add.2.script.0.speed": 13, "add.2.position": [8, -24, 0], "add.2.script.0.distance": 60},
        may=("travel Sedan",),
    ),
    Break("blows", "the block is beside the way", ("travel Pickup",), {"add.5.position": [-20, 18, 0]}),
    Break(
        "blows",
        "the pickup is too fast",
        ("collision Pickup",),
        {"add.4.script.0.speed": 13, "add.4.position": [16, -24, 0], "add.4.script.0.distance": 60},
        may=("travel Pickup",),
    ),
    Break("blows", "the coupe stops before it", ("travel Coupe", "travel Walker"), {"add.6.script.0.distance": 9}),
    Break("blows", "nobody is at the cart's stick", ("travel Cart", "travel Dummy"), {"models.2.settings": {}}),
]
QUICK, SLOW = TRAFFIC + CRASH + DUMMY, BESIDE_A_BOT + DRIVEN + BLOWS


def ram(start: str, goal: str, file: str = "town.yaml") -> tuple[tuple[str, str, str], ...]:
    """A literal truck that runs down a lane, whoever is in the way."""
    entry = f"add:\n  - {{name: Ram, kind: dynamic, at: {start}, goals: [{{waypoint: {goal}, speed: 30}}]}}\n"
    return ((file, "add:\n", entry),)


DAWDLING = "{name: Car, count: 10, drivers: slow}\n\ndrivers: {slow: {desired_speed: {speed: 2}}}"

CALLS = "reach Courier 4.8.2", "reach Courier 1.2.9"

REACTIVE = [
    Break(
        "city",
        "a truck runs the first car down",
        ("collision Car 1", "travel Car 1"),
        edits=ram("3.2.1", "3.2.6", "city.yaml"),
        may=("travel Car 5", "travel Car 7"),
    ),
    Break(
        "city",
        "a truck runs the second car down",
        ("collision Car 2",),
        edits=ram("6.2.1", "6.2.6", "city.yaml"),
        may=("travel Car 1", "travel Car 5", "travel Car 7"),
    ),
    Break(
        "city",
        "cars dawdle",
        ("travel Car 1", "travel Car 5", "travel Car 7"),
        edits=(("city.yaml", "{name: Car, count: 10}", DAWDLING),),
    ),
    Break("town", "the courier stays too long", ("reach Courier 14.1.6",), {"add.0.goals.0.pause": 100}),
    Break(
        "town",
        "the courier stops too early, for too long",
        ("reach Courier 5.1.6", "reach Courier 14.1.6"),
        {"add.0.goals.0.waypoint": "5.1.4", "add.0.goals.0.pause": 200},
    ),
    Break(
        "town",
        "a truck runs the courier down",
        ("collision Courier",),
        edits=ram("5.1.1", "5.1.6"),
        may=("reach Courier 5.1.6", "reach Courier 14.1.6"),
    ),
    Break("town", "a truck runs the first car down", ("collision town 1",), edits=ram("1.2.1", "1.2.6")),
    Break("car_park", "the staff stay", ("reach staff 1 1.1.8",), {"traffic.0.pause": 150}, may=CALLS),
    Break("car_park", "the courier stays", ("reach Courier 1.2.9",), {"add.0.goals.0.pause": 150}),
    Break("car_park", "the courier comes late", CALLS, {"add.0.at": "1.2.1", "add.0.initial_pause": 100}),
    Break(
        "car_park",
        "a truck runs the courier down",
        ("collision Courier",),
        edits=ram("1.1.3", "1.1.5", "car_park.yaml"),
        may=(*CALLS, "reach staff 1 1.1.8"),
    ),
    Break(
        "car_park",
        "a truck runs into the parked cars",
        ("collision staff 1",),
        edits=ram("4.1.2", "4.4.2", "car_park.yaml"),
        may=(*CALLS, "reach staff 1 1.1.8"),
    ),
]

EVENTS = [
    Break(
        "events", "the truck does not brake", ("event two seconds left", "event the way is free"),
        {"events.0.do": []}, may=("reach Van (0, 150)",),
    ),
    Break(
        "events", "the truck stands for too long",
        ("event the way is free", "event the barrier falls", "event stop for good", "rest Bot"),
        {"events.2.when.standstill.for": 30}, may=("reach Van (0, 150)", "travel Bot"),
    ),
    Break(
        "events", "the barrier falls beside the way", ("event stop for good", "travel Bot"),
        {"events.4.do.0.block.place": [60, 230]}, may=("rest Bot",),
    ),
    Break("events", "nobody stops the bot", ("collision Bot",), {"events.5.do": []}, may=("travel Bot",)),
    Break(
        "events", "the van comes at the same time", ("collision Bot", "collision Van"),
        {"events.3.do.2.synchronise.place": [0, 150]},
        may=("event the barrier falls", "event stop for good", "travel Bot", "rest Bot", "reach Van (0, 150)"),
    ),
    Break("events", "the van goes only halfway", ("reach Van (0, 150)",), {"add.2.script.0.distance": 150}),
]  # fmt: skip

CLOCK = [
    Break("mission_clock", "the driver does not hear the alarm", ("preparation CajunBot",), driver=Eager),
    Break(
        "mission_clock", "the driver sleeps", ("start CajunBot", "estop CajunBot", "travel CajunBot"), driver=Sleeper
    ),
    Break("mission_clock", "the driver does not go on", ("estop CajunBot", "travel CajunBot"), driver=Stranded),
    Break("mission_clock", "the E-stop has less room", ("estop CajunBot",), {"expect.2.estop.within": 4.0}),
    Break(
        "mission_clock", "nobody disables the bot", ("travel CajunBot",), {"events.0.do": []}, may=("estop CajunBot",)
    ),
]

BREAKS = QUICK + SLOW + REACTIVE + EVENTS + CLOCK


@pytest.mark.parametrize(
    "case",
    [*QUICK, *REACTIVE, *EVENTS, *CLOCK, *(pytest.param(case, marks=pytest.mark.slow) for case in SLOW)],
    ids=str,
)
def test_what_a_scenario_shows_fails_when_it_is_broken(case: Break, tmp_path: Path) -> None:
    outcome = run_broken(case, tmp_path)
    assert outcome.verdict == "fail"
    assert failing(outcome) - set(case.may) == set(case.fails)


def test_there_is_a_way_to_break_every_expectation() -> None:
    for name in NAMES:
        broken = {text for case in BREAKS if case.scenario == name for text in case.fails}
        expected = [label(expectation) for expectation in cbsim.load(name).scene.expectations]
        assert sorted(set(expected)) == sorted(expected), "labels tell expectations apart"
        assert broken == set(expected), name


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_scenario_passes_and_goes_the_same_way_twice(name: str) -> None:
    first, second = (execute(cbsim.load(name)) for _ in range(2))
    assert [check for check in first.checks if not check.passed] == []
    assert first.verdict == "pass"
    assert first.digest == second.digest
