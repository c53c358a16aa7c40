"""Tables of collision detection: made from a mechanism's colliders, enlarged when contacts exceed them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.detection.kernels.features import CAP
from cbsim.dynamics.detection.kernels.tables import ColliderTables
from cbsim.dynamics.detection.solids import Piece, pieces_of
from cbsim.dynamics.detection.surfaces import Surfaces, surfaces_of
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.tables import Model, Work
from cbsim.errors import ModelError, did_you_mean
from cbsim.geometry.kernels.bvh import DEPTH
from cbsim.geometry.kernels.gjk import SIMPLEX_ROWS
from cbsim.geometry.kernels.grid import make_grid
from cbsim.geometry.kernels.simplex import SIMPLEX_COLUMNS
from cbsim.spec.mechanism.bodies import Body
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.shapes import EmptyShape

__all__ = ["fresh", "grown", "make_collider_tables", "work_for"]

SPARE = 4  # corners that rounding may add to a clipped polygon
OWN = (
    "placed", "world", "simplex", "patch", "mark", "carried", "ready", "near_count", "program",
    "loop_block", "window", "stack", "face_normal", "collider",
)  # fmt: skip


def make_collider_tables(spec: MechanismSpec, model: Model) -> ColliderTables | None:
    """Make the tables, or None if nothing collides.

    Raises
    ------
    ModelError
        If there is no routine for a shape.
    """
    if not spec.colliders:
        return None
    row_of = {
        body: int(np.flatnonzero(model.link[: model.links, c.BODY] == i)[0]) for i, body in enumerate(spec.bodies)
    }
    owners: list[tuple[Collider, Piece, int]] = []
    for collider in spec.colliders:
        link = row_of[collider.owner] if isinstance(collider.owner, Body) else -1
        owners += [(collider, piece, link) for piece in pieces_of(collider)]
    surfaces = surfaces_of([(f"collider '{o.name}'", p.triangles) for o, p, _ in owners if p.kind == d.SURFACE])
    roots = iter(surfaces.root)
    if surfaces.root:  # last row: stands for one triangle at a time
        anyone = Collider(spec.origin, EmptyShape(), name="triangle")
        owners.append((anyone, Piece(d.TRIANGLE, np.zeros(3), corners=np.eye(3), faces=[[0, 1, 2]]), -1))
    whole = np.zeros((len(owners), d.COLLIDER_LINK_COLUMNS), np.int64)
    floats = np.zeros((len(owners), d.COLLIDER_COLUMNS))
    corners: list[Floats] = []
    faces: list[list[int]] = []
    normals: list[Floats] = []
    at = 0
    for i, (collider, piece, link) in enumerate(owners):
        first = next(roots) if piece.kind == d.SURFACE else at
        meets = collider.group, collider.meets
        unmoved = link < 0 or bool(model.link[link, c.FLAGS] & c.KINEMATIC)
        whole[i] = (piece.kind, link, first, len(piece.corners), len(faces), len(piece.faces), *meets, unmoved)
        _write(floats[i], collider, piece)
        faces += [[at + k for k in face] for face in piece.faces]
        normals.append(piece.normals)
        corners.append(piece.corners)
        at += len(piece.corners)
    solids = Solids(whole, floats, np.concatenate(corners), faces, np.concatenate(normals))
    return _room(model, solids, surfaces, _apart(model, _ignored(spec, row_of)))


class Solids(NamedTuple):
    """Colliders, their corners, and their faces by corners and normals."""

    whole: Ints
    floats: Floats
    corner: Floats
    faces: list[list[int]]
    normals: Floats


def _write(row: Floats, collider: Collider, piece: Piece) -> None:
    row[d.AT : d.AT + 3], row[d.TURNED : d.TURNED + 4] = piece.at, piece.turned
    row[d.SIZE : d.SIZE + len(piece.size)] = piece.size
    row[d.MARGIN], row[d.BOUND] = piece.margin, piece.bound
    row[d.MU], row[d.RESTITUTION] = collider.friction_coefficient, collider.restitution
    row[d.MOST_FRICTION] = -1.0 if collider.friction_force is None else collider.friction_force
    row[d.ONE_MINUS_ERP], row[d.CFM] = 1.0 - collider.softness[0], collider.softness[1]


def _ignored(spec: MechanismSpec, row_of: Mapping[Body, int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of links that colliders exclude from contact."""
    rows = {body.name: row for body, row in row_of.items()}
    for collider in spec.colliders:
        for name in collider.ignores:
            if name not in rows:
                hint = did_you_mean(name, rows)
                raise ModelError(f"ignores {name!r}, which is no body {hint}".rstrip(), subject=f"'{collider.name}'")
            if isinstance(collider.owner, Body):
                yield row_of[collider.owner], rows[name]


