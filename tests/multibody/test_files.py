"""Files of mechanisms: the same bits again, and every mistake at its line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cbsim
from cbsim.errors import FileError, ModelError, UsageError
from cbsim.models import count, read_file
from cbsim.multibody import (
    Box,
    Collider,
    CombinedShapes,
    ContactConstraint,
    ConvexHull,
    Drive,
    DryFriction,
    HalfSpace,
    HeightField,
    Mechanism,
    Mesh,
    Motor,
    NonlinearContact,
    Origin,
    Prototype,
    Sphere,
    SphereBoxCollision,
    StringCollision,
    contact_constraint,
    gallery,
    get_maximal_state,
    get_next_state,
    ground,
    load,
    mehrotra,
    rollout,
    save,
    set_external_force,
    set_input,
    set_maximal_state,
    simulate,
    step,
)
from tests.multibody.common import KINDS, Z

FAMILIES = ("pendulum", "block", "fourbar", "quadruped", "tippetop", "humanoid")


def again(mechanism, folder):
    path = folder / "mechanism.json"
    mechanism.save(path)
    made = load(path)
    made.save(folder / "again.json")
    assert (folder / "again.json").read_bytes() == path.read_bytes()
    return made


def same_steps(one, other, n=3):
    np.testing.assert_array_equal(get_maximal_state(one), get_maximal_state(other))
    np.testing.assert_array_equal(get_next_state(one), get_next_state(other))
    z, u = get_maximal_state(one), one.inputs
    np.testing.assert_array_equal(rollout(one, z, n, u), rollout(other, z, n, u))


@pytest.mark.parametrize("name", gallery.GALLERY)
def test_every_mechanism_of_the_gallery_steps_on_as_it_was(name, tmp_path):
    mechanism = gallery.build(name)
    simulate(mechanism, 2)
    mechanism.inputs[:] = 0.1 * np.arange(len(mechanism.inputs))
    same_steps(mechanism, again(mechanism, tmp_path))


@given(st.integers(0, 2**32 - 1))
def test_random_mechanisms_step_on_as_they_were(tmp_path_factory, seed):
    """Chains of any joints, axes and offsets, from grams to tonnes; also what is of no use but can be said."""
    random = np.random.default_rng(seed)
    origin, bodies, joints, scale = Origin(), [], [], 10.0 ** random.uniform(-3, 3)
    ends = [origin]
    for k in range(random.integers(1, 5)):
        mass = scale * random.uniform(0.5, 2.0)
        shape = Box(*random.uniform(0.1, 1.0, 3), mass=mass, orientation_offset=unit(random.normal(size=4)))
        bodies.append(shape.body(name=f"link {k} “ü”"))
        kind = KINDS[random.integers(len(KINDS))]
        slides = Prototype(kind, origin, bodies[-1], Z).translational.free
        axis = None if kind in {"Fixed", "Spherical", "FixedOrientation", "Floating"} else random.normal(size=3)
        vertices = random.uniform(-0.3, 0.3, size=(2, 3))
        options = dict(zip(("parent_vertex", "child_vertex"), vertices, strict=True)) if slides < 3 else {}
        joint = Prototype(
            kind, ends[random.integers(len(ends))], bodies[-1], axis, **options,
            orientation_offset=unit(random.normal(size=4)), spring=random.uniform(0, 1) * mass,
            damper=random.uniform(0, 0.1) * mass, name=f"joint {k}",
        )  # fmt: skip
        joints.append(joint)
        ends.append(bodies[-1])
    mechanism = Mechanism(
        origin, bodies, joints, contact_constraint(bodies[0], random.normal(size=3) + 5.0 * Z, contact_offset=-2 * Z),
        timestep=10.0 ** random.uniform(-3.5, -1.5), gravity=random.normal(size=3),
    )  # fmt: skip
    same_steps(mechanism, again(mechanism, tmp_path_factory.mktemp("random")))


def unit(values):
    return values / np.linalg.norm(values)


def test_all_that_a_part_can_have_is_kept(tmp_path):
    origin = Origin(Box(9, 9, 0.1, color=(0, 1, 0, 1)))
    one, two, three = (Sphere(0.2, mass=1.0).body(name=name) for name in ("one", "two", "three"))
    cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    shapes = (
        CombinedShapes([Box(0.1, 0.2, 0.3, mass=1.0), Sphere(0.1, scale=(1, 2, 1))]),
        ConvexHull(points=cube, scale=0.1),
        Mesh(vertices=cube[[0, 4, 2, 1]], faces=[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
    )
    joints = [
        Prototype("Revolute", origin, one, (1, 2, 3), drives=[Motor(2.0, cfm=0.1)], joint_limits=(-1.0, np.inf)),
        Prototype("Prismatic", one, two, (0, 0, 1), drives=[DryFriction(0.5), Drive(np.inf, cfm=2.0, target=0.1)]),
        Prototype("Floating", origin, three, None, stop_softness=(0.5, 1e-3)),
    ]
    contacts = [
        ContactConstraint(NonlinearContact(SphereBoxCollision(), 0.3, softness=(0.4, 1e-3)), three, two),
        ContactConstraint(NonlinearContact(StringCollision(length=9.0), 0.3, restitution=0.5), three, one, name="rope"),
        *contact_constraint(three, (0, 0.1, 1), contact_type="force", name="foot", contact_offset=(0, 0, -3)),
    ]
    colliders = [
        Collider(origin, HeightField(heights=np.arange(9.0).reshape(3, 3) / 10 - 9, spacing=(1, 2)), name="terrain"),
        *(Collider(three, s, 0.7, 0.1, group=2, meets=5, ignores=["one"], friction_force=3.0) for s in shapes),
    ]
    mechanism = Mechanism(origin, [one, two, three], joints, contacts, input_scaling=1.0, colliders=colliders)
    state = get_maximal_state(mechanism).reshape(3, 13)
    state[2, :3] = 5.0
    set_maximal_state(mechanism, state)
    set_input(mechanism, [np.nan, 0.25, *np.linspace(0.0, 1e-3, 6)])
    set_external_force(mechanism.bodies[2], force=(1, 2, 3), torque=(0, 0, 1e-3))
    assert mehrotra(mechanism) == "success"
    made = again(mechanism, tmp_path)
    np.testing.assert_array_equal(made.inputs, mechanism.inputs)
    np.testing.assert_array_equal(made.external, mechanism.external)
    np.testing.assert_array_equal(get_next_state(made), get_next_state(mechanism))
    assert [node.name for node in made.spec.nodes] == [node.name for node in mechanism.spec.nodes]
    for name in ("pose", "after"):
        np.testing.assert_array_equal(getattr(made, name), getattr(mechanism, name))
    assert mehrotra(made) == "success"
    np.testing.assert_array_equal(get_next_state(made), get_next_state(mechanism))


def test_a_mesh_file_is_copied_into_the_file(tmp_path):
    (tmp_path / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    origin, body = Origin(), Mesh(tmp_path / "part.obj", mass=2.0).body(name="part")
    solid = [ground(origin), Collider(body, body.shape)]
    mechanism = Mechanism(origin, [body], [Prototype("Floating", origin, body, None)], colliders=solid)
    z = get_maximal_state(mechanism)
    z[2] = 0.5
    set_maximal_state(mechanism, z)
    made = again(mechanism, tmp_path)
    (tmp_path / "part.obj").unlink()
    same_steps(mechanism, made, 60)


GOOD = gallery.pendulum


def damaged(tmp_path, change):
    """Lines of complaint about a pendulum's file after a change of its tree."""
    path = tmp_path / "p.json"
    save(GOOD(), path)
    tree = json.loads(path.read_text())
    change(tree)
    lines = ",\n".join(
        f'"{key}": [\n' + ",\n".join(map(json.dumps, value)) + "]"
        if isinstance(value, list) and key != "gravity"
        else f'"{key}": {json.dumps(value)}'
        for key, value in tree.items()
    )  # fmt: skip
    path.write_text("{" + lines + "}")
    with pytest.raises(FileError) as caught:
        load(path)
    return [line.removeprefix(f"{tmp_path}/") for line in str(caught.value).splitlines()]


