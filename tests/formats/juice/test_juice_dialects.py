"""Whole files of every dialect, drawn at random: each is read, told of in place, converted, and made into what runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cbsim.errors import Problems
from cbsim.export.juice import robot_of_juice
from cbsim.formats import urdf
from cbsim.formats.juice import read, write
from cbsim.formats.reader import Source
from cbsim.models.juice import count
from cbsim.models.juice.description import description_of
from cbsim.models.urdf import count as count_robot
from tests.formats.juice.dialects import files

SLOWLY = settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def read_file(file):
    problems = Problems()
    model = read(Source("drawn.jm", file.text, file.text.encode()), problems)
    assert [str(problem) for problem in problems.errors] == []
    assert all((problem.location.line or 0) >= 1 for problem in problems)
    return model


@given(files())
@SLOWLY
def test_a_file_of_any_dialect_is_read_and_read_back_as_it_is_written(file):
    model = read_file(file)
    told = {"1": {"1", "early"}, "early": {"early"}}.get(file.dialect, {file.dialect})
    assert model.dialect in told
    counts = count(model)
    assert (counts["bodies"], counts["joints"]) == (file.bodies, file.joints)
    assert counts["mass"] == pytest.approx(file.mass)
    assert 0 <= counts["degrees_of_freedom"] <= 6 * file.bodies
    text = write(model)
    assert read(Source("again.jm", text, text.encode()), Problems()) == model


@given(files(most=5))
@SLOWLY
def test_a_file_of_any_dialect_becomes_a_urdf_that_is_read_with_all_its_bodies_and_its_mass(file):
    robot = robot_of_juice(read_file(file), Problems())
    text = urdf.write(robot)
    problems = Problems()
    again = urdf.read(Source("drawn.urdf", text, text.encode()), problems)
    assert [str(problem) for problem in problems.errors] == []
    assert sum(link.inertial is not None for link in again.links) == file.bodies
    assert count_robot(again)["mass"] == pytest.approx(file.mass)


@given(files(), st.lists(st.floats(-1, 1), min_size=8, max_size=8))
@SLOWLY
def test_the_behaviours_of_any_file_ask_for_finite_velocities_or_nothing_whatever_the_operator_does(file, sticks):
    made = description_of(read_file(file))
    assert len(made.spec.bodies) == file.bodies
    behaviour, inputs = made.behaviour, np.zeros(sum(joint.dof for joint in made.spec.joints))
    state = np.zeros((file.bodies, 13))
    state[:, 6:10] = np.array([0.8, 0.0, 0.6, 0.0])
    memory = np.array(behaviour.memory)
    for name, value in zip(sorted(behaviour.controls), sticks, strict=False):
        memory[behaviour.controls[name]] = value
    for time in (0.0, 0.01, 0.02, 5.0):
        behaviour.act(time, state, memory, inputs, np.zeros((file.bodies, 6)))
        assert not np.isinf(inputs).any()
    assert np.isfinite(memory).all()
