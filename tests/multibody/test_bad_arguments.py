"""Nonsense in any argument of any public function is a `ModelError` that says what is wrong, and nothing else."""

import numpy as np
import pytest

import cbsim.multibody as mb
from cbsim.errors import ModelError
from cbsim.multibody.gallery import pendulum
from tests.multibody.common import X, Z

NONSENSE = (
    None, "x", b"q", np.nan, np.inf, -1, 0, True, 1j, 10**400, object(), [], {}, (1, 2), [1, 2, 3], [[1, 2], [3]],
    [None, None, None], [np.nan, np.nan, np.nan], np.zeros((0, 3)), np.zeros((2, 0)),
)  # fmt: skip
HUGE = 9
POINT = mb.SphereHalfSpaceCollision(Z)
TETRAHEDRON = {
    "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "faces": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
}
OPTIONS = {"rtol": 1e-6, "btol": 1e-4, "ls_scale": 0.5, "max_iter": 50, "max_ls": 10, "undercut": 1.0,
           "no_progress_max": 3, "no_progress_undercut": 10.0, "kappa": None, "order": 2}  # fmt: skip
HALF = {"free": 1, "axis": X, "spring": 0.0, "damper": 0.0, "spring_offset": None, "joint_limits": None,
        "spring_type": "linear"}  # fmt: skip


def _body(name="a"):
    return mb.Box(1.0, 1.0, 1.0, mass=1.0).body(name=name)


PARTS = {
    "Body": {"mass": 1.0, "inertia": np.eye(3), "shape": None},
    "Box": {"x": 1.0, "y": 1.0, "z": 1.0, "position_offset": None, "orientation_offset": None, "scale": 1.0,
            "color": (1, 1, 1, 1)},
    "CombinedShapes": {"shape": [mb.Sphere(1.0, mass=1.0)], "xyz": 0.0},
    "Mesh": {**TETRAHEDRON, "inertia_matrix": None},
    "ConvexHull": {"points": TETRAHEDRON["vertices"]},
    "HalfSpace": {"normal": Z},
    "HeightField": {"heights": np.zeros((3, 3)), "spacing": 1.0},
    "Collider": {"owner": _body(), "shape": mb.Sphere(1.0), "friction_coefficient": 0.5, "restitution": 0.0, "group": 1,
                 "meets": -1, "friction_force": None, "softness": (1, 0), "ignores": ()},
    "Drive": {"max_force": 1.0, "coordinate": 0, "cfm": 0.1, "target": 0.0},
    "SphereHalfSpaceCollision": {"contact_normal": Z, "contact_origin": 0.0, "contact_radius": 0.0},
    "NonlinearContact": {"collision": POINT, "friction_coefficient": 0.5, "restitution": 0.0, "softness": (1, 0)},
    "ContactConstraint": {"model": mb.ImpactContact(POINT), "parent": _body(), "child": None},
    "contact_constraint": {"body_or_bodies": _body(), "normal_or_normals": Z, "friction_coefficient": 1.0, "name": "",
                           "contact_origin": None, "contact_offset": None, "contact_type": "nonlinear"},
    "contact_location": {"contact": POINT, "x": np.zeros(3), "q": (1, 0, 0, 0)},
    "contact_normal": {"collision": POINT, "xp": np.zeros(3), "qp": (1, 0, 0, 0)},
    "Translational": {**HALF, "vertices": (None, None)},
    "Rotational": {**HALF, "orientation_offset": None},
    "Prototype": {"type": "Revolute", "parent": mb.Origin(), "child": _body(), "axis": X},
    "nullspace_dimension": {"type": "Revolute"},
    "SolverOptions": OPTIONS,
}  # fmt: skip
FUNCTIONS = {
    "get_node": {"name": "a"},
    "minimal_to_maximal": {"x": "x"},
    "maximal_to_minimal": {"z": "z"},
    "set_maximal_state": {"z": "z"},
    "set_minimal_coordinates": {"joint": "pin", "coordinates": [0.0]},
    "set_input": {"u": [0.0], "joint": None},
    "set_external_force": {"body": "body", "force": 0.0, "torque": 0.0, "vertex": 0.0},
    "step": {"z": "z", "u": None, "options": None},
    "contact_points": {"z": "z", "u": None, "options": None},
    "simulate": {"z": "z", "steps": 2, "control": None, "options": None},
    "mehrotra": {"options": None},
    "get_maximal_gradients": {"z": "z", "u": None, "options": None},
    "rollout_gradients": {"z": "z", "n": 2, "inputs": None, "options": None},
    "step_batch": {"z": "zz", "u": None, "steps": 1, "workers": 1, "options": None},
    "rollout_batch": {"z": "zz", "n": 2, "inputs": None, "workers": 1, "options": None},
    "maximal_gradients_batch": {"z": "zz", "u": None, "workers": 1, "options": None},
    "get_parameter_gradients": {"z": "z", "parameters": None, "options": None},
    "with_parameters": {"values": {("a", "mass"): 2.0}},
    "get_data": {"parameters": None},
    "set_data": {"data": [1.0], "parameters": [("a", "mass")]},
    "generate_storage": {"states": "zz"},
    "get_sdf": {"contact": "mechanism"},
    "momentum": {"storage": "storage"},
    "mechanical_energy": {"storage": "storage"},
    "set_springs": {"spring": 0.0},
    "add_limits": {"joint": "pin", "joint_limits": (-1, 1)},
    "set_limits": {"joint_limits": {"pin": (-1, 1)}},
    "set_floating_base": {"name": "a"},
}


