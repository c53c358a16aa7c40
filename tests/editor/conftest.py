"""A file over a network, and hands that work an editor on it."""

from __future__ import annotations

import pytest

from tests.editor.hands import Posted
from tests.editor.scripts import SITE


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    path = tmp_path / "site.xml"
    path.write_bytes(SITE.encode())
    return path


@pytest.fixture
def hand(site, tmp_path):
    one = Posted(site)
    yield one
    one.window.close()
