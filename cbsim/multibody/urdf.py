"""Robots from URDF files as mechanisms, and mechanisms as URDF files; bodies that fixed joints tie as one."""

from __future__ import annotations

from pathlib import Path

from cbsim.dynamics.start_state import start_state
from cbsim.errors import FileError, Location, ModelError, Problem, Problems, Severity
from cbsim.export.urdf import robot_of
from cbsim.formats import read_file
from cbsim.formats import write as write_file
from cbsim.models.urdf.build import FRICTION, GRAVITY, description_of
from cbsim.models.urdf.meshes import read_meshes
from cbsim.multibody.coordinates import set_maximal_state
from cbsim.multibody.mechanism import Mechanism
from cbsim.paths import Files
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.reduce import reduce_fixed
from cbsim.spec.urdf import Robot

__all__ = ["read_urdf", "reduce_fixed_joints", "write_urdf"]


def read_urdf(  # noqa: PLR0913 (every option of a robot)
    path: str | Path,
    *,
    floating: bool | None = None,
    merge_fixed: bool = False,
    contacts: bool | None = False,
    friction: float = FRICTION,
    joint_friction: bool = False,
    self_contacts: bool = False,
    timestep: float = 0.01,
    gravity: float = GRAVITY,
    problems: Problems | None = None,
) -> Mechanism:
    """Read a robot from a URDF file.

    Parameters
    ----------
    path : str or Path
        The file.
    floating : bool, optional
        Whether the root moves freely in the world. By default it does, unless it stands for the world: it is called
        ``world``, has no mass, or a joint by which things move about (floating, planar and the like) depends on it.
        False welds it to the world, as the base of a robot arm is.
    merge_fixed : bool
        Make one body of links that fixed joints tie; else only links without mass are part of another.
    contacts : bool or None
        Let collision geometry touch the ground z = 0, and start standing on it; None: where something is free to come
        down to it.
    friction : float
        Coefficient of those contacts.
    joint_friction : bool
        Give joints the dry friction of their ``dynamics``.
    self_contacts : bool
        Let links touch one another, too, but those that a joint ties or that stand in one another at first.
    timestep : float
        [s].
    gravity : float
        Along z [m/s²].
    problems : Problems, optional
        Collects warnings.

    Returns
    -------
    Mechanism
        Its root's frame in the world's origin (if it does not stand on the ground), its coordinates as near to zero as
        their bounds and loops let them.

    Raises
    ------
    FileError
        With every error of the file.
    ModelError
        If the root shall float, but has no mass.
    """
    files = Files([path])
    reading = read_file(path, files, format="urdf")
    try:
        reading.problems.raise_if_any()
        robot = reading.spec
        assert isinstance(robot, Robot)
        meshes = read_meshes(robot, reading.source.folder, files, reading.problems)
    finally:
        if problems is not None:
            problems.extend(reading.problems)
    description = description_of(
        robot, floating=floating, merge_fixed=merge_fixed, contacts=contacts, friction=friction,
        joint_friction=joint_friction, self_contacts=self_contacts, meshes=meshes,
        timestep=timestep, gravity=gravity,
    )  # fmt: skip
    mechanism = Mechanism.of(description.spec)
    set_maximal_state(mechanism, start_state(description, mechanism.compiled))
    return mechanism


def write_urdf(
    mechanism: Mechanism | MechanismSpec, path: str | Path, *, name: str | None = None, strict: bool = False
) -> Problems:
    """Write a mechanism as a URDF file, in the pose in which all coordinates are zero.

    Parameters
    ----------
    mechanism : Mechanism or MechanismSpec
    path : str or Path
        The file; overwritten.
    name : str, optional
        Of the robot; by default that of the file.
    strict : bool
        Refuse what the file cannot hold.

    Returns
    -------
    Problems
        What URDF cannot hold, such as springs (W930).

    Raises
    ------
    FileError
        If there is any, and `strict` is set.
    """
    spec = mechanism.spec if isinstance(mechanism, Mechanism) else mechanism
    if not isinstance(spec, MechanismSpec):
        raise ModelError(f"{mechanism!r} is no Mechanism", subject="write_urdf")
    problems = Problems()
    robot = robot_of(spec, problems, name=Path(path).stem if name is None else name)
    if strict and problems.warnings:
        found = (Problem(Severity.ERROR, p.code, p.message, Location(str(path))) for p in problems.warnings)
        raise FileError(Problems(found))
    write_file(robot, path)
    return problems


def reduce_fixed_joints(mechanism: Mechanism) -> Mechanism:
    """Make a mechanism in which bodies that fixed joints tie are one, in the same state.

    Masses add up, and joints, contacts and shapes are tied to the merged bodies; each has the name and the axes of the
    one nearest to the origin. A body that a fixed joint ties to the origin keeps it.

    Raises
    ------
    ModelError
        If fixed joints close a loop that is open, or a contact cannot be carried along.
    """
    reduction = reduce_fixed(mechanism.spec)
    made = Mechanism.of(reduction.spec)
    set_maximal_state(made, reduction.state(mechanism.pose))
    return made
