"""Linear algebra in a fixed order: the same bits whatever BLAS and LAPACK numpy was built with.

``@``, `numpy.dot` and `numpy.linalg` hand their work to a BLAS, which picks routines for the CPU it finds, and sums in
another order on each. What makes a World or a step uses these functions instead: `numpy.einsum` without a path sums in
loops of numpy's own, and all else is elementwise. They take matrices of some hundred rows at most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.arrays import Floats
from cbsim.geometry.elementary import square

__all__ = [
    "cholesky", "det", "eigh", "eigvalsh", "inv", "lstsq", "matrix_power", "matrix_rank", "norm", "null_space", "pinv",
    "solve", "substitute", "svd", "svdvals", "times",
]  # fmt: skip

EPS = float(np.finfo(float).eps)
SWEEPS = 40  # of Jacobi's rotations over all pairs, at most: ten are enough for anything finite
MANY = 32  # columns above which a triangle comes first: with fewer, singular values keep the bits that they had


# --- products ---------------------------------------------------------------------------------------------------------
def times(a: ArrayLike, b: ArrayLike) -> Floats:
    """Multiply as ``a @ b`` does: vectors (n,), matrices (..., n, m), and both, broadcasting.

    >>> times([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0])
    array([21., 43.])
    """
    left, right = np.asarray(a, float), np.asarray(b, float)
    rows, columns = "i" * (left.ndim > 1), "k" * (right.ndim > 1)
    out: Floats = np.einsum(f"...{rows}j,...j{columns}->...{rows}{columns}", left, right)
    return out


def norm(a: ArrayLike, axis: int | None = None, *, keepdims: bool = False) -> Floats:
    """Euclidean length along an axis, or of all numbers.

    >>> float(norm([3.0, 4.0]))
    5.0
    """
    given = np.asarray(a, float)
    out: Floats = np.sqrt((given * given).sum(axis=axis, keepdims=keepdims))
    return out


def matrix_power(a: Floats, power: int) -> Floats:
    """Multiply a matrix (n, n) with itself, or its inverse where the power is negative."""
    base, out = inv(a) if power < 0 else a, np.eye(len(a))
    for bit in reversed(f"{abs(power):b}"):
        if bit == "1":
            out = times(out, base)
        base = times(base, base)
    return out


# --- systems ----------------------------------------------------------------------------------------------------------
def _eliminate(a: Floats, right: Floats) -> tuple[Floats, Floats, Floats]:
    """Bring matrices (..., n, n) to triangles by rows, the largest pivot first; also their right sides and signs."""
    upper, out = np.array(a, float), np.array(right, float)
    sign, n = np.ones(upper.shape[:-2]), upper.shape[-1]
    for k in range(n):
        pivot = k + np.abs(upper[..., k:, k]).argmax(axis=-1)[..., None, None]
        sign = np.where(pivot[..., 0, 0] == k, sign, -sign)
        for table in (upper, out):
            _exchange(table, k, pivot)
        head = upper[..., k, k, None]
        factor = upper[..., k + 1 :, k] / np.where(head == 0.0, 1.0, head)
        upper[..., k + 1 :, :] -= factor[..., None] * upper[..., k : k + 1, :]
        out[..., k + 1 :, :] -= factor[..., None] * out[..., k : k + 1, :]
    return upper, out, sign


def _exchange(table: Floats, k: int, pivot: NDArray[np.int64]) -> None:
    """Exchange row k of matrices (..., n, m) with the row of each that `pivot` (..., 1, 1) names."""
    if table.ndim == 2:
        rows = [int(pivot[0, 0]), k]
        table[rows] = table[rows[::-1]]
        return
    lower = np.take_along_axis(table, np.broadcast_to(pivot, (*pivot.shape[:-1], table.shape[-1])), axis=-2)
    np.put_along_axis(table, np.broadcast_to(pivot, lower.shape), table[..., k : k + 1, :].copy(), axis=-2)
    table[..., k : k + 1, :] = lower


def solve(a: ArrayLike, b: ArrayLike) -> Floats:
    """Solve a x = b for matrices (..., n, n) and right sides (..., n, m), or (n,); not finite where there is no pivot.

    >>> solve([[2.0, 0.0], [1.0, 1.0]], [2.0, 3.0])
    array([1., 2.])
    """
    matrix, right = np.asarray(a, float), np.asarray(b, float)
    if right.ndim == 1:
        return solve(matrix, right[:, None])[:, 0]
    shape = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    matrix, right = (np.broadcast_to(each, (*shape, *each.shape[-2:])) for each in (matrix, right))
    upper, out, _ = _eliminate(matrix, right)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        for k in range(upper.shape[-1] - 1, -1, -1):
            out[..., k, :] /= upper[..., k, k, None]
            out[..., :k, :] -= upper[..., :k, k, None] * out[..., k : k + 1, :]
    return out


def inv(a: ArrayLike) -> Floats:
    """Invert matrices (..., n, n); not finite where there is no inverse."""
    matrix = np.asarray(a, float)
    return solve(matrix, np.eye(matrix.shape[-1]))


def det(a: ArrayLike) -> float:
    """Compute the determinant of a matrix (n, n).

    >>> det([[0.0, 2.0], [3.0, 0.0]])
    -6.0
    """
    matrix = np.asarray(a, float)
    upper, _, sign = _eliminate(matrix, np.zeros((len(matrix), 0)))
    out = float(sign)
    for k in range(len(matrix)):
        out *= float(upper[k, k])
    return out


def cholesky(a: Floats, least: float = 0.0) -> Floats:
    """Factor a symmetric matrix (n, n) as L Lᵀ with L lower triangular.

    A pivot not above `least` times its diagonal number makes a column of zeros: that direction is left out.
    """
    left, out = np.array(a, float), np.zeros_like(a)
    for k in range(len(left)):
        if left[k, k] > least * a[k, k]:
            out[k:, k] = left[k:, k] / np.sqrt(left[k, k])
            left[k:, k:] -= out[k:, k, None] * out[k:, k]
    return out


def substitute(lower: Floats, right: Floats) -> Floats:
    """Solve L x = right (n, m) for a factor L of `cholesky`; directions that it left out are zero."""
    out = np.array(right, float)
    for k in range(len(lower)):
        pivot = lower[k, k]
        out[k] = out[k] / pivot if pivot else 0.0
        out[k + 1 :] -= lower[k + 1 :, k, None] * out[k]
    return out


# --- axes -------------------------------------------------------------------------------------------------------------
def _turns(n: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """List the rounds of a tournament of n columns: in each all pairs are apart, and each pair comes once."""
    seats, rounds = [*range(n), *[-1] * (n % 2)], []
    for _ in range(len(seats) - 1):
        half = len(seats) // 2
        pairs = [(min(p), max(p)) for p in zip(seats[:half], seats[: half - 1 : -1], strict=True) if min(p) >= 0]
        rounds.append((np.array([p[0] for p in pairs], np.int64), np.array([p[1] for p in pairs], np.int64)))
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return rounds


def _rotations(one: Floats, other: Floats, beside: Floats, turned: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Cosines and sines that make symmetric matrices ((one, beside), (beside, other)) diagonal, where asked for."""
    zeta = (other - one) / np.where(turned, 2.0 * beside, 1.0)
    far = np.abs(zeta) > 1e150  # where its square would be too large
    tangent = np.where(zeta < 0.0, -1.0, 1.0) / (np.abs(zeta) + np.sqrt(1.0 + square(np.where(far, 0.0, zeta))))
    tangent = np.where(turned, tangent, 0.0)
    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
    return cosine, cosine * tangent


