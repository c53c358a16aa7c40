"""Detection before a step: colliders put in place, pairs found, contacts written, the elimination planned.

The contacts of a mechanism that its description names stand first in the tables and stay; behind them stand those
between colliders, anew in every step. One that was there in the step before takes its impulses over.
"""

from __future__ import annotations

import math

from cbsim.dynamics.detection.kernels.columns import (
    BOUND,
    CANDIDATES,
    CONTACTS,
    FIRST,
    FULL,
    GAP,
    GAP_BEFORE,
    HASTE,
    HIGH,
    KEPT,
    KEY_ONE,
    KEY_OTHER,
    KIND,
    LINK,
    LOW,
    OLD,
    PLANE,
    SPEED,
    SURFACE,
    TIES,
)
from cbsim.dynamics.detection.kernels.facets import against_surface
from cbsim.dynamics.detection.kernels.grid import find_candidates
from cbsim.dynamics.detection.kernels.manifold import against_plane, meet_pair
from cbsim.dynamics.detection.kernels.plan import plan
from cbsim.dynamics.detection.kernels.supports import put, reach_about, speed_of, spread
from cbsim.dynamics.kernels import columns as c
from cbsim.jit import inlined, inner

__all__ = ["detect", "meet", "outran", "pull_of", "reach_of", "slack_of"]

NEAR = 0.004  # [m] contacts are looked for so much farther than things move in two steps
DEEPER = 1e-4  # of a collider's size: what contacts that were found leave open when things turn
SAME = 0.1  # of a collider's size: how far a contact may have moved on its body and still be the same


@inlined
def pull_of(settings, h):
    """Speed that gravity gives in a step [m/s]."""
    k = c.GRAVITY
    return h * math.sqrt(settings[k] ** 2 + settings[k + 1] ** 2 + settings[k + 2] ** 2)


@inlined
def slack_of(h, pull):
    """Half of the distance over which things meet that do not move when a step begins [m]."""
    return 0.5 * NEAR + 2.0 * h * pull


@inlined
def reach_of(crowd, n, h, pull):
    """How far apart the colliders of candidate n may be and still touch in two steps [m]."""
    i, j = crowd.candidate[n, 0], crowd.candidate[n, 1]
    return NEAR + 2.0 * h * (crowd.placed[i, SPEED] + crowd.placed[j, SPEED] + 2.0 * pull)


@inner
def meet(model, crowd, z, n, slack, reach):
    """Write the contacts of candidate n behind those that are there."""
    i, j = crowd.candidate[n, 0], crowd.candidate[n, 1]
    one, other = crowd.collider_link[i, KIND], crowd.collider_link[j, KIND]
    if other == PLANE:
        against_plane(model, crowd, z, i, j, reach)
    elif one == PLANE:
        against_plane(model, crowd, z, j, i, reach)
    elif other == SURFACE:
        against_surface(model, crowd, z, i, j, slack, reach)
    elif one == SURFACE:
        against_surface(model, crowd, z, j, i, slack, reach)
    else:
        meet_pair(model, crowd, z, i, j, reach)


@inner
def detect(model, crowd, work, z, settings, h, again):
    """Find all contacts of the step that begins at z; whether the room sufficed.

    Where it is made ``again``, things are as fast as `outran` found them at its end.
    """
    pull = pull_of(settings, h)
    found, placed, slack = crowd.found, crowd.placed, slack_of(h, pull)
    found[FULL] = 0
    for i in range(crowd.colliders):
        if not again:
            placed[i, HASTE] = 0.0
        placed[i, GAP] = math.inf
        put(model.link, crowd.collider_link, crowd.collider, placed, crowd.corner, crowd.world, z, i)
        if crowd.collider_link[i, KIND] == SURFACE:
            root = crowd.collider_link[i, FIRST]
            for k in range(3):
                placed[i, LOW + k] = crowd.node_box[root, k] - slack
                placed[i, HIGH + k] = crowd.node_box[root, 3 + k] + slack
        else:
            far = slack + 2.0 * h * placed[i, SPEED]
            spread(crowd.collider_link, crowd.collider, placed, crowd.world, i, far)
    find_candidates(crowd)
    base = len(model.contact_link)
    _remember(crowd, work.touch, base)
    found[CONTACTS] = base
    for n in range(found[CANDIDATES]):
        meet(model, crowd, z, n, slack, reach_of(crowd, n, h, pull))
        if found[FULL] != 0:
            return False
    _take_over(crowd, work.touch, base)
    _tie_up(model, crowd, base)
    return found[FULL] == 0


