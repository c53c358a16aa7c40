"""Many Worlds at once: the bits of single environments, in any number of threads; ends of episodes; PettingZoo."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

import gymnasium
from gymnasium.vector import AutoresetMode

from cbsim.errors import UsageError
from cbsim.gym import DrivingEnv, DrivingParallelEnv, DrivingVectorEnv, NearField
from cbsim.gym.agents import Agents
from cbsim.gym.functions import COMFORT, discomfort
from tests.gym.common import crossing

LARGE = NearField(points=0, objects=63, pieces=200)


def actions_of(count, steps, seed=0):
    return np.random.default_rng(seed).uniform(-0.2, 1.0, (steps, count, 2)).astype(np.float32) * np.float32(0.7)


def test_make_vec_makes_worlds_in_one_process():
    envs = gymnasium.make_vec("cbsim/FourWayStop-v0", num_envs=3, vectorization_mode="vector_entry_point")
    assert isinstance(envs, DrivingVectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observations, _ = envs.reset(seed=1)
    assert observations.shape == envs.observation_space.shape == (3, 64)
    observations, rewards, terminated, truncated, info = envs.step(envs.action_space.sample())
    assert observations in envs.observation_space
    assert rewards.shape == terminated.shape == truncated.shape == info["active"].shape == (3,)
    envs.close()


@pytest.mark.parametrize("observation", [NearField(), LARGE], ids=["small", "large"])
def test_a_vector_of_worlds_has_the_bits_of_single_environments(tmp_path, observation):
    path, count, steps = crossing(tmp_path, 1, traffic=3), 5, 80
    settings = {"start": "random", "observation": observation, "max_steps": 50}
    envs = DrivingVectorEnv(count, path, threads=2, **settings)
    actions = actions_of(count, steps)
    got = [envs.reset(seed=7)[0]]
    rewards = []
    for action in actions:
        observations, reward, *_ = envs.step(action)
        got.append(observations)
        rewards.append(reward)
    for index in range(count):
        env = DrivingEnv(path, **settings)
        single, episode = env.agents, 0
        told = _begin(single, index, episode, count)
        assert told.tobytes() == got[0][index].tobytes()
        for number, action in enumerate(actions):
            reward, terminated, truncated = single.step(action[index])
            told = np.array(single.observations()[0, 0])
            assert rewards[number][index] == reward[0, 0]
            if terminated[0, 0] or truncated[0, 0]:
                episode += 1
                told = _begin(single, index, episode, count)
            assert told.tobytes() == got[number + 1][index].tobytes()
        assert episode > 0


def _begin(agents, index, episode, count):
    """Begin the episode that World `index` of `count` has, in the only World of these agents."""
    agents.seed(7)
    agents._episodes[0] = episode * count + index - 1
    agents.reset(0)
    return np.array(agents.observations()[0, 0])


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_the_number_of_threads_changes_no_bit(tmp_path, threads):
    path, steps = crossing(tmp_path, 4, traffic=2), 60
    runs = []
    for count in (1, threads):
        envs = DrivingVectorEnv(28, path, 4, threads=count, max_episode_steps=40, observation=LARGE)
        envs.reset(seed=3)
        table = [np.concatenate([part.ravel().astype(float) for part in envs.step(action)[:4]])
                 for action in actions_of(28, steps)]  # fmt: skip
        runs.append(np.array(table).tobytes() + envs.agents.batch.floats.tobytes() + envs.agents.batch.ints.tobytes())
        envs.close()
    assert runs[0] == runs[1]


def test_worlds_begin_anew_when_all_of_their_agents_are_done(tmp_path):
    envs = DrivingVectorEnv(6, crossing(tmp_path, 3), 3, max_episode_steps=60)
    envs.reset(seed=1)
    turning = np.tile(np.array([[0.9, 0.9], [0.9, 0.0], [0.0, 0.0]], np.float32), (2, 1))  # the first leaves its lane
    seen_masked, before = False, None
    for number in range(1, 61):
        observations, rewards, terminated, truncated, info = envs.step(turning)
        if number < 60:
            assert "final_obs" not in info
            assert not truncated.any()
        if not info["active"][0]:
            seen_masked = True
            assert terminated[0]
            assert rewards[0] == 0.0
        before = observations if number < 60 else before
    assert seen_masked
    assert terminated.tolist() == [True, False, False] * 2
    assert truncated.tolist() == [False, True, True] * 2
    assert info["_final_obs"].all()
    assert info["final_obs"].shape == observations.shape
    assert info["final_obs"][1, 0] > before[1, 0] > 1.0  # speed
    assert observations[1, 0] == 0.0
    assert envs.agents.steps.tolist() == [0, 0]
    assert envs.step(turning)[4]["active"].all()


def test_agents_that_are_done_brake_and_stand(tmp_path):
    envs = DrivingVectorEnv(2, crossing(tmp_path, 2), 2)
    envs.reset(seed=1)
    for _ in range(200):
        info = envs.step(np.array([[0.9, 0.9], [0.0, 0.0]], np.float32))[4]
    assert info["active"].tolist() == [False, True]
    assert abs(float(envs.agents.measures.speed[0, 0])) < 1e-6


@pytest.mark.parametrize("bad", [np.nan, 1.01, -np.inf])
def test_a_wrong_action_of_one_changes_nobody(tmp_path, bad):
    envs = DrivingVectorEnv(8, crossing(tmp_path, 4), 4)
    envs.reset(seed=1)
    action = np.zeros((8, 2), np.float32)
    action[6, 1] = bad
    before = envs.agents.batch.floats.tobytes()
    with pytest.raises(UsageError, match="agent 'C2' in World 1 at step 0: steering"):
        envs.step(action)
    assert envs.agents.batch.floats.tobytes() == before
    with pytest.raises(UsageError, match=r"shape \(7, 2\), expected \(8, 2\)"):
        envs.step(np.zeros((7, 2), np.float32))


def test_num_envs_is_worlds_times_agents(tmp_path):
    with pytest.raises(UsageError, match="num_envs is 7, expected a multiple of the 4 agents"):
        DrivingVectorEnv(7, crossing(tmp_path, 4), 4)
    with pytest.raises(UsageError, match="has 4 objects that take commands, fewer than 5"):
        DrivingVectorEnv(5, crossing(tmp_path, 4), 5)


def test_observations_may_be_left_in_one_array(tmp_path):
    path, actions = crossing(tmp_path, 2), np.full((4, 2), 0.5, np.float32)
    copied, shared = (
        DrivingVectorEnv(4, path, agents=2, max_steps=3, start="random", copy=copy) for copy in (True, False)
    )
    first, again = copied.reset(seed=1)[0], shared.reset(seed=1)[0]
    for k in range(1, 8):
        (kept, *_, told), (written, *_, shown) = copied.step(actions), shared.step(actions)
        assert kept.tobytes() == written.tobytes()
        assert np.shares_memory(written, again)
        assert not np.shares_memory(kept, first)
        assert ("final_obs" in shown) is (k % 3 == 0)
        if k % 3 == 0:
            assert told["final_obs"].tobytes() == shown["final_obs"].tobytes()
            assert not np.shares_memory(shown["final_obs"], written)  # the last of the old episode outlive the first


def test_the_default_reward_is_that_of_its_formula(tmp_path):
    def nobody(agents):
        return np.zeros(agents.shape, bool)

    envs = DrivingVectorEnv(6, crossing(tmp_path, 3), agents=3, start="random", done=nobody)
    envs.reset(seed=2)
    rng, exceeded, off_lane = np.random.default_rng(1), 0.0, 0.0
    for k in range(160):  # full throttle, then the brakes
        throttle, steering = np.full((6, 1), 1.0 if k < 80 else -1.0), rng.uniform(-0.3, 0.3, (6, 1))
        rewards = envs.step(np.concatenate([throttle, steering], axis=1).astype(np.float32))[1]
        told, count = envs.agents.measures, np.zeros((2, 3))
        for name, (low, high) in COMFORT.items():
            value = getattr(told, name)
            count += (value > high) | (value < low)
        expected = 0.1 * told.progress - 10.0 * told.collided - 5.0 * (told.off_lane + told.ran_stop)
        expected -= 0.01 * count + 0.01 * np.abs(told.offset)
        expected -= 0.02 * np.maximum(told.speed - told.limit, 0.0)
        assert np.array_equal(discomfort(envs.agents), count)
        assert np.array_equal(rewards, expected.reshape(-1))
        exceeded, off_lane = exceeded + count.sum(), off_lane + told.off_lane.sum()
    assert exceeded > 20.0
    assert off_lane > 0.0


def test_an_observation_after_a_reset_is_that_of_the_new_episode(tmp_path):
    envs = DrivingVectorEnv(3, crossing(tmp_path, 1), max_steps=2, start="random")
    envs.reset(seed=1)
    for _ in range(6):
        observations = envs.step(np.full((3, 2), 0.4, np.float32))[0]
        envs.agents._observed[:] = False  # made anew, of all Worlds
        assert envs.agents.observations().reshape(3, -1).tobytes() == observations.tobytes()


def test_user_functions_take_whole_arrays_once_a_step(tmp_path):
    calls = []

    def reward(agents):
        assert isinstance(agents, Agents)
        calls.append(agents.measures.speed.shape)
        return np.ones(agents.shape)

    envs = DrivingVectorEnv(8, crossing(tmp_path, 4), 4, reward=reward)
    envs.reset(seed=1)
    for _ in range(5):
        assert (envs.step(np.zeros((8, 2), np.float32))[1] == 1.0).all()
    assert calls == [(2, 4)] * 5


@pytest.mark.parametrize("objects", [2, 5, 9])
def test_the_nearest_objects_come_first_whatever_was_near_before(tmp_path, objects):
    near = NearField(points=0, objects=objects, reach=200.0)
    envs = DrivingVectorEnv(24, crossing(tmp_path, 12), 12, observation=near)
    observations, _ = envs.reset(seed=1)
    for action in actions_of(24, 50):
        observations, *_ = envs.step(action)
    told = envs.agents.measures
    for index in range(2):
        for agent in range(12):
            away = np.hypot(told.x[index] - told.x[index, agent], told.y[index] - told.y[index, agent])
            expected = np.sort(away[np.arange(12) != agent])[:objects]
            seen = observations[12 * index + agent][7:].reshape(7, objects)
            assert np.hypot(seen[0], seen[1]) == pytest.approx(np.where(expected <= 200.0, expected, 0.0), abs=1e-3)
    rows = [(np.hypot(*row[7:].reshape(7, objects)[:2])) for row in observations]
    assert max(row.max() for row in rows) > 0.0


def test_all_objects_keep_their_rows_where_there_is_room(tmp_path):
    near = NearField(points=0, objects=20, reach=500.0)
    envs = DrivingVectorEnv(12, crossing(tmp_path, 12), 12, observation=near)
    observations, _ = envs.reset(seed=1)
    told = envs.agents.measures
    for agent in range(12):
        seen = observations[agent][7:].reshape(7, 20)
        others = np.arange(12) != agent
        dx, dy = (getattr(told, axis)[0, others] - getattr(told, axis)[0, agent] for axis in "xy")
        turn = told.heading[0, agent]
        assert seen[0, :11] == pytest.approx(dx * np.cos(turn) + dy * np.sin(turn), abs=1e-3)
        assert seen[1, :11] == pytest.approx(dy * np.cos(turn) - dx * np.sin(turn), abs=1e-3)
        assert not seen[:, 11:].any()


def test_pieces_of_road_lie_where_the_road_is(tmp_path):
    near = NearField(points=0, objects=0, pieces=50)
    envs = DrivingVectorEnv(1, crossing(tmp_path, 1), 1, observation=near)
    observations, _ = envs.reset(seed=1)
    told, pieces = envs.agents.measures, observations[0][7:].reshape(7, 50)
    turn = float(told.heading[0, 0])
    x = float(told.x[0, 0]) + pieces[0] * np.cos(turn) - pieces[1] * np.sin(turn)
    y = float(told.y[0, 0]) + pieces[0] * np.sin(turn) + pieces[1] * np.cos(turn)
    match = envs.agents.world.road.match(np.stack([x, y], axis=1))
    assert (match.lane >= 0).all()
    is_lane = (pieces[6] == 0) | (pieces[6] == 4)  # those of turns cut their bends
    assert is_lane.sum() > 20
    assert np.abs(match.offset[is_lane]).max() < 0.1
    assert pieces[2].max() <= 5.0 + 1e-3
    ahead = np.abs(pieces[0]) < 0.1  # those of the own lane lead ahead
    assert ahead.sum() > 5
    assert pieces[4][ahead] == pytest.approx(np.ones(ahead.sum()), abs=1e-3)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PettingZoo's tests import environments of its own
def test_pettingzoo_accepts_several_agents(tmp_path):
    from pettingzoo.test import parallel_api_test

    env = DrivingParallelEnv(crossing(tmp_path, 3), max_steps=60)
    parallel_api_test(env, num_cycles=200)


def test_parallel_agents_leave_when_they_are_done(tmp_path):
    env = DrivingParallelEnv(crossing(tmp_path, 2))
    observations, infos = env.reset(seed=1)
    assert set(observations) == set(infos) == {"C0", "C1"}
    with pytest.raises(UsageError, match="no action of agent 'C1'"):
        env.step({"C0": np.zeros(2, np.float32)})
    with pytest.raises(UsageError, match="no agent 'C7'"):
        env.step({"C0": np.zeros(2), "C1": np.zeros(2), "C7": np.zeros(2)})
    with pytest.raises(UsageError, match="agent 'C1' has the shape"):
        env.step({"C0": np.zeros(2), "C1": np.zeros(3)})
    before = env.worlds.snapshot(0)
    for bad in (np.nan, 1.5):
        with pytest.raises(UsageError, match=f"agent 'C1' in World 0 at step 0: steering is {bad}"):
            env.step({"C0": np.zeros(2), "C1": np.array([0.0, bad])})
    assert env.worlds.snapshot(0) == before
    for _ in range(200):
        acting = list(env.agents)
        _, _, terminated, _, infos = env.step({n: np.array([0.9, 0.9 if n == "C0" else 0.0]) for n in acting})
        if terminated.get("C0"):
            break
    assert infos["C0"]["off_lane"]
    assert env.agents == ["C1"]
    assert set(env.step({"C1": np.zeros(2)})[0]) == {"C1"}
