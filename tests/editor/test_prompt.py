"""A typed line: caret, selection, clipboard, choices."""

from __future__ import annotations

import pygame
import pytest

from cbsim.editor.prompt import LONGEST, Prompt


@pytest.fixture
def line():
    return Prompt("name", "one two.xml", lambda text: text)


def press(line, key, mod=0, typed=""):
    return line.handle(pygame.event.Event(pygame.KEYDOWN, key=key, mod=mod, unicode=typed))


def test_what_stands_there_at_first_is_selected_and_replaced_by_what_is_typed(line):
    assert line.fresh
    press(line, pygame.K_x, typed="x")
    press(line, pygame.K_y, typed="y")
    assert (line.text, line.caret) == ("xy", 2)


def test_ctrl_a_selects_all_of_it_after_a_change(line):
    press(line, pygame.K_END)
    press(line, pygame.K_b, typed="b")
    press(line, pygame.K_a, pygame.KMOD_CTRL)
    assert line.selection == (0, len("one two.xmlb"))
    press(line, pygame.K_BACKSPACE)
    assert line.text == ""


def test_a_part_is_selected_copied_cut_and_pasted(line):
    press(line, pygame.K_HOME)
    for _ in range(3):
        press(line, pygame.K_RIGHT, pygame.KMOD_SHIFT)
    assert line.selection == (0, 3)
    press(line, pygame.K_c, pygame.KMOD_CTRL)
    press(line, pygame.K_END)
    press(line, pygame.K_v, pygame.KMOD_CTRL)
    assert line.text == "one two.xmlone"
    press(line, pygame.K_LEFT, pygame.KMOD_SHIFT | pygame.KMOD_CTRL)
    press(line, pygame.K_x, pygame.KMOD_CTRL)
    assert line.text == "one two."


def test_the_caret_goes_by_letters_and_words_and_text_goes_in_there(line):
    press(line, pygame.K_END)
    press(line, pygame.K_LEFT, pygame.KMOD_CTRL)
    assert line.caret == len("one two.")
    press(line, pygame.K_LEFT, pygame.KMOD_CTRL)
    press(line, pygame.K_m, typed="m")
    assert line.text == "one mtwo.xml"
    press(line, pygame.K_DELETE)
    assert line.text == "one mwo.xml"
    press(line, pygame.K_BACKSPACE)
    assert line.text == "one wo.xml"


@pytest.mark.parametrize("key", [pygame.K_LEFT, pygame.K_BACKSPACE, pygame.K_DELETE, pygame.K_RIGHT])
def test_nothing_happens_beyond_the_ends_of_an_empty_line(key):
    line = Prompt("name", "", lambda text: text)
    press(line, key)
    press(line, key, pygame.KMOD_CTRL)
    assert (line.text, line.caret, line.anchor) == ("", 0, 0)


def test_a_pasted_text_is_one_line_of_bounded_length(line):
    line.insert("a" * 3 * LONGEST)
    line.insert("b\tc")
    assert line.text == "a" * LONGEST
