"""Contacts of convex colliders with surfaces, triangle by triangle.

A triangle is treated as a hull of one face. A collider nearest to one of its edges or corners may be nearer to a
neighbour: then the neighbour gives the normal, and this triangle only supports what lies over it. So nothing that
slides along a surface collides with its inner edges.
"""

from __future__ import annotations

from cbsim.dynamics.detection.kernels.columns import (
    CONTACTS,
    FACE_FIRST,
    FACET_BESIDE,
    FACET_CORNERS,
    FACET_LEVEL,
    FACET_NORMAL,
    FIRST,
    FIRST_FACE,
    FULL,
    HIGH,
    KEY_ONE,
    KEY_OTHER,
    LEVEL,
    LOW,
    MU,
    PLACE,
)
from cbsim.dynamics.detection.kernels.manifold import EXACT, meet_along, nearest_cores
from cbsim.dynamics.detection.kernels.polish import polished
from cbsim.dynamics.kernels.algebra import cross
from cbsim.geometry.kernels.bvh import overlaps_into
from cbsim.jit import inlined, inner

__all__ = ["against_surface"]

ON_EDGE = 1e-9  # of an edge's length: distance below which a point is on the edge
BEYOND = 1e-9  # cosine from which a direction points into a neighbour


@inner
def against_surface(model, colliders, z, i, j, slack, reach):
    """Write the contacts of convex collider i with surface j of the world, within ``slack`` of the box of i."""
    facet, window, collider = colliders.facet, colliders.window, colliders.collider
    for k in range(3):
        window[0, k], window[1, k] = colliders.placed[i, LOW + k] - slack, colliders.placed[i, HIGH + k] + slack
    hits = overlaps_into(
        window[0], window[1], colliders.triangle, colliders.node_box, colliders.node_link,
        colliders.collider_link[j, FIRST], colliders.stack, colliders.hit,
    )  # fmt: skip
    if hits > len(colliders.hit):
        colliders.found[FULL] = 1
        return
    s = colliders.colliders  # the row that represents a triangle
    for k in range(MU, LEVEL):  # contacts by nearest points
        collider[s, k] = collider[j, k]
    first = colliders.found[CONTACTS]
    for k in range(hits):
        _lay(colliders, facet, s, colliders.hit[k])
        _meet_facet(model, colliders, z, i, s, colliders.hit[k], reach)
        if colliders.found[FULL] != 0:
            return
    # a key names the surface, not the row that stands for each of its triangles in turn
    for row in range(first, colliders.found[CONTACTS]):
        if colliders.key[row, KEY_ONE] == s:
            colliders.key[row, KEY_ONE] = j
        else:
            colliders.key[row, KEY_OTHER] = j


@inlined
def _lay(colliders, facet, s, t):
    """Write triangle t to row s."""
    corner, face = colliders.collider_link[s, FIRST], colliders.collider_link[s, FIRST_FACE]
    colliders.collider[s, LEVEL] = facet[t, FACET_LEVEL]
    for k in range(3):
        for m in range(3):
            colliders.world[corner + k, m] = facet[t, FACET_CORNERS + 3 * k + m]
        colliders.face_normal[face, k] = facet[t, FACET_NORMAL + k]
        # any point of a triangle serves as the origin of its frame
        colliders.placed[s, PLACE + k] = facet[t, FACET_CORNERS + k]
        colliders.rim[colliders.face[face, FACE_FIRST] + k] = corner + k


@inner
def _meet_facet(model, colliders, z, i, s, t, reach):
    """Write the contacts of collider i with triangle t, in row s."""
    facet = colliders.facet
    mx, my, mz = facet[t, FACET_NORMAL], facet[t, FACET_NORMAL + 1], facet[t, FACET_NORMAL + 2]
    m = (mx, my, mz)
    core, count = nearest_cores(colliders, i, s)
    if count == 0:
        meet_along(model, colliders, z, i, s, core, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), m, reach, True)
        return
    ax, ay, az, bx, by, bz, nx, ny, nz = polished(colliders, i, s, core, count)
    a, b, n = (ax, ay, az), (bx, by, bz), (nx, ny, nz)
    # over the face; behind it; or nearest to an edge or a corner, to which a neighbour may be nearer
    straight = nx * mx + ny * my + nz * mz
    if straight > EXACT:
        meet_along(model, colliders, z, i, s, core, a, b, m, reach, False)
        return
    edges, belongs, is_first = _on_edges(colliders, facet, t, bx, by, bz, nx, ny, nz)
    if edges == 0 and straight < 0.0:
        return  # behind it
    if not belongs:
        if straight > 0.0:
            meet_along(model, colliders, z, i, s, core, a, b, m, reach, True)
    elif is_first:
        meet_along(model, colliders, z, i, s, core, a, b, n, reach, False)


@inlined
def _on_edges(colliders, facet, t, x, y, w, nx, ny, nz):
    """Count the edges of a triangle at a point; whether n points into none of their neighbours; whether t is first.

    Of two triangles with a common edge, the one with the lower number is first.
    """
    edges, belongs, is_first = 0, True, True
    mx, my, mz = facet[t, FACET_NORMAL], facet[t, FACET_NORMAL + 1], facet[t, FACET_NORMAL + 2]
    for e in range(3):
        o, f, g = FACET_CORNERS + 3 * e, FACET_CORNERS + 3 * ((e + 1) % 3), FACET_BESIDE + 3 * e
        ux, uy, uz = facet[t, f] - facet[t, o], facet[t, f + 1] - facet[t, o + 1], facet[t, f + 2] - facet[t, o + 2]
        ix, iy, iz = cross(mx, my, mz, ux, uy, uz)
        # positive inside of edge e
        inward = ix * (x - facet[t, o]) + iy * (y - facet[t, o + 1]) + iz * (w - facet[t, o + 2])
        if inward > ON_EDGE * (ux * ux + uy * uy + uz * uz):
            continue
        edges += 1
        # BESIDE is 0 at an edge without a neighbour: every direction belongs to this triangle there
        belongs = belongs and nx * facet[t, g] + ny * facet[t, g + 1] + nz * facet[t, g + 2] <= BEYOND
        is_first = is_first and not 0 <= colliders.facet_next[t, e] < t
    return edges, belongs, is_first
