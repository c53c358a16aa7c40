"""Start-up of the whole program: help, check, warm start to the first step, first run ever.

python benchmarks/bench_start.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from common import rounds, show

import cbsim  # noqa: F401 - fails early where it is not installed
from cbsim.paths import data_folder


def program(*arguments: str, **environment: str) -> None:
    """Run cbsim once, in silence, with its modules translated to bytecode as an installed program has them."""
    command = [sys.executable, "-m", "cbsim", *arguments]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(
        command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=variables | environment
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        measure()


def measure() -> None:
    """Time all of them."""
    city = str(data_folder("rndf") / "city.rndf")
    show("cbsim --help", rounds(lambda: program("--help")), "s")
    show("cbsim check city.rndf", rounds(lambda: program("check", city)), "s")
    show("warm start to the first step", rounds(lambda: program("run", "four_way_stop", "--duration", "0")), "s")

    def first_ever() -> None:
        with tempfile.TemporaryDirectory() as folder:
            program("run", "four_way_stop", "--duration", "0", CBSIM_CACHE=folder)

    show("first run ever", rounds(first_ever, 2), "s")


if __name__ == "__main__":
    main()
