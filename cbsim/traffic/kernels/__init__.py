"""Compiled stages of a step, one file each: decisions and motion."""
