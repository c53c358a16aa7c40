"""Rows of tables in named tuples are as long as their annotations say: kernels find elements by these constants."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from cbsim.dynamics.compile import compile_mechanism
from cbsim.dynamics.model import workspace
from cbsim.kernel_compiler.rows import rows_of
from cbsim.multibody.gallery import GALLERY, build
from cbsim.spec.traffic import Pool
from cbsim.world.tables import COLUMNS, State
from tests.traffic.sites import four_way, run, world
from tests.traffic.sites import workspace as cars_of


class Tables(NamedTuple):
    """Kinds of annotations."""

    plain: Any
    rows: Annotated[Any, (3, 2)]
    whole: Annotated[Any, (2, -1, 4)]
    last: Annotated[Any, (-1, 4)]
    other: Annotated[Any, "plain"]


def check(tables: Any) -> int:
    """Compare the arrays of a named tuple, and of those in it, with their annotations; count them."""
    count = 0
    for name, row, value in zip(type(tables)._fields, rows_of(type(tables)), tables, strict=True):
        if hasattr(value, "_fields"):
            count += check(value)
        elif row:
            assert np.shape(value)[1:] == row, name
            count += 1
    return count


def test_annotations_tell_the_lengths_that_are_constants():
    assert rows_of(Tables) == ((), (3, 2), (), (4,), ())
    widths = {column.name: column.width for column in COLUMNS}
    assert rows_of(State) == tuple((widths[name],) if widths[name] > 1 else () for name in State._fields)


@pytest.mark.parametrize("name", GALLERY)
def test_tables_of_mechanisms_have_these_rows(name):
    model = compile_mechanism(build(name).spec).model
    assert check(model) + check(workspace(model)) == 17


def test_tables_of_traffic_have_these_rows():
    made = world(four_way(), Pool("p", count=8))
    last = run(made, None, 1.0)[-1]
    assert check(last.columns) == sum(column.width > 1 for column in COLUMNS)
    assert check(cars_of(made, last)) == 10
