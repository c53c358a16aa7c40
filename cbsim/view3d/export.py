"""One file that plays a scene in any browser: geometry, motion and our own WebGL, without a server or a network.

Why not the player of a library: viser's own recording is 0.8 MB of page, needs the extra to make one, shows nothing
between two nodes, and has no names or numbers to hover over; three.js is as large again. This page is 37 kB.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from cbsim.errors import ModelError
from cbsim.view3d.framing import FIELD_OF_VIEW, framing
from cbsim.view3d.packing import Packer
from cbsim.view3d.scene import Scene

__all__ = ["export_scene", "page_of"]

SCRIPTS = ("math.js", "unpack.js", "shaders.js", "renderer.js", "main.js")


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
    """Make the page of a scene; the same scene gives the same text."""
    page = files("cbsim.view3d") / "page"
    code = "\n".join((page / name).read_text(encoding="utf-8") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{code}\n}})();'
    parts = {
        "title": html.escape(title),
        "style": (page / "page.css").read_text(encoding="utf-8"),
        "digest": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        # a name may hold "</script>", which would end the data
        "scene": json.dumps(described(scene), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "script": script,
    }
    text = (page / "page.html").read_text(encoding="utf-8")
    pieces = text.split("{{")
    return pieces[0] + "".join(parts[name] + rest for name, rest in (piece.split("}}", 1) for piece in pieces[1:]))


def described(scene: Scene) -> dict[str, Any]:
    """Scene as the page reads it.

    Notes
    -----
    Positions are kept in single precision from each frame's mean, which is in double: the error is below 2⁻²⁴ of how
    far the frame gets from there.
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
        "light": vars_of(scene.light),
        "floor": None if floor is None else {**vars_of(floor), "quaternion": floor.quaternion},
        "background": None if back is None else {"top": back.top, "low": back.bottom},
        "data": packer.text(),
    }


def vars_of(part: Any) -> dict[str, Any]:
    """Fields of a flat dataclass by name."""
    return dict(vars(part))
