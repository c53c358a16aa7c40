"""Saving and loading of mechanisms, exact to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cbsim.errors import FileError, Location, ModelError, Problem, Problems, Severity
from cbsim.formats import read_as
from cbsim.multibody.mechanism import Mechanism
from cbsim.paths import Files
from cbsim.spec.mechanism.stored import StoredMechanism

__all__ = ["load", "save"]


def save(mechanism: Mechanism, path: str | Path) -> None:
    """Write a mechanism with its state, its inputs and its outside forces as a JSON file (`docs/formats/mechanism.md`).

    Triangles of mesh files are copied into it, so that it needs no other file.

    Raises
    ------
    ModelError
        If it is not a mechanism, or a mesh file cannot be read.
    UsageError
        If the file cannot be written.
    """
    if not isinstance(mechanism, Mechanism):
        raise ModelError(f"{mechanism!r} is no Mechanism", subject="save")
    mechanism.save(path)


def load(path: str | Path) -> Mechanism:
    """Make a mechanism of a file that `save` wrote: in the same state, with the same inputs and outside forces.

    Its steps have the same bits.

    Raises
    ------
    FileError
        With every error of the file, each at its line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from cbsim.multibody import gallery, load
    >>> path = Path(mkdtemp()) / "pendulum.json"
    >>> gallery.pendulum(angle=0.5).save(path)
    >>> load(path)
    <Mechanism of 1 bodies, 1 joints, 0 contacts, timestep 0.01 s>
    """
    if not isinstance(path, str | Path):
        raise ModelError(f"path is {path!r}, expected the name of a file", subject="load")
    problems = Problems()
    reading = read_as(("mechanism",), path, Files([path]), problems)
    problems.raise_if_any()
    assert reading is not None  # else there were problems
    stored = reading.spec
    assert isinstance(stored, StoredMechanism)
    try:
        made = Mechanism.of(stored.spec)
    except ModelError as wrong:
        named = (at for name, at in stored.locations.items() if f"'{name}'" in wrong.subject)
        place = next(named, Location(str(path), 1))
        raise FileError(Problem(Severity.ERROR, "E944", str(wrong), place)) from None
    if stored.state is not None:
        made.pose[:] = stored.state
        made.coast()
    if stored.next_state is not None:
        made.after[:] = stored.next_state
    for name, held in stored.inputs.items():
        made.joint_input(made.place_of[made.by_name[name]])[:] = held
    for name, wrench in stored.external.items():
        made.external[made.place_of[made.by_name[name]]] = np.asarray(wrench)
    return made