def _apart(model: Model, ignored: Iterable[tuple[int, int]]) -> Ints:
    """Keys of the pairs of links that never collide: connected by a joint, or excluded."""
    nodes = len(model.link)
    pairs = [(int(row[c.PARENT]), int(row[c.CHILD])) for row in model.link if row[c.PARENT] >= 0]
    return np.array(sorted({min(pair) * nodes + max(pair) for pair in (*pairs, *ignored)}), np.int64)


def _room(model: Model, solids: Solids, surfaces: Surfaces, apart: Ints) -> ColliderTables:
    """Allocate tables for a few contacts per collider."""
    whole, floats, corner, faces, normals = solids
    n, nodes, loop_joints = len(whole), len(model.link), len(model.link) - model.links
    face = np.zeros((len(faces), 2), np.int64)
    rim = np.array([k for row in faces for k in row], np.int64)
    at = 0
    for f, row in enumerate(faces):
        face[f] = at, len(row)
        at += len(row)
    fixed, chord_tie = _fixed_ties(model)
    _number_rows(model, fixed)
    empty = np.zeros
    colliders = ColliderTables(
        whole, floats, corner, face, normals, rim, apart,
        parent=np.concatenate([model.link[: model.links, c.UP], np.full(loop_joints, -1, np.int64)]),
        chord_tie=chord_tie, chord_loop=_loops(model), fixed_ties=len(fixed),
        colliders=n - bool(surfaces.root), facet=surfaces.facet, facet_next=surfaces.facet_next,
        triangle=surfaces.triangle, node_box=surfaces.node_box, node_link=surfaces.node_link,
        window=empty((2, 3)), stack=empty(DEPTH, np.int64), hit=empty(0, np.int64),
        placed=empty((n, d.PLACED_COLUMNS)), world=empty((len(corner), 3)),
        simplex=empty((SIMPLEX_ROWS, SIMPLEX_COLUMNS)),
        patch=empty((4, 2 * max([CAP, *map(len, faces)]) + SPARE, 4)),
        grid=make_grid(n, 3),
        found=empty(d.FOUND, np.int64), candidate=empty((0, 2), np.int64),
        contact_link=model.contact_link.copy(), contact=model.contact.copy(),
        key=empty((len(model.contact), 2), np.int64), old_key=empty((len(model.contact), 2), np.int64),
        old=empty((len(model.contact), 16)), slot=empty((0, 3), np.int64),
        tie=fixed, tie_slot=empty(0, np.int64), mark=empty(nodes, np.int64), carried=empty(nodes, np.int64),
        ready=empty(nodes, np.int64), near=empty((nodes, 0, 3), np.int64), near_count=empty(nodes, np.int64),
        program=empty((nodes, 5), np.int64), fan=empty((0, 5), np.int64), pair=empty((0, 3), np.int64),
        loop_block=model.loop_block.copy(), block_room=0,
    )  # fmt: skip
    if surfaces.root:
        colliders.placed[-1, d.MATRIX : d.MATRIX + 9] = np.eye(3).reshape(-1)
    colliders.found[d.TIES] = -1
    colliders.found[d.CONTACTS] = len(model.contact)
    return _sized(colliders, contacts=len(model.contact) + 16 + 8 * n, degree=12)


def _fixed_ties(model: Model) -> tuple[Ints, Ints]:
    """Permanent couplings: loop joints with their bodies, links coupled by contacts or rows of loop joints."""
    rows: list[tuple[int, int]] = []
    chord_tie = np.full((len(model.link) - model.links, 2), -1, np.int64)
    for k in range(len(chord_tie)):
        link = model.link[model.links + k]
        for m, end in enumerate((int(link[c.CHILD]), int(link[c.PARENT]))):
            if end >= 0:
                chord_tie[k, m] = len(rows)
                rows.append((end, model.links + k))
    pairs = {tuple(sorted((int(r[c.ONE]), int(r[c.OTHER])))) for r in model.contact_link if r[c.OTHER] >= 0}
    pairs |= {ends for row in model.row_link if (ends := _driven(model, row)) is not None}
    rows += sorted(pairs)  # type: ignore[arg-type]
    table = np.zeros((len(rows), 4), np.int64)
    table[:, :2] = np.array(rows, np.int64).reshape(-1, 2)
    return table, chord_tie


