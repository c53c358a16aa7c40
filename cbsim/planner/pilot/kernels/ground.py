"""Path search across a zone: its raster, candidate paths, and the cheapest of them."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.arc_paths import advance, dubins_into, three_point_into
from cbsim.jit import inner, kernel

__all__ = ["best_of", "candidates_into", "distances_into", "mark_into"]

GEAR_CHANGE = 6.0  # cost of a gear change [m]
TIGHT = 2.0  # cost of arcs of the smallest radius [m]
OUTSIDE = 60.0  # cost per metre beyond the perimeter
ON_SPOT = 6.0  # cost per metre driven over another spot
IN_LINE = 0.9689124217106447  # cos 0.25 rad: largest angle to the direction of an entry or exit where it is passed
SAMPLE = 0.7  # [m] distance between tested footprints


@kernel
def distances_into(west, south, cell, edges, out):
    """Write the distance [m] of each cell of a raster (columns, rows) from an area, 0 inside.

    `edges` (n, 4) [m] are the sides of all its rings; points enclosed by an odd number of rings are inside.
    """
    for column in range(out.shape[0]):
        x = west + cell * column
        for row in range(out.shape[1]):
            y = south + cell * row
            nearest, inside = math.inf, False
            for k in range(edges.shape[0]):
                ax, ay = edges[k, 0], edges[k, 1]
                dx, dy = edges[k, 2] - ax, edges[k, 3] - ay
                # even-odd rule: count the edges that a ray to the east crosses
                if (ay > y) != (edges[k, 3] > y) and x < ax + dx * (y - ay) / dy:
                    inside = not inside
                square = dx * dx + dy * dy
                part = ((x - ax) * dx + (y - ay) * dy) / square if square > 0.0 else 0.0
                part = min(max(part, 0.0), 1.0)
                ex, ey = x - ax - part * dx, y - ay - part * dy
                nearest = min(nearest, ex * ex + ey * ey)
            out[column, row] = 0.0 if inside else math.sqrt(nearest)


@kernel
def mark_into(west, south, cell, ax, ay, bx, by, half, number, out):
    """Write a number to the cells of a raster (columns, rows) within `half` [m] beside the line from a to b."""
    dx, dy = bx - ax, by - ay
    length = math.hypot(dx, dy)
    if length == 0.0 or half <= 0.0:
        return
    dx, dy, reach = dx / length, dy / length, length + half
    first, last = math.floor((ax - reach - west) / cell), math.ceil((ax + reach - west) / cell)
    for column in range(max(first, 0), min(last + 1, out.shape[0])):
        first_row, last_row = math.floor((ay - reach - south) / cell), math.ceil((ay + reach - south) / cell)
        for row in range(max(first_row, 0), min(last_row + 1, out.shape[1])):
            x, y = west + cell * column - ax, south + cell * row - ay
            if 0.0 <= x * dx + y * dy <= length and abs(x * dy - y * dx) <= half:
                out[column, row] = number


@kernel
def candidates_into(start, goal, outs, counts, straights, radii, run_in, found, words, arcs, lengths):
    """Write candidate paths between two poses: given first arcs, a straight, a word of three arcs, a straight.

    Parameters
    ----------
    start, goal : (3,)
    outs, counts : (n, 2, 2), (n,)
        First arcs: up to two each, and their numbers.
    straights : (m,) [m]
        Lengths of the first straight, and of the last one beyond `run_in`.
    radii : (2,) [m]
    run_in : float
        Least length of the straight before the goal [m].
    found : (6, 3, 2)
        Scratch.
    words, arcs : (n · m · m · 20, 7, 2), (…), out
        Arcs (curvature, length), and their numbers.
    lengths : (…), out
        Costs of length, gear changes and tight bends [m].

    Returns
    -------
    int
        Number of candidates.
    """
    count = 0
    begin, end = start.copy(), goal.copy()
    for n in range(outs.shape[0]):
        ox, oy, oh = start[0], start[1], start[2]
        for k in range(counts[n]):
            ox, oy, oh = advance(ox, oy, oh, outs[n, k, 0], outs[n, k, 1])
        for i in range(straights.shape[0]):
            begin[0], begin[1], begin[2] = advance(ox, oy, oh, 0.0, straights[i])
            for j in range(straights.shape[0]):
                into = run_in + straights[j]
                end[0], end[1], end[2] = advance(goal[0], goal[1], goal[2], 0.0, -into)
                for wide in range(2):
                    for kind in range(2):
                        if kind == 0:
                            many = dubins_into(begin, end, radii[wide], found)
                        else:
                            many = three_point_into(begin, end, radii[wide], found)
                        for f in range(many):
                            word, a = words[count], counts[n]
                            # first arcs are driven backwards: one change of gear after them, and two about the middle
                            # arc of a three-point turn
                            length = GEAR_CHANGE * ((a > 0) + 2 * kind * (found[f, 1, 1] < 0.0))
                            length += TIGHT if wide == 0 else 0.0
                            for k in range(a):
                                word[k, 0], word[k, 1] = outs[n, k, 0], outs[n, k, 1]
                            word[a, 0], word[a, 1] = 0.0, straights[i]
                            for k in range(3):
                                word[a + 1 + k, 0], word[a + 1 + k, 1] = found[f, k, 0], found[f, k, 1]
                            word[a + 4, 0], word[a + 4, 1] = 0.0, into
                            for k in range(a + 5):
                                length += abs(word[k, 1])
                            arcs[count], lengths[count] = a + 5, length
                            count += 1
    return count


@inner
def passes(x, y, heading, end, reach):
    """Return whether a pose is near an end of the path (3,) and aligned with it, so that it passes through it."""
    return math.hypot(x - end[0], y - end[1]) < reach and math.cos(heading - end[2]) > IN_LINE


@inner
def footprint(x, y, heading, body, frame, outside, spot, own_1, own_2, exempt):
    """Test corners and edge midpoints of the body: largest distance outside [m], and whether any is on other spots."""
    nose, tail, half = body
    west, south, cell = frame
    sine, cosine = math.sin(heading), math.cos(heading)
    strayed, on_spot = 0.0, False
    for k in range(9):
        if k == 4:
            continue  # the middle of the body
        ahead, left = nose - (nose + tail) * 0.5 * (k // 3), half * (k % 3 - 1)
        column = math.floor((x - ahead * sine - left * cosine - west) / cell + 0.5)
        row = math.floor((y + ahead * cosine - left * sine - south) / cell + 0.5)
        column = min(max(column, 0), outside.shape[0] - 1)
        row = min(max(row, 0), outside.shape[1] - 1)
        strayed = max(strayed, outside[column, row])
        number = spot[column, row]
        on_spot = on_spot or (number > 0 and not (exempt and number in (own_1, own_2)))
    return strayed, on_spot


@kernel
def best_of(order, words, arcs, lengths, start, goal, leaving, parking, body, frame, outside, spot):
    """Find the path of least cost: its number, or -1, and its cost [m].

    Parameters
    ----------
    order : (n,)
        Paths by increasing length; the search ends at the first that is longer than the least cost.
    words, arcs, lengths
        From `candidates_into`.
    start, goal : (3,)
    leaving, parking : int
        Spots at start and goal; 0 for none.
    body : tuple of float
        Distances from the control point to front and rear, and half the width [m].
    frame : tuple of float
        West, south, and size of a cell [m] of the raster.
    outside, spot : (columns, rows)
    """
    best, cost = -1, math.inf
    reach = body[0] + SAMPLE
    for k in order:
        if lengths[k] >= cost:
            break
        word, last = words[k], arcs[k]
        # first pieces that are driven backwards
        backing = 0
        while backing < last and word[backing, 1] < 0.0:
            backing += 1
        strayed, over = 0.0, 0
        x, y, heading = start[0], start[1], start[2]
        for piece in range(last):
            count = math.ceil(abs(word[piece, 1]) / SAMPLE)
            # the own spots are crossed while reversing out of the first and driving into the last
            exempt = (leaving > 0 and piece < backing) or (parking > 0 and piece == last - 1)
            for sample in range(count + 1):
                along = word[piece, 1] * sample / count if count > 0 else 0.0
                px, py, ph = advance(x, y, heading, word[piece, 0], along)
                away, on_spot = footprint(px, py, ph, body, frame, outside, spot, leaving, parking, exempt)
                # at the ends the entry or exit itself lies on the perimeter, and is passed straight
                if away > strayed and not (passes(px, py, ph, start, reach) or passes(px, py, ph, goal, reach)):
                    strayed = away
                over += on_spot
            x, y, heading = advance(x, y, heading, word[piece, 0], word[piece, 1])
            if lengths[k] + OUTSIDE * strayed + ON_SPOT * SAMPLE * over >= cost:
                break  # it can no longer be the best
        total = lengths[k] + OUTSIDE * strayed + ON_SPOT * SAMPLE * over
        if total < cost:
            best, cost = k, total
    return best, cost
