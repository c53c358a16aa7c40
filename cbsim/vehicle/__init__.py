"""Drives: commands to motion, one file per plant model."""
