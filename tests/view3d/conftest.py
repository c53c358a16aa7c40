"""Pages are opened in a browser."""

from __future__ import annotations

from tests.browser import browser, opened

__all__ = ["browser", "opened"]
