"""Columns of the tables of the rigid-body core, one row per link.

A link is a body with the joint that carries it. Links are ordered by the tree, parents first, followed by a row for
every loop joint, a joint that closes a loop. Constants are in ``link`` (int) and ``joint`` (float); results of a step
are in ``link_work``, whose rows are a few cache lines each, and in ``block``. Subscript 2 is the node where the step
begins, 3 the node where it ends (docs/theory/integrator.md §2).
"""

from __future__ import annotations

# state z: a row per body, in the order of the user's bodies
POSITION, VELOCITY, ROTATION, SPIN = 0, 3, 6, 10  # [m], [m/s] in the world, quaternion, [rad/s] in the body's frame
STATE_COLUMNS = 13

# link: whole numbers. PARENT and CHILD are links that the joint ties (a link is its own child); UP is the parent in the
# tree, -1 for a loop joint; DOF counts the unknowns of a node: free motions of a link, constraints of a loop joint.
# VELOCITIES has a bit for every coordinate whose input is the target velocity of a motor, not a force.
PARENT, UP, CHILD, BODY, N_TRANS, N_ROT, DOF, INPUT, FLAGS, VELOCITIES = range(10)
LINK_COLUMNS = 10
# bits of FLAGS; DAMPED: by a damper or an implicit spring; FREE: a floating base in the world; KINEMATIC: its motion is
# prescribed, so that it has coordinates, but no unknowns
SPRUNG, DAMPED, OFFSET, ROWED, LOOP_JOINT, FREE, KINEMATIC = 1, 2, 4, 8, 16, 32, 64

# joint: constants of the body and of the joint that carries it
MASS = 0  # [kg]
INERTIA = 1  # 6: xx yy zz xy xz yz [kg m²], body frame, about the centre of mass
PARENT_VERTEX = 7  # 3 [m], in the parent's frame
CHILD_VERTEX = 10  # 3 [m], in the child's frame
ORIENTATION = 13  # 4: the joint's frame in the parent's
SLIDE_AXES = 17  # 3 x 3: rows, the free ones first, then the constrained, in the parent's frame
TURN_AXES = 26  # 3 x 3: the same, in the joint's frame
SPRING = 35  # [N/m] and [N m/rad]
DAMPER = 36  # [N s/m] and [N m s/rad]
SPRING_OFFSET = 37  # 6: three of translation, three of rotation
TREE_MASS = 43  # of the connected part of the body [kg], infinite if it cannot move
FINENESS = 44  # scale of residuals of parts lighter than a kilogram
LEAST_MASS = 45  # lower bound of the mass that its dampers move [kg and kg m²] (`cbsim.dynamics.least_mass`)
IMPLICIT = 46  # SPRING of an implicit spring, evaluated at the end of the step; else 0
JOINT_COLUMNS = 47

# workspace: node 2, set once per step
X2 = 0  # 3 [m]
Q2 = 3  # 4
R2 = 7  # 9, body to world
JW = 16  # 6: inertia turned into the world
PUSH = 22  # 6: part of the residual that does not depend on the unknowns, force [N s] and torque [N m s]
ARM2 = 28  # 3: from the parent's centre of mass to the child's
LEFT = 31  # up to 6 rows of 6: free virtual motions of the body at node 2
APPLIED = 67  # 6: impulses of springs and inputs along them
RELATIVE2 = 73  # 4: joint rotation
SHIFT2 = 77  # 3: joint translation

# workspace: node 3, set in every iteration
X3 = 80  # 3
Q3 = 83  # 4
R3 = 87  # 9
RELATIVE = 96  # 4
SHIFT = 100  # 3
ARM3 = 103  # 3
TURN = 106  # 4: rotation of the step, scalar first, axis in the world
RIGHT = 110  # up to 6 rows of 6: motions of the body per joint increment at node 3
RESIDUAL = 146  # 6: residual wrench of the body, later of the joint with its descendants
MISSING = 152  # 6: residual along LEFT
LOCAL = 158  # 6 x 6: slope of the joint's own impulses (dampers, rows) along LEFT, by its increments; then, for
#              several free motions, of the whole residual along LEFT
U = 194  # up to 6 rows of 6: block RIGHT
W = 230  # up to 6 rows of 6: blockᵀ LEFT
PIVOT = 266  # up to 6 x 6: inverse of LEFTᵀ block RIGHT + LOCAL
CARRY = 302  # 6: wrench handed to the parent while solving
STEP = 308  # 6: joint increment
DELTA = 314  # 6: body increment
KEPT = 320  # 7: RELATIVE and SHIFT before a trial step
OWN = 327  # 6: impulse along LEFT of dampers and rows
OFFERED = 333  # 6: impulse along LEFT of rows at zero motion
LATEST = 339  # 6: change of the velocities (world, body) by the last step
LEFT_OPEN = 345  # 6: residual after an increment
DAMPING = 351  # impulse of dampers per motion of a coordinate in this step [N s/m] and [N m s/rad]
LINK_WORK_COLUMNS = 352  # whole cache lines

