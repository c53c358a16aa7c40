"""Places and lengths of models that are refused, since nothing can be worked out with them."""

from __future__ import annotations

import numpy as np

from cbsim.errors import ModelError
from cbsim.spec.mechanism.bodies import Origin
from cbsim.world.figures import outline_of
from cbsim.world.model_instances import ModelInstance
from cbsim.world.motion import ABSENT_BELOW
from cbsim.world.scene import Model

__all__ = ["check_places"]

FARTHEST = 1e7  # [m] of bodies of a model from the origin, their joints from their centres, and their shapes


def check_places(instance: ModelInstance, model: Model) -> None:
    """Refuse a model with a body that would count as absent, or lengths whose motion has no digits left."""
    places, bodies, subject = instance.start[:, :3], instance.spec.bodies, f"model '{model.name}'"
    low = int(places[:, 2].argmin())
    if places[low, 2] < ABSENT_BELOW:
        text = (
            f"body '{bodies[low].name}' is {places[low, 2]:g} m high; what is below {ABSENT_BELOW:g} m counts as absent"
        )
        raise ModelError(text, subject=subject, location=model.location)
    lengths = [(float(np.abs(place).max()), f"body '{one.name}'") for place, one in zip(places, bodies, strict=True)]
    for joint in instance.spec.joints:
        reach = instance.frame.scale * max(float(np.abs(vertex).max()) for vertex in joint.translational.vertices)
        lengths.append((reach, f"joint '{joint.name}'"))
    shaped = model.description.bodies
    lengths += [(outline_of(one.shape, model.scale).radius, f"the shape of body '{one.name}'") for one in shaped]
    solid = [one for one in instance.spec.colliders if not isinstance(one.owner, Origin)]
    lengths += [(outline_of(one.shape, model.scale).radius, f"collider '{one.name}'") for one in solid]
    most, what = max(lengths, key=lambda one: one[0])
    if most > FARTHEST:
        text = (
            f"{what} is {most:g} m out; beyond {FARTHEST:g} m, more than the Earth's radius, motion has no digits left"
        )
        raise ModelError(text, subject=subject, location=model.location)
