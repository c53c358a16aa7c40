"""Drift of contacts: slopes of contact geometry by poses at the beginning of a step.

Nearest points move along edges, and normals between edges or round shapes rotate, with relative motion of the bodies.
The slopes are finite differences: one body of each pair is moved and rotated slightly either way, detection is
repeated, and contacts are matched by bodies, kind and position. The geometry of a contact is stored in the frames of
its bodies, so that only relative motion counts.
"""

from __future__ import annotations

import math

from cbsim.dynamics.detection.kernels.columns import (
    AT,
    BOUND,
    CANDIDATES,
    CONTACTS,
    DIRECTIONS,
    ELLIPSOID,
    FULL,
    KEY_ONE,
    KEY_OTHER,
    KIND,
    LINK,
    TOLD,
)
from cbsim.dynamics.detection.kernels.detect import (
    detect,
    exceeded_margin,
    got_faster,
    meet,
    pull_of,
    reach_of,
    slack_of,
)
from cbsim.dynamics.detection.kernels.supports import put
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.algebra import product
from cbsim.jit import inlined, inner, narrow, shared

__all__ = ["find_contacts", "look_for_contacts"]

STEP = 1e-5  # of differences, relative to a collider's size, and [rad]
SAME = 0.01  # of a collider's size: largest motion of a contact that is matched


@inlined
def _moved(z, k, direction, far, turn):
    """Move row k of a state along a direction."""
    if direction < 3:
        z[k, c.POSITION + direction] += far
    elif direction < 6:
        half = 0.5 * turn
        x, y, w = half * (direction == 3), half * (direction == 4), half * (direction == 5)
        o = c.ROTATION
        z[k, o], z[k, o + 1], z[k, o + 2], z[k, o + 3] = product(
            math.sqrt(1.0 - half * half), x, y, w, z[k, o], z[k, o + 1], z[k, o + 2], z[k, o + 3]
        )


@inlined
def _spun(z, k, direction, by):
    """Add to the spin of row k of a state along an axis of the world."""
    o, s = c.ROTATION, c.SPIN
    x, y, w = by * (direction == 6), by * (direction == 7), by * (direction == 8)
    # q⁻¹ ∘ (0, ω) ∘ q
    a, e, f, g = product(z[k, o], -z[k, o + 1], -z[k, o + 2], -z[k, o + 3], 0.0, x, y, w)
    _, e, f, g = product(a, e, f, g, z[k, o], z[k, o + 1], z[k, o + 2], z[k, o + 3])
    # the spin stands in the body's frame
    z[k, s], z[k, s + 1], z[k, s + 2] = z[k, s] + e, z[k, s + 1] + f, z[k, s + 2] + g


@inner
def _like(colliders, row, first, last, size):
    """Row of the contact from first to last that matches the one in ``row``, or −1."""
    contact, contact_link = colliders.contact, colliders.contact_link
    best, least = -1, (SAME * size) ** 2
    for k in range(first, last):
        if contact_link[k, c.ONE] != contact_link[row, c.ONE] or contact_link[k, c.SHAPE] != contact_link[row, c.SHAPE]:
            continue
        away = 0.0
        # directions count as lengths at a distance of `size`
        for m in range(3):
            away += (contact[k, c.ORIGIN + m] - contact[row, c.ORIGIN + m]) ** 2
            away += (contact[k, c.PLANE + m] - contact[row, c.PLANE + m]) ** 2
            away += (size * (contact[k, c.NORMAL + m] - contact[row, c.NORMAL + m])) ** 2
        if away < least:
            best, least = k, away
    return best


