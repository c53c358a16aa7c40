"""Self-contained HTML pages that need neither a server nor a network."""

from __future__ import annotations

from cbsim.page.assemble import build_page
from cbsim.page.packing import Packer

__all__ = ["Packer", "build_page"]