# block: 6 x 6, slope of a residual wrench by an increment of a body; where torques by rotations begin, rows of 6
TURN_BY_TURN = 21

# workspace of a loop joint's row, in place of columns of bodies
MULTIPLIER = 146  # 6: impulses of the constraint
PULL2 = 158  # 6 x 6: wrench on the child (rows of 6) per multiplier, at node 2

# fan: int, fill-in of an eliminated node among its neighbours (see `cbsim.dynamics.graph`)
NODE, FIRST, LAST, FIRST_PAIR, LAST_PAIR = range(5)  # program, in the order of elimination
NEIGHBOUR, TO, FROM, PARENT_TO, PARENT_FROM = range(
    5
)  # fan: neighbour c of node b, blocks (c, b), (b, c), (c, a), (a, c)
ROW_FAN, COLUMN_FAN, TARGET = range(3)  # pair: U of one fan row, W of the other, the block they change

FANNED_COLUMNS = 108  # of a fan row: U, W and pivot⁻¹ W of its node, 36 each

# contact: whole numbers
LAW, SHAPE, ONE, OTHER, ONE_OTHER, OTHER_ONE = range(
    6
)  # law, shapes, the link with the sphere, the other link or -1, blocks
CONTACT_LINK_COLUMNS = 6
IMPACT, LINEAR, NONLINEAR, BOXED = range(4)  # BOXED: friction limited by a force along each tangent
HALF_SPACE, SPHERE, CAPSULE, BOX, STRING, FACE = range(6)  # FACE: a half-space that a link carries

# contact: constants
MU = 0  # coefficient of friction; of the law BOXED the limit of its force [N]
ORIGIN = 1  # 3: centre of the sphere in the frame of ONE
RADIUS = 4
NORMAL = 5  # 3: of the half-space
TANGENTS = 8  # 2 x 3
PLANE = 14  # 3: a point of the half-space; of OTHER the centre of its shape, in its frame
EXTENT = 17  # 3: half sizes of a box, or from the centre of a capsule to its end
OTHER_RADIUS = 20  # radius of the other shape; length of a string
ONE_MINUS_ERP = 21  # share of a penetration that remains after a step, 1 − ERP
CFM = 22  # compliance along the normal [m/(N s)]
RESTITUTION = 23
LEAST_COMPLIANCE = 24  # least compliance of friction limited by a force [m/(N s)]
CONTACT_COLUMNS = 25

# external wrench on a body, in its frame
PUSHED, TWISTED = 0, 3  # 3 [N], 3 [N m]

# workspace of contacts
GAP = 0  # [m] at node 3
SLIP = 1  # 2 [m/s]
SLACK = 3  # 6: s of the pairs (s, gamma); nonlinear: gap, eta, slip; linear: gap, cone, four slips;
#            boxed: gap, then forward and backward slip of each tangent
FORCE = 9  # 6: gamma [N s]; nonlinear: normal, beta, friction; linear: normal, psi, four frictions; boxed: normal,
#            then distances of friction from its bounds for each tangent
DSLACK = 15  # 6
DFORCE = 21  # 6
AFFINE_SLACK = 27  # 6
AFFINE_FORCE = 33  # 6
WANT = 39  # 6: residual of complementarity
GRADIENT = 45  # 3 x 12: of gap and slip by the increments of ONE and OTHER
MAP = 81  # 3 x 12: wrench on ONE and OTHER by normal and friction impulses
ARM = 117  # 3: from the centre of mass of ONE to the sphere's centre
STIFF = 120  # 3 x 3: impulse by gap and slip
KEPT_PAIR = 132  # 12: SLACK and FORCE before a trial step
ACTIVE = 144  # 0 for a contact that cannot close in this step
POINT = 145  # 3: point of action of the impulse
AXES = 148  # 3 x 3: normal and tangents at node 3
BEND = 157  # 3 x 3: change of the normal by relative motion of the sphere and the other shape
SPEED = 166  # squared relative speed of the contact points [m²/s²]
FRESH = 167  # 1 for a contact that was omitted in the step before
SCALING_POINT = 168  # 3
SCALING_SIZE = 171
SHIFT_OF_GAP = 172  # target gap [m]: remaining penetration, or rebound
MOST = 173  # of the law BOXED the largest friction [N s], 0 if bodies are separate at node 2
NORMAL2, POINT2 = 174, 177  # 3, 3: normal and point at node 2, for soft or bouncing contacts
BOUNCES = 180  # 1 if bodies bounce in this step: the normal impulse acts at node 2
COMPLIANCE = 181  # compliance in this step or part of a step [m/(N s)]
WEIGHT = 182  # scale of the tolerance of products: mass of the lighter side over the heaviest
RISE = 183  # largest separation of overlapping bodies in this step [m], 0 for no limit
TOTAL = 184  # 3: impulse on ONE in the whole step, all parts of it, in the world [N s]
LEAD = 187  # product of a round cone over that of a gap on the central path [1/s]; 1 in steps with few contacts
COUPLING = 188  # share of the response of a round cone's axis to its normal impulse that a direction includes
CONTACT_WORK_COLUMNS = 189

