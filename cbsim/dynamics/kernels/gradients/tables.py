"""Tables of gradients: a row per number of a node, a column per direction of the data of a step.

Kernels of gradients multiply a few rows by small matrices, with the inner loop over contiguous columns.
"""

from __future__ import annotations

import numpy as np

from cbsim.dynamics.kernels.algebra import cross
from cbsim.dynamics.kernels.columns import CONTACT_WORK_COLUMNS
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner, wide

__all__ = [
    "BODY1",
    "BODY2",
    "HELD",
    "JOINT",
    "KEPT_COLUMNS",
    "KEPT_CONTACT",
    "KEPT_NODES",
    "KEPT_ROWS",
    "KEPT_TOUCH",
    "KEPT_WRENCH",
    "MIX",
    "NODE1_COLUMNS",
    "PATCH_COLUMNS",
    "Q1",
    "R1",
    "X1",
    "add_product",
    "clear",
    "set_cross",
    "turning",
]

# patch: one row per node, the small matrices that a gradient needs
BODY2 = 0  # 6 x 6: residual wrench of a body by its motion at node 2
BODY1 = 36  # 6 x 6: the same, by its motion at node 1
JOINT = 72  # 6 x 12: residual along LEFT by motions at node 2, of the child, then of the parent
MIX = 144  # 6 x 12: scratch
HELD = 216  # 3: impulses of the rows of the joint, along its axes
PATCH_COLUMNS = 219
# span: the columns in which a body moves, and the first of those of its own joint or body
FIRST_COLUMN, LAST_COLUMN, OWN_COLUMN = range(3)
MOVER = 0  # of mover: the link whose motion drift is known by, -1 for none; then how many sides have been met

# before: pose of a body at node 1
X1, Q1, R1 = 0, 3, 7
NODE1_COLUMNS = 16

# kept: stored workspace and constants of a contact, nodes of its bodies, and wrenches on both by directions
KEPT_TOUCH, KEPT_CONTACT, KEPT_NODES, KEPT_WRENCH = range(4)
KEPT_ROWS, KEPT_COLUMNS = 4, CONTACT_WORK_COLUMNS


@inner
def clear(table):
    """Set all numbers of a table to zero, one by one: a slice makes numba compile a copy of general arrays."""
    for i in range(table.shape[0]):
        for k in range(table.shape[1]):
            table[i, k] = 0.0


@wide
def add_product(out, i, sign, table, t, base, height, width, down, right, source, j, first, last):
    """Add sign times a matrix times rows j, j+1, … of ``source`` to rows i, i+1, … of ``out``, in some columns.

    The matrix (height, width) is in row t of ``table`` from column ``base`` on; ``down`` and ``right`` are the strides
    of its rows and columns.
    """
    # unsigned columns: signed indices are tested for wraparound, which prevents vectorization
    begin, end = np.uint64(first), np.uint64(last)
    for r in range(height):
        for c in range(width):
            s = sign * table[t, base + down * r + right * c]
            if s != 0.0:
                for k in range(begin, end):
                    out[i + r, k] += s * source[j + c, k]


@inlined
def set_cross(table, i, k, x, y, z):
    """Write the matrix (3, 3) of v × · to nine columns, row by row."""
    table[i, k], table[i, k + 1], table[i, k + 2] = 0.0, -z, y
    table[i, k + 3], table[i, k + 4], table[i, k + 5] = z, 0.0, -x
    table[i, k + 6], table[i, k + 7], table[i, k + 8] = -y, x, 0.0


@inlined
def turning(x, y, z, dx, dy, dz):
    """Small rotation f of a change d of a rotation vector, in the rotated frame: exp(v + d) = exp(v) exp(f).

    The inverse of `cbsim.dynamics.kernels.dampers.slope_of_vector`.
    """
    t2 = x * x + y * y + z * z
    ax, ay, az = cross(x, y, z, dx, dy, dz)
    bx, by, bz = cross(x, y, z, ax, ay, az)
    # first = (1 − cos t) / t², second = (t − sin t) / t³: the right Jacobian of SO(3)
    if t2 < 1e-4:
        first = 0.5 - t2 / 24.0 + t2 * t2 / 720.0
        second = 1.0 / 6.0 - t2 / 120.0 + t2 * t2 / 5040.0
    else:
        t = math.sqrt(t2)
        half = math.sin(0.5 * t)
        first = 2.0 * half * half / t2
        second = (t - math.sin(t)) / (t2 * t)
    return dx - first * ax + second * bx, dy - first * ay + second * by, dz - first * az + second * bz
