"""Conservative windows: supersets of the beams of a fan that can hit a body, before the exact test."""

from __future__ import annotations

import math

import numpy as np

from cbsim.jit import inlined
from cbsim.sensing.kernels.fan import LANES

__all__ = [
    "CHUNK",
    "FIELDS",
    "GROUP",
    "WORK",
    "around_into",
    "layers_of",
    "level_windows_into",
    "standing_windows_into",
    "view_of",
    "window_of",
]

CHUNK = 256  # bodies whose windows are computed together, by vector code
GROUP = 32  # static bodies that are tested together
FIELDS = 9  # numbers kept of each, field by field
# of a body: its place [m], scalar and third part of its quaternion, sizes or half sizes, and radius [m]
BODY_X, BODY_Y, BODY_Z, TURN_W, TURN_Z, SIZE_X, SIZE_Y, SIZE_Z, RADIUS = range(FIELDS)
# of its window, in place of these: its place, turn and beams, with the height of the sensor above it; least distance
PLACE_X, PLACE_Y, PLACE_Z, COSINE, SINE, LOW, HIGH, ROOM, GAP = range(FIELDS)
MIDDLE = FIELDS  # the beam towards the body's centre, between two loops
WORK = (FIELDS + 1) * CHUNK  # numbers of the working array
ALL_AROUND = 4.0  # [rad] more than half a turn
CLOSE = 1e-3  # [m] least distance of a body's near side; closer bodies get a full window
SLACK = 1e-9  # [1], [m] by which lower bounds of distances are reduced for rounding
TOUCH = 1e-9  # slope within which a body is level with the sensor, for rounding


@inlined
def azimuth_of(x, y):
    """Azimuth [rad] of (x right, y forward), counter-clockwise from forward, within 1.2e-5; without branches.

    Polynomial 4.4.47 of Abramowitz and Stegun (1964) for the arc tangent, folded into all octants.
    """
    a, b = abs(x), abs(y)
    z = min(a, b) / max(a, b, 1e-300)
    s = z * z
    t = z * (0.9998660 + s * (-0.3302995 + s * (0.1801410 + s * (-0.0851330 + s * 0.0208351))))
    t = t if a <= b else 0.5 * math.pi - t
    t = t if y >= 0.0 else math.pi - t
    return t if x <= 0.0 else -t  # left of forward is positive


@inlined
def fill_into(origin, positions, orientations, shapes, start, stop, work):
    """Copy the inputs of windows field by field: vector code that gathers them from rows is four times slower."""
    sizes, radii = shapes.size, shapes.radius
    ox, oy, oz = origin[0], origin[1], origin[2]
    for k in range(stop - start):
        i = start + k
        work[k + BODY_X * CHUNK] = ox - positions[i, 0]
        work[k + BODY_Y * CHUNK] = oy - positions[i, 1]
        work[k + BODY_Z * CHUNK] = oz - positions[i, 2]
        work[k + TURN_W * CHUNK], work[k + TURN_Z * CHUNK] = orientations[i, 0], orientations[i, 3]
        work[k + SIZE_X * CHUNK], work[k + SIZE_Y * CHUNK] = sizes[i, 0], sizes[i, 1]
        work[k + SIZE_Z * CHUNK], work[k + RADIUS * CHUNK] = sizes[i, 2], radii[i]


@inlined
def view_of(turn, fan, reach):
    """Collect the common inputs of all windows of a level sensor."""
    inverse = 1.0 / fan.step
    flat = fan.layers == 1 and fan.up[0] == 0.0  # a planar scan hits only bodies that cut its plane
    return turn[0], turn[3], fan.first, inverse, 2.0 * math.pi * abs(inverse), fan.slack, reach, flat