# row: a bound of a joint's coordinate (a stop), or a drive of it. Whole numbers, constants, workspace
# ROW_INPUT: the input that is a drive's target velocity, or -1; ROW_OUT, ROW_BACK: blocks (child, parent)
# and (parent, child) of a loop joint
ROW_LINK, COORDINATE, KIND, ROW_INPUT, ROW_OUT, ROW_BACK = range(6)
STOP, DRIVE = range(2)
ROW_LINK_COLUMNS = 6
SIGN = 0  # +1 for a lower bound and for drives, -1 for an upper bound
REFERENCE = 1  # bound [m or rad], target velocity [m/s or rad/s]
LIMIT = 2  # of a drive's force [N or N m]
ROW_ERP, ROW_CFM = 3, 4  # share of an error that a step takes away; compliance [m/(N s) or rad/(N m s)]
ROW_COLUMNS = 5
ROW_PAIRS = 0  # bounds of its impulse: 0, 1 (low), 2; -1 where both are the same
ROW_MOST = 1  # largest impulse of a drive
ROW_SHIFT = 2  # subtracted from its value
ROW_MISSING = 3  # measure less slacks
ROW_STIFF = 4  # impulse per motion of the coordinate
ROW_FORCE = 5  # its impulse; then its distances from both bounds, then their slacks
ROW_ROOM, ROW_SLACK = 6, 8  # 2, 2
ROW_STATE = 5  # size of the columns from ROW_FORCE on
ROW_DFORCE, ROW_DROOM, ROW_DSLACK = 10, 11, 13
ROW_AFFINE_ROOM, ROW_AFFINE_SLACK = 15, 17
ROW_KEPT = 19  # 5
ROW_WANT = 24  # 2
ROW_PUSH = 26  # residual of its equations at zero motion
ROW_SLOPE = 27  # 6: of the value by the joint's increments; 12 for a loop joint: by those of its child and its parent
ROW_SHARE = 39  # 6: of its impulse along LEFT; 12 for a loop joint: wrench on its child and its parent
ROW_COMPLIANCE = 51  # compliance in this step or part of a step
LIMIT_WORK_COLUMNS = 52

# settings: floats, then whole numbers
STEP_LENGTH, GRAVITY, SCALING = 0, 1, 4  # [s]; 3 [m/s²]; impulse per input, 0 for the step's length
RTOL, BTOL, LS_SCALE, UNDERCUT, NO_PROGRESS_UNDERCUT, KAPPA, WARM, PARTING, MARGIN = range(5, 14)  # KAPPA < 0: none
SETTINGS = 14  # PARTING: largest speed at which overlapping bodies are separated [m/s]
# MARGIN: additional motion of each body assumed by contact detection [m]
# WARM: every step cold, each from the one before, the first one too, or the first from velocities of node 2 itself
COLD, WARMED, CONTINUED, NODAL = range(4)
MAX_ITER, MAX_LS, NO_PROGRESS_MAX, SCREEN, ORDER, MAX_RELAXED_ITER = range(6)  # SCREEN: omit contacts that cannot close
COUNTS = (
    6  # ORDER: 2 or 4; MAX_RELAXED_ITER: iterations for each relaxed problem of a step that does not converge directly
)

# report of a step
STATUS, ITERATIONS, RESIDUAL_LEFT, BILINEAR_LEFT, STEP_REACHED, ATTEMPTS = range(6)
REPORT = 6
SOLVED, STUCK, NOT_FINITE, TOO_FAST, OUT_OF_ROOM, TURNED_TOO_FAR = range(
    6
)  # STATUS; OUT_OF_ROOM: more contacts than the tables hold
