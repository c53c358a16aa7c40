"""Sensor conf files: ``key = value`` lines that the simulator and a real driver share."""

from cbsim.formats.sensor_conf.reader import count, read, write

__all__ = ["count", "read", "write"]