def _turn_columns(table: Floats, i: NDArray[np.int64], j: NDArray[np.int64], cosine: Floats, sine: Floats) -> None:
    left, right = table[:, i], table[:, j]
    table[:, i], table[:, j] = cosine * left - sine * right, sine * left + cosine * right


def _sorted_columns(a: Floats) -> tuple[Floats, Floats, Floats]:
    """Turn the columns of a matrix (m, n) to right angles by one-sided Jacobi rotations.

    Returns the turned columns (m, n) and the rotation (n, n), the longest column first, and the lengths.
    """
    columns, n = np.array(a, float), np.shape(a)[1]
    turn, rounds = np.eye(n), _turns(n)
    least, small = EPS * max(1.0, np.sqrt(len(columns))), square(EPS * float(norm(columns)))
    for _ in range(SWEEPS):
        done = True
        for i, j in rounds:
            one, other = columns[:, i], columns[:, j]
            alpha, beta, gamma = (one * one).sum(axis=0), (other * other).sum(axis=0), (one * other).sum(axis=0)
            turned = np.abs(gamma) > np.maximum(least * np.sqrt(alpha * beta), small)
            if not turned.any():
                continue
            done = False
            cosine, sine = _rotations(alpha, beta, gamma, turned)
            for table in (columns, turn):
                _turn_columns(table, i, j, cosine, sine)
        if done:
            break
    sizes = norm(columns, axis=0)
    order = np.argsort(-sizes, kind="stable")
    return columns[:, order], turn[:, order], sizes[order]


