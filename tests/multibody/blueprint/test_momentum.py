"""Row `momentum` of the blueprint: g = 0, ten seconds; momenta stay to 1e-9 (there: 1e-8) whatever joints do.

Snakes and twisters of every joint, with springs, dampers and inputs, are in `tests/multibody/test_momentum.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.kernels import columns as c
from cbsim.multibody import (
    SolverOptions,
    gallery,
    get_maximal_state,
    get_minimal_state,
    minimal_to_maximal,
    momentum,
    set_dampers,
    set_minimal_state,
    simulate,
)
from tests.multibody.blueprint.mechanisms import TIGHT, equipped, inputs_of

FLOATING = {  # springs and dampers of the blueprint
    "ant": (1.0, 1.0),
    "block": (0.0, 0.0),
    "dzhanibekov": (0.0, 0.0),
    "humanoid": (1.0, 1.0),
    "quadrotor": (0.0, 0.0),
    "quadruped": (0.3, 0.1),
    "raiberthopper": (1.0, 0.1),
    "snake": (4.0, 20.0),
    "sphere": (0.0, 0.0),
    "tippetop": (0.0, 0.0),
    "top": (0.0, 0.0),
    "twister": (0.0, 0.0),
}


@pytest.mark.parametrize("name", FLOATING)
def test_what_floats_keeps_its_momentum_while_its_joints_are_driven(name):
    links = {"links": 5} if name == "snake" else {}
    m = equipped(gallery.build(name, gravity=0.0, **links), *FLOATING[name])
    x = get_minimal_state(m)
    x[2] += 10.0  # far from the ground
    x[6:12] = 1.0, 2.0, 3.0, 1.0, 2.0, 3.0
    set_minimal_state(m, x)
    driven = np.tile(inputs_of(m, 0.05), (1000, 1))
    driven[:, :6] = 0.0  # the base's joint ties it to the world
    driven[100:] = 0.0
    storage = simulate(m, 1000, get_maximal_state(m), driven, options=TIGHT)
    assert storage.is_solved.all()
    assert m.report[c.ATTEMPTS] == 0  # steps made in parts tell momenta otherwise
    kept = momentum(m, storage)
    assert np.abs(kept - kept[0]).max() < 1e-9
    assert np.abs(kept[0]).min() > 0.01


def test_a_tumbling_cube_keeps_its_momentum():
    m = gallery.block(gravity=0.0, height=10.0, angular_velocity=(10.0, 10.0, 10.0))
    kept = momentum(m, simulate(m, 1000, options=TIGHT))
    assert np.abs(kept - kept[0]).max() < 1e-10


def test_a_pendulum_without_weight_keeps_its_spin():
    m = gallery.pendulum(gravity=0.0)
    spin = momentum(m, simulate(m, 1000, minimal_to_maximal(m, (0.3, 2.0)), options=TIGHT))[:, 3:]
    assert np.abs(spin - spin[0]).max() < 1e-12
    assert abs(spin[0, 0]) > 0.1


@pytest.mark.parametrize("name", ["ant", "humanoid", "quadruped"])
def test_what_floats_keeps_its_momentum_when_joints_reach_their_bounds(name):
    m = gallery.build(name, gravity=0.0, limited=True, ground=False) if name != "quadruped" else free_quadruped()
    driven = np.tile(inputs_of(m, 0.0), (200, 1))
    driven[:, 6:] = 2.0
    storage = simulate(m, 200, get_maximal_state(m), driven, options=SolverOptions(rtol=1e-11))
    assert (m.own.limit_work[:, c.ROW_FORCE] > 1e-3).any()  # a bound does push
    kept = momentum(m, storage)
    assert np.abs(kept - kept[0]).max() < 1e-9


def free_quadruped():
    m = gallery.quadruped(gravity=0.0, limited=True, height=10.0)
    set_dampers(m, 0.1)
    return m
