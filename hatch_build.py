"""Build hook that puts compiled kernels into the wheel, with ``CBSIM_BUILD_KERNELS=1``.

The wheel is then one for this platform and version of Python. Its machine code is for the default compile target and
for the versions of numba and llvmlite in the build environment; with others, kernels are compiled as from a pure wheel.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WANTED = os.environ.get("CBSIM_BUILD_KERNELS", "0") not in ("", "0")


class CompiledKernels(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles what ``cbsim warmup`` knows, below ``cbsim/_kernels``."""

    def dependencies(self) -> list[str]:
        """Return what a compiling build needs: everything that a run does."""
        if not WANTED:
            return []
        project = tomllib.loads((Path(self.root) / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return list(project["dependencies"])

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and add the folder to the wheel."""
        if not WANTED or version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([self.root, *filter(None, [os.environ.get("PYTHONPATH")])]),
            "CBSIM_CACHE": str(folder / "cache"),
            "CBSIM_CPU": "",
        }
        command = [sys.executable, "-m", "cbsim", "warmup", "--quiet", "--export", str(folder / "export")]
        subprocess.run(command, env=environment, cwd=self.root, check=True)
        (compiled,) = (folder / "export" / "cbsim").iterdir()
        build_data["force_include"][str(compiled)] = f"cbsim/_kernels/{compiled.name}"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, _version: str, _build_data: dict[str, Any], _artifact_path: str) -> None:
        """Delete the folder."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()
