"""The same files make the same Worlds, starts and steps whatever routines numpy picks for the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.common import ROOT

SCENARIOS = ROOT / "scenarios"
QUICK = [SCENARIOS / name for name in ("city.yaml", "parking.yaml", "sensors.yaml", "models/hexapod.irt")]
EVERY = [*sorted(SCENARIOS.glob("*.yaml")), *sorted((SCENARIOS / "models").iterdir())]

PROGRAM = """
import hashlib, json, sys
import numpy as np
import cbsim

def digest(snapshot):
    made = hashlib.blake2b(digest_size=8)
    for block in snapshot.blocks:
        made.update(np.ascontiguousarray(block).tobytes())
    return made.hexdigest()

found = {}
for path in sys.argv[2:]:
    world = cbsim.load(path)
    snapshot = world.start
    found[path] = [digest(snapshot)]
    for _ in range(int(sys.argv[1])):
        snapshot = cbsim.step(world, snapshot)
        found[path].append(digest(snapshot))
print(json.dumps(found))
"""
CORES = [
    {"OPENBLAS_CORETYPE": "Prescott"},
    {"OPENBLAS_CORETYPE": "Haswell"},
    {"NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"},
]


def digests(paths, steps, core):
    """Digest of the Snapshot at the start and after each step, of scenarios, in a process of its own."""
    arguments = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(steps), *map(str, paths)]
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT, env=os.environ | core, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_starts_and_steps_are_the_same_with_routines_for_an_old_cpu_and_for_a_new_one():
    """City, parking and sensors once started elsewhere, and the hexapod went another way from its first step on."""
    old, new = (digests(QUICK, 5, core) for core in CORES[:2])
    assert old == new


@pytest.mark.slow
def test_every_shipped_scenario_and_model_is_the_same_on_any_cpu():
    here = digests(EVERY, 40, {})
    for core in CORES:
        assert digests(EVERY, 40, core) == here, core
