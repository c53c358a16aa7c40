"""Grammar of mechanism files: versions, keys, and the classes that a ``type`` names."""

from __future__ import annotations

from dataclasses import MISSING, fields

from cbsim.spec.mechanism.colliders import ConvexHull, HalfSpace, HeightField
from cbsim.spec.mechanism.collisions import (
    SphereBoxCollision,
    SphereCapsuleCollision,
    SphereHalfSpaceCollision,
    SphereSphereCollision,
    StringCollision,
)
from cbsim.spec.mechanism.contacts import ForceContact, ImpactContact, LinearContact, NonlinearContact
from cbsim.spec.mechanism.drives import Drive, DryFriction, Motor
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.shapes import (
    Box,
    Capsule,
    CombinedShapes,
    Cylinder,
    EmptyShape,
    FrameShape,
    Pyramid,
    Sphere,
)

__all__ = ["EXACT", "FAMILIES", "KEYS", "MARK", "TEXTS", "VERSION", "keys_of"]

MARK, VERSION = "cbsim_mechanism", 1
KEYS = (
    MARK, "timestep", "gravity", "input_scaling", "origin", "bodies", "joints", "contacts", "colliders", "state",
    "next_state", "inputs", "external",
)  # fmt: skip
SHAPES = (
    Box, Capsule, CombinedShapes, ConvexHull, Cylinder, EmptyShape, FrameShape, HalfSpace, HeightField, Mesh, Pyramid,
    Sphere,
)  # fmt: skip
LAWS = (ImpactContact, LinearContact, NonlinearContact, ForceContact)
COLLISIONS = (
    SphereHalfSpaceCollision, SphereSphereCollision, SphereCapsuleCollision, SphereBoxCollision, StringCollision,
)  # fmt: skip
FAMILIES: dict[str, dict[str, type]] = {
    key: {kind.__name__: kind for kind in kinds}
    for key, kinds in (
        ("shape", SHAPES), ("model", LAWS), ("collision", COLLISIONS), ("drives", (Drive, Motor, DryFriction))
    )
}  # fmt: skip
"""Key → name → class, chosen by the ``type`` of the value."""
TEXTS = frozenset({"name", "spring_type", "ignores"})
EXACT = ("axis", "orientation_offset", "normal", "contact_normal")
"""Made of length one when a part is made; they are that already, and doing it again could change the last bit."""
LENT = frozenset({"bond", "subject", "path"})  # fields that are not part of a description, or not of this file


def keys_of(kind: type) -> dict[str, bool]:
    """Return the keys of a class, and whether each is required."""
    return {
        field.name: field.default is MISSING and field.default_factory is MISSING
        for field in fields(kind)
        if field.init and field.name not in LENT
    }
