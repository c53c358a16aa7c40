"""Colliders: shapes that touch one another, on bodies or in the world.

A shape alone is only drawn. A collider collides with all others, except those of the same body, of bodies connected by
a joint, and of groups that do not meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.geometry.linear import det, matrix_rank, times
from cbsim.spec.mechanism.bodies import Body, Node, Origin
from cbsim.spec.mechanism.drives import softness_of
from cbsim.spec.mechanism.shapes import Shape
from cbsim.spec.mechanism.values import array, floats, number, unit, vector

__all__ = ["Collider", "ConvexHull", "HalfSpace", "HeightField", "ground"]

EVERYBODY = -1  # mask of all groups


@dataclass(frozen=True, eq=False)
class HalfSpace(Shape):
    """Half-space below a plane: infinite solid ground, in the world only.

    Parameters
    ----------
    normal : array_like, shape (3,)
        Out of the ground; made of length one. The plane goes through the position offset.
    """

    normal: Any = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._settle("normal", unit(self.normal, "HalfSpace", "normal"))


@dataclass(frozen=True, eq=False)
class ConvexHull(Shape):
    """The smallest convex shape around points.

    Parameters
    ----------
    points : array_like, shape (n, 3)
        At least four that are not in one plane [m].
    mass : float, optional
        Mass [kg].
    """

    points: Any = None
    mass: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        points = floats(self.points, "ConvexHull", "points", "(n, 3) numbers")
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4 or not np.isfinite(points).all():
            raise ModelError(
                f"points have the shape {points.shape}, expected (n, 3), n at least 4", subject="ConvexHull"
            )
        if matrix_rank(points - points[0], tol=1e-9 * max(1e-9, float(np.ptp(points)))) < 3:
            raise ModelError("points all lie in one plane", subject="ConvexHull")
        points.flags.writeable = False
        self._settle("points", points)

    @property
    def surface(self) -> Floats:
        """Triangles (n, 3, 3) [m] in its frame, without scale, counter-clockwise from outside."""
        from scipy.spatial import ConvexHull as Hull

        hull = Hull(self.points)
        corners: Floats = self.points[hull.simplices]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        inwards = np.einsum("ni,ni->n", normals, hull.equations[:, :3]) < 0.0
        corners[inwards] = corners[inwards, ::-1]
        return corners

    @property
    def moments(self) -> Floats:
        """Second moments (3, 3) [m²] per unit of mass about the origin of the points, filled evenly."""
        from scipy.spatial import ConvexHull as Hull

        hull = Hull(self.points)
        total, volume = np.zeros((3, 3)), 0.0
        inside = self.points.mean(axis=0)
        for triangle in hull.simplices:
            corners = np.array([inside, *self.points[triangle]])
            part = abs(det(corners[1:] - corners[0])) / 6.0
            middle = corners.sum(axis=0)
            # ∫ x xᵀ over a tetrahedron: (Σ x_i x_iᵀ + (Σ x_i)(Σ x_i)ᵀ) V / 20
            total += part / 20.0 * (times(corners.T, corners) + np.outer(middle, middle))
            volume += part
        return np.asarray(total / volume)


@dataclass(frozen=True, eq=False)
class HeightField(Shape):
    """Terrain over a grid: a surface of triangles, in the world only.

    Parameters
    ----------
    heights : array_like, shape (rows, columns)
        Heights [m] above the frame, at least 2 × 2: rows along y, columns along x, the grid's middle at the frame.
    spacing : float or array_like, shape (2,)
        Between columns and between rows [m].

    Notes
    -----
    Each cell is two triangles, cut from its first corner to the opposite one.
    """

    heights: Any = None
    spacing: Any = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        heights = floats(self.heights, "HeightField", "heights", "rows of numbers")
        if heights.ndim != 2 or min(heights.shape) < 2 or not np.isfinite(heights).all():
            raise ModelError(
                f"heights have the shape {heights.shape}, expected at least 2 rows and 2 columns of numbers",
                subject="HeightField",
            )
        heights.flags.writeable = False
        self._settle("heights", heights)
        spacing = array(self.spacing, (2,), "HeightField", "spacing")
        if spacing.min() <= 0.0:
            raise ModelError(f"spacing is {spacing.tolist()}, expected more than 0", subject="HeightField")
        self._settle("spacing", spacing)

    @property
    def surface(self) -> Floats:
        """Triangles (n, 3, 3) [m] in its frame, without scale, counter-clockwise from above."""
        rows, columns = self.heights.shape
        x = (np.arange(columns) - 0.5 * (columns - 1)) * self.spacing[0]
        y = (np.arange(rows) - 0.5 * (rows - 1)) * self.spacing[1]
        points = np.stack([*np.meshgrid(x, y), self.heights], axis=2)
        low, right, up, far = points[:-1, :-1], points[:-1, 1:], points[1:, :-1], points[1:, 1:]
        return np.stack([np.stack([low, right, far], 2), np.stack([low, far, up], 2)], 2).reshape(-1, 3, 3)

    @property
    def moments(self) -> Floats:
        """Raises ModelError, as it encloses no volume."""
        raise ModelError("encloses nothing, and has no mass", subject="HeightField")


@dataclass(frozen=True, eq=False)
class Collider(Node):
    """A colliding shape of a body or of the world.

    Attributes
    ----------
    owner : Body or Origin
        Its body; colliders of the origin are static.
    shape : Shape
        Shape with offsets. A mesh of the origin collides by its triangles, one of a body by its convex hull.
    friction_coefficient : float
        Combined by the geometric mean.
    restitution : float
        Ratio of separation to approach speed, 0 to 1; combined by the maximum.
    friction_force : float, optional
        Where both that touch have one, friction is limited by a force along each of two tangents of every point,
        whatever presses them together (`cbsim.spec.mechanism.contacts.ForceContact`), in place of a coefficient: by the
        geometric mean of the two [N].
    softness : (float, float)
        ERP and CFM as `cbsim.spec.mechanism.contacts.Contact` has them; of two that touch, the softer ones count.
    group, meets : int
        Bits: two touch if each one's groups are among those that the other meets.
    ignores : sequence of str
        Names of bodies that its owner never touches; enough if one of the two says so.
    """

    owner: Body | Origin
    shape: Shape
    friction_coefficient: float = 0.5
    restitution: float = 0.0
    group: int = 1
    meets: int = EVERYBODY
    friction_force: float | None = field(default=None, kw_only=True)
    softness: Any = field(default=(1.0, 0.0), kw_only=True)
    ignores: Any = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        who = f"collider '{self.name}'" if self.name else "collider"
        if not isinstance(self.owner, (Body, Origin)):
            raise ModelError(f"its owner is {self.owner!r}, expected a body or the origin", subject=who)
        if not isinstance(self.shape, Shape):
            raise ModelError(f"its shape is {self.shape!r}, expected a Shape", subject=who)
        if isinstance(self.shape, (HalfSpace, HeightField)) and isinstance(self.owner, Body):
            raise ModelError(f"is a {type(self.shape).__name__} on a body: only the origin carries one", subject=who)
        for what, most in (("friction_coefficient", np.inf), ("restitution", 1.0)):
            given = number(getattr(self, what), who, what, least=0.0)
            if given > most:
                raise ModelError(f"{what} is {given:g}, expected at most {most:g}", subject=who)
            object.__setattr__(self, what, given)
        if self.friction_force is not None:
            limit = number(self.friction_force, who, "friction_force", least=0.0)
            object.__setattr__(self, "friction_force", limit)
        object.__setattr__(self, "softness", softness_of(self.softness, who, "softness"))
        for what in ("group", "meets"):
            bits = getattr(self, what)
            if not isinstance(bits, (int, np.integer)) or not -(2**63) <= bits < 2**63:
                raise ModelError(f"{what} is {str(bits)[:60]!r}, expected 64 whole bits", subject=who)
        names = self.ignores if isinstance(self.ignores, Iterable) and not isinstance(self.ignores, str) else [None]
        if not all(isinstance(name, str) for name in names):
            raise ModelError(f"ignores {self.ignores!r}, expected names of bodies", subject=who)
        object.__setattr__(self, "ignores", tuple(self.ignores))


def ground(
    origin: Origin, height: float = 0.0, *, normal: ArrayLike = (0.0, 0.0, 1.0), friction_coefficient: float = 0.8
) -> Collider:
    """Make level ground [m], or a slope through a height of the vertical axis."""
    shape = HalfSpace(normal, position_offset=vector((0.0, 0.0, height), "ground", "height"))
    return Collider(origin, shape, friction_coefficient, name="ground")
