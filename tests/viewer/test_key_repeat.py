"""Keys that are held, and those that only a slow picture makes look so."""

from __future__ import annotations

import pygame
import pytest

from cbsim.viewer.key_repeat import KeyRepeat


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def key(kind, code=pygame.K_F5, mod=0):
    return pygame.event.Event(kind, key=code, mod=mod, unicode="", scancode=0)


def counts(repeat, clock, times, first=()):
    """How many events come of pictures at some times, some events in the first."""
    found = []
    for k, clock.now in enumerate(times):
        found.append(len(repeat.process(first if k == 0 else [])))
    return found


def test_a_key_that_is_held_is_repeated_after_a_while_and_then_often(clock):
    times = [k / 60 for k in range(60)]
    found = counts(KeyRepeat(clock), clock, times, [key(pygame.KEYDOWN)])
    assert found[0] == 1
    assert not any(found[1:18])
    assert sum(found[18:]) == pytest.approx((1.0 - 0.3) / 0.05, abs=1), "every third picture of a sixtieth of a second"


def test_what_is_repeated_is_the_key_as_it_was_pressed(clock):
    repeat = KeyRepeat(clock)
    pressed = key(pygame.KEYDOWN, pygame.K_LEFT, pygame.KMOD_LSHIFT)
    repeat.process([pressed])
    for _ in range(20):
        clock.now += 0.1
        found = repeat.process([])
    assert [event.dict for event in found] == [pressed.dict]
    assert found[0].type == pygame.KEYDOWN


def test_a_key_let_go_while_a_picture_took_long_is_not_repeated(clock):
    repeat = KeyRepeat(clock)
    repeat.process([key(pygame.KEYDOWN)])
    clock.now = 2.0  # a run was started meanwhile
    released = key(pygame.KEYUP)
    assert repeat.process([released]) == [released]
    assert not any(counts(repeat, clock, [2.0 + 0.1 * k for k in range(30)]))


def test_few_long_pictures_do_not_make_a_key_held(clock):
    assert counts(KeyRepeat(clock), clock, [0.1 * k for k in range(16)], [key(pygame.KEYDOWN)]) == [1, *[0] * 15]


@pytest.mark.parametrize("let_go", [pygame.K_LEFT, pygame.K_LSHIFT])
def test_letting_go_of_the_key_or_of_what_is_held_with_it_ends_it(clock, let_go):
    repeat = KeyRepeat(clock)
    assert sum(counts(repeat, clock, [0.1 * k for k in range(24)], [key(pygame.KEYDOWN, pygame.K_LEFT)])) > 2
    repeat.process([key(pygame.KEYUP, let_go)])
    assert not any(counts(repeat, clock, [clock.now + 0.1 * k for k in range(24)]))


def test_the_newest_key_is_the_one_that_is_repeated(clock):
    repeat = KeyRepeat(clock)
    counts(repeat, clock, [0.0, 0.1], [key(pygame.KEYDOWN, pygame.K_LEFT)])
    counts(repeat, clock, [0.2 + 0.1 * k for k in range(20)], [key(pygame.KEYDOWN, pygame.K_RIGHT)])
    clock.now += 0.1
    assert [event.key for event in repeat.process([])] == [pygame.K_RIGHT]
