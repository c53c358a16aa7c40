"""Every kernel is compiled for one set of types, all by warm-up, but for those that arguments of None specialise."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import typeof
from numba.core import config

import cbsim
from cbsim.dynamics.kernels.gradients.steps import linearize
from cbsim.dynamics.kernels.step import advance as kernel_step
from cbsim.multibody import (
    gallery,
    get_maximal_state,
    maximal_gradients_batch,
    rollout,
    rollout_batch,
    rollout_gradients,
    step_batch,
)
from cbsim.simulation.advance import NO_ROWS, advance
from cbsim.simulation.kernels import advance_into
from tests.common import ROOT

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")

SPECIALISED = {
    "cbsim.dynamics.kernels.step.advance": 2,  # without colliders, with them
}
PROGRAM = """
import gc
import sys
from contextlib import suppress

import numpy as np

import cbsim
from cbsim.kernel_compiler import EntryPoint
from cbsim.kernel_compiler.times import compile_times
from cbsim.multibody import gallery, get_maximal_state, get_minimal_gradients, get_minimal_state, simulate
from cbsim.multibody.warmup import every_mechanism
from cbsim.paths import shipped_names
from cbsim.simulation.observations import observe
from cbsim.simulation.warmup import STAGES

for _, compile_stage in STAGES:
    compile_stage()
every_mechanism()
watched = compile_times()
late = watched.__enter__()
for name in shipped_names("scenarios", (".yaml",)):
    world = cbsim.load(name)
    cbsim.run(world, duration=1.0)
    snapshot = cbsim.step(world, world.start)
    readings = cbsim.sense(world, snapshot)
    for row in list(world.vehicle_rows)[:1]:
        observe(world, snapshot, world.bodies[row].name, readings)
for name in gallery.GALLERY:
    mechanism = gallery.build(name)
    simulate(mechanism, 3)
    get_minimal_gradients(mechanism, get_minimal_state(mechanism))

sys.argv = ["cbsim", "view", "four_way_stop", "--screenshot", sys.argv[1], "--duration", "1", "--quiet"]
from cbsim.cli.main import app
for arguments in (sys.argv, ["cbsim", "run", "four_way_stop", "--quiet"]):  # drawn; judged
    sys.argv = arguments
    with suppress(SystemExit):
        app(standalone_mode=False)

for name in late:
    print(name, "late")
for each in gc.get_objects():
    if isinstance(each, EntryPoint) and each.overloads:
        print(f"{each.py_func.__module__}.{each.py_func.__qualname__}", len(each.overloads))
"""


def test_steps_without_rows_of_motion_have_the_types_of_those_with_them():
    assert typeof(NO_ROWS) == typeof(cbsim.load("crash").moving)


def test_rows_of_any_kind_compile_no_step_of_their_own():
    world = cbsim.load("crash")
    advance(world, world.start, 1, world.moving)
    known = len(advance_into.overloads)
    for rows in (world.moving.copy(), np.repeat(world.moving, 2)[::2], world.moving[:0]):
        advance(world, world.start, 1, rows)
    assert len(advance_into.overloads) == known


def test_inputs_of_any_layout_compile_no_step_of_their_own():
    chain, count = gallery.build("chain", links=2), 3
    z, rows = get_maximal_state(chain), np.linspace(0.0, 1.0, 6).reshape(3, 2)
    states = np.tile(z, (count, 1))
    assert chain.compiled.inputs == 2

    def run(inputs):
        step_batch(chain, states, inputs, workers=1)
        maximal_gradients_batch(chain, states, inputs, workers=1)
        rollout(chain, z, count, inputs)
        rollout_gradients(chain, z, count, inputs)

    run(rows)
    known = len(kernel_step.overloads), len(linearize.overloads)
    for inputs in (
        np.asfortranarray(rows),
        np.repeat(rows, 2, axis=1)[:, ::2],
        rows[0],
        np.broadcast_to(rows[0], (3, 2)),
    ):
        run(inputs)
    assert (len(kernel_step.overloads), len(linearize.overloads)) == known


def test_sequences_of_a_batch_compile_no_step_of_their_own():
    chain, count = gallery.build("chain", links=2), 3
    z, rows = get_maximal_state(chain), np.linspace(0.0, 1.0, 6).reshape(3, 2)
    rollout(chain, z, count, rows)
    known = len(kernel_step.overloads)
    every = np.stack([rows] * count)
    for inputs in (rows[0], rows[None], every, np.asfortranarray(every), np.broadcast_to(rows, every.shape)):
        rollout_batch(chain, np.tile(z, (count, 1)), count, inputs, workers=1)
    assert len(kernel_step.overloads) == known


@pytest.mark.slow
def test_kernels_have_one_overload_each_after_everything_that_is_shipped(tmp_path):
    environment = os.environ | {"SDL_VIDEODRIVER": "dummy"}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "shot.png")]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = [line.split() for line in done.stdout.splitlines()]
    assert [name for name, count in told if count == "late"] == []  # warm-up compiles all
    counts = {name: int(count) for name, count in told}
    assert counts["cbsim.simulation.kernels.advance_into"] == 1
    assert {name: count for name, count in counts.items() if count != 1} == SPECIALISED
