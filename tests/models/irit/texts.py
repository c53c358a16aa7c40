"""Texts of IRIT files for tests: walkers whose every number can be set, written by hand."""

from __future__ import annotations

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from tests.models.reading import read_model

__all__ = ["HEXAPOD", "QUADRUPED", "box", "codes", "parse", "walker"]

FACES = ((0, 2, 6, 4), (1, 5, 7, 3), (0, 4, 5, 1), (2, 3, 7, 6), (0, 1, 3, 2), (4, 6, 7, 5))


def box(low, high):
    """A box's six polygons, normals into it as IRIT has them."""
    corners = [[(low, high)[k >> axis & 1][axis] for axis in range(3)] for k in range(8)]
    rows = []
    for face in FACES:
        points = " ".join("[" + " ".join(f"{v:.12g}" for v in corners[k]) + "]" for k in face)
        rows.append(f"[POLYGON 4 {points}]")
    return "\n".join(rows)


def leg(root, knee, foot, name="LEG"):
    parts = []
    for a, b in ((root, knee), (knee, foot)):
        low = [min(u, v) - 0.03 for u, v in zip(a, b, strict=True)]
        high = [max(u, v) + 0.03 for u, v in zip(a, b, strict=True)]
        parts.append(f"[OBJECT PART\n{box(low, high)}\n]")
    points = [f"[OBJECT NONE [POINT {x:.12g} {y:.12g} {z:.12g}]]" for x, y, z in (root, knee, foot)]
    return f"[OBJECT {name}\n" + "\n".join(parts + points) + "\n]"


def walker(
    *, pairs=3, length=2.4, rotate=0.3, walk=0.6, angle=10.0, gait="cross", height=1.0, legs=None, wide=0.5, **points
):
    """A walker of boxes; the numbers of the reference's hexapod by default."""
    root = points.get("root", (0.0, wide, height))
    knee = points.get("knee", (0.0, wide + 0.6, height + 0.35))
    foot = points.get("foot", (0.0, wide + 1.0, 0.0))
    rows = []
    for side in (1.0, -1.0):
        for k in range(pairs):
            x = 0.9 - 1.8 * k / max(1, pairs - 1)
            rows.append(leg(*[(p[0] + x, side * p[1], p[2]) for p in (root, knee, foot)]))
    body = box((-length / 2, -wide, height - 0.2), (length / 2, wide, height + 0.2))
    legs = "\n".join(rows) if legs is None else legs
    return (
        f"[OBJECT MODEL_OF_TESTS\n[OBJECT [COLOR 4] BODY\n{body}\n]\n"
        f"[OBJECT LEGS\n{legs}\n]\n"
        f"[OBJECT A [NUMBER {rotate}]]\n[OBJECT B [NUMBER {walk}]]\n[OBJECT C [NUMBER {angle}]]\n"
        f'[OBJECT D [STRING "{gait}"]]\n]\n'
    )


def parse(text, name="test.itd"):
    """What a text holds, and the problems with it."""
    problems = Problems()
    spec = read_model("irit", Source(name, text, text.encode()), problems)
    return spec, problems


def codes(text, name="test.itd"):
    """Code and line of every problem."""
    return [(p.code, p.location.line) for p in parse(text, name)[1]]


HEXAPOD = walker()
QUADRUPED = walker(pairs=2, length=2.0, rotate=0.25, walk=0.5, angle=12, height=0.8, wide=0.4)
