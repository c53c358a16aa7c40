"""Compiled collision detection: broad phase, narrow phase, time of impact, and collision response of vehicles."""
