"""Joysticks and keys have ends, whoever works them: settings of a run or a scenario, `cbsim.steer`, a controller."""

import pytest

import cbsim
from cbsim.errors import UsageError
from cbsim.planner.isolation import PlannerError

CART = "models/cart.jm"


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("joystick1.y", 5, "from -1 to 1"),
        ("joystick2.r", -1.01, "from -1 to 1"),
        ("key.up", -1, "from 0 to 1"),
        ("joystick1.x", "inf", "from -1 to 1"),
        ("speed_factor", "nan", "a finite number"),
    ],
)
def test_what_a_control_does_not_take_is_told_with_what_it_takes(key, value, wanted):
    with pytest.raises(UsageError, match=f"control '{key}' is '{value}', expected .*{wanted}"):
        cbsim.load(CART, settings={key: value})


def test_ends_of_controls_are_within_them_and_the_engine_has_none():
    settings = {"joystick1.x": -1, "joystick1.y": 1.0, "key.up": 1, "speed_factor": 5}
    world = cbsim.load(CART, settings=settings)
    found = {name: world.start.columns.controller_state[place] for name, place in world.controls.items()}
    assert {name: found[name] for name in settings} == settings


def test_steering_and_controllers_stay_within_the_ends():
    class Eager:
        def plan(self, observation):
            return {"joystick1.y": -2.0}

    world = cbsim.load(CART)
    with pytest.raises(UsageError, match=r"control 'joystick1.y' is 2, expected a number from -1 to 1"):
        cbsim.steer(world, world.start, {"joystick1.y": 2})
    with pytest.raises(PlannerError, match=r"plan\(\) set 'joystick1.y' to -2.0, expected a number from -1 to 1"):
        cbsim.run(world, duration=0.1, planner=Eager())