def test_all_mistakes_are_told_at_once_each_at_its_line(tmp_path):
    def change(tree):
        tree["bodies"][0]["mas"] = tree["bodies"][0].pop("mass")
        tree["joints"][0]["translational"]["free"] = 5
        tree["joints"][0]["parent"] = "orgin"
        tree["colors"] = 1
        tree["colliders"] = [{"name": "c", "owner": "rod", "shape": {"type": "Bix", "x": 1}}]

    said = damaged(tmp_path, change)
    assert [line.split("error: ")[0] for line in said] == [
        "p.json:5: ", "p.json:5: ", "p.json:7: ", "p.json:7: ", "p.json:11: ", "p.json:14: "
    ]  # fmt: skip
    assert "Body 'rod' has no key 'mas' [E942] (did you mean 'mass'?)" in said[0]
    assert "Body 'rod' has no 'mass' [E943]" in said[1]
    assert "is 'orgin', which is no body [E947] (did you mean 'origin'?)" in "".join(said[2:4])
    assert "has 5 free directions, expected 0, 1, 2 or 3 [E944]" in "".join(said[2:4])
    assert "'shape' of Collider 'c' has the type 'Bix' [E946] (did you mean 'Box'?)" in said[4]
    assert "the mechanism has no key 'colors' [E942]" in said[5]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tree: tree.update(cbsim_mechanism=2), "version '2', expected 1 [E940] (a newer cbsim wrote it)"),
        (lambda tree: tree["state"].update(rod=[1, 2]), "'rod' has a list, expected 13 numbers [E941]"),
        (lambda tree: tree["state"].pop("rod"), "there is nothing of 'rod' [E943]"),
        (lambda tree: tree["state"]["rod"].__setitem__(2, "nan"), "'rod' has a number that is not finite [E944]"),
        (
            lambda tree: tree["next_state"]["rod"].__setitem__(6, 2.0),
            "expected 1 [E944] (a state is x(3) v(3)",
        ),
        (lambda tree: tree["bodies"].append(tree["bodies"][0]), "two parts have the name 'rod' [E945]"),
        (lambda tree: tree["bodies"][0].update(mass=-1), "mass is -1 kg, expected more than 0 [E944]"),
        (lambda tree: tree.update(joints=[]), "[E944]"),
        (lambda tree: tree.update(bodies=3), "'bodies' is '3', expected a list [E941]"),
        (lambda tree: tree.update(timestep="fast"), "timestep is 'fast', expected a number [E944]"),
        (
            lambda tree: tree.update(origin={"shap": None}),
            "the origin has no key 'shap' [E942] (did you mean 'shape'?)",
        ),
        (lambda tree: tree.update(inputs={"hinge": [1, 2, 3]}), "'hinge' has a list, expected 1 numbers [E941]"),
    ],
)
def test_a_mistake_is_told_in_words(tmp_path, change, said):
    assert said in "\n".join(damaged(tmp_path, change))