def _driven(model: Model, row: Ints) -> tuple[int, int] | None:
    """Links that a drive or stop of a loop joint couples, the lower first; None for a link's own joint."""
    link = model.link[row[c.ROW_LINK]]
    if row[c.ROW_LINK] < model.links or link[c.PARENT] < 0:
        return None
    return int(min(link[c.PARENT], link[c.CHILD])), int(max(link[c.PARENT], link[c.CHILD]))


def _number_rows(model: Model, fixed: Ints) -> None:
    """Write the blocks of drives and stops of loop joints: permanent couplings are numbered first in any plan."""
    first = {(int(one), int(other)): len(model.link) + 2 * k for k, (one, other) in enumerate(fixed[:, :2])}
    for row in model.row_link:
        ends = _driven(model, row)
        if ends is not None:
            child_is_low = int(model.link[row[c.ROW_LINK], c.CHILD]) == ends[0]
            row[c.ROW_OUT], row[c.ROW_BACK] = first[ends] + (not child_is_low), first[ends] + child_is_low


def _loops(model: Model) -> Ints:
    """Nearest common ancestor of both bodies of each loop joint, or -1."""
    parents = model.link[: model.links, c.UP]
    out = []
    for link in model.link[model.links :]:
        path, at = set(), int(link[c.CHILD])
        while at >= 0:
            path.add(at)
            at = int(parents[at])
        at = int(link[c.PARENT])
        while at >= 0 and at not in path:
            at = int(parents[at])
        out.append(at)
    return np.array(out, np.int64).reshape(-1)


def fresh(colliders: ColliderTables) -> ColliderTables:
    """Make tables with the same constants and a workspace of their own."""
    return _sized(colliders, contacts=len(colliders.contact), degree=colliders.near.shape[1])


def grown(colliders: ColliderTables) -> ColliderTables:
    """Double the capacity; data of the step before is kept."""
    return _sized(colliders, contacts=2 * len(colliders.contact), degree=2 * colliders.near.shape[1])


def _sized(colliders: ColliderTables, *, contacts: int, degree: int) -> ColliderTables:
    nodes = len(colliders.parent)
    ties = colliders.fixed_ties + contacts
    slots = 1 << int(2 * contacts - 1).bit_length()
    tie_slot = np.full(1 << int(2 * ties - 1).bit_length(), -1, np.int64)
    tie = _longer(colliders.tie, ties)
    for k in range(colliders.fixed_ties):  # as the kernel stores a coupling
        at = (int(tie[k, 0]) * nodes + int(tie[k, 1])) * 2654435761 & (len(tie_slot) - 1)
        while tie_slot[at] >= 0:
            at = (at + 1) & (len(tie_slot) - 1)
        tie_slot[at] = k
    found = colliders.found.copy()
    found[d.TIES] = -1
    nodes_room: dict[str, Any] = {name: np.copy(getattr(colliders, name)) for name in OWN}
    return colliders._replace(
        **nodes_room, found=found,
        grid=make_grid(len(colliders.placed), 3), candidate=np.zeros((4 * contacts, 2), np.int64),
        hit=np.zeros(4 * contacts if len(colliders.facet) else 0, np.int64),
        contact_link=_longer(colliders.contact_link, contacts), contact=_longer(colliders.contact, contacts),
        key=_longer(colliders.key, contacts), old_key=_longer(colliders.old_key, contacts),
        old=_longer(colliders.old, contacts), slot=np.zeros((slots, 3), np.int64), tie=tie, tie_slot=tie_slot,
        near=np.zeros((nodes, degree, 3), np.int64), fan=np.zeros((nodes * degree, 5), np.int64),
        pair=np.zeros((nodes * degree * degree, 3), np.int64), block_room=nodes + nodes * degree * 2,
    )  # fmt: skip


def _longer(table: Any, rows: int) -> Any:
    out = np.zeros((rows, *table.shape[1:]), table.dtype)
    out[: len(table)] = table[:rows]
    return out


def work_for(work: Work, colliders: ColliderTables) -> Work:
    """Enlarge the workspace of a step to the capacity for contacts; data for warm starts is kept."""
    contact_work = np.zeros((len(colliders.contact), c.CONTACT_WORK_COLUMNS))
    contact_work[: len(work.contact_work)] = work.contact_work
    return work._replace(
        block=np.zeros((colliders.block_room, 36)),
        fanned=np.zeros((len(colliders.fan), c.FANNED_COLUMNS)),
        contact_work=contact_work,
    )
