"""Table of all kinds of objects of the data grammar: syntax and support."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["KINDS", "Kind"]


class Kind(NamedTuple):
    """One row of the table.

    Attributes
    ----------
    grammar : str
        How it is written, in brackets, after its keyword.
    status : str
        What becomes of it.
    """

    grammar: str
    status: str


READ = "read, written"
SEEN = "read, written, drawn"
KINDS: Mapping[str, Kind] = {
    "OBJECT": Kind("{attribute} NAME items", f"{READ}; a list of objects, or geometry; nested up to 100 deep"),
    "NUMBER": Kind("n", READ),
    "STRING": Kind('"text"', READ),
    "POINT": Kind("x y z", READ),
    "VECTOR": Kind("x y z", READ),
    "PLANE": Kind("a b c d", READ),
    "CTLPT": Kind("kind numbers", f"{READ}; E1 … E9, and P1 … P9 with a weight first"),
    "MATRIX": Kind("16 numbers", f"{READ}; those named MATRICES, VIEW_MAT, PRSP_MAT are never geometry"),
    "INSTANCE": Kind("name 16 numbers", f"{SEEN} where it is moved to"),
    "POLYGON": Kind("{attribute} n {vertex}", f"{SEEN}; convex or not"),
    "POLYLINE": Kind("{attribute} n {vertex}", READ),
    "POINTLIST": Kind("{attribute} n {vertex}", READ),
    "POLYSTRIP": Kind("{attribute} n {vertex}", f"{SEEN} as triangles"),
    "CURVE": Kind("basis n [order] kind [knots] points", f"{READ}, evaluated"),
    "SURFACE": Kind("basis n n [orders] kind [knots] points", f"{SEEN} as triangles"),
    "TRISRF": Kind("basis n [order] kind [knots] points", f"{SEEN} as triangles in the basis BEZIER; else `W056`"),
    "TRIVAR": Kind("basis n n n [orders] kind [knots] points", f"{SEEN}: its six faces"),
    "MULTIVAR": Kind("basis count n … [orders] kind [knots] points", f"{SEEN} up to three parameters; else `W056`"),
    "TRIMSRF": Kind("surface {[TRIMCRV {[TRIMCRVSEG curves]}]}", f"{SEEN}: what is inside an odd number of loops"),
    "MODEL": Kind("n n {[MDLTSRF …]} {[MDLTSEG …]}", f"{SEEN}: each surface inside its loops"),
}
"""Keyword → row."""