@inner
def _drift_of_pair(model, colliders, z, n, first, end, slack, reach, drift, mover):
    """Write the drifts of the contacts from first to end, those of candidate n."""
    i, j, found = colliders.candidate[n, 0], colliders.candidate[n, 1], colliders.found
    collider, collider_link, contact, total = (
        colliders.collider,
        colliders.collider_link,
        colliders.contact,
        found[CONTACTS],
    )
    # the body that is moved: that of the first collider, unless it is in the world
    a = i if collider_link[i, LINK] >= 0 else j
    b = collider_link[a, LINK]
    k = model.link[b, c.BODY]
    size = max(collider[i, BOUND], collider[j, BOUND])
    least = min(collider[i, BOUND], collider[j, BOUND])
    small = least if least > 0.0 else size
    arm = small + size + math.sqrt(collider[a, AT] ** 2 + collider[a, AT + 1] ** 2 + collider[a, AT + 2] ** 2)
    o = c.POSITION
    place = z[k, o], z[k, o + 1], z[k, o + 2]
    o = c.ROTATION
    turn = z[k, o], z[k, o + 1], z[k, o + 2], z[k, o + 3]
    spin = z[k, c.SPIN], z[k, c.SPIN + 1], z[k, c.SPIN + 2]
    # only the rolling direction of ellipsoids depends on spin
    rolls = collider_link[i, KIND] == ELLIPSOID or collider_link[j, KIND] == ELLIPSOID
    rate = STEP * max(1e-3, math.sqrt(spin[0] ** 2 + spin[1] ** 2 + spin[2] ** 2))
    for row in range(first, end):
        mover[row, 0] = b
    for direction in range(DIRECTIONS if rolls else 6):
        # lengths in proportion to the smaller collider; a rotation moves the farthest point by as much
        by = STEP * small if direction < 3 else STEP * small / arm if direction < 6 else rate
        for row in range(first, end):
            mover[row, 1] = 0
        for side in range(2):
            sign = 1.0 - 2.0 * side
            if direction < 6:
                _moved(z, k, direction, sign * by, sign * by)
            else:
                _spun(z, k, direction, sign * by)
            put(model.link, collider_link, collider, colliders.placed, colliders.corner, colliders.world, z, a)
            found[CONTACTS] = total
            meet(model, colliders, z, n, slack, reach)
            last = found[CONTACTS]
            for row in range(first, end):
                at = _like(colliders, row, total, last, size)
                if at >= 0:
                    mover[row, 1] += 1
                    for m in range(TOLD):
                        e = direction * TOLD + m
                        drift[row, e] += sign * (contact[at, c.ORIGIN + m] - contact[row, c.ORIGIN + m]) / by
            z[k, c.POSITION], z[k, c.POSITION + 1], z[k, c.POSITION + 2] = place
            z[k, o], z[k, o + 1], z[k, o + 2], z[k, o + 3] = turn
            z[k, c.SPIN], z[k, c.SPIN + 1], z[k, c.SPIN + 2] = spin
        # two samples are a central difference; where one way the contact vanishes, the other is one-sided
        for row in range(first, end):
            for m in range(TOLD if mover[row, 1] == 2 else 0):
                drift[row, direction * TOLD + m] *= 0.5
    put(model.link, collider_link, collider, colliders.placed, colliders.corner, colliders.world, z, a)
    found[CONTACTS] = total


@narrow
def find_contacts(model, colliders, work, z, settings, ended, drift, mover):
    """Find all contacts of the step that begins at z, as `cbsim.dynamics.kernels.step.advance` does, and their drift.

    The check after a step uses the same entry point, so that detection is compiled once.

    Parameters
    ----------
    model, work : Model, Work
        Of the whole mechanism.
    colliders : ColliderTables
    z : (bodies, 13) float64
    settings : (SETTINGS,) float64
    ended : bool
        True for the check after the step whose contacts were found last, which ended at z; tables are not changed.
    drift : (contacts or 0, DIRECTIONS · TOLD) float64
        Slopes of each contact's geometry by the motion of its moving body; not computed if empty.
    mover : (contacts or 0, 2) int64
        The moving link, −1 for contacts of the description; and scratch.

    Returns
    -------
    bool
        Whether the tables sufficed; after a step, whether an impact drove a body beyond the detection margin
        (`cbsim.dynamics.detection.kernels.detect.exceeded_margin`).
    """
    if ended and not got_faster(model, colliders, z, settings):
        return False
    return look_for_contacts(model, colliders, work, z, settings, ended, True, drift, mover)


@shared
def look_for_contacts(model, colliders, work, z, settings, ended, again, drift, mover):
    """Find contacts as `find_contacts` does: before a step, or after one in which a collider `got_faster`.

    Detection before and after is one function, so that it is compiled once; it takes many times as long as the call.
    In a step that is not repeated (not ``again``), the speeds of colliders at its end are not known.
    """
    if ended:
        return exceeded_margin(model, colliders, z)
    h = settings[c.STEP_LENGTH]
    pull = pull_of(settings, h)
    if not detect(model, colliders, work, z, settings, h, settings[c.MARGIN], again):
        return False
    for row in range(min(len(drift), colliders.found[CONTACTS])):
        mover[row, 0] = -1
        for m in range(drift.shape[1]):
            drift[row, m] = 0.0
    total, end = colliders.found[CONTACTS], len(model.contact_link)
    for n in range(colliders.found[CANDIDATES] if len(drift) > 0 else 0):
        i, j, first = colliders.candidate[n, 0], colliders.candidate[n, 1], end
        # contacts stand in the order of the candidates
        while end < total and (
            (colliders.key[end, KEY_ONE] == i and colliders.key[end, KEY_OTHER] == j)
            or (colliders.key[end, KEY_ONE] == j and colliders.key[end, KEY_OTHER] == i)
        ):
            end += 1
        if end > first:
            _drift_of_pair(
                model, colliders, z, n, first, end, slack_of(h, pull), reach_of(colliders, n, h, pull), drift, mover
            )
    return colliders.found[FULL] == 0
