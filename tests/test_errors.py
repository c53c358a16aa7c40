"""The nearest name: what was meant by a slip of the hand, and nothing where nothing is near."""

from __future__ import annotations

import pytest

from cbsim.errors import did_you_mean

NAMES = ("lane", "link", "segment", "joystick1.y", "CajunBot", "mass", "duration", "description", "Car", "box")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("lnae", "lane"),  # two letters the other way round
        ("Cra", "Car"),
        ("bax", "box"),  # one wrong letter in three
        ("segmant", "segment"),
        ("duratoin", "duration"),
        ("dxratiin", "duration"),  # two wrong letters
        ("segmentz", "segment"),
        ("segmnt", "segment"),
        ("joystick.y", "joystick1.y"),
        ("cajunbot", "CajunBot"),
        ("CAR", "Car"),
    ],
)
def test_a_slip_is_told_what_was_meant(written, meant):
    assert did_you_mean(written, NAMES) == f"did you mean '{meant}'?"


@pytest.mark.parametrize("written", ["polyline", "mission", "location", "position", "sensor", "x", "", "aes", "kind"])
def test_nonsense_is_told_nothing(written):
    assert did_you_mean(written, NAMES) == ""


def test_of_names_that_differ_in_case_alone_the_first_is_meant():
    assert did_you_mean("Lan", ["lane", "LANE"]) == "did you mean 'lane'?"
    assert did_you_mean("lane", iter([])) == ""
