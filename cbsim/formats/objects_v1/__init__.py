"""CajunBot object files, version 1: one record per line."""

from cbsim.formats.objects import count
from cbsim.formats.objects_v1.reader import read
from cbsim.formats.objects_v1.writer import write

__all__ = ["count", "read", "write"]
