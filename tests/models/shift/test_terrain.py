"""Terrain of Shift models: pictures of heights, and bodies that land on them."""

from __future__ import annotations

import json
import struct
import zlib
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.formats.shift.elevation import read_tiff
from tests.models.shift.models import Run, file_of


def packed(raw):
    """Pack bytes literally, in runs of at most 128, and equal ones as such."""
    out = bytearray()
    for at in range(0, len(raw), 128):
        part = raw[at : at + 128]
        same = len(part) > 1 and len(set(part)) == 1
        out += bytes([257 - len(part), part[0]]) if same else bytes([len(part) - 1]) + part
    return bytes(out)


def tiff(heights, kind="f4", order="<", compression=1, strips=1, predictor=1):
    """Write a TIFF file of heights."""
    values = np.asarray(heights, np.dtype(kind).newbyteorder(order))
    rows, columns = values.shape
    if predictor == 2:
        values = np.diff(values, axis=1, prepend=values.dtype.type(0)).astype(values.dtype)
    pack = {1: bytes, 8: zlib.compress, 32773: packed}[compression]
    parts = [pack(part.tobytes()) for part in np.array_split(values, strips)]
    head = 8
    offsets = [head + sum(map(len, parts[:k])) for k in range(strips)]
    ends = head + sum(map(len, parts))
    lists = b"".join(struct.pack(f"{order}{strips}I", *numbers) for numbers in (offsets, [len(p) for p in parts]))
    sample = {"f": 3, "u": 1, "i": 2}[kind[0]]
    single = [
        (256, columns),
        (257, rows),
        (258, 8 * values.itemsize),
        (259, compression),
        (317, predictor),
        (339, sample),
    ]
    entries = [struct.pack(order + "HHII", tag, 4, 1, value) for tag, value in single]
    for place, (tag, numbers) in enumerate(((273, offsets), (279, [len(p) for p in parts]))):
        value = numbers[0] if strips == 1 else ends + 4 * strips * place
        entries.append(struct.pack(order + "HHII", tag, 4, strips, value))
    mark = b"II" if order == "<" else b"MM"
    directory = struct.pack(order + "H", len(entries)) + b"".join(sorted(entries)) + struct.pack(order + "I", 0)
    return mark + struct.pack(order + "HI", 42, ends + len(lists)) + b"".join(parts) + lists + directory


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", ["u1", "u2", "i2", "u4", "f4", "f8"])
@pytest.mark.parametrize(("compression", "strips", "predictor"), [(1, 1, 1), (8, 3, 1), (32773, 2, 1), (8, 1, 2)])
def test_pictures_of_every_kind_are_read(order, kind, compression, strips, predictor):
    heights = (np.arange(35).reshape(7, 5) ** 2) % 97
    if predictor == 2 and kind[0] == "f":
        kind = "u2"
    assert (read_tiff(tiff(heights, kind, order, compression, strips, predictor)) == heights).all()


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_bytes_are_heights_or_a_reason(data):
    whole = bytearray(tiff(np.arange(12.0).reshape(3, 4), compression=8))
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=6)):
        whole[place] = data.draw(st.integers(0, 255))
    cut = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    for text in (cut, bytes(whole), data.draw(st.binary(max_size=60))):
        with suppress(ValueError):
            assert read_tiff(text).ndim == 2


@pytest.mark.parametrize("kind", [2, 5, 11, 12])
def test_places_that_are_no_whole_numbers_are_damage(kind):
    whole = bytearray(tiff(np.arange(12.0).reshape(3, 4), compression=8))
    (start,) = struct.unpack_from("<I", whole, 4)
    (count,) = struct.unpack_from("<H", whole, start)
    entries = (start + 2 + 12 * k for k in range(count))
    (place,) = (at for at in entries if struct.unpack_from("<H", whole, at)[0] == 273)
    struct.pack_into("<H", whole, place + 2, kind)
    with pytest.raises(ValueError, match="damaged"):
        read_tiff(bytes(whole))


def hills(tmp_path, heights, **terrain):
    corners = "".join(f"v {x} {y} {z}\n" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))
    (tmp_path / "cube.obj").write_text(corners + "f 1 2 4\nf 5 7 8\nf 1 5 6\nf 3 4 8\nf 1 3 7\nf 2 6 8\n")
    (tmp_path / "hills.tiff").write_bytes(tiff(heights))
    ball = {"name": "ball", "mass": 1.0, "definition": ["cube.obj"], "collision_geometry": "sphere",
            "moment_of_inertia": {"Ixx": 0.4, "Iyy": 0.4, "Izz": 0.4}}  # fmt: skip
    joint = {"name": "free", "type": "float", "body_frame_pairs": [["fixed", "origin"], ["ball", "origin"]],
             "initial_displacement": {"T": [0, 0, -4]}}  # fmt: skip
    whole = {
        "model_parameters": {"gravity": [0, 0, 9.81]},
        "terrain": [{"name": "hills", "parent": ["fixed", "origin"], "elevation_map": "hills.tiff",
                     "scale": [2.0, 2.0], "coordinate_type": "sae"} | terrain],
        "assemblies": [{"name": "a", "bodies": [ball], "joints": [joint]}],
    }  # fmt: skip
    path = tmp_path / "hills.json"
    path.write_text(json.dumps(whole))
    return path


def test_a_ball_comes_to_rest_in_a_valley(tmp_path):
    x = np.arange(-5, 6)
    path = hills(tmp_path, 0.05 * (x[:, None] ** 2 + x[None] ** 2) + 1.0)
    run = Run(file_of(path), 0.01, path)
    states = run.until(3.0)
    assert states[:, 0, 2].min() > 1.99  # its radius over the lowest point
    assert np.abs(states[-1, 0, :2]).max() < 0.1


def test_terrain_without_its_picture_is_told_of(tmp_path):
    path = hills(tmp_path, np.zeros((3, 3)), elevation_map="valley.tiff")
    run = Run(file_of(path), 0.01, path)
    assert {problem.code for problem in run.problems} == {"W998"}
