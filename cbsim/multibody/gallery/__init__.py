"""Mechanisms to look at, to learn from and to measure on: one file per kind, one line of the table each.

>>> from cbsim.multibody import gallery, simulate
>>> simulate(gallery.build("pendulum", angle=0.5), 10).x.shape
(10, 1, 3)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cbsim.multibody.gallery.block import block
from cbsim.multibody.gallery.chain import chain
from cbsim.multibody.gallery.fourbar import fourbar
from cbsim.multibody.gallery.pendulum import pendulum
from cbsim.multibody.gallery.quadruped import quadruped
from cbsim.multibody.gallery.slider import slider
from cbsim.multibody.gallery.snake import snake
from cbsim.multibody.gallery.sphere import sphere
from cbsim.multibody.gallery.top import top
from cbsim.registry import Registry

if TYPE_CHECKING:
    from cbsim.multibody.mechanism import Mechanism

__all__ = ["GALLERY", "block", "build", "chain", "fourbar", "pendulum", "quadruped", "slider", "snake", "sphere", "top"]

GALLERY: Registry[Callable[..., Mechanism]] = Registry(
    "mechanism",
    [
        ("block", block),
        ("chain", chain),
        ("fourbar", fourbar),
        ("pendulum", pendulum),
        ("quadruped", quadruped),
        ("slider", slider),
        ("snake", snake),
        ("sphere", sphere),
        ("top", top),
    ],
)


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
