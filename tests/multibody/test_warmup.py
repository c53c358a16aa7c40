"""What `cbsim warmup` compiles is all that mechanisms need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import config

from tests.caches import warmed_copy

pytestmark = [pytest.mark.slow, pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")]

USE = """
import numpy as np
from cbsim.multibody import *
from cbsim.multibody import gallery

for name in gallery.GALLERY:
    mechanism = gallery.build(name)
    z, x = get_maximal_state(mechanism), get_minimal_state(mechanism)
    u = np.zeros(sum(input_dimensions(mechanism)))
    step(mechanism, z, u)
    step_minimal_coordinates(mechanism, list(x), u)
    storage = simulate(mechanism, 3, control=lambda mechanism, k: u)
    momentum(mechanism, storage), mechanical_energy(mechanism, storage)
    rollout(mechanism, z, 2, np.zeros((2, u.size)), options=SolverOptions(nodal_start=True))
    get_minimal_gradients(mechanism, x, u)
    get_maximal_gradients(mechanism, z, u, options=SolverOptions(kappa=1e-4))
    step_batch(mechanism, np.array([z, z]), np.array([u, u]), workers=2)
    get_sdf(mechanism, storage)
"""


def machine_code(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.nbc")}


def test_no_mechanism_compiles_anything_after_warmup(tmp_path, tmp_path_factory):
    folder = warmed_copy(tmp_path_factory, tmp_path / "kept")
    before = machine_code(folder)
    environment = os.environ | {"CBSIM_CACHE": str(folder)}
    done = subprocess.run([sys.executable, "-c", USE], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert any("advance" in name for name in before)
    assert machine_code(folder) == before
