"""Elementary functions are accurate, keep signs of zero, and are what kernels use in place of the C library."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

from cbsim.geometry import elementary as elementary_functions
from cbsim.geometry.kernels import elementary
from cbsim.jit import kernel
from tests.common import ROOT

COUNT = 20_000
RANDOM = np.random.default_rng(1)


def evenly(low: float, high: float) -> np.ndarray:
    return RANDOM.uniform(low, high, COUNT)


def of_sizes(low: int, high: int) -> np.ndarray:
    """Numbers of both signs, evenly spread over powers of two."""
    return np.exp2(RANDOM.uniform(low, high, COUNT)) * RANDOM.choice([-1.0, 1.0], COUNT)


CASES = {
    "sin": (np.sin, 1.0, (evenly(-10.0, 10.0), evenly(-8e5, 8e5), of_sizes(-40, 1023))),
    "cos": (np.cos, 1.0, (evenly(-10.0, 10.0), evenly(-8e5, 8e5), of_sizes(-40, 1023))),
    "tan": (np.tan, 2.5, (evenly(-10.0, 10.0), evenly(-8e5, 8e5), of_sizes(-40, 60))),
    "asin": (np.arcsin, 1.0, (evenly(-1.0, 1.0), of_sizes(-40, 0))),
    "acos": (np.arccos, 1.0, (evenly(-1.0, 1.0), of_sizes(-40, 0))),
    "atan": (np.arctan, 1.0, (evenly(-5.0, 5.0), of_sizes(-40, 100))),
    "exp": (np.exp, 1.0, (evenly(-700.0, 709.0), evenly(-1.0, 1.0))),
    "expm1": (np.expm1, 2.0, (evenly(-30.0, 30.0), evenly(-1.0, 1.0), of_sizes(-60, 0))),
    "log": (np.log, 1.0, (np.abs(of_sizes(-1060, 1023)), evenly(0.5, 2.0), 1.0 + of_sizes(-45, -1))),
}
NOTABLE = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, math.inf, -math.inf, math.nan, math.pi, math.pi / 2.0, 5e-324, 1e308)


def applied(name, *arguments):
    function = getattr(elementary, name)
    if len(arguments) == 1:

        @kernel
        def each(x, out):
            for k in range(x.shape[0]):
                out[k] = function(x[k])
    else:

        @kernel
        def each(x, y, out):
            for k in range(x.shape[0]):
                out[k] = function(x[k], y[k])

    out = np.empty(len(arguments[0]))
    each(*arguments, out)
    return out


def error(found, exact) -> float:
    """Largest error in units in the last place; ``exact`` has more digits."""
    return float(np.max(np.abs((found - exact) / np.spacing(np.abs(exact.astype(float))))))


needs_digits = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="numbers of 80 bits tell the error")


@needs_digits
@pytest.mark.parametrize("name", CASES)
def test_error_is_below_the_bound_that_is_stated(name):
    reference, bound, samples = CASES[name]
    x = np.concatenate(samples)
    assert error(applied(name, x), reference(x.astype(np.longdouble))) < bound


@needs_digits
def test_functions_of_two_numbers_are_as_accurate():
    y, x = of_sizes(-30, 30), of_sizes(-30, 30)
    wide = y.astype(np.longdouble), x.astype(np.longdouble)
    assert error(applied("atan2", y, x), np.arctan2(*wide)) < 2.0
    assert error(applied("hypot", y, x), np.hypot(*wide)) < 1.25
    y, x = of_sizes(-1000, -900), of_sizes(900, 1000)
    assert error(applied("hypot", y, 2.0 * y), np.hypot(*(v.astype(np.longdouble) for v in (y, 2.0 * y)))) < 1.25
    assert error(applied("hypot", x, 2.0 * x), np.hypot(*(v.astype(np.longdouble) for v in (x, 2.0 * x)))) < 1.25
    base, exponent = evenly(0.0, 1.0), evenly(0.0, 1.0)
    exact = base.astype(np.longdouble) ** exponent.astype(np.longdouble)
    found = applied("power", base, exponent)
    bound = 1.0 + 3.0 * np.abs(exponent * np.log(base))
    assert np.all(np.abs((found - exact) / np.spacing(found)) < bound)


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "asin", "acos", "atan", "exp", "expm1", "log"])
def test_special_values_are_those_of_numpy(name):
    x = np.array(NOTABLE)
    with np.errstate(all="ignore"):
        expected, found = CASES[name][0](x), applied(name, x)
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=0.0)
    if name not in ("cos", "acos", "exp"):
        np.testing.assert_array_equal(np.signbit(found[:2]), [False, True] if name != "log" else [True, True])


@pytest.mark.parametrize(("name", "reference"), [("atan2", np.arctan2), ("hypot", np.hypot)])
def test_special_pairs_are_those_of_numpy(name, reference):
    y, x = (each.ravel() for each in np.meshgrid(NOTABLE, NOTABLE))
    with np.errstate(all="ignore"):
        expected = reference(y, x)
        found = applied(name, y, x)
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=0.0)
    ordered = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[ordered], np.signbit(expected)[ordered])


def test_no_kernel_calls_the_functions_of_the_c_library():
    """A kernel that wants one of them takes it from `elementary`."""
    named = {*CASES, "atan2", "hypot", "pow", "fmod", "exp2", "log2", "log10", "log1p", "sinh", "cosh", "tanh", "cbrt"}
    arrays = {*named, "arcsin", "arccos", "arctan", "arctan2", "power", "float_power", "sinc"}
    found = []
    for path in sorted((ROOT / "cbsim").rglob("*.py")):
        if path.name != "kernels.py" and "kernels" not in path.parts:
            continue
        tree = ast.parse(path.read_text())
        from_library = {
            alias.asname or alias.name: alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
            if alias.name in ("math", "cmath", "numpy")
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                library = from_library.get(node.value.id)
                if node.attr in {"math": named, "cmath": named, "numpy": arrays}.get(library or "", set()):
                    found.append(f"{path.relative_to(ROOT)}: {node.value.id}.{node.attr}")
    assert found == []


def same_bits(found, expected) -> bool:
    """Tell whether numbers are the same to the last bit; any NaN is as good as another."""
    nan = np.isnan(expected)
    return np.array_equal(np.isnan(found), nan) and found[~nan].tobytes() == expected[~nan].tobytes()


@pytest.mark.parametrize("name", CASES)
def test_functions_of_python_have_the_bits_of_kernels(name):
    x = np.concatenate([*CASES[name][2], NOTABLE, [1e6, 823549.0, -2.0, 2.0]])
    expected, function = applied(name, x), getattr(elementary_functions, name)
    assert same_bits(function(x), expected)
    assert same_bits(np.array([function(each) for each in x.tolist()]), expected)
    assert same_bits(function(x[-8:].reshape(2, 4)).ravel(), expected[-8:])


@pytest.mark.parametrize("name", ["atan2", "hypot"])
def test_functions_of_two_numbers_have_the_bits_of_kernels(name):
    notable = [each.ravel() for each in np.meshgrid(NOTABLE, NOTABLE)]
    y, x = (np.concatenate([of_sizes(-1050, 1023), of_sizes(-3, 3), each]) for each in notable)
    expected, function = applied(name, y, x), getattr(elementary_functions, name)
    assert same_bits(function(y, x), expected)
    assert same_bits(np.array(list(map(function, y.tolist(), x.tolist()))), expected)
    assert same_bits(function(y[:40, None], x[:40])[7], applied(name, np.full(40, y[7]), x[:40]))


def test_numbers_give_numbers_and_those_of_numpy_can_be_indexed():
    assert type(elementary_functions.sin(1)) is float
    assert type(elementary_functions.atan2(0.0, -1.0)) is float
    assert elementary_functions.cos(np.float64(0.0))[..., None].shape == (1,)
    assert elementary_functions.cos(np.array(0.0)) == 1.0
    assert elementary_functions.sin(np.zeros((0, 3))).shape == (0, 3)


def test_powers_and_decimal_logarithms():
    assert [elementary_functions.log10(10.0**n) for n in range(-22, 23)] == list(range(-22, 23))
    assert elementary_functions.power(2.0, 3.0) == 8.0
    assert elementary_functions.power(-2.0, 3.0) == -8.0
    assert elementary_functions.power(10.0, -2.0) == 0.01
    assert elementary_functions.power(0.0, 0.5) == 0.0
    assert elementary_functions.power(0.0, -1.0) == math.inf
    assert elementary_functions.power(8.0, 1.0 / 3.0) == pytest.approx(2.0, rel=1e-15)
    assert math.isnan(elementary_functions.power(-8.0, 1.0 / 3.0))
    assert elementary_functions.whole_power(np.array([2.0, math.inf]), 3).tolist() == [8.0, math.inf]
    assert elementary_functions.whole_power(3.0, 0) == 1.0


@needs_digits
def test_decimal_logarithms_are_accurate():
    x = np.abs(of_sizes(-1000, 1000))
    assert error(elementary_functions.log10(x), np.log10(x.astype(np.longdouble))) < 2.0
