"""Gallery of mechanisms as examples and benchmarks: one file per kind, one line of the table each.

>>> from cbsim.multibody import gallery, simulate
>>> simulate(gallery.build("pendulum", angle=0.5), 10).x.shape
(10, 1, 3)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cbsim.multibody.gallery.ant import ant
from cbsim.multibody.gallery.atlas import atlas
from cbsim.multibody.gallery.block import block
from cbsim.multibody.gallery.block2d import block2d
from cbsim.multibody.gallery.cartpole import cartpole
from cbsim.multibody.gallery.chain import chain
from cbsim.multibody.gallery.dzhanibekov import dzhanibekov
from cbsim.multibody.gallery.exoskeleton import exoskeleton
from cbsim.multibody.gallery.fourbar import fourbar
from cbsim.multibody.gallery.halfcheetah import halfcheetah
from cbsim.multibody.gallery.hopper import hopper
from cbsim.multibody.gallery.humanoid import humanoid
from cbsim.multibody.gallery.nslider import nslider
from cbsim.multibody.gallery.panda import panda
from cbsim.multibody.gallery.pendulum import pendulum
from cbsim.multibody.gallery.quadrotor import quadrotor
from cbsim.multibody.gallery.quadruped import quadruped
from cbsim.multibody.gallery.raiberthopper import raiberthopper
from cbsim.multibody.gallery.rexhopper import rexhopper
from cbsim.multibody.gallery.slider import slider
from cbsim.multibody.gallery.snake import snake
from cbsim.multibody.gallery.sphere import sphere
from cbsim.multibody.gallery.tennisracket import tennisracket
from cbsim.multibody.gallery.tippetop import tippetop
from cbsim.multibody.gallery.top import top
from cbsim.multibody.gallery.twister import twister
from cbsim.multibody.gallery.uuv import uuv, uuv_input
from cbsim.multibody.gallery.walker import walker
from cbsim.registry import Registry

if TYPE_CHECKING:
    from cbsim.multibody.mechanism import Mechanism

__all__ = [
    "GALLERY",
    "ant",
    "atlas",
    "block",
    "block2d",
    "build",
    "cartpole",
    "chain",
    "dzhanibekov",
    "exoskeleton",
    "fourbar",
    "halfcheetah",
    "hopper",
    "humanoid",
    "nslider",
    "panda",
    "pendulum",
    "quadrotor",
    "quadruped",
    "raiberthopper",
    "rexhopper",
    "slider",
    "snake",
    "sphere",
    "tennisracket",
    "tippetop",
    "top",
    "twister",
    "uuv",
    "uuv_input",
    "walker",
]

GALLERY: Registry[Callable[..., Mechanism]] = Registry(
    "mechanism",
    (
        (made.__name__, made)
        for made in (
            ant, atlas, block, block2d, cartpole, chain, dzhanibekov, exoskeleton, fourbar, halfcheetah, hopper,
            humanoid, nslider, panda, pendulum, quadrotor, quadruped, raiberthopper, rexhopper, slider, snake, sphere,
            tennisracket, tippetop, top, twister, uuv, walker,
        )
    ),
)  # fmt: skip


def build(name: str, **parameters: object) -> Mechanism:
    """Build a mechanism of the gallery by name.

    Parameters
    ----------
    name : str
        A name of `GALLERY`.
    **parameters : object
        What its function takes: `timestep` [s] and `gravity` [m/s²] everywhere.

    Raises
    ------
    UsageError
        No mechanism of that name.
    """
    return GALLERY[name](**parameters)
