"""Names that every script knows: numbers, switches, kinds of points and of objects, axes."""

from __future__ import annotations

import math

from cbsim.formats.irit.script.values import Data, Shape
from cbsim.spec.irit.objects import Matrix, Poly
from cbsim.spec.objects import Triple

__all__ = ["AXES", "KNOTS", "SPACES", "TYPES", "constants"]

SPACES = {f"{kind}{n}".upper(): float(100 * k + n) for k, kind in enumerate("ep", 1) for n in range(1, 10)}
"""Kind of control points → the number that stands for it in a script."""

KNOTS = {"kv_float": 301.0, "kv_open": 302.0, "kv_periodic": 303.0, "kv_disc_open": 304.0}
TYPES = {
    "undef_type": 400.0, "poly_type": 401.0, "numeric_type": 402.0, "point_type": 403.0, "vector_type": 404.0,
    "plane_type": 405.0, "matrix_type": 406.0, "curve_type": 407.0, "surface_type": 408.0, "string_type": 409.0,
    "list_type": 410.0, "ctlpt_type": 411.0, "trimsrf_type": 412.0, "trivar_type": 413.0, "instance_type": 414.0,
    "trisrf_type": 415.0, "model_type": 416.0, "multivar_type": 417.0, "bezier_type": 420.0, "bspline_type": 421.0,
    "power_type": 422.0, "gregory_type": 423.0,
}  # fmt: skip
METHODS = (
    "param_uniform", "param_centrip", "param_chord", "param_nielfol", "geom_const", "geom_linear", "geom_circular",
    "geom_planar", "geom_spherical", "geom_srf_of_rev", "geom_extrusion", "geom_ruled_srf", "geom_develop_srf",
    "geom_sweep",
)  # fmt: skip
MACHINES = (
    "unix", "msdos", "sgi", "hp", "sun", "apollo", "ibmos2", "windows", "amiga", "cygwin", "macosx", "linux",
)  # fmt: skip
COLORS = {
    "black": 0.0, "blue": 1.0, "green": 2.0, "cyan": 3.0, "red": 4.0, "magenta": 5.0, "yellow": 14.0, "white": 15.0,
}  # fmt: skip
IDENTITY = Matrix(tuple(float(k % 5 == 0) for k in range(16)))


def _axis(k: int) -> Poly:
    ends = Triple(0.0, 0.0, 0.0), Triple(*(float(k == n) for n in range(3)))
    return Poly("POLYLINE", ends)


AXES = Shape(tuple(map(_axis, range(3))))


def constants() -> dict[str, Data]:
    """Variables that a script starts with, in lower case."""
    plain: dict[str, Data] = {
        "pi": math.pi, "true": 1.0, "false": 0.0, "on": 1.0, "off": 0.0, "row": 0.0, "col": 1.0, "depth": 2.0,
        "resolution": 20.0, "view_mat": IDENTITY, "prsp_mat": IDENTITY, "machine": 0.0, "clients_all": 0.0,
        "intrcrv": 0.0, "drawctlpt": 0.0, "flat4ply": 0.0, "echosrc": 0.0, "interpprod": 1.0, "polyfineness": 0.0,
    }  # fmt: skip
    spaces: dict[str, Data] = {name.lower(): number for name, number in SPACES.items()}
    words: dict[str, Data] = {name: float(k) for k, name in enumerate(MACHINES)}
    words |= {name: 500.0 + k for k, name in enumerate(METHODS)}
    return plain | spaces | words | KNOTS | TYPES | COLORS
