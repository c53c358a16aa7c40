"""Tables of names: look-ups, and questions whether a name is there."""

from __future__ import annotations

import pytest

from cbsim.errors import UsageError
from cbsim.multibody.gallery import GALLERY
from cbsim.registry import Registry

SHAPES = Registry("shape", [("round", 1), ("square", 2)])


def test_a_name_that_is_not_there_is_not_in_the_table():
    assert "round" in SHAPES
    assert "oval" not in SHAPES
    assert 3 not in SHAPES
    assert "mechanism of nobody" not in GALLERY
    assert SHAPES.get("oval") is None
    assert SHAPES.get("oval", 5) == 5
    assert SHAPES.get("round", 5) == 1


def test_a_look_up_that_fails_tells_what_there_is():
    with pytest.raises(UsageError, match=r"no shape 'rond'; there is round, square .*round"):
        SHAPES["rond"]


def test_members_keep_their_order_and_names_are_given_once():
    assert list(SHAPES.items()) == [("round", 1), ("square", 2)]
    assert len(SHAPES) == 2
    with pytest.raises(ValueError, match="'round' is in the table twice"):
        Registry("shape", [("round", 1), ("round", 2)])