@inner
def outran(model, crowd, z, settings):
    """Whether a blow in the step that ended at z threw something into what was too far away to be looked at.

    That is so where something got faster than its contacts were looked for, and now is deeper in something than it
    was. How fast is noted, by half, for another search: contacts are looked for as far away as things go in two steps.
    The contacts of the step stay as they are. Where the room did not suffice, `FULL` says so.
    """
    h, found, placed, link = settings[c.STEP_LENGTH], crowd.found, crowd.placed, crowd.collider_link
    sure, any_did = 0.5 * NEAR / h + 2.0 * pull_of(settings, h), False
    for i in range(crowd.colliders):
        b = link[i, LINK]
        if b < 0:
            continue
        speed = speed_of(z, model.link[b, c.BODY], reach_about(crowd.collider, i))
        if speed > sure + 2.0 * placed[i, SPEED]:
            placed[i, HASTE], any_did = 0.5 * speed, True
    if not any_did:
        return False
    for i in range(crowd.colliders):
        placed[i, GAP_BEFORE], placed[i, GAP] = min(0.0, placed[i, GAP]), math.inf
        if link[i, LINK] >= 0:
            put(model.link, link, crowd.collider, placed, crowd.corner, crowd.world, z, i)
            spread(link, crowd.collider, placed, crowd.world, i, 0.0)
    find_candidates(crowd)
    total = found[CONTACTS]
    for n in range(found[CANDIDATES]):
        meet(model, crowd, z, n, 0.0, 0.0)
        found[CONTACTS] = total
    did = found[FULL] != 0
    for i in range(crowd.colliders):
        deeper = placed[i, GAP_BEFORE] - placed[i, GAP]
        did |= link[i, LINK] >= 0 and deeper > DEEPER * crowd.collider[i, BOUND]
    return did


@inlined
def _pair_key(crowd, row):
    one, other = crowd.key[row, KEY_ONE], crowd.key[row, KEY_OTHER]
    return min(one, other) * len(crowd.placed) + max(one, other)


@inlined
def _slot(key, size):
    return (key * 2654435761) & (size - 1)


@inner
def _remember(crowd, touch, base):
    """Put the contacts of the step before aside, once, however often room has to be made."""
    old, found = crowd.old, crowd.found
    if found[KEPT] != 0:
        return
    found[KEPT], found[OLD] = 1, found[CONTACTS]
    for row in range(base, found[OLD]):
        crowd.old_key[row, 0], crowd.old_key[row, 1] = _pair_key(crowd, row), crowd.key[row, KEY_ONE]
        for m in range(3):
            old[row, m] = crowd.contact[row, c.ORIGIN + m]
        old[row, 3] = touch[row, c.ACTIVE]
        for m in range(12):
            old[row, 4 + m] = touch[row, c.SLACK + m]


@inner
def _take_over(crowd, touch, base):
    """Give every contact the impulses of the nearest one of its pair in the step before."""
    slot, old = crowd.slot, crowd.old
    _sort_by_pair(crowd, base)
    for row in range(base, crowd.found[CONTACTS]):
        key, one = _pair_key(crowd, row), crowd.key[row, KEY_ONE]
        at = _place(slot, key)
        best, least = -1, (SAME * crowd.collider[one, BOUND]) ** 2
        if slot[at, 0] == key:
            for k in range(slot[at, 1], slot[at, 2]):
                if crowd.old_key[k, 1] == one:
                    away = 0.0
                    for m in range(3):
                        away += (old[k, m] - crowd.contact[row, c.ORIGIN + m]) ** 2
                    if away < least:
                        best, least = k, away
        touch[row, c.ACTIVE] = 0.0
        if best >= 0:
            touch[row, c.ACTIVE] = old[best, 3]
            for m in range(12):
                touch[row, c.SLACK + m] = old[best, 4 + m]
    crowd.found[KEPT] = 0