@inlined
def placed(view, x, y, bw, bz):
    """Place of a sensor in the frame of an upright body [m], and cosine and sine of its turn there.

    The sensor is at x, y from the body, which is turned by (bw, 0, 0, bz).
    """
    sw, sz = view[0], view[1]
    # products of quaternions about the vertical
    tx, ty = 2.0 * (bz * y), 2.0 * (-bz * x)
    px, py = x + bw * tx + bz * ty, y + bw * ty - bz * tx
    w, v = bw * sw + bz * sz, bw * sz - bz * sw
    return px, py, 1.0 - 2.0 * (v * v), 2.0 * (w * v)


@inlined
def middles_into(view, count, work):
    """Beam towards the centre of each body, as a real number within one period of the first; without branches."""
    _, _, first, inverse, period, _, _, _ = view
    for k in range(np.uint64(0), np.uint64(count)):
        px, py = work[k], work[k + np.uint64(PLACE_Y * CHUNK)]
        cosine, sine = work[k + np.uint64(COSINE * CHUNK)], work[k + np.uint64(SINE * CHUNK)]
        # from the sensor towards the body, that is along −p, turned into the sensor's frame
        middle = (azimuth_of(-(cosine * px + sine * py), sine * px - cosine * py) - first) * inverse
        work[k + np.uint64(MIDDLE * CHUNK)] = middle if middle >= 0.0 else middle + period


@inlined
def beams_about(view, middle, px, py, z, hx, hy, hz, radius):
    """First and last beam that can meet an upright body, as real numbers, and its near room; without branches.

    Parameters
    ----------
    view : tuple
        From `view_of`.
    middle : float
        Beam towards its centre.
    px, py, z : float
        The sensor in its frame [m].
    hx, hy, hz, radius : float
        Half sizes, and half the diagonal [m].

    Returns
    -------
    low, high : float
        The last is below the first where there is none.
    room : float
        Squared horizontal distance less the body's extent along it times the distance [m²], 0 where it is too near.
    """
    _, _, _, inverse, period, slack, reach, flat = view
    ax, ay = abs(px), abs(py)
    # half angle of the body: tan is at most its extent across the line of sight over the distance of its near side,
    # both multiplied by the distance to its centre; the tangent is an upper bound of the angle
    square = px * px + py * py
    room = square - (hx * ax + hy * ay)
    apart = (room > 0.0) & (room * room > CLOSE * CLOSE * square)
    half = (hx * ay + hy * ax) / (room if apart else 1.0)
    half = half if apart else ALL_AROUND
    spread = (half + slack) * abs(inverse)
    limit = reach + radius
    seen = (square <= limit * limit) & (not flat or abs(z) <= hz)
    spread = spread if seen else -1.0 - period  # an empty window, whatever is added to it
    return middle - spread, middle + spread, room if apart else 0.0


@inlined
def level_windows_into(origin, turn, fan, reach, positions, orientations, shapes, start, stop, work):
    """Window of each body start … stop, all taken for upright, of a level sensor; vector code over bodies.

    Three short loops take about three quarters of the time of one: more bodies are under way in the CPU at once.

    Parameters
    ----------
    origin, turn : (3,) [m], (4,)
        Pose of the sensor.
    fan : Fan
    reach : float
        Largest range of interest [m].
    positions, orientations, shapes : as `cbsim.sensing.kernels.still`
    start, stop : int
        Rows of bodies, at most `CHUNK`.
    work : (WORK,), out
        Field by field: the sensor's place in the body frame (x, y, z) [m], its turn there, first and last beam as real
        numbers, and near room, as `beams_about` says.
    """
    fill_into(origin, positions, orientations, shapes, start, stop, work)
    view = view_of(turn, fan, reach)
    for k in range(np.uint64(0), np.uint64(stop - start)):
        px, py, cosine, sine = placed(
            view, work[k], work[k + np.uint64(BODY_Y * CHUNK)],
            work[k + np.uint64(TURN_W * CHUNK)], work[k + np.uint64(TURN_Z * CHUNK)],
        )  # fmt: skip
        work[k], work[k + np.uint64(PLACE_Y * CHUNK)] = px, py
        work[k + np.uint64(COSINE * CHUNK)], work[k + np.uint64(SINE * CHUNK)] = cosine, sine
    middles_into(view, stop - start, work)
    for k in range(np.uint64(0), np.uint64(stop - start)):
        hx, hy = 0.5 * work[k + np.uint64(SIZE_X * CHUNK)], 0.5 * work[k + np.uint64(SIZE_Y * CHUNK)]
        hz, radius = 0.5 * work[k + np.uint64(SIZE_Z * CHUNK)], work[k + np.uint64(RADIUS * CHUNK)]
        low, high, room = beams_about(
            view, work[k + np.uint64(MIDDLE * CHUNK)], work[k], work[k + np.uint64(PLACE_Y * CHUNK)],
            work[k + np.uint64(PLACE_Z * CHUNK)], hx, hy, hz, radius,
        )  # fmt: skip
        work[k + np.uint64(LOW * CHUNK)], work[k + np.uint64(HIGH * CHUNK)] = low, high
        work[k + np.uint64(ROOM * CHUNK)] = room


