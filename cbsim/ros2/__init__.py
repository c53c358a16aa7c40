"""Recordings as bags of ROS 2, without ROS: standard messages in MCAP."""

from __future__ import annotations

from cbsim.ros2.bag import write_ros2

__all__ = ["write_ros2"]
