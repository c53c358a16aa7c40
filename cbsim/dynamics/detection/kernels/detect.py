"""Contact detection before a step: poses of colliders, candidate pairs, contacts, elimination plan.

Contacts of the mechanism's description come first in the tables and are permanent; contacts between colliders follow,
new in every step. A contact that matches one of the step before takes over its impulses.
"""

from __future__ import annotations

import math

from cbsim.dynamics.detection.kernels.candidates import find_candidates
from cbsim.dynamics.detection.kernels.columns import (
    APPROACH_SPEED,
    BOUND,
    CANDIDATES,
    CONTACTS,
    FIRST,
    FULL,
    GAP,
    GAP_BEFORE,
    HIGH,
    KEPT,
    KEY_ONE,
    KEY_OTHER,
    KIND,
    LINK,
    LOW,
    OLD,
    OLD_ACTIVE,
    OLD_ONE,
    OLD_PAIR,
    OLD_PAIRS,
    OLD_PLACE,
    PLANE,
    SLOT_END,
    SLOT_FIRST,
    SLOT_PAIR,
    SPEED,
    SURFACE,
    TIE_BACK,
    TIE_ONE,
    TIE_OTHER,
    TIE_TO,
    TIES,
)
from cbsim.dynamics.detection.kernels.facets import against_surface
from cbsim.dynamics.detection.kernels.manifold import against_plane, meet_pair
from cbsim.dynamics.detection.kernels.plan import plan
from cbsim.dynamics.detection.kernels.supports import put, reach_about, speed_of, spread
from cbsim.dynamics.kernels import columns as c
from cbsim.jit import inlined, inner

__all__ = ["detect", "exceeded_margin", "got_faster", "meet", "pull_of", "reach_of", "slack_of"]

NEAR = 0.004  # [m] detection distance beyond the motion in two steps
DEEPER = 1e-4  # of a collider's size: penetration that existing contacts allow when bodies rotate
SAME = 0.1  # of a collider's size: largest motion on the body of a contact that is matched


@inlined
def pull_of(settings, h):
    """Velocity change by gravity in a step [m/s]."""
    k = c.GRAVITY
    return h * math.sqrt(settings[k] ** 2 + settings[k + 1] ** 2 + settings[k + 2] ** 2)


@inlined
def slack_of(h, pull):
    """Half of the detection distance of bodies at rest [m]."""
    # at rest gravity may still move bodies in two steps
    return 0.5 * NEAR + 2.0 * h * pull


@inlined
def reach_of(colliders, n, h, pull):
    """Largest gap at which the colliders of candidate n may touch within two steps [m]."""
    i, j = colliders.candidate[n, 0], colliders.candidate[n, 1]
    return NEAR + 2.0 * h * (colliders.placed[i, SPEED] + colliders.placed[j, SPEED] + 2.0 * pull)


@inner
def meet(model, colliders, z, n, slack, reach):
    """Append the contacts of candidate n."""
    i, j = colliders.candidate[n, 0], colliders.candidate[n, 1]
    one, other = colliders.collider_link[i, KIND], colliders.collider_link[j, KIND]
    if other == PLANE:
        against_plane(model, colliders, z, i, j, reach)
    elif one == PLANE:
        against_plane(model, colliders, z, j, i, reach)
    elif other == SURFACE:
        against_surface(model, colliders, z, i, j, slack, reach)
    elif one == SURFACE:
        against_surface(model, colliders, z, j, i, slack, reach)
    else:
        meet_pair(model, colliders, z, i, j, reach)


@inner
def detect(model, colliders, work, z, settings, h, margin, again):
    """Find all contacts of the step that begins at z; return whether the tables sufficed.

    Bodies may move farther by ``margin`` [m] than in two steps at their velocities at z. If the step is repeated
    (``again``), the speeds are those that `exceeded_margin` found at its end.
    """
    pull = pull_of(settings, h)
    found, placed, slack = colliders.found, colliders.placed, slack_of(h, pull)
    found[FULL] = 0
    # all at node 2, in boxes that hold them for as long as these contacts are to serve
    for i in range(colliders.colliders):
        if not again:
            placed[i, APPROACH_SPEED] = 0.0
        placed[i, GAP] = math.inf  # nothing is near yet
        put(model.link, colliders.collider_link, colliders.collider, placed, colliders.corner, colliders.world, z, i)
        if colliders.collider_link[i, KIND] == SURFACE:
            root = colliders.collider_link[i, FIRST]
            for k in range(3):
                placed[i, LOW + k] = colliders.node_box[root, k] - slack
                placed[i, HIGH + k] = colliders.node_box[root, 3 + k] + slack
        else:
            if colliders.collider_link[i, LINK] >= 0:  # the world does not move
                placed[i, SPEED] += 0.5 * margin / h
            # motion in two steps: this one, and the next if a step is made in parts
            far = slack + 2.0 * h * placed[i, SPEED]
            spread(colliders.collider_link, colliders.collider, placed, colliders.world, i, far)
    # impulses of the step before are the best start of the solver: they are put aside before the tables are written
    find_candidates(colliders)
    base = len(model.contact_link)
    _remember(colliders, work.contact_work, base)
    # contacts of the description keep their rows: those between colliders are written behind them
    found[CONTACTS] = base
    for n in range(found[CANDIDATES]):
        meet(model, colliders, z, n, slack, reach_of(colliders, n, h, pull))
        if found[FULL] != 0:
            return False
    _take_over(colliders, work.contact_work, base)
    _tie_up(model, colliders, base)
    return found[FULL] == 0


