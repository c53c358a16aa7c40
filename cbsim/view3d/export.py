"""Self-contained page that plays a scene with WebGL, without a server or a network.

Libraries are not used for size: viser's recording takes 0.8 MB, needs the extra, does not interpolate between frames
and has no tooltips; three.js is about as large. This page takes 37 kB.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any, get_args

from cbsim.errors import ModelError
from cbsim.page import Packer, build_page
from cbsim.spec.mechanism.model_light import LightKind
from cbsim.view3d.framing import FIELD_OF_VIEW, framing
from cbsim.view3d.scene import Scene

__all__ = ["export_scene", "page_of"]

SCRIPTS = ("math.js", "motion.js", "shaders.js", "renderer.js", "main.js")


def export_scene(scene: Scene, path: str | Path, *, title: str = "") -> Path:
    """Write the page of a scene to a file.

    Raises
    ------
    ModelError
        If the file cannot be written.
    """
    target = Path(path)
    text = page_of(scene, title or next(iter(scene.robots), "") or target.stem)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise ModelError(f"'{target}' cannot be written: {problem.strerror}", subject="export_html") from None
    return target


def page_of(scene: Scene, title: str) -> str:
    """Render the page of a scene; equal scenes yield equal text."""
    return build_page("cbsim.view3d", "page", SCRIPTS, page_data(scene), {"title": html.escape(title)})


def page_data(scene: Scene) -> dict[str, Any]:
    """Return the scene as page data.

    Notes
    -----
    Positions are stored in single precision relative to each frame's mean in double precision: the error is below 2⁻²⁴
    of the distance from the mean.
    """
    packer = Packer()
    x, q = scene.poses()
    mean = 0.5 * (x.min(axis=0) + x.max(axis=0))
    row = {frame: i for i, frame in enumerate(scene.frames)}
    seen, floor, back = framing(scene), scene.floor, scene.background
    return {
        "frames": list(scene.frames),
        "times": packer.add(scene.times.astype("<f8")),
        "mean": mean.tolist(),
        "x": packer.add((x - mean).astype("<f4"), rows=True),
        "q": packer.add(q.astype("<f4"), rows=True),
        "solids": [
            {
                "name": name,
                "frame": row.get(solid.frame, -1),
                "kind": solid.kind,
                "color": list(solid.color),
                "vertices": packer.add(solid.triangles.vertices.astype("<f4")),
                "faces": packer.add(solid.triangles.faces.astype("<u4")),
            }
            for name, solid in scene.solids.items()
        ],
        "camera": {
            "position": seen.position.tolist(),
            "look_at": seen.look_at.tolist(),
            "follow": seen.follow,
            "radius": seen.radius,
            "field": float(FIELD_OF_VIEW),
        },
        "light": fields_of(scene.light),
        "lamps": [
            {**fields_of(lamp), "frame": row.get(lamp.frame, -1), "kind": get_args(LightKind).index(lamp.kind)}
            for lamp in scene.lamps.values()
        ],
        "floor": None if floor is None else {**fields_of(floor), "quaternion": floor.quaternion},
        "background": None if back is None else {"top": back.top, "low": back.bottom},
        "data": packer.text(),
    }


def fields_of(part: Any) -> dict[str, Any]:
    """Fields of a flat dataclass by name."""
    return dict(vars(part))