def _only_model_errors(function, arguments):
    for name in arguments:
        for nonsense in NONSENSE:
            if name in {"n", "steps"} and nonsense is NONSENSE[HUGE]:
                continue  # a whole number, of which memory would complain
            said = _said(function, {**arguments, name: nonsense})
            assert said is None or len(said) > 10, name


def _said(function, arguments):
    """What a function complains about, None where it does not; anything but a ModelError gets through."""
    try:
        function(**arguments)
    except ModelError as problem:
        return str(problem)
    return None


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_nonsense_is_refused_in_words(name):
    getattr(mb, name)(**PARTS[name])
    _only_model_errors(getattr(mb, name), PARTS[name])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_nonsense_is_refused_in_words(name):
    origin, rod = mb.Origin(), _body()
    mechanism = mb.Mechanism(origin, [rod], [mb.Revolute(origin, rod, X, name="pin", spring=1.0)])
    z = mb.get_maximal_state(mechanism)
    stand = {"z": z, "zz": [z, z], "x": np.zeros(2), "body": rod, "mechanism": mechanism,
             "storage": mb.simulate(mechanism, 2)}  # fmt: skip
    arguments = {k: stand.get(v, v) if isinstance(v, str) else v for k, v in FUNCTIONS[name].items()}
    has_mechanism = name not in {"set_external_force", "get_sdf"}

    def function(**given):
        mb.set_maximal_state(mechanism, z)
        getattr(mb, name)(*[mechanism] * has_mechanism, **given)

    _only_model_errors(function, arguments)


@pytest.mark.parametrize(("field", "count"), [("x2", 3), ("v15", 3), ("q2", 4), ("w15", 3), ("Fext", 3), ("tauext", 3)])
def test_a_state_is_assigned_numbers_only(field, count):
    origin, rod = mb.Origin(), _body()
    mb.Mechanism(origin, [rod], [mb.Floating(origin, rod)])
    before = getattr(rod.state, field).copy()
    for nonsense in ("x", (1, 2), [[1, 2], [3]], np.full(count, np.nan), [None] * count, np.zeros((0, 3))):
        with pytest.raises(ModelError, match=f"state: {field} "):
            setattr(rod.state, field, nonsense)
    assert (getattr(rod.state, field) == before).all()


def test_what_is_true_enough_is_true():
    """Of another type kernels would be compiled anew, for minutes."""
    mechanism = pendulum()
    kernels = {flag: mb.rollout_gradients(mechanism, mb.get_maximal_state(mechanism), 2, minimal=flag)[1]
               for flag in (True, 1, "yes")}  # fmt: skip
    assert (kernels[1] == kernels[True]).all()
    assert len(mechanism.slopes) == 1
    assert {type(flag) for flag in mechanism.slopes} == {bool}
