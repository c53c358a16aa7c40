"""Actions on traffic lights and on sensors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.errors import ModelError
from cbsim.paths import Files
from cbsim.simulation.advance import advance
from cbsim.spec.events import Event
from cbsim.spec.road import RoadNetwork
from cbsim.spec.sensor import SensorConf
from cbsim.spec.traffic import Driver, LightProgram, Pool, Spread
from tests.events.scenes import check_restores, do, when, world
from tests.traffic.sites import put_on
from tests.traffic.test_lights import LIGHT, STREET, front_of
from tests.worlds import Triple as At
from tests.worlds import bot, level, mover, prop


def at(time: float, *actions, name: str = "") -> Event:
    return Event(name or f"at {time}", when("time", at=time), actions)


@pytest.fixture(scope="module")
def street(tmp_path_factory) -> RoadNetwork:
    from cbsim.models import read_file

    path = tmp_path_factory.mktemp("lights") / "street.rndf"
    path.write_text(STREET)
    found = read_file(path, Files([path])).spec
    assert isinstance(found, RoadNetwork)
    return found


def light(state: str):
    return do("light", light="2.1", state=state)


def street_with(network, *events: Event, program, step: float = 0.05):
    return world(
        events=events, network=network, step=step, pools=(Pool("p", count=1, drivers=(("d", 1.0),)),),
        drivers=(Driver("d", speed=Spread(12.0)),), lights=(LightProgram("2.1", program),),
    )  # fmt: skip


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_light_that_an_event_turns_red_stops_a_car_until_its_program_goes_on(street, step):
    made = street_with(street, at(5.0, light("red")), at(60.0, light("program")), program=(("green", 30.0),), step=step)
    snapshot = made.start
    put_on(made, snapshot, 0, 0, 10.0)
    advance(made, snapshot, round(59.0 / step))
    assert LIGHT - 1.5 < front_of(made, snapshot) <= LIGHT
    advance(made, snapshot, round(5.0 / step))
    assert front_of(made, snapshot) > LIGHT
    check_restores(made, 62.0)


def test_light_that_an_event_turns_green_lets_a_car_pass(street):
    made = street_with(street, at(50.0, light("green")), program=(("red", 1000.0), ("green", 1.0)))
    snapshot = made.start
    put_on(made, snapshot, 0, 0, 10.0)
    advance(made, snapshot, 1000)
    assert front_of(made, snapshot) <= LIGHT
    advance(made, snapshot, 100)
    assert front_of(made, snapshot) > LIGHT


def test_unknown_light_is_refused(street):
    with pytest.raises(ModelError, match=r"no traffic light '2\.7'"):
        world(events=(at(1.0, do("light", light="2.7", state="red")),), network=street)


def seen(made, duration: float) -> list[tuple[float, dict]]:
    """Time and readings after each step."""
    snapshot, found = made.start, []
    for _ in range(round(duration / made.step)):
        snapshot = cbsim.step(made, snapshot)
        found.append((snapshot.time, cbsim.sense(made, snapshot)))
    return found


FAR = mover("Far", (4.0, 0.0, 90.0, 0.0), at=At(0.0, 8.0, 0.0))


@pytest.mark.parametrize("step", [0.05, 0.1])
@pytest.mark.parametrize("latency", [0.0, 0.2])
def test_outage_of_a_laser_begins_with_its_event_and_ends(step, latency):
    made = world(
        bot("Bot", level(rate=20.0, latency=latency), level(rate=20.0)), FAR, step=step,
        events=(at(1.0, do("sensor_fault", object="Bot", sensor="scan_0", fault="outage", for_=1.5)),),
    )  # fmt: skip
    for time, readings in seen(made, 4.0):
        assert "Bot/scan_1" in readings
        taken = np.floor((time - latency) * 20.0 + 1e-6) / 20.0
        if taken >= 0.0:
            assert ("Bot/scan_0" in readings) == (not 1.0 + 1e-6 < taken < 2.5 - 1e-6), time
    check_restores(made, 3.0)


def test_outage_of_all_sensors_lasts_to_the_end():
    made = world(bot("Bot", level(), level()), FAR, events=(at(1.0, do("sensor_fault", object="Bot")),))
    found = seen(made, 3.0)
    assert set(found[10][1]) == {"Bot/scan_0", "Bot/scan_1"}
    assert set(found[-1][1]) == set()


def test_frozen_laser_repeats_the_last_scan_before_the_event():
    made = world(
        bot("Bot", level(rate=20.0)), FAR,
        events=(at(1.0, do("sensor_fault", object="Bot", fault="frozen", for_=2.0)),),
    )  # fmt: skip
    ranges = {round(time, 2): readings["Bot/scan_0"].ranges for time, readings in seen(made, 4.0)}
    assert np.array_equal(ranges[1.05], ranges[1.0])
    assert np.array_equal(ranges[2.95], ranges[1.0])
    assert not np.array_equal(ranges[1.0], ranges[0.95])
    assert not np.array_equal(ranges[3.0], ranges[1.0])


def receiver(kind: str) -> SensorConf:
    return replace(level(), type=kind, rate=10.0, outage_drift=0.5 if kind == "ins" else 0.0)


def test_receivers_get_no_satellites_in_an_outage():
    confs = (receiver("gps"), receiver("ins"), level())
    made = world(bot("Bot", *confs), events=(at(1.0, do("gps_outage", object="Bot", for_=2.0)),))
    for time, readings in seen(made, 5.0):
        taken = np.floor(time * 10.0 + 1e-6) / 10.0
        fails = 1.0 + 1e-6 < taken < 3.0 - 1e-6
        assert readings["Bot/scan_0"].valid == (not fails)
        assert readings["Bot/scan_1"].valid == (not fails)
        off = float(np.hypot(*(readings["Bot/scan_1"].position - made["Bot"].pose(made.start).position)[:2]))
        assert (off > 1e-6) == fails
        assert "Bot/scan_2" in readings


def test_outage_is_restored_with_the_snapshot():
    made = world(bot("Bot", level(rate=20.0)), FAR, events=(at(1.0, do("sensor_fault", object="Bot", for_=1.0)),))
    snapshot = made.start
    for _ in range(30):
        snapshot = cbsim.step(made, snapshot)
    assert cbsim.sense(made, made.restore(snapshot.to_bytes())) == {}


def test_planner_learns_of_an_outage_in_a_run():
    taken: list[tuple[float, bool]] = []

    class Looks:
        def start(self, mission, network, vehicle) -> None: ...

        def plan(self, observation):
            taken.append((round(observation.time, 3), bool(observation.scans)))
            return cbsim.Command()

    event = at(1.0, do("sensor_fault", object="Bot", for_=0.5))
    cbsim.run(world(bot("Bot", level(rate=20.0)), events=(event,)), duration=2.0, planner=Looks())
    times = [time for time, sees in taken if not sees]
    assert times[0] == pytest.approx(1.05)  # the state at 1 s is that before the event
    assert times[-1] == pytest.approx(1.45)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (do("sensor_fault", object="Bot", sensor="radar"), "'Bot' has no sensor 'radar'; there is scan_0"),
        (do("sensor_fault", object="Post"), "'Post' has no sensor; there is none"),
        (do("gps_outage", object="Bot"), "'Bot' has no sensor that receives satellites"),
    ],
)
def test_fault_of_a_sensor_that_is_not_there_is_refused(action, message):
    with pytest.raises(ModelError, match=message):
        world(bot("Bot", level()), prop("Post", At(9.0, 9.0, 0.0)), events=(at(1.0, action),))
