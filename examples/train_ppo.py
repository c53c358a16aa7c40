"""Train a policy by PPO of stable-baselines3 to keep its lane and to stop at a stop sign.

    pip install 'cbsim[gym,train,report]'
    python examples/train_ppo.py [--steps N] [--seed S] [--picture FILE.svg]

Prints what happened in the newest episodes after every rollout, and at the end how the policy drives without noise.
"""

from __future__ import annotations

import argparse
import time
from collections import deque

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from cbsim.gym import NearField, default_done

WORLDS, REPEAT, EPISODE = 64, 4, 150  # a decision every 0.2 s, 30 s an episode
SHOWN = 200  # newest episodes that the curve tells about


def reward(agents):
    """Progress; what ends an episode is dear; the middle of the lane and gentle driving are a little better."""
    told = agents.measures
    wrong = 5.0 * (told.collided + told.off_lane + told.ran_stop)
    astray = 0.02 * np.abs(told.offset) + 0.1 * np.abs(told.heading_error)
    return 0.1 * told.progress - wrong - astray - 0.05 * np.maximum(told.speed - told.limit, 0.0)


def done(agents):
    """End an episode at a stop line that is run, too."""
    return default_done(agents) | (agents.measures.ran_stop > 0.0)


class Worlds(VecEnv):
    """A vector of Worlds as stable-baselines3 takes it."""

    def __init__(self, count=WORLDS):
        self.envs = gymnasium.make_vec(
            "cbsim/StopSign-v0", num_envs=count, vectorization_mode="vector_entry_point", max_episode_steps=EPISODE,
            observation=NearField(points=5, objects=0, spacing=4.0), reward=reward, done=done, repeat=REPEAT,
            route_length=150.0, threads=1,
        )  # fmt: skip
        super().__init__(count, self.envs.single_observation_space, self.envs.single_action_space)
        self.ends = deque(maxlen=SHOWN)  # of episodes: left its lane, ran a stop line, stood at one, way [m]
        self._way, self._stood, self._before = np.zeros(count), np.zeros(count, bool), np.full(count, 50.0)
        self._actions = None

    def reset(self):
        return self.envs.reset(seed=self._seed)[0]

    def seed(self, seed=None):
        self._seed = 0 if seed is None else seed
        return [self._seed] * self.num_envs

    _seed = 0

    def step_async(self, actions):
        self._actions = np.clip(actions, -1.0, 1.0)

    def step_wait(self):
        told = self.envs.agents.measures
        observations, rewards, terminated, truncated, info = self.envs.step(self._actions)
        ended, infos = terminated | truncated, [{} for _ in range(self.num_envs)]
        self._way += np.where(ended, 0.0, told.progress[:, 0])
        distance = told.stop_distance[:, 0]
        self._stood |= ~ended & (self._before < 1.1) & (distance > 10.0)  # it may go on
        self._before = np.array(distance)
        for k in np.flatnonzero(ended).tolist():
            infos[k] = {"terminal_observation": info["final_obs"][k], "TimeLimit.truncated": bool(truncated[k])}
            self.ends.append((info["off_lane"][k], info["ran_stop"][k], self._stood[k], self._way[k]))
            self._way[k], self._stood[k] = 0.0, False
        return observations, rewards.astype(np.float32), ended, infos

    def close(self):
        self.envs.close()

    def env_is_wrapped(self, *_args, **_kwargs):
        return [False] * self.num_envs

    def get_attr(self, name, *_args):
        return [getattr(self.envs, name, None)] * self.num_envs

    def set_attr(self, *_args, **_kwargs):
        raise NotImplementedError("Worlds have no attributes of their own")

    def env_method(self, *_args, **_kwargs):
        raise NotImplementedError("Worlds have no methods of their own")


class Curve(BaseCallback):
    """Note what happened in the newest episodes after every rollout."""

    def __init__(self, worlds):
        super().__init__()
        self.worlds, self.rows, self._began = worlds, [], time.perf_counter()

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        if self.worlds.ends:
            left, ran, stood, way = np.mean(np.array(self.worlds.ends, float), axis=0)
            wall, cpu = time.perf_counter() - self._began, time.process_time()
            self.rows.append((self.num_timesteps, left, ran, stood, way, wall, cpu))
            print(
                f"{self.num_timesteps:8d} steps, {wall:4.0f} s ({cpu:.0f} CPU s): left its lane {left:4.0%}, "
                f"ran a stop line {ran:4.0%}, stood at one {stood:4.0%}, {way:5.1f} m",
                flush=True,
            )


def judge(model, normalizer, episodes=200):
    """Share of episodes, without noise of the policy, that leave the lane, run a stop line, and stand at one."""
    worlds = Worlds()
    worlds.seed(12345)
    observations = worlds.reset()
    worlds.ends = deque(maxlen=episodes)
    for _ in range(4 * EPISODE):
        actions, _ = model.predict(normalizer.normalize_obs(observations), deterministic=True)
        worlds.step_async(actions)
        observations, *_ = worlds.step_wait()
    worlds.close()
    return np.mean(np.array(worlds.ends, float), axis=0), len(worlds.ends)


def draw(rows, path):
    """Draw the curve."""
    import matplotlib.pyplot as plt

    table = np.array(rows)
    figure, (shares, ways) = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
    for column, label in ((1, "left its lane"), (2, "ran a stop line"), (3, "stood at a stop line")):
        shares.plot(table[:, 0] / 1e3, 100.0 * table[:, column], label=label)
    shares.set_ylabel(f"share of {SHOWN} episodes [%]")
    shares.legend()
    ways.plot(table[:, 0] / 1e3, table[:, 4], color="black")
    ways.set_ylabel("way of an episode [m]")
    ways.set_xlabel("steps [1000]")
    for axes in (shares, ways):
        axes.grid(alpha=0.3)
        axes.set_ylim(bottom=0.0)
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1_200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture")
    options = parser.parse_args()
    torch.set_num_threads(1)  # the network is small: more threads only wait for each other
    worlds = Worlds()
    worlds.seed(options.seed)
    normalizer = VecNormalize(worlds, clip_obs=10.0)
    model = PPO(
        "MlpPolicy", normalizer, n_steps=128, batch_size=2048, n_epochs=5, learning_rate=5e-4, gamma=0.98,
        ent_coef=0.001, seed=options.seed, device="cpu", policy_kwargs={"net_arch": [64, 64], "log_std_init": -0.5},
    )  # fmt: skip
    curve = Curve(worlds)
    model.learn(options.steps, callback=curve)
    normalizer.training = False
    (left, ran, stood, way), count = judge(model, normalizer)
    print(f"{count} episodes without noise: left its lane {left:.1%}, ran a stop line {ran:.1%}, "
          f"stood at one {stood:.1%}, {way:.1f} m")  # fmt: skip
    if options.picture:
        draw(curve.rows, options.picture)


if __name__ == "__main__":
    main()
