"""Meshes that scenes hold (dae, glb, 3mf): read where their nodes have them, within bounds, and refused in words."""

from __future__ import annotations

import importlib.util
import io
import json
import struct
import zipfile

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.formats import scenes
from cbsim.formats.triangles import KINDS, parse_triangles

TURN = np.array([[0.0, -1, 0, 0], [1, 0, 0, 5], [0, 0, 1, 0], [0, 0, 0, 1]])


def two_boxes():
    """One box, placed by two nodes: 5 m along x, and turned 5 m along y."""
    scene, box = trimesh.Scene(), trimesh.creation.box((1, 2, 3))
    moved = np.eye(4)
    moved[0, 3] = 5.0
    scene.add_geometry(box, node_name="a", geom_name="box", transform=moved)
    scene.add_geometry(box, node_name="b", geom_name="box", transform=TURN)
    return scene


def bytes_of(kind):
    if kind == "dae":
        made = trimesh.exchange.dae.export_collada(trimesh.creation.box((1, 2, 3)))
        return made if isinstance(made, bytes) else made.encode()
    return two_boxes().export(file_type=kind)


def gltf(tree, binary=b""):
    """A binary glTF."""
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def archive(name, data):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["glb", "3mf"])
def test_every_node_places_its_mesh(kind):
    problem, data = parse_triangles(bytes_of(kind), kind)
    assert problem == ""
    vertices, faces = data
    assert len(faces) == 24
    np.testing.assert_allclose([vertices.min(axis=0), vertices.max(axis=0)], [(-1, -1, -1.5), (5.5, 5.5, 1.5)])
    both = trimesh.Trimesh(vertices, faces, process=False)
    assert both.volume == pytest.approx(12.0)


def test_a_mirrored_node_turns_its_faces_round():
    scene = trimesh.Scene()
    scene.add_geometry(trimesh.creation.box((1, 1, 1)), transform=np.diag([-1.0, 1.0, 1.0, 1.0]))
    _, (vertices, faces) = parse_triangles(scene.export(file_type="glb"), "glb")
    assert trimesh.Trimesh(vertices, faces, process=False).volume == pytest.approx(1.0)


def test_collada_is_read_where_its_package_is_there():
    pytest.importorskip("collada")
    problem, (vertices, faces) = parse_triangles(bytes_of("dae"), "dae")
    assert problem == ""
    assert len(faces) == 12
    np.testing.assert_allclose(np.ptp(vertices, axis=0), (1, 2, 3))


@pytest.mark.parametrize(("kind", "package"), [("dae", "pycollada"), ("3mf", "networkx")])
def test_a_package_that_is_missing_is_named(kind, package, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        scenes.importlib.util, "find_spec", lambda name: None if name in ("collada", "networkx") else find(name)
    )
    problem, data = parse_triangles(b"<COLLADA/>", kind)
    assert data is None
    assert problem == f"needs the package {package} to be read: pip install {package}"


ENTITIES = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("3mf", archive("3D/3dmodel.model", ENTITIES), "document type or entities"),
        ("3mf", archive("3D/3dmodel.model", "<a/>".encode("utf-16")), "expected UTF-8"),
        ("3mf", archive("3D/3dmodel.model", bytes(300 * 2**20)), "unfolds to more than"),
        ("glb", gltf({"accessors": [{"count": 10**12, "type": "VEC3", "componentType": 5126}]}), "more than the file"),
        ("glb", gltf({"buffers": [{"uri": "file:///etc/passwd", "byteLength": 4}]}), "in another file"),
        ("glb", gltf({"extensionsRequired": ["KHR_draco_mesh_compression"]}), "KHR_draco"),
        ("glb", b"glTF", "no binary glTF"),
    ],
)
def test_what_asks_for_too_much_is_refused_in_words(kind, data, words):
    problem, found = parse_triangles(data, kind)
    assert found is None
    assert words in problem


def test_collada_with_entities_is_refused(monkeypatch):
    monkeypatch.setattr(scenes.importlib.util, "find_spec", lambda _: True)
    assert "entities" in parse_triangles(ENTITIES, "dae")[0]


def test_a_scene_that_repeats_its_mesh_beyond_a_bound_is_refused(monkeypatch):
    monkeypatch.setattr(scenes, "TRIANGLES", 20)
    assert "more than 20 triangles" in parse_triangles(bytes_of("glb"), "glb")[0]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["glb", "3mf"]), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=12))
def test_damaged_bytes_give_a_mesh_or_a_reason(kind, changes):
    data = bytearray(SOUND[kind])
    for where, value in changes:
        data[int(where * (len(data) - 1))] = value
    problem, found = parse_triangles(bytes(data), kind)
    assert (found is None) == bool(problem)


SOUND = {kind: bytes_of(kind) for kind in ("glb", "3mf")}


@given(st.sampled_from(KINDS), st.binary(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_bytes_give_a_mesh_or_a_reason(kind, data):
    problem, found = parse_triangles(data, kind)
    assert (found is None) == bool(problem)