@inner
def got_faster(model, colliders, z, settings):
    """Whether an impact in the step that ended at z made a collider faster than its margin allowed.

    Half of its speed is stored for a repeated detection, since the margin covers the motion in two steps.
    """
    h, placed, link = settings[c.STEP_LENGTH], colliders.placed, colliders.collider_link
    # speeds that the margins of detection cover
    sure, any_did = 0.5 * NEAR / h + 2.0 * pull_of(settings, h), False
    for i in range(colliders.colliders):
        b = link[i, LINK]
        if b < 0:
            continue
        speed = speed_of(z, model.link[b, c.BODY], reach_about(colliders.collider, i))
        if speed > sure + 2.0 * placed[i, SPEED]:
            placed[i, APPROACH_SPEED], any_did = 0.5 * speed, True
    return any_did


@inner
def exceeded_margin(model, colliders, z):
    """Whether an impact in the step that ended at z drove a collider into something beyond the detection margin.

    That is a collider which `got_faster`, and penetrates deeper than before. The contacts of the step are kept. If the
    tables did not suffice, `FULL` is set.
    """
    found, placed, link = colliders.found, colliders.placed, colliders.collider_link
    for i in range(colliders.colliders):
        # gaps at the end of the step, of pairs that overlap now
        placed[i, GAP_BEFORE], placed[i, GAP] = min(0.0, placed[i, GAP]), math.inf
        if link[i, LINK] >= 0:
            put(model.link, link, colliders.collider, placed, colliders.corner, colliders.world, z, i)
            spread(link, colliders.collider, placed, colliders.world, i, 0.0)
    find_candidates(colliders)
    total = found[CONTACTS]
    for n in range(found[CANDIDATES]):
        # contacts are met here for their gaps alone, and overwritten one by one
        meet(model, colliders, z, n, 0.0, 0.0)
        found[CONTACTS] = total
    did = found[FULL] != 0
    for i in range(colliders.colliders):
        deeper = placed[i, GAP_BEFORE] - placed[i, GAP]
        did |= link[i, LINK] >= 0 and deeper > DEEPER * colliders.collider[i, BOUND]
    return did


@inlined
def _pair_key(colliders, row):
    one, other = colliders.key[row, KEY_ONE], colliders.key[row, KEY_OTHER]
    # one number for the pair, whatever the order
    return min(one, other) * len(colliders.placed) + max(one, other)


@inlined
def _slot(key, size):
    # Knuth's multiplicative hash; sizes are powers of two, so that the mask is a remainder
    return (key * 2654435761) & (size - 1)


@inner
def _remember(colliders, contact_work, base):
    """Store the contacts of the step before, once, however often tables are enlarged."""
    old, found = colliders.old, colliders.found
    # a second call in the same step would store the new contacts over those of the step before
    if found[KEPT] != 0:
        return
    found[KEPT], found[OLD] = 1, found[CONTACTS]
    for row in range(base, found[OLD]):
        colliders.old_key[row, OLD_PAIR] = _pair_key(colliders, row)
        colliders.old_key[row, OLD_ONE] = colliders.key[row, KEY_ONE]
        for m in range(3):
            old[row, OLD_PLACE + m] = colliders.contact[row, c.ORIGIN + m]
        old[row, OLD_ACTIVE] = contact_work[row, c.ACTIVE]
        for m in range(12):
            old[row, OLD_PAIRS + m] = contact_work[row, c.SLACK + m]


@inner
def _take_over(colliders, contact_work, base):
    """Give every contact the impulses of the nearest one of its pair in the step before."""
    slot, old = colliders.slot, colliders.old
    _sort_by_pair(colliders, base)
    for row in range(base, colliders.found[CONTACTS]):
        key, one = _pair_key(colliders, row), colliders.key[row, KEY_ONE]
        at = _place(slot, key)
        best, least = -1, (SAME * colliders.collider[one, BOUND]) ** 2
        # the contact on the same collider that lies nearest, on the body, within a tenth of its size
        if slot[at, SLOT_PAIR] == key:
            for k in range(slot[at, SLOT_FIRST], slot[at, SLOT_END]):
                if colliders.old_key[k, OLD_ONE] == one:
                    away = 0.0
                    for m in range(3):
                        away += (old[k, OLD_PLACE + m] - colliders.contact[row, c.ORIGIN + m]) ** 2
                    if away < least:
                        best, least = k, away
        contact_work[row, c.ACTIVE] = 0.0
        if best >= 0:
            contact_work[row, c.ACTIVE] = old[best, OLD_ACTIVE]
            for m in range(12):
                contact_work[row, c.SLACK + m] = old[best, OLD_PAIRS + m]
    colliders.found[KEPT] = 0  # they have been used: the next detection stores those of this step


