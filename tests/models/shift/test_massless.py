"""Bodies without mass: chains of joints become one, the rest weigh too little to be seen."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cbsim.dynamics.energy import mechanical_energy
from cbsim.models.shift import assembly, build
from cbsim.models.shift.kinematics import Chain
from tests.models.shift.models import Run, model_of

BODY = {"name": "b", "mass": 2.0, "center_of_mass": [0.1, 0.2, 0.5],
        "moment_of_inertia": {"Ixx": 0.3, "Iyy": 0.4, "Izz": 0.2}}  # fmt: skip


def chain(types, displacements, rates, **last):
    """Tie the body to the ground by joints in a row, with bodies without mass between them."""
    names = ["fixed", *(f"m{k}" for k in range(len(types) - 1)), "b"]
    joints = [
        {"name": f"j{k}", "type": kind, "body_frame_pairs": [[names[k], "origin"], [names[k + 1], "origin"]],
         "initial_displacement": displacements[k], "initial_velocity": rates[k]}
        for k, kind in enumerate(types)
    ]  # fmt: skip
    joints[-1] |= last
    whole = {
        "model_parameters": {"gravity": [0, 0, 9.81]},
        "assemblies": [{"name": "a", "bodies": [{"name": n} for n in names[1:-1]] + [BODY], "joints": joints}],
    }
    spec, problems = model_of(json.dumps(whole))
    assert not problems.errors, list(problems)
    return spec


ANGLES, RATES = (0.3, -0.4, 0.5), (1.0, -2.0, 0.7)


def end(spec, time=0.5, step=0.002):
    run = Run(spec, step)
    states = run.until(time)
    row = [body.name for body in run.description.spec.bodies].index("b")
    return run, states[:, row]


@pytest.mark.parametrize(
    ("types", "count", "kind"),
    [
        (("Rx", "Ry", "Rz"), 1, "Spherical"),
        (("Tx", "Ty", "Tz"), 1, "FixedOrientation"),
        (("Tx", "Ty", "Tz", "Rx", "Ry", "Rz"), 1, "Floating"),
        (("Rx", "Ry"), 2, "Revolute"),
        (("Tz", "Rx", "Rz", "Ry"), 4, "Prismatic"),
    ],
)
def test_chains_that_the_core_has_a_joint_for_become_one(types, count, kind):
    many = len(types)
    run, _ = end(chain(types, (ANGLES * 2)[:many], (RATES * 2)[:many]), 0.01)
    assert len(run.description.spec.joints) == count
    assert run.description.spec.joints[0].prototype == kind


def test_one_joint_for_three_moves_as_the_three(monkeypatch):
    spec = chain(("Rx", "Ry", "Rz"), ANGLES, RATES)
    run, joined = end(spec)
    assert len(run.description.spec.bodies) == 1
    ways = {}
    for light in (1e-9, 1e-7):
        monkeypatch.setattr(build, "LIGHT", light)
        # a damper that does nothing to speak of keeps the three apart
        run, ways[light] = end(chain(("Rx", "Ry", "Rz"), ANGLES, RATES, damping=[0.0, 1e-12]))
        assert len(run.description.spec.bodies) == 3
    assert np.abs(ways[1e-9] - joined)[:, :3].max() < 1e-6
    assert np.abs(ways[1e-7] - ways[1e-9])[:, :3].max() < 1e-5


def test_a_body_on_a_cross_without_mass_keeps_its_energy():
    spec = chain(("Rx", "Ry"), (0.4, 0.3), (1.0, 0.5))
    run, _ = end(spec, 0.002)
    states = Run(spec, 0.002).until(2.0)
    energies = [mechanical_energy(run.instance.spec, state) for state in states[::50]]
    assert np.ptp(energies) < 2e-4 * max(map(abs, energies))


def test_joints_walked_from_child_to_parent_keep_their_sign():
    def swing(ends):
        whole = {
            "model_parameters": {"gravity": [0, 0, 9.81]},
            "assemblies": [{"name": "a", "bodies": [BODY], "joints": [
                {"name": "q", "type": "Rx", "body_frame_pairs": ends, "initial_displacement": 0.4,
                 "initial_velocity": 0.3, "stiffness": [1.0, 2.0], "damping": [0.0, 0.5]}]}],
        }  # fmt: skip
        run = Run(model_of(json.dumps(whole))[0], 0.01)
        return run.coordinates(run.until(1.0))["q"], run.state[0]

    ground, body = ["fixed", "origin"], ["b", "origin"]
    forth, one = swing([ground, body])
    assert forth[0] == pytest.approx(0.4)
    assert forth[1] - forth[0] == pytest.approx(0.003, abs=2e-3)
    back, other = swing([body, ground])
    assert back[0] == pytest.approx(0.4)  # the same angle, so the body stands the other way round
    assert one[1] == pytest.approx(other[1], abs=2.0)
    assert np.sign(back[1] - back[0]) == np.sign(forth[1] - forth[0])


def test_many_bodies_are_looked_at_in_groups():
    bodies = [{"name": f"b{k}", "mass": 1.0} for k in range(200)] + [{"name": "nothing"}]
    joints = [{"name": b["name"], "type": "float", "body_frame_pairs": [["fixed", "origin"], [b["name"], "origin"]]}
              for b in bodies]  # fmt: skip
    _, problems = model_of(json.dumps({"assemblies": [{"name": "a", "bodies": bodies, "joints": joints}]}))
    (error,) = problems.errors
    assert error.code == "E990"
    assert "'a:nothing'" in error.message


def chain_of(count, bare=()):
    """Bodies that hang on one another by hinges; of some, nothing has a mass."""
    plate = {"Ixx": 1, "Iyy": 1, "Izz": 1}
    bodies = [
        {"name": f"b{k}"} if k in bare else {"name": f"b{k}", "mass": 1.0, "moment_of_inertia": plate}
        for k in range(count)
    ]
    joints = [{"name": f"j{k}", "type": "Rx",
               "body_frame_pairs": [[f"b{k - 1}" if k else "fixed", "origin"], [f"b{k}", "origin"]]}
              for k in range(count)]  # fmt: skip
    return json.dumps({"assemblies": [{"name": "a", "bodies": bodies, "joints": joints}]})


@pytest.mark.parametrize("count", [20, 60])
def test_the_end_of_a_chain_of_any_length_needs_a_mass(count):
    _, problems = model_of(chain_of(count))
    assert not problems.errors
    _, problems = model_of(chain_of(count, bare=(count - 1,)))
    (error,) = problems.errors
    assert error.code == "E990"
    assert f"'a:j{count - 1}'" in error.message


def test_a_motion_without_inertia_is_found_by_a_factor_as_by_axes(monkeypatch):
    random = np.random.default_rng(0)
    half = random.normal(size=(12, 11))
    way = np.linalg.svd(half.T)[2][-1]
    for most in (100, 2):
        monkeypatch.setattr(assembly, "MANY", most)
        found = assembly._without_inertia(half @ half.T)
        assert abs(found @ way) == pytest.approx(np.linalg.norm(found), rel=1e-6)
        assert assembly._without_inertia(half @ half.T + 1e-6 * np.eye(12)) is None


def test_checks_of_many_bodies_take_linear_work_and_long_chains_are_refused(monkeypatch):
    """Five hundred bodies on the ground took 40 s, of which all but one were for motions of others."""
    found, axes = [], []
    screws, eigh = Chain.screws, assembly.eigh
    monkeypatch.setattr(Chain, "screws", lambda *given: found.append(1) or screws(*given))
    monkeypatch.setattr(assembly, "eigh", lambda a: axes.append(len(a)) or eigh(a))
    bodies = [{"name": f"b{k}", "mass": 1.0} for k in range(100)]
    joints = [{"name": b["name"], "type": "Tx", "body_frame_pairs": [["fixed", "origin"], [b["name"], "origin"]]}
              for b in bodies]  # fmt: skip
    _, problems = model_of(json.dumps({"assemblies": [{"name": "a", "bodies": bodies, "joints": joints}]}))
    assert not problems.errors
    assert len(found) < 10
    assert axes == [1] * 100
    monkeypatch.setattr(assembly, "MOST_COUPLED", 49)
    _, problems = model_of(chain_of(50))
    assert [problem.code for problem in problems.errors] == ["E998"]


def test_more_than_can_be_put_together_is_refused():
    bodies = [{"name": f"b{k}", "mass": 1.0} for k in range(2000)]
    joints = [{"name": b["name"], "type": "float", "body_frame_pairs": [["fixed", "origin"], [b["name"], "origin"]]}
              for b in bodies]  # fmt: skip
    _, problems = model_of(json.dumps({"assemblies": [{"name": "a", "bodies": bodies, "joints": joints}]}))
    assert [problem.code for problem in problems.errors] == ["E998"]
