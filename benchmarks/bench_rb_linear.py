"""Cost per link and Newton iteration of chains of 10 to 1000 links: it is to grow with the links, no faster.

    python benchmarks/bench_rb_linear.py

Chains of hinges and of ball joints hang bent and are let go, at h = 0.005 and default tolerances. Every round steps all
of them in turn; a chain's cost per link and iteration is divided by that of the chain of 10 in the same round. The
goal is a ratio of at most 1.5. Before that, each of them has to live through a second: every step solved, energy kept
to a thousandth of what moves. Last, 1000 links in line do so at h = 0.01: near the top, where 9.8 kN pull, waves run
along a link and back in a step then, and many steps are made in parts.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from cbsim.dynamics.kernels import columns as c
from cbsim.multibody import (
    Mechanism,
    gallery,
    get_maximal_state,
    get_minimal_state,
    kinetic_energy,
    mechanical_energy,
    rollout,
    set_minimal_state,
    simulate,
)

LINKS, ROUNDS, GOAL = (10, 30, 100, 300, 1000), 9, 1.5


def hanging(links: int, joint: str) -> Mechanism:
    """A chain of rods of a metre in a bow."""
    mechanism = gallery.chain(links, joint=joint, timestep=0.005)
    x = get_minimal_state(mechanism)
    x[0] = 0.3
    for joint_number in range(1, links):
        x[mechanism.minimal_index(joint_number)[0]] = 0.5 / links
    set_minimal_state(mechanism, x)
    return mechanism


def live(mechanism: Mechanism) -> str:
    """Simulate a second, and tell how well."""
    steps = round(1.0 / mechanism.timestep)
    storage = simulate(mechanism, steps)
    energy, moving = mechanical_energy(mechanism, storage), kinetic_energy(mechanism, storage)
    off = np.ptp(energy) / moving.max()
    assert storage.is_solved.all()
    assert off < 1e-3, f"energy is off by {off:.1e}"
    parts = int(mechanism.report[c.ATTEMPTS])
    each = mechanism.report[c.ITERATIONS] / steps
    return f"a second: {each:.2f} iterations a step, {parts} tried again, energy off by {off:.0e}"


def per_link(mechanism: Mechanism, z: np.ndarray, steps: int) -> float:
    """CPU seconds per link and iteration."""
    began = time.process_time()
    rollout(mechanism, z, steps)
    return (time.process_time() - began) / (mechanism.last[c.ITERATIONS] * len(mechanism.bodies))


def main() -> None:
    for joint in ("Revolute", "Spherical"):
        chains = {links: hanging(links, joint) for links in LINKS}
        starts = {links: get_maximal_state(chain) for links, chain in chains.items()}
        said = {links: live(chain) for links, chain in chains.items()}
        rounds = [
            {links: per_link(chains[links], starts[links], max(3, 50_000 // links)) for links in LINKS}
            for _ in range(ROUNDS)
        ]
        for links in LINKS:
            cost = 1e9 * statistics.median(each[links] for each in rounds)
            ratio = statistics.median(each[links] / each[10] for each in rounds)
            print(
                f"{joint:<10} {links:>5} links {cost:7.1f} ns per link and iteration, {ratio:5.2f} times that of 10 "
                f"(goal {GOAL})   {said[links]}",
                flush=True,
            )
    print(f"1000 links in line at h = 0.01: {live(gallery.chain(1000))}")


if __name__ == "__main__":
    main()
