"""Mesh files: text to arrays (D27)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.errors import Problems
from cbsim.formats import mesh
from cbsim.formats.reader import Source
from tests.common import shared
from tests.formats.object_texts import codes

SQUARE = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
TWO = "0 1 2\n0 2 3\n"


def read(vertices, indices):
    """The arrays, and the problems as a list."""
    problems = Problems()
    sources = [
        Source.decode(name, text if isinstance(text, bytes) else text.encode())
        for name, text in (("v.txt", vertices), ("i.txt", indices))
    ]
    return mesh.read_mesh(*sources, problems), list(problems)


def test_d27_vertices_and_indices_become_arrays():
    (vertices, triangles), problems = read(SQUARE, TWO)
    assert problems == []
    assert (vertices.dtype, triangles.dtype) == (np.float64, np.int64)
    assert vertices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_d27_lone_count_comments_and_blanks_are_tolerated():
    plain, _ = read(SQUARE, TWO)
    vertices = "\ufeff# corners\r\n4 // of them\r\n" + SQUARE.replace("\n", " # m\r\n\r\n")
    noisy, problems = read(vertices, "2\n" + TWO)
    assert problems == []
    assert all(np.array_equal(a, b) for a, b in zip(plain, noisy, strict=True))


def test_d27_count_that_disagrees_warns_and_the_rows_count():
    (vertices, _), problems = read("9\n" + SQUARE, TWO)
    assert (len(vertices), [str(p) for p in problems]) == (
        4, ["v.txt:2: warning: the first line says '9', but there are 4 rows; the rows count [W686]"],
    )  # fmt: skip


def test_d27_indices_from_one_are_shifted_with_a_warning():
    (_, triangles), problems = read(SQUARE, "1 2 3\n1 3 4\n")
    assert triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert codes(problems) == [(1, "W684")]


def test_d27_indices_that_could_count_from_zero_are_taken_as_such():
    (_, triangles), problems = read(SQUARE, "1 2 3\n")
    assert (triangles.tolist(), problems) == ([[1, 2, 3]], [])


def test_d27_index_out_of_range_names_file_and_line():
    arrays, problems = read(SQUARE, TWO + "0 1 4\n\n0 1 7\n")
    assert arrays is None
    assert [(str(p.location), p.code) for p in problems] == [("i.txt:3", "E683"), ("i.txt:5", "E683")]


def test_d27_negative_index_is_out_of_range():
    assert codes(read(SQUARE, "0 1 -1\n")[1]) == [(1, "E683")]


@pytest.mark.parametrize("flat", ["0 1 1", "2 2 2"])
def test_d27_triangles_without_area_are_left_out_with_a_warning(flat):
    (_, triangles), problems = read(SQUARE, f"{flat}\n{TWO}")
    assert (len(triangles), codes(problems)) == (2, [(1, "W685")])


def test_d27_collinear_corners_have_no_area():
    (_, triangles), problems = read("0 0 0\n1 1 1\n3 3 3\n0 1 0\n", "0 1 2\n0 1 3\n")
    assert (triangles.tolist(), codes(problems)) == ([[0, 1, 3]], [(1, "W685")])


def test_small_triangles_have_area():
    assert len(read("0 0 0\n1e-6 0 0\n0 1e-6 0\n", "0 1 2\n")[0][1]) == 1


@pytest.mark.parametrize(("vertices", "indices", "found"), [
    ("0 0\n" + SQUARE, TWO, [(1, "E681")]),
    (SQUARE + "0 0 zero\n", TWO, [(5, "E682")]),
    (SQUARE + "0 0 nan\n1e999 0 0\n", TWO, [(5, "E682"), (6, "E682")]),
    (SQUARE, "0 1 2.5\n0 1\n", [(1, "E682"), (2, "E681")]),
    ("", TWO, [(1, "E687")]),
    (SQUARE, "# none\n", [(1, "E687")]),
    (SQUARE + "5\n", TWO, [(5, "E681")]),
])  # fmt: skip
def test_mistakes_name_their_lines(vertices, indices, found):
    arrays, problems = read(vertices, indices)
    assert (arrays, codes(problems)) == (None, found)


def test_mistakes_of_both_files_are_told():
    _, problems = read("a b c\n", "1 2\n")
    assert [str(p.location) for p in problems] == ["v.txt:1"] * 3 + ["i.txt:1"]


def test_wavefront_file_is_recognised():
    _, problems = read("v 0 0 0\n", "f 1 2 3\n")
    assert all("Wavefront" in p.hint for p in problems)


def test_number_of_rows_is_bounded(monkeypatch):
    monkeypatch.setattr(mesh, "ROW_LIMIT", 3)
    arrays, problems = read(SQUARE, TWO)
    assert (arrays, codes(problems)) == (None, [(4, "E688")])


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_give_arrays_or_located_problems(vertices, indices):
    arrays, problems = read(vertices, indices)
    assert arrays is not None or codes(problems, "E")


@given(
    st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 3), min_size=3, max_size=8),
    st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1, max_size=8),
)
def test_arrays_are_finite_and_their_indices_in_range(points, corners):
    text = ["\n".join(" ".join(map(repr, row)) for row in rows) for rows in (points, corners)]
    arrays, problems = read(*text)
    if arrays is None:
        assert codes(problems, "E")
    else:
        vertices, triangles = arrays
        assert np.array_equal(vertices, np.array(points))
        assert triangles.size == 0 or (triangles.min() >= 0 and triangles.max() < len(vertices))


def test_files_of_the_examples_read():
    folder = shared("examples_cajunbot")
    (vertices, triangles), problems = read(
        (folder / "vertices.txt").read_bytes(), (folder / "indices.txt").read_bytes()
    )
    assert (vertices.shape, triangles.shape, problems) == ((6, 3), (6, 3), [])