def _triangle(a: Floats, least: float | None = None) -> tuple[Floats, Floats]:
    """Reflect a matrix (m, n) to r rows, r its rank: Householder's method, longest column first.

    Columns count that are longer than `least`, by default the larger side of the matrix times 2.2e-16, times the
    longest. Returns the unit normals (r, m) of the reflections, in their order, and the rows (r, n) that are left.
    """
    share = EPS * max(a.shape) if least is None else least
    rest = np.array(a, float)
    normals = np.zeros((min(rest.shape), len(rest)))
    largest = 0.0
    for k in range(len(normals)):
        sizes = norm(rest[k:], axis=0)
        column = int(sizes.argmax())
        largest = max(largest, float(sizes[column]))
        if sizes[column] <= share * largest:
            return normals[:k], rest[:k]
        normal = normals[k, k:]
        normal[:] = rest[k:, column] / sizes[column]
        normal[0] += 1.0 if normal[0] >= 0.0 else -1.0
        normal /= norm(normal)
        rest[k:] -= 2.0 * normal[:, None] * (normal[:, None] * rest[k:]).sum(axis=0)
    return normals, rest[: len(normals)]


def _reflected(normals: Floats, table: Floats, *, back: bool = True) -> Floats:
    """Undo reflections of `_triangle` on the columns of a table (m, k), or do them."""
    out = np.array(table, float)
    for k in range(len(normals))[:: -1 if back else 1]:
        normal = normals[k, k:, None]
        out[k:] -= 2.0 * normal * (normal * out[k:]).sum(axis=0)
    return out


def _large_svd(a: Floats) -> tuple[Floats, Floats, Floats]:
    """Do as `svd` for many columns: a triangle of the rank's rows has fewer to turn, and needs fewer turns."""
    count = min(a.shape)
    normals, rows = _triangle(a)
    columns, turn, sizes = _sorted_columns(rows.T)
    rank = int((sizes > 0.0).sum())
    values, left = np.zeros(count), np.zeros((len(a), count))
    values[:rank], left[: len(rows), :rank] = sizes[:rank], turn[:, :rank]
    axes = columns[:, :rank] / sizes[:rank]
    return _reflected(normals, left), values, np.vstack([axes.T, _beyond(_triangle(axes)[0], a.shape[1])])


def _beyond(normals: Floats, n: int) -> Floats:
    """Axes (n - r, n) at right angles to the r columns that reflections turned to the first axes."""
    spare = np.zeros((n, n - len(normals)))
    spare[len(normals) :] = np.eye(spare.shape[1])
    return _reflected(normals, spare).T


def null_space(a: ArrayLike, least: float) -> Floats:
    """Axes (k, n) that a matrix (m, n) takes to `least` times what it takes its largest to, or less.

    Of many columns by reflections alone, so that what lies near that bound may count otherwise.

    >>> null_space([[0.0, 2.0]], 1e-9)
    array([[1., 0.]])
    """
    matrix = np.asarray(a, float)
    if matrix.shape[1] > MANY:
        return _beyond(_triangle(matrix.T, least)[0], matrix.shape[1])
    _, sizes, axes = svd(matrix)
    return axes[int((sizes > least * sizes.max(initial=0.0)).sum()) :]


