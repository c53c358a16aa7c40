"""`cli`: run the program in this process, as a shell would, and keep what it says."""

from __future__ import annotations

import sys
from typing import NamedTuple

import pytest

from cbsim.cli.main import main


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def cli(monkeypatch, capsys):
    def call(*arguments: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["cbsim", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Said(code, captured.out, captured.err)

    return call
