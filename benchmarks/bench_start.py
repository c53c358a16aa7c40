"""Start-up of the whole program: help, check, warm start to the first step, first run ever; and of a mechanism.

    python benchmarks/bench_start.py

A mechanism's warm start is a new process that imports `cbsim.multibody`, builds a pendulum and makes a step, with
machine code in the cache: less than a second. Cold, with an empty cache, it compiles what a pendulum needs: 15 CPU
seconds at most; everything that mechanisms have, 90. `cbsim warmup` compiles that and traffic, on two cores.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable

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


PENDULUM = """
from cbsim.multibody import Box, Mechanism, Origin, Revolute, minimal_to_maximal, step
origin, rod = Origin(), Box(0.1, 0.1, 1.0, mass=1.0).body()
pendulum = Mechanism(origin, [rod], [Revolute(origin, rod, (1, 0, 0), child_vertex=(0, 0, 0.5))])
z = step(pendulum, minimal_to_maximal(pendulum, (0.5, 0.0)))
assert abs(z[3:6]).max() > 1e-4
"""


EVERYTHING = "from cbsim.multibody.warmup import every_mechanism; every_mechanism()"


def python(code: str, **environment: str) -> None:
    """Run some lines in a process of their own."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", code], check=True, env=variables | environment)


def processor_seconds(work: Callable[[str], object], count: int) -> list[float]:
    """CPU seconds that a child process takes with an empty cache folder, a few times."""
    times = []
    for _ in range(count):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory() as folder:
            work(folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return times


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
    show("a pendulum's first step, from the cache", rounds(lambda: python(PENDULUM)), "s", "goal 1")
    cold = processor_seconds(lambda folder: python(PENDULUM, CBSIM_CACHE=folder), 3)
    show("a pendulum's first step ever, CPU", cold, "s", "goal 15")
    show(
        "everything of mechanisms, CPU",
        processor_seconds(lambda folder: python(EVERYTHING, CBSIM_CACHE=folder), 1),
        "s",
        "goal 90",
    )

    def all_there_is() -> None:
        with tempfile.TemporaryDirectory() as folder:
            program("warmup", CBSIM_CACHE=folder)

    show("cbsim warmup, of traffic and mechanisms", rounds(all_there_is, 1), "s", "goal 90")


if __name__ == "__main__":
    main()
