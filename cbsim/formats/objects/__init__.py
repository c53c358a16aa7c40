"""CajunBot object files, version 2, and what both versions have in common: values, extensions."""

from cbsim.formats.objects.reader import count, read
from cbsim.formats.objects.writer import write

__all__ = ["count", "read", "write"]
