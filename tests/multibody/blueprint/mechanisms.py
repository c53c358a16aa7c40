"""Mechanisms in motion for the rows of the blueprint: every one of the gallery, chains and snakes of every joint."""

from __future__ import annotations

import numpy as np

from cbsim.multibody import (
    SolverOptions,
    gallery,
    get_maximal_state,
    input_dimensions,
    maximal_to_minimal,
    rollout,
    set_dampers,
    set_springs,
)

TIGHT = SolverOptions(rtol=1e-12)


def equipped(mechanism, spring, damper):
    """Give every joint a damper and a spring, but for dampers of loop joints, which cannot have any.

    In this order: the springs alone may be too stiff for the step, which is told of where they are set.
    """
    dampers = np.full(len(mechanism.joints), float(damper))
    dampers[list(mechanism.compiled.spanning.loop_joints)] = 0.0
    set_dampers(mechanism, dampers)
    set_springs(mechanism, spring)
    return mechanism


def inputs_of(mechanism, value):
    """The same input everywhere."""
    return np.full(sum(input_dimensions(mechanism)), float(value))


def in_motion(mechanism, seconds, push, kappa=None):
    """Minimal state and inputs after so many seconds with a push at every input."""
    u = inputs_of(mechanism, push)
    options = SolverOptions(rtol=1e-12, kappa=kappa)
    steps = round(seconds / mechanism.timestep)
    path = rollout(mechanism, get_maximal_state(mechanism), steps, u, options=options)
    return maximal_to_minimal(mechanism, path[-1]), u


def chain_of(kind, links=5, **options):
    """Rods in a row on a joint of any kind: the n-pendulum."""
    return gallery.chain(links, joint=kind, **options)