@inlined
def _place(slot, key):
    """Where a pair's rows are noted, or the free place where they would be."""
    at = _slot(key, len(slot))
    while slot[at, 0] >= 0 and slot[at, 0] != key:
        at = (at + 1) & (len(slot) - 1)
    return at


@inner
def _sort_by_pair(crowd, base):
    """Note where the old contacts of each pair begin and end; they stand side by side."""
    slot = crowd.slot
    for k in range(len(slot)):
        slot[k, 0] = -1
    for row in range(base, crowd.found[OLD]):
        key = crowd.old_key[row, 0]
        at = _place(slot, key)
        if slot[at, 0] < 0:
            slot[at, 0], slot[at, 1] = key, row
        slot[at, 2] = row + 1


@inner
def _tie_up(model, crowd, base):
    """Plan the elimination where the pairs of links that touch are others than before, and number their blocks."""
    found, tie, fixed = crowd.found, crowd.tie, crowd.fixed_ties
    ties, changed, last = fixed, found[TIES] < fixed, -1
    for row in range(base, found[CONTACTS]):
        one, other = crowd.contact_link[row, c.ONE], crowd.contact_link[row, c.OTHER]
        if other < 0:
            continue
        if last >= 0 and _ties(tie, last, one, other):
            continue
        last = _known(crowd, one, other)
        if last < 0:
            if ties >= len(tie):
                found[FULL] = 1
                return
            changed |= ties >= found[TIES] or tie[ties, 0] != min(one, other) or tie[ties, 1] != max(one, other)
            tie[ties, 0], tie[ties, 1] = min(one, other), max(one, other)
            _note(crowd, ties, one, other)
            last = ties
            ties += 1
    changed |= ties != found[TIES]
    found[TIES] = ties
    if changed:
        plan(crowd, len(model.link))
    if found[FULL] != 0:
        found[TIES] = -1
    else:
        if changed:
            _number_chords(crowd)
        _number_blocks(crowd)
    _unnote(crowd)


@inner
def _number_chords(crowd):
    """Write the blocks between chords and their bodies; a chord's number is above any link's."""
    tie = crowd.tie
    for k in range(len(crowd.chord_tie)):
        for m in range(2):
            at = crowd.chord_tie[k, m]
            if at >= 0:
                crowd.chord_block[k, m], crowd.chord_block[k, m + 2] = tie[at, 3], tie[at, 2]


@inlined
def _ties(tie, k, one, other):
    return tie[k, 0] == min(one, other) and tie[k, 1] == max(one, other)


@inner
def _known(crowd, one, other):
    """Row of a tie that is noted already, or −1."""
    size = len(crowd.tie_slot)
    key = min(one, other) * len(crowd.mark) + max(one, other)
    at = _slot(key, size)
    while crowd.tie_slot[at] >= 0:
        if _ties(crowd.tie, crowd.tie_slot[at], one, other):
            return crowd.tie_slot[at]
        at = (at + 1) & (size - 1)
    return -1


@inner
def _note(crowd, row, one, other):
    size = len(crowd.tie_slot)
    at = _slot(min(one, other) * len(crowd.mark) + max(one, other), size)
    while crowd.tie_slot[at] >= 0:
        at = (at + 1) & (size - 1)
    crowd.tie_slot[at] = row


@inner
def _unnote(crowd):
    """Clear the notes of all ties but the fixed ones."""
    for k in range(len(crowd.tie_slot)):
        if crowd.tie_slot[k] >= crowd.fixed_ties:
            crowd.tie_slot[k] = -1


@inner
def _number_blocks(crowd):
    """Write the blocks of every contact between links."""
    tie = crowd.tie
    for row in range(crowd.found[CONTACTS]):
        one, other = crowd.contact_link[row, c.ONE], crowd.contact_link[row, c.OTHER]
        if other >= 0:
            at = _known(crowd, one, other)
            is_low = one < other
            crowd.contact_link[row, c.ONE_OTHER] = tie[at, 2] if is_low else tie[at, 3]
            crowd.contact_link[row, c.OTHER_ONE] = tie[at, 3] if is_low else tie[at, 2]
