"""Columns of the tables of collision detection, one row per collider: a convex shape on a link or in the world.

The origin of a collider's frame is well inside the shape, so that the shape scaled about it, its core, is inside too.
Hulls, including boxes, are corners and faces; a segment is a hull of two corners, a point one of a single corner. With
a margin these are capsules and spheres. Surfaces of triangles are static; the last row represents one of their
triangles at a time.
"""

from __future__ import annotations

# collider: whole numbers
KIND, LINK, FIRST, CORNERS, FIRST_FACE, FACES, GROUP, SOLID, UNMOVED = range(9)  # LINK -1: in the world
COLLIDER_LINK_COLUMNS = 9  # UNMOVED: 1 in the world and on kinematic bodies
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
ONE_MINUS_ERP = 15  # share of a penetration that remains after a step, 1 − ERP
CFM = 16  # compliance along the normal [m/(N s)]
LEVEL = 17  # FACET_LEVEL of the represented triangle
COLLIDER_COLUMNS = 18

# placed: colliders at node 2
PLACE = 0  # 3
MATRIX = 3  # 9
LOW = 12  # 3: axis-aligned bounding box, enlarged by the motion in a step
HIGH = 15  # 3
SPEED = 18  # [m/s] upper bound of the speed of its points
APPROACH_SPEED = (
    19  # [m/s] half of the speed at the end of the step, if that was much larger and the step is repeated; else 0
)
GAP = 20  # [m] least gap of its contacts at detection
GAP_BEFORE = 21  # [m] GAP at the beginning of the step, at most 0, during the check after it
PLACED_COLUMNS = 22

# face: whole numbers (first corner index, how many); its outward normal and offset in the collider's frame
FACE_FIRST, FACE_COUNT = range(2)

# facet: triangles of surfaces, in the world
FACET_CORNERS = 0  # 9 [m]
FACET_NORMAL = 9  # 3
FACET_BESIDE = 12  # 9: along each edge, the direction in the neighbour's plane into it; 0 where there is none
FACET_LEVEL = 21  # sum of 1, 2 and 4 for the edges with a coplanar neighbour
FACET_COLUMNS = 22

# simplex: the rows of `cbsim.geometry.kernels.simplex` in the nearest-points search, and more
FEATURE = 4  # two more rows: nearest feature of each shape (`cbsim.dynamics.detection.kernels.polish`)

# found: data that detection keeps between steps, and fill levels of its tables
CONTACTS, TIES, FANS, PAIRS, BLOCKS, CANDIDATES, FULL, OLD, KEPT = range(
    9
)  # KEPT: 1 if contacts of the step before have been stored
FOUND = 9

# near: neighbours of a node in the elimination: its node, and the blocks (own, neighbour) and (neighbour, own)
WHO, BLOCK_TO, BLOCK_BACK = range(3)

# tie: coupling of two links, the lower first, and the blocks (one, other) and (other, one)
TIE_ONE, TIE_OTHER, TIE_TO, TIE_BACK = range(4)

# old: contacts of the step before: place on the first collider, whether it was active, its pairs of slack and impulse
OLD_PLACE, OLD_ACTIVE, OLD_PAIRS = 0, 3, 4
OLD_PAIR, OLD_ONE = range(2)  # old_key: number of the pair of colliders, and the first of them
SLOT_PAIR, SLOT_FIRST, SLOT_END = range(3)  # slot: of a pair in a hash table, its rows of `old`

# key of a contact between colliders, by which it is matched with the step before
KEY_ONE, KEY_OTHER = range(2)

# drift: slopes of contact geometry by motion of one of its bodies
DIRECTIONS = 9  # translations and rotations along the axes of the world, and spin about them
TOLD = 20  # columns of a contact, from ORIGIN on, that depend on poses
