"""External references of Shift models: mesh, terrain and tyre files, colliding bodies, frames of lights."""

from __future__ import annotations

from pathlib import Path

from cbsim.errors import Problems, did_you_mean
from cbsim.formats.shift.names import called
from cbsim.formats.values import quote
from cbsim.models.shift.assembly import assemble
from cbsim.models.shift.drivers import tyre_files
from cbsim.models.shift.ground import standing
from cbsim.models.shift.meshes import read_meshes
from cbsim.models.shift.network import Network, network_of
from cbsim.models.shift.solids import tell_untouched, touches
from cbsim.paths import Files
from cbsim.spec.shift.forces import Tyre
from cbsim.spec.shift.model import ORIGIN, Light, ShiftModel

__all__ = ["check_named"]


def check_named(model: ShiftModel, folder: Path, files: Files, problems: Problems, *, strict: bool = False) -> None:
    """Report what a model names or wants and cannot have, as describing it does, and of lights that stand nowhere.

    Parameters
    ----------
    model, folder, files, problems, strict
        As `cbsim.models.shift.description.describe`.
    """
    network = network_of(model, Problems())
    meshes = read_meshes(model, network, folder, files, problems, strict=strict)
    if touches(model) and any(link.body.collision for link in network.links):
        assembled = assemble(model, Problems())
        if assembled is not None:
            tell_untouched(assembled, meshes, problems)
    for _ in standing(network, folder, files, problems):
        pass
    tyre = tyre_files(model, folder, files, problems)
    for _, module in network.modules:
        if isinstance(module.law, Tyre) and module.law.definition:
            tyre(module.law.definition, module.location, called(module))
    for light in model.lights:
        if light.active:
            _check_light(light, network, problems)


def _check_light(light: Light, network: Network, problems: Problems) -> None:
    """Report a light whose frame is not there: W983, W984. A body of any assembly may be named by its last name."""
    if light.parent is None:
        return
    what, path = f"light {quote(light.name)}" if light.name else "a light", light.parent.path
    bodies = [((*above, body.name), body) for above, assembly in network.model.walk() for body in assembly.bodies]
    frames = [body.frames for whole, body in bodies if whole[-len(path) :] == path]
    frames += [network.model.frames] if path == ("fixed",) else []
    names = [ORIGIN, *(frame.name for some in frames for frame in some)]
    if not frames:
        hint = did_you_mean(path[-1], [*(whole[-1] for whole, _ in bodies), "fixed"])
        text = f"{what} names the body {quote(':'.join(path))}, which is not there"
        problems.warning("W983", text, light.location, hint)
    elif light.parent.frame not in names:
        text = f"{what} names the frame {quote(light.parent.frame)} of {quote(':'.join(path))}, which is not there"
        problems.warning("W984", text, light.location, did_you_mean(light.parent.frame, names))