def svd(a: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Singular values of a matrix (m, n), with its left vectors (m, k), k = min(m, n), and all right ones (n, n).

    As ``u, s, vt``: the rows of ``vt`` beyond those of values above zero span what the matrix takes to zero. Left
    vectors of values that are zero are zero.
    """
    matrix = np.asarray(a, float)
    if matrix.shape[1] > MANY:
        return _large_svd(matrix)
    columns, turn, sizes = _sorted_columns(matrix)
    count = min(matrix.shape)
    values = sizes[:count]
    left = columns[:, :count] / np.where(values > 0.0, values, 1.0)
    return left, values, turn.T


def svdvals(a: ArrayLike) -> Floats:
    """Singular values (min(m, n),) of a matrix (m, n), the largest first."""
    matrix = np.asarray(a, float)
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    if tall.shape[1] <= MANY:
        return _sorted_columns(tall)[2]
    sizes = _sorted_columns(_triangle(tall)[1].T)[2]
    return np.concatenate([sizes, np.zeros(tall.shape[1] - len(sizes))])


def pinv(a: ArrayLike, rcond: float) -> Floats:
    """Pseudoinverse (n, m) of a matrix (m, n); singular values up to `rcond` times the largest count as zero."""
    matrix = np.asarray(a, float)
    if matrix.shape[0] < matrix.shape[1]:
        return pinv(matrix.T, rcond).T
    left, values, right = svd(matrix)
    counts = values > rcond * values.max(initial=0.0)
    inverse = np.where(counts, 1.0, 0.0) / np.where(counts, values, 1.0)
    return times(right[: len(values)].T * inverse, left.T)


def lstsq(a: ArrayLike, b: ArrayLike, rcond: float | None = None) -> Floats:
    """Least squares solution of least length of a x = b (m,) or (m, k).

    Singular values up to `rcond`, by default the larger side of the matrix times 2.2e-16, times the largest are zero.
    Of many rows and columns by reflections alone, so that a value near that bound may count otherwise.
    """
    matrix = np.asarray(a, float)
    least = EPS * max(matrix.shape) if rcond is None else rcond
    found = _least_squares(matrix, np.asarray(b, float), least) if min(matrix.shape) > MANY else None
    return times(pinv(matrix, least), b) if found is None else found


def _least_squares(a: Floats, b: Floats, least: float) -> Floats | None:
    """Solve by reflections of a matrix to a triangle, and of what is left to a square one; None if that has no rank."""
    normals, rows = _triangle(a, least)
    across, corner = _triangle(rows.T, 0.0)
    rank = len(rows)
    if len(across) < rank:
        return None
    right = _reflected(normals, b.reshape(len(b), -1), back=False)
    out = np.zeros((a.shape[1], right.shape[1]))
    out[:rank] = solve(corner.T, right[:rank])
    return _reflected(across, out).reshape(-1, *b.shape[1:])


def matrix_rank(a: ArrayLike, tol: float) -> int:
    """Count the singular values above a tolerance."""
    return int((svdvals(a) > tol).sum())


def eigh(a: ArrayLike) -> tuple[Floats, Floats]:
    """Eigenvalues (n,) of a symmetric matrix (n, n), the smallest first, and its axes as columns: Jacobi's method."""
    matrix = np.array(a, float)
    n = len(matrix)
    turn, rounds = np.eye(n), _turns(n)
    small = EPS * EPS * float(norm(matrix))
    for _ in range(SWEEPS):
        done = True
        for i, j in rounds:
            one, other, beside = matrix[i, i], matrix[j, j], matrix[i, j]
            turned = np.abs(beside) > np.maximum(EPS * np.sqrt(np.abs(one * other)), small)
            if not turned.any():
                continue
            done = False
            cosine, sine = _rotations(one, other, beside, turned)
            for table in (matrix, matrix.T, turn):
                _turn_columns(table, i, j, cosine, sine)
        if done:
            break
    values = np.diag(matrix)
    order = np.argsort(values, kind="stable")
    return values[order], turn[:, order]


def eigvalsh(a: ArrayLike) -> Floats:
    """Eigenvalues (n,) of a symmetric matrix (n, n), the smallest first."""
    return eigh(a)[0]
