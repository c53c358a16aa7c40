"""Eleven pictures, held to those that were looked at and kept; and how alike two pictures are."""

from __future__ import annotations

import os

import numpy as np
import pygame
import pytest

from cbsim.viewer.screenshot import pixels_of, save
from tests.common import ROOT
from tests.viewer.ssim import slow_ssim, ssim
from tests.viewer.views import SHOTS, make

GOLDEN = ROOT / "tests" / "viewer" / "golden"
ALIKE = 0.98


def test_likeness_is_that_of_the_book():
    random = np.random.default_rng(1)
    one = random.integers(0, 256, (40, 50, 3)).astype(np.uint8)
    other = np.clip(one + random.normal(0.0, 20.0, one.shape), 0, 255).astype(np.uint8)
    assert ssim(one, one) == pytest.approx(1.0)
    assert ssim(one, other) == pytest.approx(slow_ssim(one, other), abs=1e-9)
    assert ssim(one, 255 - one) < 0.0


@pytest.mark.slow
@pytest.mark.skipif(not getattr(pygame, "IS_CE", False), reason="texts of the other pygame stand a pixel elsewhere")
@pytest.mark.parametrize("name", SHOTS)
def test_a_view_looks_as_it_did(name, tmp_path):
    made = make(name, tmp_path)
    kept = pygame.image.load(GOLDEN / f"{name}.png")
    if os.environ.get("CBSIM_GOLDEN"):  # after looking at it
        save(made, GOLDEN / f"{name}.png")
    likeness = ssim(pixels_of(made), pixels_of(kept))
    if likeness < ALIKE:
        save(made, tmp_path / "made.png")
    assert likeness >= ALIKE, tmp_path / "made.png"


def test_every_kept_picture_is_one_of_the_views():
    assert {path.stem for path in GOLDEN.glob("*.png")} == set(SHOTS)