def test_a_mistake_is_told_in_a_line_that_can_be_read_however_long_the_text(tmp_path):
    (line,) = damaged(tmp_path, lambda tree: tree["joints"][0]["rotational"].update(spring_type="linear" * 3000))
    assert len(line) < 1200
    assert "spring_type is 'linearlinear" in line


@pytest.mark.parametrize("size", [1e300, 1.7e308])
def test_a_direction_of_any_length_is_one(size):
    np.testing.assert_allclose(HalfSpace((0.0, -size, size)).normal, [0.0, -(0.5**0.5), 0.5**0.5], rtol=1e-15)


@given(st.integers(0, 10**6), st.integers(0, 255), st.booleans())
def test_any_damage_gives_a_mechanism_or_complaints_with_lines(tmp_path_factory, place, byte, is_cut):
    path = tmp_path_factory.mktemp("damage") / "p.json"
    save(GOOD(), path)
    data = bytearray(path.read_bytes())
    at = place % len(data)
    data = data[:at] if is_cut else data[:at] + bytes([byte]) + data[at + 1 :]
    path.write_bytes(bytes(data))
    try:
        load(path)
        said = ""
    except FileError as error:
        said = str(error)
    assert all(line.startswith(f"{path}:") for line in said.splitlines())


def test_other_files_and_what_is_no_name_are_refused(tmp_path):
    (tmp_path / "robot.urdf").write_text('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(FileError, match="format 'urdf', expected mechanism"):
        load(tmp_path / "robot.urdf")
    with pytest.raises(FileError, match="no such file"):
        load(tmp_path / "absent.json")
    with pytest.raises(ModelError, match="expected the name of a file"):
        load(3)
    with pytest.raises(ModelError, match="is no Mechanism"):
        save("pendulum", tmp_path / "p.json")
    with pytest.raises(UsageError, match="cannot write"):
        GOOD().save(tmp_path / "absent" / "p.json")


def test_a_saved_mechanism_runs_as_a_model_does(tmp_path):
    mechanism = gallery.pendulum(angle=1.0)
    simulate(mechanism, 7)
    path = tmp_path / "pendulum.json"
    mechanism.save(path)
    recording = cbsim.run(cbsim.load(path), duration=0.05)
    states = rollout(mechanism, get_maximal_state(mechanism), 5)
    np.testing.assert_allclose(recording.positions("rod")[:, :3], states[:, :3], atol=1e-9)
    reading = read_file(path)
    assert reading.format.name == "mechanism"
    assert count(reading) == {
        "bodies": 1, "joints": 1, "loops": 0, "degrees_of_freedom": 1, "mass": 1.0
    }  # fmt: skip
    cbsim.write(cbsim.read(path), tmp_path / "copy.json")
    assert (tmp_path / "copy.json").read_bytes() == path.read_bytes()
    np.testing.assert_array_equal(step(load(tmp_path / "copy.json"), states[0]), step(mechanism, states[0]))
