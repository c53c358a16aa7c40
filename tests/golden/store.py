"""The golden file: digests and a few numbers of every case, and on what machine code they were made."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np

from cbsim.jit import target_name
from tests.golden.cases import Trace

__all__ = ["Golden", "movement", "target"]

FILE = Path(__file__).with_name("golden.json")
DIGITS = 12  # of the numbers kept: enough to measure a change, while the digest holds every bit


def target() -> dict[str, str]:
    """What the bits of a run depend on besides the sources."""
    return {
        "machine": platform.machine(),
        "target": target_name(),
        "numba": numba.__version__,
        "numpy": np.__version__,
    }


@dataclass
class Golden:
    """Contents of the golden file.

    Attributes
    ----------
    target : dict
        As `target` gave it when the file was made.
    traces : dict
        Name of a case → its `Trace`.
    """

    target: dict[str, str]
    traces: dict[str, Trace]

    @classmethod
    def read(cls) -> Golden:
        """Read the file; one that does not exist holds nothing."""
        if not FILE.exists():
            return cls(target(), {})
        data = json.loads(FILE.read_text())
        traces = {name: Trace(one["digest"], np.array(one["values"], float)) for name, one in data["traces"].items()}
        return cls(data["target"], traces)

    def write(self) -> None:
        """Write the file, one case a line, so that a diff of it names the cases that changed."""
        lines = [f"  {json.dumps(name)}: {_line(self.traces[name])}" for name in sorted(self.traces)]
        text = f'{{"target": {json.dumps(self.target)},\n "traces": {{\n' + ",\n".join(lines) + "\n}}\n"
        FILE.write_text(text)


def _line(trace: Trace) -> str:
    values = [float(f"{value:.{DIGITS}g}") for value in trace.values]
    return json.dumps({"digest": trace.digest, "values": values})


def movement(old: Trace, new: Trace) -> float:
    """Largest difference between the numbers of two traces; infinite if they are of other shapes."""
    if old.values.shape != new.values.shape:
        return np.inf
    with np.errstate(invalid="ignore"):
        gaps = np.abs(old.values - new.values)
    same = (old.values == new.values) | (np.isnan(old.values) & np.isnan(new.values))
    return float(np.where(same, 0.0, np.where(np.isnan(gaps), np.inf, gaps)).max(initial=0.0))
