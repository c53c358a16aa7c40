"""Columns of the tables of collision detection: one row per collider, a convex shape on a link or in the world.

A collider's frame has its origin well inside the shape, so that the shape scaled about it, its core, is inside too.
Hulls, boxes among them, are corners and faces; a segment is a hull of two corners, a point one of a single corner.
With a margin they are capsules and spheres. Surfaces of triangles stand in the world; behind all colliders is a row
that is any triangle of theirs while that is looked at.
"""

from __future__ import annotations

# collider: whole numbers
KIND, LINK, FIRST, CORNERS, FIRST_FACE, FACES, GROUP, SOLID, UNMOVED = range(9)  # LINK -1: stands in the world
COLLIDER_LINK_COLUMNS = 9  # UNMOVED: 1 in the world and on kinematic bodies, which no contact moves
HULL, TRIANGLE, ELLIPSOID, CYLINDER, PLANE, SURFACE = range(6)  # KIND; FIRST of a surface is the root of its tree

# collider: constants
AT = 0  # 3 [m]: its frame in the link's
TURNED = 3  # 4: quaternion
SIZE = 7  # 3: semi-axes of an ellipsoid; radius and half height of a cylinder (along z) in the first two
MARGIN = 10  # [m] around a hull
MU = 11
RESTITUTION = 12
BOUND = 13  # [m] radius about the origin of its frame
MOST_FRICTION = 14  # [N] along each tangent, in place of MU; below 0 for none
ONE_MINUS_ERP = 15  # share of a penetration that is left after a step, 1 − ERP
CFM = 16  # compliance along the normal [m/(N s)]
LEVEL = 17  # FACET_LEVEL of the triangle that it is
COLLIDER_COLUMNS = 18

# placed: colliders where they are at node 2
PLACE = 0  # 3
MATRIX = 3  # 9
LOW = 12  # 3: box along the axes, grown by how far things move in a step
HIGH = 15  # 3
SPEED = 18  # [m/s] of its fastest point at most
APPROACH_SPEED = (
    19  # [m/s] half of that of the end of the step, where that was much more and the step is made again; else 0
)
GAP = 20  # [m] least one of its contacts, when they were found
GAP_BEFORE = 21  # [m] that when the step began, 0 at most, while it is that of the end
PLACED_COLUMNS = 22

# face: whole numbers (first corner index, how many); its outward normal and offset in the collider's frame
FACE_FIRST, FACE_COUNT = range(2)

# facet: triangles of surfaces, in the world
FACET_CORNERS = 0  # 9 [m]
FACET_NORMAL = 9  # 3
FACET_BESIDE = 12  # 9: along each edge, the direction in the neighbour's plane into it; 0 where there is none
FACET_LEVEL = 21  # sum of 1, 2 and 4 for each edge beyond which the neighbour goes on in the same plane
FACET_COLUMNS = 22

# simplex: rows of the nearest-points search: difference, point of the one, point of the other, weight
DIFFERENCE, POINT_ONE, POINT_OTHER, WEIGHT = 0, 3, 6, 9
SIMPLEX_COLUMNS = 10
FEATURE = 4  # two more rows: what of each shape is nearest (`cbsim.dynamics.detection.kernels.polish`)
SIMPLEX_ROWS = 6

# found: what detection keeps from a step to the next, and how much of its room is used
CONTACTS, TIES, FANS, PAIRS, BLOCKS, CANDIDATES, FULL, OLD, KEPT = range(9)  # KEPT: the step before is put aside
FOUND = 9

# key of a contact between colliders, for what it takes over from the step before
KEY_ONE, KEY_OTHER = range(2)

# drift: slopes of what a contact is told, by motion of one of its bodies
DIRECTIONS = 9  # along and about the axes of the world, and by its spin about them
TOLD = 20  # columns of a contact, from ORIGIN on, that depend on where bodies are
