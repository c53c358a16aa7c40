"""JSON Schemas of the foxglove messages in use, after their public definitions.

Viewers identify messages by the name of the schema, and times by its title. Source: "Foxglove schemas", foxglove-sdk,
`schemas/jsonschema`; optional fields that are never written are left out.
"""

from __future__ import annotations

from typing import Any

__all__ = ["FOXGLOVE"]

Schema = dict[str, Any]

NUMBER: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
BYTES: Schema = {"type": "string", "contentEncoding": "base64"}


def _record(title: str, **properties: Schema) -> Schema:
    """Return the schema of a message with required fields only."""
    return {"title": title, "type": "object", "properties": properties, "required": list(properties)}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _choice(title: str, *names: str) -> Schema:
    """Return the schema of an enumeration, numbered from 0."""
    return {"title": title, "oneOf": [{"title": name, "const": number} for number, name in enumerate(names)]}


NANOSECONDS: Schema = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
TIME = _record("time", sec=COUNT, nsec=NANOSECONDS)
DURATION = _record("duration", sec=WHOLE, nsec=NANOSECONDS)
VECTOR = _record("foxglove.Vector3", x=NUMBER, y=NUMBER, z=NUMBER)
POINT = _record("foxglove.Point3", x=NUMBER, y=NUMBER, z=NUMBER)
QUATERNION = _record("foxglove.Quaternion", x=NUMBER, y=NUMBER, z=NUMBER, w=NUMBER)
POSE = _record("foxglove.Pose", position=VECTOR, orientation=QUATERNION)
COLOUR = _record("foxglove.Color", r=NUMBER, g=NUMBER, b=NUMBER, a=NUMBER)

ARROW = _record(
    "foxglove.ArrowPrimitive",
    pose=POSE,
    shaft_length=NUMBER,
    shaft_diameter=NUMBER,
    head_length=NUMBER,
    head_diameter=NUMBER,
    color=COLOUR,
)
CUBE = _record("foxglove.CubePrimitive", pose=POSE, size=VECTOR, color=COLOUR)
SPHERE = _record("foxglove.SpherePrimitive", pose=POSE, size=VECTOR, color=COLOUR)
CYLINDER = _record(
    "foxglove.CylinderPrimitive", pose=POSE, size=VECTOR, bottom_scale=NUMBER, top_scale=NUMBER, color=COLOUR
)
LINE = _record(
    "foxglove.LinePrimitive",
    type=_choice("foxglove.LineType", "LINE_STRIP", "LINE_LOOP", "LINE_LIST"),
    pose=POSE,
    thickness=NUMBER,
    scale_invariant=FLAG,
    points=_list(POINT),
    color=COLOUR,
    colors=_list(COLOUR),
    indices=_list(COUNT),
)
TRIANGLES = _record(
    "foxglove.TriangleListPrimitive",
    pose=POSE,
    points=_list(POINT),
    color=COLOUR,
    colors=_list(COLOUR),
    indices=_list(COUNT),
)
LABEL = _record(
    "foxglove.TextPrimitive",
    pose=POSE,
    billboard=FLAG,
    font_size=NUMBER,
    scale_invariant=FLAG,
    color=COLOUR,
    text=TEXT,
)
MODEL = _record(
    "foxglove.ModelPrimitive",
    pose=POSE,
    scale=VECTOR,
    color=COLOUR,
    override_color=FLAG,
    url=TEXT,
    media_type=TEXT,
    data=BYTES,
)
ENTITY = _record(
    "foxglove.SceneEntity",
    timestamp=TIME,
    frame_id=TEXT,
    id=TEXT,
    lifetime=DURATION,
    frame_locked=FLAG,
    metadata=_list(_record("foxglove.KeyValuePair", key=TEXT, value=TEXT)),
    arrows=_list(ARROW),
    cubes=_list(CUBE),
    spheres=_list(SPHERE),
    cylinders=_list(CYLINDER),
    lines=_list(LINE),
    triangles=_list(TRIANGLES),
    texts=_list(LABEL),
    models=_list(MODEL),
)
DELETION = _record(
    "foxglove.SceneEntityDeletion",
    timestamp=TIME,
    type=_choice("foxglove.SceneEntityDeletionType", "MATCHING_ID", "ALL"),
    id=TEXT,
)
TRANSFORM = _record(
    "foxglove.FrameTransform",
    timestamp=TIME,
    parent_frame_id=TEXT,
    child_frame_id=TEXT,
    translation=VECTOR,
    rotation=QUATERNION,
)
NUMBERS = ("UNKNOWN", "UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "FLOAT32", "FLOAT64")
PACKED = _record("foxglove.PackedElementField", name=TEXT, offset=COUNT, type=_choice("foxglove.NumericType", *NUMBERS))

FOXGLOVE: dict[str, Schema] = {
    schema["title"]: schema
    for schema in (
        _record("foxglove.SceneUpdate", deletions=_list(DELETION), entities=_list(ENTITY)),
        TRANSFORM,
        _record("foxglove.FrameTransforms", transforms=_list(TRANSFORM)),
        _record(
            "foxglove.LaserScan",
            timestamp=TIME,
            frame_id=TEXT,
            pose=POSE,
            start_angle=NUMBER,
            end_angle=NUMBER,
            ranges=_list(NUMBER),
            intensities=_list(NUMBER),
        ),
        _record(
            "foxglove.PointCloud",
            timestamp=TIME,
            frame_id=TEXT,
            pose=POSE,
            point_stride=COUNT,
            fields=_list(PACKED),
            data=BYTES,
        ),
        _record("foxglove.PosesInFrame", timestamp=TIME, frame_id=TEXT, poses=_list(POSE)),
        _record(
            "foxglove.Log",
            timestamp=TIME,
            level=_choice("foxglove.LogLevel", "UNKNOWN", "DEBUG", "INFO", "WARNING", "ERROR", "FATAL"),
            message=TEXT,
            name=TEXT,
            file=TEXT,
            line=COUNT,
        ),
    )
}
"""Name of a schema → the schema."""
