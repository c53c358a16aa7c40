"""Colours: the same in the report, and told apart by colour-blind eyes."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from cbsim.palette import CHROME, KINDS, MARKINGS, PAINT, SCENE, WORDS, rgb
from tests.common import ROOT

SCRIPT = (ROOT / "cbsim" / "report" / "assets" / "replay.js").read_text()
# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency", IEEE
# Transactions on Visualization and Computer Graphics 15 (2009), table 1, severity 1.0; for linear red, green and blue
EYES = {
    "protan": [(0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)],
    "deutan": [(0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)],
    "tritan": [(1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)],
    "all": np.eye(3),
}


def lab(colour, eye):
    """CIE L*a*b* of a colour as an eye sees it (D65)."""
    value = np.asarray(colour) / 255.0
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.asarray(EYES[eye]) @ linear, 0.0, 1.0)
    to_xyz = [(0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041)]
    xyz = np.asarray(to_xyz) @ seen / (0.95047, 1.0, 1.08883)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_report_has_the_same_colours():
    for kind, look in KINDS.items():
        (line,) = re.findall(rf"^  {kind}: .*$", SCRIPT, re.MULTILINE)
        assert rgb(re.findall(r'fill: "(#\w{6})"', line)[0]) == look.fill
    for mark in MARKINGS:
        assert mark in SCRIPT
    assert rgb(re.findall(r'ASPHALT = "(#\w{6})"', SCRIPT)[0]) == SCENE.asphalt
    assert rgb(re.findall(r'INK = "(#\w{6})"', SCRIPT)[0]) == SCENE.ink


@pytest.mark.parametrize("eye", EYES)
def test_kinds_of_bodies_are_told_apart_from_each_other_and_from_the_road(eye):
    fills = [look.fill for look in KINDS.values()] + [SCENE.ground]
    for one, other in itertools.combinations(fills, 2):
        assert np.linalg.norm(lab(one, eye) - lab(other, eye)) > 10.0, (one, other)


def contrast(one, other):
    """Contrast ratio of two colours (WCAG 2.1, relative luminance of sRGB)."""
    values = np.array([one, other]) / 255.0
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    dark, light = sorted(linear @ (0.2126, 0.7152, 0.0722))
    return (light + 0.05) / (dark + 0.05)


SURFACES = {name: getattr(SCENE, name) for name in ("ground", "asphalt", "crossing", "zone")}
INSIDE = {"glass", "tyre", "selected"}  # parts of bodies, and what has an edge of its own
ON_BOTH = {
    **{kind: look.fill for kind, look in KINDS.items()},
    **{name: colour for name, colour in PAINT._asdict().items() if name not in INSIDE},
}


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", ON_BOTH)
def test_bodies_and_what_is_drawn_over_the_scene_stand_out_from_every_surface(name, surface):
    assert contrast(ON_BOTH[name], SURFACES[surface]) >= 3.0


@pytest.mark.parametrize("surface", ["asphalt", "crossing", "zone"])
def test_markings_stand_out_from_the_road(surface):
    for colour in (SCENE.paint, *(look.colour for look in MARKINGS.values())):
        assert contrast(colour, SURFACES[surface]) >= 3.0
    assert contrast(SCENE.unmarked, SCENE.asphalt) >= 3.0


def test_parts_of_a_body_stand_out_from_it_and_its_ring_from_its_edge():
    for look in KINDS.values():
        assert contrast(SCENE.paint, look.fill) >= 3.0
        assert contrast(SCENE.ink, look.fill) >= 3.0
        assert contrast(PAINT.tyre, look.fill) >= 3.0
    assert contrast(PAINT.selected, SCENE.ink) >= 3.0


def test_text_can_be_read():
    for colour in (*WORDS, CHROME.ink, CHROME.soft, CHROME.accent, SCENE.ink):
        assert contrast(colour, CHROME.panel) >= 4.5
