"""Train a policy by PPO of stable-baselines3 to keep its lane, to stop at a stop sign and to go on.

    pip install 'cbsim[gym,train,report]'
    python examples/train_ppo.py [--steps N] [--seed S] [--picture FILE.svg]

Prints what happened in the newest episodes after every rollout, and at the end how the policy drives without noise from
starts that it has not seen.
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
from stable_baselines3.common.vec_env import VecEnv

from cbsim.gym import NearField, default_done

WORLDS, REPEAT, EPISODE = 64, 4, 200  # a decision every 0.2 s, 40 s an episode
SHOWN = 200  # newest episodes that the curve tells about
EVALUATED, UNSEEN = 500, 987654321  # episodes of the evaluation, and their seed
ROUTE = NearField(points=5, objects=0, spacing=4.0)
POINT_SCALES = np.array([[0.2], [0.05], [1.0]])  # to the right, forward, heading


def look(agents):
    """Motion, place in the lane, way to the stop line, and points of the route ahead, all of the order of 1.

    The distance to the line is told at three scales: whoever is to stop within its last metre must tell 1 m from 2 m.
    So must the deceleration that a stop at the line takes, since brakes act a second after the command.
    """
    told = agents.measures
    left, speed = told.stop_distance, told.speed
    own = [
        speed / 10.0, np.minimum(speed, 1.0), (speed - told.limit) / 10.0, told.acceleration / 5.0,
        told.yaw_rate, told.steering, told.offset, 3.0 * told.heading_error,
        left / 50.0, np.minimum(left, 10.0) / 10.0, np.minimum(left, 2.0) / 2.0,
        np.minimum(speed * speed / (2.0 * np.maximum(left, 0.5)), 10.0) / 5.0,
    ]  # fmt: skip
    points = agents.observe(ROUTE)[..., -3 * ROUTE.points :].reshape(*agents.shape, 3, ROUTE.points) * POINT_SCALES
    return np.concatenate([np.stack(own, axis=-1), points.reshape(*agents.shape, -1)], axis=-1).astype(np.float32)


def reward(agents):
    """Progress, and a stop; what ends an episode is dear; the middle of the lane is a little better."""
    told = agents.measures
    wrong = told.collided + told.off_lane + told.ran_stop
    astray = 0.02 * np.abs(told.offset) + 0.1 * np.abs(told.heading_error)
    speeding = np.maximum(told.speed - told.limit, 0.0)
    return 0.1 * told.progress + 3.0 * told.made_stop - 5.0 * wrong - astray - 0.1 * speeding


def done(agents):
    """End an episode at a stop line that is run, too."""
    return default_done(agents) | (agents.measures.ran_stop > 0.0)


class Worlds(VecEnv):
    """A vector of Worlds as stable-baselines3 takes it."""

    def __init__(self, seed, count=WORLDS):
        self.envs = gymnasium.make_vec(
            "cbsim/StopSign-v0", num_envs=count, vectorization_mode="vector_entry_point", max_episode_steps=EPISODE,
            observation=look, reward=reward, done=done, start="stop_line", route_length=100.0, repeat=REPEAT, threads=1,
        )  # fmt: skip
        super().__init__(count, self.envs.single_observation_space, self.envs.single_action_space)
        self.ends = deque(maxlen=SHOWN)  # of episodes: left its lane, ran a stop line, stood at one, way after it [m]
        self._seed, self._stood, self._after = seed, np.zeros(count, bool), np.zeros(count)
        self._actions = None

    def reset(self):
        return self.envs.reset(seed=self._seed)[0]

    def step_async(self, actions):
        self._actions = np.clip(actions, -1.0, 1.0)

    def step_wait(self):
        observations, rewards, terminated, truncated, info = self.envs.step(self._actions)
        ended, infos = terminated | truncated, [{} for _ in range(self.num_envs)]
        self._stood |= info["made_stop"]
        self._after += np.where(self._stood & ~ended, self.envs.agents.measures.progress[:, 0], 0.0)
        for k in np.flatnonzero(ended).tolist():
            infos[k] = {"terminal_observation": info["final_obs"][k], "TimeLimit.truncated": bool(truncated[k])}
            self.ends.append((info["off_lane"][k], info["ran_stop"][k], self._stood[k], self._after[k]))
            self._stood[k], self._after[k] = False, 0.0
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
        self.worlds, self.rows, self._began = worlds, [], (time.perf_counter(), time.process_time())

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        if self.worlds.ends:
            left, ran, stood, after = np.mean(np.array(self.worlds.ends, float), axis=0)
            wall, cpu = time.perf_counter() - self._began[0], time.process_time() - self._began[1]
            self.rows.append((self.num_timesteps, left, ran, stood, after, cpu))
            print(
                f"{self.num_timesteps:8d} steps, {wall:4.0f} s ({cpu:.0f} CPU s): left its lane {left:4.0%}, "
                f"ran a stop line {ran:4.0%}, stood at one {stood:4.0%}, went on for {after:5.1f} m",
                flush=True,
            )


def judge(model, episodes=EVALUATED):
    """Share of episodes, without noise of the policy, that leave the lane, run a stop line, stand at one; way after."""
    worlds = Worlds(UNSEEN)
    worlds.ends = deque()
    observations = worlds.reset()
    for _ in range(EPISODE * -(-episodes // WORLDS)):  # at least so many: none lasts longer
        actions, _ = model.predict(observations, deterministic=True)
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
        shares.plot(table[:, 0] / 1e6, 100.0 * table[:, column], label=label)
    shares.set_ylabel(f"share of {SHOWN} episodes [%]")
    shares.legend()
    ways.plot(table[:, 0] / 1e6, table[:, 4], color="black")
    ways.set_ylabel("way after the stop [m]")
    ways.set_xlabel(f"million steps; the last after {table[-1, 5]:.0f} s of CPU time")
    for axes in (shares, ways):
        axes.grid(alpha=0.3)
        axes.set_ylim(bottom=0.0)
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1_500_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture")
    options = parser.parse_args()
    torch.set_num_threads(1)  # the network is small: more threads only wait for each other
    worlds = Worlds(options.seed)
    model = PPO(
        "MlpPolicy", worlds, n_steps=128, batch_size=2048, n_epochs=5, gamma=0.98, max_grad_norm=0.5,
        learning_rate=lambda left: 7e-4 * left, seed=options.seed, device="cpu",
        policy_kwargs={"net_arch": [64, 64], "log_std_init": -0.5},
    )  # fmt: skip
    curve = Curve(worlds)
    model.learn(options.steps, callback=curve)
    (left, ran, stood, after), count = judge(model)
    print(f"{count} episodes without noise, {time.process_time():.0f} CPU s in all: left its lane {left:.1%}, "
          f"ran a stop line {ran:.1%}, stood at one {stood:.1%}, went on for {after:.1f} m")  # fmt: skip
    if options.picture:
        draw(curve.rows, options.picture)


if __name__ == "__main__":
    main()
