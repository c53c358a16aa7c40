"""A single environment: Gymnasium's own checks, bits after reset, seeds, ends of episodes, wrong input."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import gymnasium
from gymnasium.utils.env_checker import check_env

import cbsim
import cbsim.gym
from cbsim.errors import UsageError
from cbsim.gym import Agents, DrivingEnv, NearField
from cbsim.gym.registration import ENVIRONMENTS
from cbsim.gym.starts import ROUTE_LIMIT, TRIES, Starts
from cbsim.road.lanelets import LaneletKind
from cbsim.world.streams import stream_key, uniforms
from tests.gym.common import LANE, crossing, drive

NAMES = [name for name in ENVIRONMENTS if name != "cbsim/Scenario-v0"]


@pytest.mark.parametrize("name", NAMES)
def test_environments_pass_the_checks_of_gymnasium_without_a_warning(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name).unwrapped, skip_render_check=True)


def test_any_scenario_is_an_environment(tmp_path):
    path = crossing(tmp_path, 2)
    env = gymnasium.make("cbsim/Scenario-v0", scenario=path, agent="C1")
    check_env(env.unwrapped, skip_render_check=True)
    assert env.unwrapped.agents.names == ("C1",)


def test_a_shipped_scenario_with_lasers_is_one():
    env = DrivingEnv("four_way_stop", start="random")
    env.reset(seed=1)
    scans = env.agents.sense(0)
    assert {"CajunBot/scan_gp_driver_0", "CajunBot/scan_gp_driver_1"} <= set(scans)


def test_bits_are_equal_after_a_reset_with_the_same_seed(tmp_path):
    env = DrivingEnv(crossing(tmp_path, 2, traffic=3), start="random")
    first = drive(env, seed=5)
    between = drive(env, seed=6)
    again = drive(env, seed=5)
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != between.tobytes()


def test_another_environment_has_the_same_bits(tmp_path):
    path = crossing(tmp_path, 2, traffic=3)
    assert drive(DrivingEnv(path), seed=5).tobytes() == drive(DrivingEnv(path), seed=5).tobytes()


def test_steps_are_those_of_cbsim_step(tmp_path):
    env = DrivingEnv(crossing(tmp_path, 2, traffic=3))
    env.reset(seed=3)
    world, snapshot = env.agents.world, env.agents.snapshot(0)
    for k in range(40):
        action = np.array([0.6, 0.05 * np.sin(k)], np.float32)
        env.step(action)
        snapshot = cbsim.step(world, snapshot, {"C0": cbsim.Command(float(action[0]), float(action[1]))})
        assert snapshot == env.agents.snapshot(0)


def test_episodes_differ_and_a_seed_begins_with_the_first(tmp_path):
    env = DrivingEnv(crossing(tmp_path, 1), start="random")
    env.reset(seed=1)
    first = env.agents.seeds[0]
    env.reset()
    assert env.agents.seeds[0] != first
    _, info = env.reset(seed=1)
    assert env.agents.seeds[0] == first
    assert info["seeds"] == first._asdict()


def place(env):
    return tuple(env.agents.snapshot(0).columns.position[env.agents.course.rows[0, 0]])


def test_the_map_seed_sets_where_agents_start(tmp_path):
    env = DrivingEnv(crossing(tmp_path, 1, traffic=3), start="random")
    env.reset(seed=1, options={"map": 4})
    first = place(env)
    env.reset(seed=2, options={"map": 4})
    assert place(env) == first
    env.reset(seed=2, options={"map": 5})
    assert place(env) != first


def test_agents_may_start_where_a_stop_line_is_ahead(tmp_path):
    env = DrivingEnv(crossing(tmp_path, 1), start="stop_line")
    course, stops = env.agents.course, env.agents.course.lanelets.stops
    assert stops.any()
    assert not stops.all()
    for seed in range(20):
        env.reset(seed=seed)
        lanelet, station, *_ = env.agents.world.road.at(place(env)[:2], float(env.agents.measures.heading[0, 0]))
        assert stops[lanelet.row]
        assert 1.0 - 1e-6 < station < course.lanelets.lengths[lanelet.row] - 10.0 + 1e-6
        assert env.agents.measures.stop_distance[0, 0] > 7.0


def test_routes_are_drawn_by_the_stream_of_the_agent_at_every_fork(tmp_path):
    env = DrivingEnv(crossing(tmp_path, 1), route_length=900)
    course, taken = env.agents.course, set()
    lanelets = course.lanelets
    for seed in range(12):
        env.reset(options={"map": seed})
        forks = uniforms(stream_key(seed, "gym", "C0"), TRIES, ROUTE_LIMIT)
        route = [row for row in env.agents._routes[0, 0].tolist() if row >= 0]
        for k in range(1, len(route)):
            ahead = lanelets.successors[route[k - 1]]
            straight = ahead[lanelets.kinds[ahead] <= LaneletKind.CONNECTOR]
            ahead = straight if len(straight) else ahead
            assert route[k] == ahead[int(forks[k] * len(ahead))]
        lengths = lanelets.lengths[route]
        assert lengths[1:-1].sum() < 900.0
        assert lengths[1:].sum() >= 900.0 or not len(lanelets.successors[route[-1]]) or len(route) == ROUTE_LIMIT
        taken.add(tuple(route))
    assert len(taken) > 3


def test_the_traffic_seed_sets_traffic_alone(tmp_path):
    env = DrivingEnv(crossing(tmp_path, 1, traffic=3), seeds={"map": 1, "traffic": 2})
    assert drive(env, seed=1).tobytes() == drive(env, seed=2).tobytes()
    env = DrivingEnv(crossing(tmp_path, 1, traffic=3), seeds={"map": 1})
    env.reset(seed=1, options={"traffic": 11})
    assert env.agents.snapshot(0).seed == 11


def test_the_sensors_seed_sets_noise_alone():
    env = DrivingEnv("sensors", start="random", seeds={"map": 1, "traffic": 1})
    taken = []
    for sensors in (1, 2, 1):
        env.reset(seed=0, options={"sensors": sensors})
        for _ in range(30):
            env.step(np.zeros(2, np.float32))
        readings = env.agents.sense(0)
        taken.append([readings[key].values().tobytes() for key in sorted(readings) if hasattr(readings[key], "values")])
        assert env.agents.snapshot(0).seed == 1
    assert taken[0] == taken[2]
    assert taken[0] != taken[1]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ([0.0], "shape"),
        ([[0.0, 0.0, 0.0]], "shape"),
        ([0.0, np.nan], "steering is nan"),
        ([1.5, 0.0], "throttle is 1.5"),
        ([-np.inf, 0.0], "throttle is -inf"),
        (["a", "b"], "no array of numbers"),
        (None, "shape|no array"),
    ],
)
def test_a_wrong_action_is_one_error_and_changes_nothing(tmp_path, action, message):
    env = DrivingEnv(crossing(tmp_path, 2))
    env.reset(seed=1)
    env.step(np.array([0.5, 0.0], np.float32))
    before = env.agents.snapshot(0)
    with pytest.raises(UsageError, match=message):
        env.step(action)
    assert env.agents.snapshot(0) == before
    env.step(np.array([0.5, 0.0], np.float32))


def test_an_error_of_an_action_says_whose_and_when(tmp_path):
    env = DrivingEnv(crossing(tmp_path, 2))
    env.reset(seed=1)
    with pytest.raises(UsageError, match="agent 'C0' in World 0 at step 0: throttle is nan, expected a number from -1"):
        env.step([np.nan, 0.0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"start": "anywhere"}, "start is 'anywhere'"),
        ({"repeat": 0}, "repeat is 0"),
        ({"max_steps": 1.5}, "max_steps is 1.5"),
        ({"seeds": {"weather": 1}}, "no seed 'weather'"),
        ({"seeds": {"map": -1}}, "seed 'map' is -1"),
        ({"agent": "C9"}, "C9"),
        ({"colour": "red"}, "colour"),
        ({"render_mode": "human"}, "render_mode"),
    ],
)
def test_wrong_settings_are_errors(tmp_path, settings, message):
    with pytest.raises(UsageError, match=message):
        DrivingEnv(crossing(tmp_path, 1), **settings)


@pytest.mark.parametrize("values", [{"objects": -1}, {"points": 2.5}, {"reach": np.nan}, {"spacing": 0.0}])
def test_wrong_observations_are_errors(values):
    with pytest.raises(UsageError, match="observation"):
        NearField(**values)


def test_a_step_before_the_first_reset_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="reset"):
        DrivingEnv(crossing(tmp_path, 1)).step(np.zeros(2, np.float32))


def test_a_world_without_a_road_is_an_error(tmp_path):
    path = tmp_path / "bare.yaml"
    path.write_text("add:\n  - {name: Bot, kind: autonomous}\n")
    with pytest.raises(UsageError, match="no road network"):
        DrivingEnv(path)


def test_leaving_the_lane_terminates(tmp_path):
    env = DrivingEnv(crossing(tmp_path, 1))
    env.reset(seed=1)
    for _ in range(200):
        _, reward, terminated, truncated, info = env.step(np.array([0.6, 0.4], np.float32))
        if terminated:
            break
    assert terminated
    assert not truncated
    assert info["off_lane"]
    assert not info["collided"]
    assert reward < -4.0


def test_a_collision_terminates(tmp_path):
    env = DrivingEnv(crossing(tmp_path, 1, box=True))
    env.reset(seed=1)
    for _ in range(300):
        *_, terminated, _, info = env.step(np.array([0.8, 0.0], np.float32))
        if terminated:
            break
    assert terminated
    assert info["collided"]


def test_a_road_without_stop_lines_has_no_start_before_one():
    with pytest.raises(UsageError, match="no lane with a stop line on which agents could start"):
        DrivingEnv("gym:roundabout", start="stop_line")


def test_max_steps_truncates(tmp_path):
    env = DrivingEnv(crossing(tmp_path, 1), max_steps=3)
    env.reset(seed=1)
    ends = [env.step(np.zeros(2, np.float32))[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]


def test_measures_on_a_straight_lane(tmp_path):
    env = DrivingEnv(crossing(tmp_path, 1))
    observation, _ = env.reset(seed=1)
    told = env.agents.measures
    way = float(told.way_left[0, 0])
    stop = float(told.stop_distance[0, 0])
    total = 0.0
    for _ in range(60):
        observation, *_ = env.step(np.array([0.6, 0.0], np.float32))
        total += float(told.progress[0, 0])
    assert total == pytest.approx(way - float(told.way_left[0, 0]), abs=1e-9)
    assert total > 5.0
    assert abs(float(told.offset[0, 0])) < 0.05
    assert stop == 50.0  # none within 50 m
    assert observation[0] == pytest.approx(float(told.speed[0, 0]), rel=1e-6)
    assert float(told.limit[0, 0]) == pytest.approx(25 * 0.44704)
    assert float(told.half_width[0, 0]) == pytest.approx(LANE / 2)


def test_a_stop_line_is_run_unless_the_car_has_stood_before_it(tmp_path):
    env = DrivingEnv(crossing(tmp_path, 1, at="1.1.5"))
    for stops in (False, True):
        env.reset(seed=1)
        told, ran, stood, way = env.agents.measures, False, 0, 0.0
        for _ in range(600):
            left, speed = float(told.stop_distance[0, 0]), float(told.speed[0, 0])
            aim = 8.0 if not stops or stood else min(8.0, np.sqrt(max(0.0, 2.0 * 1.5 * (left - 0.5))))
            action = np.array([np.clip(0.8 * (aim - speed), -1.0, 1.0), 0.0], np.float32)
            *_, info = env.step(action)
            ran, stood = ran or info["ran_stop"], stood + info["made_stop"]
            assert not info["made_stop"] or left < 1.1
            way += float(told.progress[0, 0])
            if way > 32.0:  # 25 m to the line
                break
        assert way > 32.0
        assert ran is not stops
        assert stood == stops  # told once, in the step in which it comes to rest


@pytest.mark.parametrize("step", [0.05, 0.1, 0.2])
def test_every_line_that_is_run_is_told_whatever_the_step(step):
    made = cbsim.load(Path(cbsim.gym.__file__).parent / "scenarios" / "stop_sign.yaml", step=step)
    agents = Agents(made, 16, start="stop_line", done=lambda agents: np.zeros(agents.shape, bool))
    for number in range(16):
        agents.reset(number)
    actions, told, ran = np.zeros((*agents.shape, 2), np.float32), agents.measures, np.zeros(agents.shape)
    actions[..., 0] = 1.0
    for _ in range(round(40.0 / step)):
        actions[..., 1] = np.clip(-0.5 * told.offset - 1.5 * told.heading_error, -1.0, 1.0)
        agents.step(actions)
        ran += told.ran_stop
    assert np.all(ran == 1.0)


def test_those_who_have_still_to_appear_are_no_obstacles_at_the_start(tmp_path):
    path = crossing(tmp_path, 1)
    path.write_text(
        path.read_text(encoding="utf-8") + "\ntraffic: [{name: flow, flow: 300, from: 1.1.1}]\n", encoding="utf-8"
    )
    course = DrivingEnv(path).agents.course
    position = course.world.first.columns.position
    free = [row for row in course.others if position[row, 2] < -100.0]
    assert len(free) > 5
    starts = Starts(course, "random", 100.0)
    assert not len(starts._obstacles)


def test_observation_and_reward_are_functions_of_the_user(tmp_path):
    def look(agents):
        return np.stack([agents.measures.speed, agents.measures.offset], axis=-1)

    env = DrivingEnv(
        crossing(tmp_path, 1), observation=look, reward=lambda agents: agents.measures.speed * 2.0,
        done=lambda agents: agents.measures.speed > 1.0,
    )  # fmt: skip
    observation, _ = env.reset(seed=1)
    assert observation.shape == env.observation_space.shape == (2,)
    for _ in range(100):
        observation, reward, terminated, *_ = env.step(np.array([1.0, 0.0], np.float32))
        assert reward == 2.0 * observation[0]
        if terminated:
            break
    assert terminated
    assert observation[0] > 1.0


def test_skid_wheels_are_steered_by_levers(tmp_path):
    path = tmp_path / "skid.yaml"
    path.write_text(
        "network: four_way_stop\nadd:\n"
        "  - {name: Bot, kind: autonomous, drive: skid-kinematic, wheels: {type: skid}, at: 1.1.2}\n"
    )
    env = DrivingEnv(path)
    check_env(env, skip_render_check=True)
    env.reset(seed=1)
    assert env.action_space.shape == (3,)
    for _ in range(40):
        env.step(np.array([1.0, 1.0, 1.0], np.float32))
    assert float(env.agents.measures.speed[0, 0]) > 1.0
