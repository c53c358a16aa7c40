"""Active contacts of a Snapshot (`State.active_contacts`), and the row written when a contact begins.

A pair is stored with the first of its moving bodies that has a free slot, and released when the two are farther apart
than `RELEASE` at the end of a step, so that resting or sliding counts as one contact. While neither body has a free
slot, the contact is not recorded.
"""

from __future__ import annotations

from cbsim.collision.kernels.pairs import pair_distance
from cbsim.collision.kernels.workspace import MOVING
from cbsim.geometry.kernels.boxes import is_upright, upright_meeting
from cbsim.geometry.kernels.gjk import DISTANCE
from cbsim.geometry.kernels.solids import SHAPE_BOX
from cbsim.jit import inner

__all__ = [
    "CONTACT_A",
    "CONTACT_B",
    "CONTACT_IMPULSE",
    "RELEASE",
    "add_contact",
    "is_active",
    "order_rows",
    "release_apart",
    "release_contacts",
    "write_row",
]

RELEASE = 0.01  # [m]
SLOTS = 4  # per moving body
# columns of a row of contacts, as `cbsim.collision.contacts.CONTACT` names them
CONTACT_TIME, CONTACT_A, CONTACT_B, CONTACT_PLACE, CONTACT_NORMAL, CONTACT_CLOSING = 0, 1, 2, 3, 6, 9
CONTACT_IMPULSE, CONTACT_DEPTH, CONTACT_WIDTH = 10, 11, 12


@inner
def is_active(active_contacts, roles, a, b):
    """Whether the contact of two bodies is active."""
    one, two = roles[a, MOVING], roles[b, MOVING]
    for k in range(SLOTS):
        if (one >= 0 and active_contacts[one, k] == b) or (two >= 0 and active_contacts[two, k] == a):
            return True
    return False


@inner
def add_contact(active_contacts, roles, a, b):
    """Store the contact of two bodies; return whether a slot was free."""
    first, second = min(a, b), max(a, b)
    for turn in range(2):
        body, other = (first, second) if turn == 0 else (second, first)
        row = roles[body, MOVING]
        if row >= 0:
            for k in range(SLOTS):
                if active_contacts[row, k] < 0:
                    active_contacts[row, k] = other
                    return True
    return False


@inner
def screen_pair(shapes, a, pa, qa, b, pb, qb):
    """Test by bounds whether two bodies are farther apart than `RELEASE` (-1), overlap (1), or must be measured (0)."""
    x, y, z = pb[0] - pa[0], pb[1] - pa[1], pb[2] - pa[2]
    near = shapes.radius[a] + shapes.radius[b] + 2.0 * RELEASE
    if x * x + y * y + z * z > near * near:
        return -1
    if shapes.kind[a] == SHAPE_BOX and shapes.kind[b] == SHAPE_BOX and is_upright(qa) and is_upright(qb):
        # boxes without tilt, by separating axes: apart by twice the limit, or overlapping
        sizes = shapes.size
        if upright_meeting(sizes[a], qa, sizes[b], qb, x, y, z, 0.0, 0.0, 0.0, 0.0, 2.0 * RELEASE) > 0.0:
            return -1
        if upright_meeting(sizes[a], qa, sizes[b], qb, x, y, z, 0.0, 0.0, 0.0, 0.0, 0.0) == 0.0:
            return 1
    return 0


@inner
def release_apart(moving, position, orientation, active_contacts, shapes, least, most):
    """Release contacts (moving, 4) of pairs that are apart by their bounds; return whether others must be measured.

    Parameters as those of `release_contacts`, which goes through these again.
    """
    remain = False
    for row in range(moving.shape[0]):
        for k in range(SLOTS):
            a, b = moving[row], active_contacts[row, k]
            if b >= 0 and least <= max(a, b) < most:
                verdict = screen_pair(shapes, a, position[a], orientation[a], b, position[b], orientation[b])
                remain = remain or verdict == 0
                if verdict < 0:
                    active_contacts[row, k] = -1
    return remain


@inner
def release_contacts(moving, position, orientation, active_contacts, shapes, least, most, pair_workspace):
    """Release contacts (moving, 4) of separated pairs whose larger row is in [least, most)."""
    out = pair_workspace.out
    for row in range(moving.shape[0]):
        for k in range(SLOTS):
            a, b = moving[row], active_contacts[row, k]
            if b >= 0 and least <= max(a, b) < most:
                pa, qa, pb, qb = position[a], orientation[a], position[b], orientation[b]
                verdict = screen_pair(shapes, a, pa, qa, b, pb, qb)
                if verdict == 0:
                    pair_distance(shapes, a, pa, qa, b, pb, qb, 2.0 * RELEASE, pair_workspace, out)
                    verdict = 1 if out[DISTANCE] <= RELEASE else -1
                if verdict < 0:
                    active_contacts[row, k] = -1


@inner
def write_row(contacts, found, time, a, b, place, normal, closing, depth):
    """Write the row of a new contact at a place (x, y, z), the lower body first, without impulse.

    The normal (x, y, z) points from a to b.
    """
    row = contacts[found]
    # normals point from a to b; a row has the lower body first
    sign = 1.0 if a < b else -1.0
    row[CONTACT_TIME], row[CONTACT_A], row[CONTACT_B] = time, min(a, b), max(a, b)
    row[CONTACT_PLACE], row[CONTACT_PLACE + 1], row[CONTACT_PLACE + 2] = place
    row[CONTACT_NORMAL], row[CONTACT_NORMAL + 1] = sign * normal[0], sign * normal[1]
    row[CONTACT_NORMAL + 2] = sign * normal[2]
    row[CONTACT_CLOSING], row[CONTACT_IMPULSE], row[CONTACT_DEPTH] = closing, 0.0, depth


@inner
def is_later(one, two):
    """Whether a row sorts after another: by time, then by bodies."""
    for k in range(3):
        if one[k] != two[k]:
            return one[k] > two[k]
    return False


@inner
def order_rows(contacts, first, found):
    """Sort the rows of one step, first … found - 1, by time and bodies."""
    for k in range(first + 1, found):
        at = k
        while at > first and is_later(contacts[at - 1], contacts[at]):
            for c in range(CONTACT_WIDTH):
                contacts[at, c], contacts[at - 1, c] = contacts[at - 1, c], contacts[at, c]
            at -= 1