@inlined
def standing_windows_into(origin, view, block, work):
    """Write what `level_windows_into` does for a block of upright bodies that stand, laid out for vector code.

    Another field takes the horizontal distance [m] to the body, a little less rather than more.

    `block` (FIELDS · GROUP,) holds field by field: place (x, y, z) [m], scalar and third part of the quaternion, half
    sizes [m], radius [m]; a place that is nan is not met.
    """
    ox, oy, oz = origin[0], origin[1], origin[2]
    for k in range(np.uint64(0), np.uint64(GROUP)):
        px, py, cosine, sine = placed(
            view, ox - block[k], oy - block[k + np.uint64(BODY_Y * GROUP)],
            block[k + np.uint64(TURN_W * GROUP)], block[k + np.uint64(TURN_Z * GROUP)],
        )  # fmt: skip
        work[k], work[k + np.uint64(PLACE_Y * CHUNK)] = px, py
        work[k + np.uint64(COSINE * CHUNK)], work[k + np.uint64(SINE * CHUNK)] = cosine, sine
    middles_into(view, GROUP, work)
    for k in range(np.uint64(0), np.uint64(GROUP)):
        rise = oz - block[k + np.uint64(BODY_Z * GROUP)]
        px, py = work[k], work[k + np.uint64(PLACE_Y * CHUNK)]
        hx, hy = block[k + np.uint64(SIZE_X * GROUP)], block[k + np.uint64(SIZE_Y * GROUP)]
        hz, radius = block[k + np.uint64(SIZE_Z * GROUP)], block[k + np.uint64(RADIUS * GROUP)]
        low, high, room = beams_about(view, work[k + np.uint64(MIDDLE * CHUNK)], px, py, rise, hx, hy, hz, radius)
        work[k + np.uint64(PLACE_Z * CHUNK)] = rise
        work[k + np.uint64(LOW * CHUNK)], work[k + np.uint64(HIGH * CHUNK)] = low, high
        work[k + np.uint64(ROOM * CHUNK)] = room
        dx, dy = max(abs(px) - hx, 0.0), max(abs(py) - hy, 0.0)
        work[k + np.uint64(GAP * CHUNK)] = math.sqrt(dx * dx + dy * dy) * (1.0 - SLACK) - SLACK


@inlined
def around_into(beams, step, low, high, row, out, count):
    """Append the runs of blocks of beams from `low` to `high`, which may reach around the full turn, to a list.

    Parameters
    ----------
    beams, step : int, float
        As in `Fan`.
    low, high : float
        Beams as real numbers; `low` at most half a turn below the first.
    row : int
        What to write beside each.
    out : (3 n,) int64, out
        Triples: `row`, first beam, beam after the last, both multiples of `LANES`.
    count : int
        Triples that are taken.

    Returns
    -------
    int
        Triples that are taken now.
    """
    # a window may reach over the end of the fan: test it shifted by a full turn both ways
    top = beams - 1.0
    period = 2.0 * math.pi / abs(step)
    if high - low >= period:  # more than a full turn: every beam once
        low, high = 0.0, top
    for turn in range(3):
        shift = (0.0, period, -period)[turn]
        a, b = max(math.ceil(low + shift), 0), min(math.floor(high + shift), beams - 1)
        if a <= b:
            out[3 * count], out[3 * count + 1], out[3 * count + 2] = row, a & -LANES, (b | (LANES - 1)) + 1
            count += 1
        if 0.0 <= low and high < period:
            break
    return count


