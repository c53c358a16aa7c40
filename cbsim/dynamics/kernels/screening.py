"""Screening of contacts before a step, and scales of their pairs: impulse, gap, weight."""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.begin_step import guess_turn
from cbsim.dynamics.kernels.columns import (
    ACTIVE,
    COUPLING,
    FORCE,
    FRESH,
    GAP,
    GRAVITY,
    KAPPA,
    LEAD,
    MASS,
    ONE,
    OTHER,
    SCREEN,
    SPEED,
    TREE_MASS,
    WEIGHT,
)
from cbsim.dynamics.kernels.cone_starts import cold_start
from cbsim.dynamics.kernels.contacts import evaluate_contact
from cbsim.jit import inlined, inner

__all__ = ["DEPTH", "screen_contacts", "touched"]

HOVER = 1e-6  # largest gap of a loaded contact [m]
LITTLE, LEAST_HOVER = (
    1e-3,
    1e-9,
)  # the same relative to the motion of the fastest contact in the step, and its minimum [m]
LEAST_WEIGHT = 1e-12  # least weight of a contact, so that massless bodies stay finite
STOPPED = 0.1  # share of the fastest contact's speed that counts as stopped by contacts
AT_REST = 1e-6  # velocity that they stop at least [m/s]
CROWD = 100  # active contacts from which friction is led to products of its own
FASTEST_LEAD = 100.0  # largest ratio of these products to those of gaps [1/s]
DEPTH = 1e-2  # least gap of a contact or a stop at a cold start [m or rad]


@inlined
def _weight(contact_link, joint, i, heaviest):
    """Mass of the lighter side of a contact over the heaviest of all; 1 if none can move."""
    lighter, other = joint[contact_link[i, ONE], TREE_MASS], contact_link[i, OTHER]
    if other >= 0:
        lighter = min(lighter, joint[other, TREE_MASS])
    return max(lighter / heaviest, LEAST_WEIGHT) if lighter < heaviest else 1.0


@inner
def screen_contacts(links, joint, contact_link, contact, contact_work, link_work, settings, counts, h):
    """Evaluate the contacts at the guess of node 3, and omit those with gaps above their motion in two steps.

    Return the typical impulse of a contact [N s], and the largest gap [m] of a loaded one: small against the motion of
    the fastest contact in the step. The impulse stops all mass from what gravity adds to its velocity in a step and a
    tenth of the fastest contact's speed, divided by the number of contacts (docs/theory/contact.md §5).
    """
    k, length = GRAVITY, abs(h)
    # velocity that gravity adds in a step
    pull = length * math.sqrt(settings[k] ** 2 + settings[k + 1] ** 2 + settings[k + 2] ** 2)
    mass, heaviest, active, fastest = 0.0, 0.0, 0, 0.0
    for b in range(links):
        guess_turn(link_work, b)
        mass += joint[b, MASS]
        if joint[b, TREE_MASS] < math.inf:
            heaviest = max(heaviest, joint[b, TREE_MASS])
    for i in range(len(contact_link)):
        # relaxed problems count all contacts, all with weight 1: their gradients depend on every gap
        evaluate_contact(contact_link, contact, contact_work, link_work, i, h)
        speed = math.sqrt(contact_work[i, SPEED])
        was = contact_work[i, ACTIVE]
        apart = contact_work[i, GAP] > 2.0 * length * (speed + pull) + DEPTH
        contact_work[i, ACTIVE] = 0.0 if apart and counts[SCREEN] != 0 and settings[KAPPA] < 0.0 else 1.0
        contact_work[i, FRESH] = 1.0 if was == 0.0 else 0.0
        contact_work[i, WEIGHT] = _weight(contact_link, joint, i, heaviest) if settings[KAPPA] < 0.0 else 1.0
        if contact_work[i, ACTIVE] == 0.0:
            contact_work[i, FORCE] = 0.0
        else:
            active += 1
            fastest = max(fastest, speed)
    # a gap's slack is a length, that of friction a speed, larger by 1 / h (docs/theory/contact.md §13)
    lead = 1.0
    if active >= CROWD and settings[KAPPA] < 0.0:
        lead = max(1.0, min(1.0 / length, FASTEST_LEAD))
    for i in range(len(contact_link)):
        contact_work[i, LEAD], contact_work[i, COUPLING] = lead, 1.0
    hover = min(HOVER, max(LITTLE * length * (fastest + pull), LEAST_HOVER))
    # most of a speed is slip, which no normal impulse stops: counted whole, loaded contacts would hover
    return mass * (pull + STOPPED * fastest + AT_REST) / max(active, 1), hover


@inner
def touched(contact_link, contact, contact_work, link_work, impulse, h):
    """Activate omitted contacts that have closed; return whether there is one."""
    found = False
    for i in range(len(contact_link)):
        if contact_work[i, ACTIVE] == 0.0:
            evaluate_contact(contact_link, contact, contact_work, link_work, i, h)
            if contact_work[i, GAP] < 0.0:
                contact_work[i, ACTIVE] = 1.0
                cold_start(contact_link, contact, contact_work, i, impulse, DEPTH)
                found = True
    return found
