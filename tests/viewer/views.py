"""The ten views whose pictures are kept: what is opened, at what time, and what is done before the picture is made."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from cbsim.viewer.drawing.camera import PROJECTIONS
from cbsim.viewer.loading import open_source
from cbsim.viewer.screenshot import render
from cbsim.viewer.session import Session
from tests.common import ROOT

SIZE = (640, 400)
RNDF = ROOT / "rndf"

PENDULUM = """<robot name="pendulum">
  <link name="arm">
    <inertial>
      <origin xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual><origin xyz="0 0 -0.5"/><geometry><box size="0.1 0.1 1"/></geometry></visual>
  </link>
  <link name="bob">
    <inertial><mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><sphere radius="0.2"/></geometry></visual>
  </link>
  <joint name="shoulder" type="continuous">
    <parent link="world"/><child link="arm"/><origin xyz="0 0 2"/><axis xyz="1 0 0"/>
  </joint>
  <link name="world"/>
  <joint name="wrist" type="continuous">
    <parent link="arm"/><child link="bob"/><origin xyz="0 0 -1"/><axis xyz="0 1 0"/>
  </joint>
</robot>
"""


@dataclass
class Shot:
    """One view."""

    file: str
    at: float = 0.0
    options: dict[str, Any] = field(default_factory=dict)
    zoom: float | None = None
    look: int = 0
    follow: str = ""
    centre: tuple[float, float] | None = None
    angle: float = 0.0
    show: tuple[str, ...] = ()
    measure: tuple[tuple[float, float], ...] = ()
    helping: bool = False
    size: tuple[int, int] = SIZE
    points: float = 1.0


SHOTS: dict[str, Shot] = {
    "network": Shot("parking.rndf", show=("ids",)),
    "conflicts": Shot("parking.rndf", show=("conflicts",), zoom=9.0, centre=(-72.0, 1.0)),
    "scenario": Shot("four_way_stop", 12.0),
    "followed": Shot("mission", 21.0, zoom=12.0, follow="CajunBot", show=("beams",)),
    "crash": Shot("crash", 4.0),
    "roundabout": Shot("roundabout", 15.0, angle=0.6, show=("goals",)),
    "merge": Shot("merge", 8.0, zoom=5.0, centre=(20.0, 0.0), measure=((0.0, 0.0), (30.0, 0.0), (30.0, 25.0))),
    "meshes": Shot("sensors", 3.0),
    "model": Shot("pendulum.urdf", 0.5, look=1),
    "help": Shot("loop", 0.0, helping=True, size=(1280, 800)),
    "dense": Shot("city", 20.0, size=(1280, 800), points=2.0),
}


def make(name: str, folder) -> Any:
    """Make one of the pictures."""
    shot = SHOTS[name]
    file = shot.file
    if file.endswith(".rndf"):
        file = str(RNDF / file)
    if file.endswith(".urdf"):
        path = folder / file
        path.write_text(PENDULUM)
        file = str(path)
    with ExitStack() as exits:
        source = open_source(file, exits, **shot.options)
        session = Session(source, transport=False)
        session.camera = session.camera.resized(shot.size)
        session.projection = PROJECTIONS[shot.look]
        source.advance_to(shot.at)
        session.time = shot.at
        session.options.shown.update(dict.fromkeys(shot.show, True))
        session.escape()
        session.fit()
        session.helping = shot.helping
        session.options.measure.extend(shot.measure)
        if shot.follow:
            names = [body.name for body in source.stage.bodies]
            session.options.selected, session.following = names.index(shot.follow), True
        if shot.centre is not None:
            session.camera = session.camera.looking_at(shot.centre)
        if shot.zoom is not None:
            session.camera = replace(session.camera, scale=shot.zoom)
        session.camera = session.camera.turned(shot.angle)
        return render(session, shot.size, shot.points)