@inlined
def layers_of(slopes, square, room, across, around, low, high):
    """First layer, and the one after the last, in the order of slopes that can meet a body.

    Parameters
    ----------
    slopes : (layers,)
        As in `Fan`.
    square, room, across : float
        Squared horizontal distance, near room, and extents across and along it times the distance, together [m²].
    around : float
        What those extents cannot exceed [m].
    low, high : float
        Its bottom and top relative to the sensor, along the sensor's up axis [m].
    """
    distance = math.sqrt(square)
    far = distance + around
    if room > 0.0:
        # slopes are extreme at the nearest or farthest point of the body, depending on the sign of the height
        near, far = room / distance, distance + across / distance
        least, most = low / (near if low < 0.0 else far), high / (near if high > 0.0 else far)
    else:  # it may be straight above or below
        least = low / far if low > TOUCH * far else -math.inf
        most = high / far if high < -TOUCH * far else math.inf
    least, most = least - 1e-7 * (1.0 + abs(least)), most + 1e-7 * (1.0 + abs(most))
    # binary searches of both bounds
    a, b = 0, slopes.shape[0]
    while a < b:
        c = (a + b) // 2
        a, b = (c + 1, b) if slopes[c] < least else (a, c)
    start, b = a, slopes.shape[0]
    while a < b:
        c = (a + b) // 2
        a, b = (c + 1, b) if slopes[c] <= most else (a, c)
    return start, a


@inlined
def window_of(first, step, slack, slopes, m, px, py, pz, hx, hy, hz):
    """Window of any body for any sensor: beams as real numbers, layers in the order of slopes.

    Parameters
    ----------
    first, step, slack, slopes : float, float, float, (layers,)
        As in `Fan`.
    m : matrix
        Turns vectors of the sensor frame into the body frame.
    px, py, pz : float
        The sensor in the body frame [m].
    hx, hy, hz : float
        Half sizes of a box in the body frame that holds it [m].

    Returns
    -------
    low, high : float
        As `around_into` takes them.
    lowest, highest : int
        As `layers_of` gives them.
    """
    zx, zy, zz = m[0][2], m[1][2], m[2][2]  # the sensor's up axis
    height = px * zx + py * zy + pz * zz
    # horizontal part of the way between both, and its length in `square`
    qx, qy, qz = px - height * zx, py - height * zy, pz - height * zz
    # half extents of the box across and along the line of sight, times its length, in the sensor's horizontal plane
    lateral = hx * abs(zy * pz - zz * py) + hy * abs(zz * px - zx * pz) + hz * abs(zx * py - zy * px)
    radial = hx * abs(qx) + hy * abs(qy) + hz * abs(qz)
    square = qx * qx + qy * qy + qz * qz
    room = square - radial
    room = room if room > 0.0 and room * room > CLOSE * CLOSE * square else 0.0
    half = lateral / room if room > 0.0 else ALL_AROUND
    # x and y of −p in the sensor's frame: columns of m
    cx = m[0][0] * px + m[1][0] * py + m[2][0] * pz
    cy = m[0][1] * px + m[1][1] * py + m[2][1] * pz
    inverse = 1.0 / step
    centre = (azimuth_of(-cx, -cy) - first) * inverse
    centre = centre if centre >= 0.0 else centre + 2.0 * math.pi * abs(inverse)
    spread = (half + slack) * abs(inverse)
    tall = hx * abs(zx) + hy * abs(zy) + hz * abs(zz)
    lowest, highest = layers_of(slopes, square, room, lateral + radial, hx + hy + hz, -height - tall, tall - height)
    return centre - spread, centre + spread, lowest, highest
