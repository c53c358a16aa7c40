"""Pages are opened in a browser; one recording serves all tests."""

from __future__ import annotations

import pytest

from cbsim.recording.recording import Recording
from cbsim.report import page_of
from cbsim.report.data import run_of
from tests.browser import browser, opened
from tests.report.pages import recorded

__all__ = ["browser", "opened"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="session")
def hit(folder):
    return recorded(folder)


@pytest.fixture(scope="session")
def other(folder):
    return recorded(folder, station=9)


@pytest.fixture(scope="session")
def run(hit):
    return run_of(Recording.open(hit))


@pytest.fixture(scope="session")
def page(run):
    return page_of([run])
