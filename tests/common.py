"""What tests share: where real files are, and the canonical small texts of each format."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"


def shared(*parts: str) -> Path:
    """Locate a real file or folder that is not part of the project; skip the test, saying so, where it is absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the real files of shared/data are not here: {'/'.join(parts)}")
    return path


def shared_files(*folders: str) -> list[Path]:
    """List the real files of some folders for parametrisation; empty where they are absent."""
    return sorted(p for folder in folders for p in (SHARED / folder).rglob("*") if p.is_file())
