"""Names in any script are drawn, not boxes."""

from __future__ import annotations

import pygame
import pytest

from cbsim.viewer.drawing import text_rendering
from cbsim.viewer.drawing.text_rendering import MISSING

NAMES = ["Жук", "Ωmega", "Žluťoučký", "汽车 7", "くるま", "자동차", "سيارة", "מכונית", "მანქანა"]


@pytest.mark.parametrize("name", NAMES)
def test_every_letter_of_a_name_is_drawn(name):
    for letter in name:
        made, box = (text_rendering.render(each, 32, (0, 0, 0)) for each in (letter, MISSING))
        assert pygame.image.tobytes(made, "RGBA") != pygame.image.tobytes(box, "RGBA"), letter


@pytest.mark.parametrize("name", [*NAMES, "", "plain", "mixed 汽车 and Жук"])
def test_a_text_is_as_wide_as_is_said_and_at_most_a_fifth_higher(name):
    (width, height), (said, least) = (
        text_rendering.render(name, 20, (0, 0, 0)).get_size(),
        text_rendering.extent(name, 20),
    )
    assert width == said
    assert height <= 1.2 * least


def test_plain_names_look_as_ever():
    pygame.font.init()
    plain = pygame.font.Font(None, 20).render("Sedan", True, (1, 2, 3))
    assert pygame.image.tobytes(plain, "RGBA") == pygame.image.tobytes(
        text_rendering.render("Sedan", 20, (1, 2, 3)), "RGBA"
    )