@inlined
def _place(slot, key):
    """Slot of a pair in the hash table, or the free slot for it."""
    at = _slot(key, len(slot))
    while slot[at, SLOT_PAIR] >= 0 and slot[at, SLOT_PAIR] != key:
        at = (at + 1) & (len(slot) - 1)
    return at


@inner
def _sort_by_pair(colliders, base):
    """Index the old contacts of each pair, which are contiguous."""
    slot = colliders.slot
    for k in range(len(slot)):
        slot[k, SLOT_PAIR] = -1
    for row in range(base, colliders.found[OLD]):
        key = colliders.old_key[row, OLD_PAIR]
        at = _place(slot, key)
        if slot[at, SLOT_PAIR] < 0:
            slot[at, SLOT_PAIR], slot[at, SLOT_FIRST] = key, row
        slot[at, SLOT_END] = row + 1


@inner
def _tie_up(model, colliders, base):
    """Plan the elimination if the touching pairs of links have changed, and number their blocks."""
    found, tie, fixed = colliders.found, colliders.tie, colliders.fixed_ties
    ties, changed, last = fixed, found[TIES] < fixed, -1
    for row in range(base, found[CONTACTS]):
        one, other = colliders.contact_link[row, c.ONE], colliders.contact_link[row, c.OTHER]
        if other < 0:
            continue
        # contacts of one pair are adjacent
        if last >= 0 and _ties(tie, last, one, other):
            continue
        last = _known(colliders, one, other)
        if last < 0:
            if ties >= len(tie):
                found[FULL] = 1
                return
            # the same couplings in the same order keep the plan
            changed |= ties >= found[TIES] or not _ties(tie, ties, one, other)
            tie[ties, TIE_ONE], tie[ties, TIE_OTHER] = min(one, other), max(one, other)
            _note(colliders, ties, one, other)
            last = ties
            ties += 1
    changed |= ties != found[TIES]
    found[TIES] = ties
    if changed:
        plan(colliders, len(model.link))
    # a plan that was not finished must not be taken for that of these couplings
    if found[FULL] != 0:
        found[TIES] = -1  # no couplings: the next detection plans again
    else:
        if changed:
            _number_loop_joints(colliders)
        _number_blocks(colliders)
    _unnote(colliders)


@inner
def _number_loop_joints(colliders):
    """Write the blocks between loop joints and their bodies; a loop joint's number is above any link's."""
    tie = colliders.tie
    for k in range(len(colliders.chord_tie)):
        for m in range(2):
            at = colliders.chord_tie[k, m]
            if at >= 0:
                colliders.loop_block[k, m], colliders.loop_block[k, m + 2] = tie[at, TIE_BACK], tie[at, TIE_TO]


@inlined
def _ties(tie, k, one, other):
    return tie[k, TIE_ONE] == min(one, other) and tie[k, TIE_OTHER] == max(one, other)


@inner
def _known(colliders, one, other):
    """Row of a stored coupling, or −1."""
    size = len(colliders.tie_slot)
    key = min(one, other) * len(colliders.mark) + max(one, other)
    at = _slot(key, size)
    while colliders.tie_slot[at] >= 0:
        if _ties(colliders.tie, colliders.tie_slot[at], one, other):
            return colliders.tie_slot[at]
        at = (at + 1) & (size - 1)
    return -1


@inner
def _note(colliders, row, one, other):
    size = len(colliders.tie_slot)
    at = _slot(min(one, other) * len(colliders.mark) + max(one, other), size)
    while colliders.tie_slot[at] >= 0:
        at = (at + 1) & (size - 1)
    colliders.tie_slot[at] = row


@inner
def _unnote(colliders):
    """Clear all couplings but the permanent ones."""
    for k in range(len(colliders.tie_slot)):
        if colliders.tie_slot[k] >= colliders.fixed_ties:
            colliders.tie_slot[k] = -1


@inner
def _number_blocks(colliders):
    """Write the blocks of every contact between links."""
    tie = colliders.tie
    for row in range(colliders.found[CONTACTS]):
        one, other = colliders.contact_link[row, c.ONE], colliders.contact_link[row, c.OTHER]
        if other >= 0:
            at = _known(colliders, one, other)
            is_low = one < other
            colliders.contact_link[row, c.ONE_OTHER] = tie[at, TIE_TO] if is_low else tie[at, TIE_BACK]
            colliders.contact_link[row, c.OTHER_ONE] = tie[at, TIE_BACK] if is_low else tie[at, TIE_TO]
