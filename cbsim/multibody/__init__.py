"""Public interface of the rigid-body core, after Dojo's API in Python spelling.

>>> from cbsim.multibody import Box, Mechanism, Origin, Revolute, simulate
>>> origin, rod = Origin(), Box(0.1, 0.1, 1.0, mass=1.0).body(name="rod")
>>> pendulum = Mechanism(origin, [rod], [Revolute(origin, rod, (1, 0, 0), child_vertex=(0, 0, 0.5))])
>>> simulate(pendulum, 100).x.shape
(100, 1, 3)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cbsim.dynamics.options import SolverOptions
from cbsim.errors import ModelError, StabilityWarning, StepError
from cbsim.multibody.batch import maximal_gradients_batch, minimal_gradients_batch, step_batch
from cbsim.multibody.contact_report import ContactPoint
from cbsim.multibody.coordinates import (
    add_external_force,
    close_loops,
    get_maximal_state,
    get_minimal_state,
    maximal_to_minimal,
    minimal_to_maximal,
    set_external_force,
    set_input,
    set_maximal_state,
    set_minimal_coordinates,
    set_minimal_state,
    set_minimal_velocities,
    zero_coordinates,
    zero_velocities,
)
from cbsim.multibody.data import get_data, set_data
from cbsim.multibody.diagnostics import DamperDiagnosis, Diagnostics, SpringDiagnosis, diagnostics
from cbsim.multibody.distance import get_sdf
from cbsim.multibody.edit import add_limits, set_dampers, set_floating_base, set_limits, set_springs
from cbsim.multibody.gradients import (
    get_maximal_gradients,
    get_minimal_gradients,
    maximal_to_minimal_jacobian,
    minimal_to_maximal_jacobian,
    rollout_gradients,
)
from cbsim.multibody.lookup import (
    get_body,
    get_contact,
    get_joint,
    get_node,
    input_dimensions,
    maximal_dimension,
    minimal_dimension,
    root_to_leaves_ordering,
)
from cbsim.multibody.mechanics import kinetic_energy, mechanical_energy, momentum, potential_energy
from cbsim.multibody.mechanism import Mechanism
from cbsim.multibody.parameter_gradients import get_parameter_gradients, rollout_parameter_gradients
from cbsim.multibody.parameters import Parameter, parameters_of, with_parameters
from cbsim.multibody.rollout_batch import RolloutBatch, rollout_batch
from cbsim.multibody.stepping import (
    contact_points,
    get_next_state,
    mehrotra,
    rollout,
    simulate,
    step,
    step_minimal_coordinates,
)
from cbsim.multibody.storage import Storage, generate_storage
from cbsim.spec.mechanism.bodies import Body, Node, Origin
from cbsim.spec.mechanism.colliders import Collider, ConvexHull, HalfSpace, HeightField, ground
from cbsim.spec.mechanism.collisions import (
    Collision,
    SphereBoxCollision,
    SphereCapsuleCollision,
    SphereHalfSpaceCollision,
    SphereSphereCollision,
    StringCollision,
)
from cbsim.spec.mechanism.contacts import (
    Contact,
    ContactConstraint,
    ForceContact,
    ImpactContact,
    LinearContact,
    NonlinearContact,
    contact_constraint,
    contact_location,
    contact_normal,
    contact_tangent,
)
from cbsim.spec.mechanism.drives import Drive, DryFriction, Motor
from cbsim.spec.mechanism.joints import Joint, JointConstraint, Rotational, Translational
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.prototypes import (
    Cylindrical,
    CylindricalFree,
    Fixed,
    FixedOrientation,
    Floating,
    FreeOrbital,
    FreeRevolute,
    Orbital,
    Planar,
    PlanarAxis,
    PlanarFree,
    PlanarOrbital,
    Prismatic,
    PrismaticOrbital,
    Prototype,
    Revolute,
    Spherical,
    nullspace_dimension,
)
from cbsim.spec.mechanism.shapes import (
    Box,
    Capsule,
    CombinedShapes,
    Cylinder,
    EmptyShape,
    FrameShape,
    Pyramid,
    Shape,
    Sphere,
)
from cbsim.spec.mechanism.state import State

if TYPE_CHECKING:
    from cbsim.multibody.files import load, save
    from cbsim.multibody.system_matrix import full_matrix
    from cbsim.multibody.urdf import read_urdf, reduce_fixed_joints, write_urdf
    from cbsim.view3d import (
        Visualizer,
        build_robot,
        export_html,
        set_arrow,
        set_background,
        set_camera,
        set_floor,
        set_lamp,
        set_light,
        set_surface,
        visualize,
    )

__all__ = [
    "Body",
    "Box",
    "Capsule",
    "Collider",
    "Collision",
    "CombinedShapes",
    "Contact",
    "ContactConstraint",
    "ContactPoint",
    "ConvexHull",
    "Cylinder",
    "Cylindrical",
    "CylindricalFree",
    "DamperDiagnosis",
    "Diagnostics",
    "Drive",
    "DryFriction",
    "EmptyShape",
    "Fixed",
    "FixedOrientation",
    "Floating",
    "ForceContact",
    "FrameShape",
    "FreeOrbital",
    "FreeRevolute",
    "HalfSpace",
    "HeightField",
    "ImpactContact",
    "Joint",
    "JointConstraint",
    "LinearContact",
    "Mechanism",
    "Mesh",
    "ModelError",
    "Motor",
    "Node",
    "NonlinearContact",
    "Orbital",
    "Origin",
    "Parameter",
    "Planar",
    "PlanarAxis",
    "PlanarFree",
    "PlanarOrbital",
    "Prismatic",
    "PrismaticOrbital",
    "Prototype",
    "Pyramid",
    "Revolute",
    "RolloutBatch",
    "Rotational",
    "Shape",
    "SolverOptions",
    "Sphere",
    "SphereBoxCollision",
    "SphereCapsuleCollision",
    "SphereHalfSpaceCollision",
    "SphereSphereCollision",
    "Spherical",
    "SpringDiagnosis",
    "StabilityWarning",
    "State",
    "StepError",
    "Storage",
    "StringCollision",
    "Translational",
    "Visualizer",
    "add_external_force",
    "add_limits",
    "build_robot",
    "close_loops",
    "contact_constraint",
    "contact_location",
    "contact_normal",
    "contact_points",
    "contact_tangent",
    "diagnostics",
    "export_html",
    "full_matrix",
    "generate_storage",
    "get_body",
    "get_contact",
    "get_data",
    "get_joint",
    "get_maximal_gradients",
    "get_maximal_state",
    "get_minimal_gradients",
    "get_minimal_state",
    "get_next_state",
    "get_node",
    "get_parameter_gradients",
    "get_sdf",
    "ground",
    "input_dimensions",
    "kinetic_energy",
    "load",
    "maximal_dimension",
    "maximal_gradients_batch",
    "maximal_to_minimal",
    "maximal_to_minimal_jacobian",
    "mechanical_energy",
    "mehrotra",
    "minimal_dimension",
    "minimal_gradients_batch",
    "minimal_to_maximal",
    "minimal_to_maximal_jacobian",
    "momentum",
    "nullspace_dimension",
    "parameters_of",
    "potential_energy",
    "read_urdf",
    "reduce_fixed_joints",
    "rollout",
    "rollout_batch",
    "rollout_gradients",
    "rollout_parameter_gradients",
    "root_to_leaves_ordering",
    "save",
    "set_arrow",
    "set_background",
    "set_camera",
    "set_dampers",
    "set_data",
    "set_external_force",
    "set_floating_base",
    "set_floor",
    "set_input",
    "set_lamp",
    "set_light",
    "set_limits",
    "set_maximal_state",
    "set_minimal_coordinates",
    "set_minimal_state",
    "set_minimal_velocities",
    "set_springs",
    "set_surface",
    "simulate",
    "step",
    "step_batch",
    "step_minimal_coordinates",
    "visualize",
    "with_parameters",
    "write_urdf",
    "zero_coordinates",
    "zero_velocities",
]

_LATE = {
    "cbsim.multibody.files": ("load", "save"),
    "cbsim.multibody.system_matrix": ("full_matrix",),
    "cbsim.multibody.urdf": ("read_urdf", "reduce_fixed_joints", "write_urdf"),
    "cbsim.view3d": (
        "Visualizer",
        "build_robot",
        "export_html",
        "set_arrow",
        "set_background",
        "set_camera",
        "set_floor",
        "set_lamp",
        "set_light",
        "set_surface",
        "visualize",
    ),
}
"""What most programs do not use, and a start need not wait for: module → names."""


def __getattr__(name: str) -> Any:
    for module, names in _LATE.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'cbsim.multibody' has no attribute '{name}'")
