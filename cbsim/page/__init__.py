"""Pages in one file: what every page shares that has to open anywhere, without a server or a network."""

from __future__ import annotations

from cbsim.page.assemble import one_file
from cbsim.page.packing import Packer

__all__ = ["Packer", "one_file"]
