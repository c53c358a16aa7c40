"""A browser without a screen for tests of pages; they skip, saying so, where there is none."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SOFTWARE = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--no-sandbox"]


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"no browser here: none of {', '.join(BROWSERS)}")
    with api.sync_playwright() as play:
        running = play.chromium.launch(executable_path=program, args=SOFTWARE)
        yield running
        running.close()


@pytest.fixture
def opened(browser):
    """Opens pages; what one complains about on its console, in errors or by requests elsewhere is in ``said``."""

    @contextmanager
    def opened(url, *, offline=False, dark=False, size=(900, 600)):
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            offline=offline,
        )
        page = context.new_page()
        page.said = []
        page.on("console", lambda m: page.said.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: page.said.append(str(e)))
        own = (url, "blob:", "data:")
        page.on("request", lambda r: None if r.url.startswith(own) else page.said.append(r.url))
        page.goto(url)
        yield page
        context.close()

    return opened
