"""Contacts between colliders: those of the last step (`active_contacts`) and those of any state (`contact_gaps`).

`contact_impulses` sums the impulses of the last step by body.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.options import SolverOptions
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.geometry.linear import norm
from cbsim.geometry.pose import rotate

__all__ = ["Gap", "Touch", "active_contacts", "contact_gaps", "contact_impulses"]

INSTANT = 1e-9  # [s] step in which nothing moves
LOOK = SolverOptions(max_iter=0, order=4, warm_start=False).encode(INSTANT, np.zeros(3), None, False)
"""Options of a step that ends after contact detection: no iterations, and no second attempt at order 4."""


class Touch(NamedTuple):
    """One contact between colliders.

    Attributes
    ----------
    one, other : int
        Bodies, in the order of the maximal state; -1 for the world.
    place, normal : ndarray, shape (3,)
        Its position [m], and the unit normal that points to the first.
    impulse : float
        Along the normal [N s].
    gap : float
        At the end of the step [m]; negative where they overlap.
    solids : (int, int)
        Rows of the two in the table of colliders (`cbsim.dynamics.detection.kernels.tables.ColliderTables`).
    """

    one: int
    other: int
    place: Floats
    normal: Floats
    impulse: float
    gap: float
    solids: tuple[int, int] = (-1, -1)


def active_contacts(workspaces: SolverWorkspaces) -> Iterator[Touch]:
    """List the contacts of colliders in the last step on a passed state: those with an impulse or a small gap.

    A step made in parts has the contacts of its last part.
    """
    colliders, work = workspaces.other_colliders, workspaces.others
    if colliders is None:
        return
    model = workspaces.compiled.model
    links = colliders.collider_link[:, d.LINK]
    bodies = np.where(links >= 0, model.link[links, c.BODY], -1)
    for row in range(len(model.contact), int(colliders.found[d.CONTACTS])):
        contact_work = work.contact_work[row]
        if contact_work[c.ACTIVE] == 0.0:
            continue
        solids = int(colliders.key[row, 0]), int(colliders.key[row, 1])
        one, other = int(bodies[solids[0]]), int(bodies[solids[1]])
        place, normal = contact_work[c.POINT : c.POINT + 3].copy(), contact_work[c.AXES : c.AXES + 3].copy()
        yield Touch(one, other, place, normal, float(contact_work[c.FORCE]), float(contact_work[c.GAP]), solids)


def contact_impulses(workspaces: SolverWorkspaces, z: Floats) -> Floats:
    """Sum the impulses of all contacts on each body in the last step on a passed state.

    The two bodies of a pair get opposite impulses at one point. For a kinematic body, whose velocities do not change,
    these are the impulses that act on it.

    Parameters
    ----------
    workspaces : SolverWorkspaces
    z : ndarray, shape (bodies, 13)
        State after the step.

    Returns
    -------
    ndarray, shape (bodies, 6)
        Impulse [N s] and its moment about the centre of mass [N m s], both in the world.
    """
    model, work, colliders = workspaces.compiled.model, workspaces.others, workspaces.other_colliders
    count = len(model.contact_link) if colliders is None else int(colliders.found[d.CONTACTS])
    ends = (model.contact_link if colliders is None else colliders.contact_link)[:count]
    impulses, points = (
        work.contact_work[:count, c.TOTAL : c.TOTAL + 3],
        work.contact_work[:count, c.POINT : c.POINT + 3],
    )
    out = np.zeros((len(z), 6))
    for links, sign in ((ends[:, c.ONE], 1.0), (ends[:, c.OTHER], -1.0)):
        acts = (links >= 0) & impulses.any(axis=1)
        bodies, given = model.link[links[acts], c.BODY], sign * impulses[acts]
        moments = np.cross(points[acts] - z[bodies, :3], given)
        np.add.at(out, bodies, np.concatenate([given, moments], axis=1))
    return out


class Gap(NamedTuple):
    """Two colliders that touch, nearly touch or overlap.

    Attributes
    ----------
    one, other : int
        Bodies, in the order of the maximal state; -1 for the world.
    gap : float
        Between them [m]; negative where they overlap.
    solids : (int, int)
        Their rows in the table of colliders.
    place, normal : ndarray, shape (3,)
        Nearest point of the first [m], and the unit normal that points to the first.
    """

    one: int
    other: int
    gap: float
    solids: tuple[int, int]
    place: Floats
    normal: Floats


def contact_gaps(workspaces: SolverWorkspaces, z: Floats) -> list[Gap]:
    """Find the gaps of colliders at a state (bodies, 13) by contact detection, up to 4 mm.

    The gap of an overlapping pair is that along its shortest way of separation.
    """
    compiled = workspaces.compiled
    if compiled.colliders is None:
        return []
    inputs, external = np.zeros((1, max(1, compiled.inputs))), np.zeros((len(z), 6))
    workspaces.advance(
        z.copy(), inputs, external, *LOOK, 1, np.zeros((0, 0, 13)), np.zeros(c.REPORT), own=False
    )  # fmt: skip
    colliders, model = workspaces.other_colliders, compiled.model
    assert colliders is not None  # the mechanism has colliders
    rows = np.arange(len(model.contact), int(colliders.found[d.CONTACTS]))
    number, whole = colliders.contact[rows], colliders.contact_link[rows]
    links = colliders.collider_link[:, d.LINK]
    bodies = np.where(links >= 0, model.link[links, c.BODY], -1)
    place = model.link[:, c.BODY]
    one, is_world = place[whole[:, c.ONE]], whole[:, c.OTHER] < 0
    other = np.where(is_world, one, place[whole[:, c.OTHER]])
    points = z[one, :3] + rotate(z[one, 6:10], number[:, c.ORIGIN : c.ORIGIN + 3])
    normals, planes = number[:, c.NORMAL : c.NORMAL + 3], number[:, c.PLANE : c.PLANE + 3]
    normals = np.where(is_world[:, None], normals, rotate(z[other, 6:10], normals))
    planes = np.where(is_world[:, None], planes, z[other, :3] + rotate(z[other, 6:10], planes))
    away = points - planes
    is_round, far = whole[:, c.SHAPE] == c.SPHERE, norm(away, axis=1)
    apart = np.where(is_round, far, (normals * away).sum(axis=1))
    gaps = apart - number[:, c.RADIUS] - np.where(is_round, number[:, c.OTHER_RADIUS], 0.0)
    normals = np.where((is_round & (far > 0.0))[:, None], away / np.where(far > 0.0, far, 1.0)[:, None], normals)
    places = points - number[:, c.RADIUS, None] * normals
    return [
        Gap(int(bodies[a]), int(bodies[b]), float(gap), (int(a), int(b)), place, normal)
        for (a, b), gap, place, normal in zip(colliders.key[rows], gaps, places, normals, strict=True)
    ]
