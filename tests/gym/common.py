"""Scenarios of tests of environments, and a drive through one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

LANE = 12 * 0.3048  # [m] width of the lanes of the crossing


def crossing(
    folder: Path, cars: int, *, traffic: int = 0, box: bool = False, at: str = "", drive: str = "kinematic"
) -> Path:
    """Write a scenario of cars that take commands on the arms of a crossing, with reactive cars and a box in a lane."""
    lines = ["network: four_way_stop", "mission: four_way_stop"]
    if traffic:
        lines += [f"traffic: [{{name: town, count: {traffic}}}]"]
    lines.append("add:")
    for k in range(cars):
        place = at or f"{k % 4 + 1}.{k // 4 % 2 + 1}.2"
        place = f"{{waypoint: {place}, station: {12.0 * (k // 8)}}}"
        lines.append(f"  - {{name: C{k}, kind: autonomous, drive: {drive}, at: {place}}}")
    if box:
        lines.append("  - {name: Box, kind: static, at: 1.1.3}")
    path = folder / f"crossing_{cars}_{traffic}_{box:d}{at}_{drive}.yaml"
    path.write_text("\n".join(lines))
    return path


def drive(env: Any, seed: int, steps: int = 60) -> np.ndarray:
    """Observations and rewards of a drive with given actions."""
    observation, _ = env.reset(seed=seed)
    found = [np.append(observation, 0.0)]
    for k in range(steps):
        action = np.array([0.7, 0.03 * np.sin(0.3 * k)], np.float32)
        observation, reward, terminated, truncated, _ = env.step(action)
        found.append(np.append(observation, reward))
        if terminated or truncated:
            break
    return np.array(found)
