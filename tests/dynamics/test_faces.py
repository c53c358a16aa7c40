"""A sphere on a face that another link carries: slopes against differences of what is measured."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.algebra import product, rotation
from cbsim.dynamics.kernels.contacts import evaluate_contact, push
from cbsim.dynamics.kernels.faces import bend_face
from cbsim.geometry.pose import multiply
from cbsim.jit import kernel

H = 0.01


@kernel
def look(contact_link, contact, contact_work, link_work, h):
    """Measure one contact and write the wrenches of its impulse to RESIDUAL."""
    for b in range(2):
        q, p = c.Q3, c.Q2
        rotation(link_work, b, c.R3, link_work[b, q], link_work[b, q + 1], link_work[b, q + 2], link_work[b, q + 3])
        s, x, y, z = product(
            link_work[b, q], link_work[b, q + 1], link_work[b, q + 2], link_work[b, q + 3],
            link_work[b, p], -link_work[b, p + 1], -link_work[b, p + 2], -link_work[b, p + 3],
        )  # fmt: skip
        link_work[b, c.TURN], link_work[b, c.TURN + 1], link_work[b, c.TURN + 2], link_work[b, c.TURN + 3] = s, x, y, z
        for k in range(6):
            link_work[b, c.RESIDUAL + k] = 0.0
    evaluate_contact(contact_link, contact, contact_work, link_work, 0, h)
    push(contact_link, contact, contact_work, link_work, 0, c.FORCE, -1.0, c.RESIDUAL)


@kernel
def slopes(contact_link, contact, contact_work, link_work, block, h):
    """Write the slopes."""
    bend_face(contact_link, contact, contact_work, link_work, block, 0, h)


class Pair:
    """Two bodies on their way, a sphere of the first near a face of the second."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.contact_link = np.array([[c.NONLINEAR, c.FACE, 0, 1, 2, 3]])
        self.contact, self.contact_work = np.zeros((1, c.CONTACT_COLUMNS)), np.zeros((1, c.CONTACT_WORK_COLUMNS))
        self.link_work, self.block = np.zeros((2, c.LINK_WORK_COLUMNS)), np.zeros((4, 36))
        frame, _ = np.linalg.qr(random.normal(size=(3, 3)))
        self.contact[0, c.NORMAL : c.NORMAL + 9] = frame.ravel()
        self.contact[0, c.ORIGIN : c.ORIGIN + 3] = random.normal(size=3)
        self.contact[0, c.PLANE : c.PLANE + 3] = random.normal(size=3)
        self.contact[0, c.RADIUS], self.contact[0, c.MU] = 0.3, 0.5
        self.contact_work[0, c.FORCE : c.FORCE + 4] = 1.3, 0.65, 0.2, -0.4
        for b in range(2):
            q = random.normal(size=4)
            self.link_work[b, c.Q2 : c.Q2 + 4] = q / np.linalg.norm(q)
            turn = np.array([1.0, *0.1 * random.normal(size=3)])
            turned = multiply(turn / np.linalg.norm(turn), self.link_work[b, c.Q2 : c.Q2 + 4])
            self.link_work[b, c.Q3 : c.Q3 + 4] = turned
            self.link_work[b, c.X2 : c.X2 + 3] = random.normal(size=3)
            self.link_work[b, c.X3 : c.X3 + 3] = self.link_work[b, c.X2 : c.X2 + 3] + 0.02 * random.normal(size=3)

    def moved(self, body: int, way: int, size: float) -> np.ndarray:
        """Gap, slips and both wrenches after a small motion of one body at node 3."""
        link_work = self.link_work.copy()
        if way < 3:
            link_work[body, c.X3 + way] += size
        else:
            turn = np.array([np.cos(0.5 * size), 0.0, 0.0, 0.0])
            turn[way - 2] = np.sin(0.5 * size)
            link_work[body, c.Q3 : c.Q3 + 4] = multiply(turn, link_work[body, c.Q3 : c.Q3 + 4])
        contact_work = self.contact_work.copy()
        look(self.contact_link, self.contact, contact_work, link_work, H)
        wrench = link_work[:, c.RESIDUAL : c.RESIDUAL + 6].ravel()
        return np.concatenate([[contact_work[0, c.GAP]], contact_work[0, c.SLIP : c.SLIP + 2], wrench])


@pytest.mark.parametrize("seed", range(4))
def test_slopes_of_gap_slip_and_wrench_are_those_of_differences(seed):
    pair = Pair(seed)
    look(pair.contact_link, pair.contact, pair.contact_work, pair.link_work, H)
    slopes(pair.contact_link, pair.contact, pair.contact_work, pair.link_work, pair.block, H)
    gradient = pair.contact_work[0, c.GRADIENT : c.GRADIENT + 36].reshape(3, 12)
    own, to, back, other = (pair.block[k].reshape(6, 6) for k in (0, 2, 3, 1))
    change = np.block([[own, to], [back, other]])
    for body in range(2):
        for way in range(6):
            size = 1e-6
            slope = (pair.moved(body, way, size) - pair.moved(body, way, -size)) / (2.0 * size)
            column = 6 * body + way
            np.testing.assert_allclose(gradient[:, column], slope[:3], rtol=1e-7, atol=1e-6)  # slips are over h
            np.testing.assert_allclose(change[:, column], slope[3:], rtol=1e-7, atol=1e-8)


def test_what_one_body_gets_the_other_loses():
    pair = Pair(7)
    wrench = pair.moved(0, 0, 0.0)[3:].reshape(2, 6)
    np.testing.assert_allclose(wrench[0, :3], -wrench[1, :3], atol=1e-15)
    arm = pair.link_work[0, c.X3 : c.X3 + 3] - pair.link_work[1, c.X3 : c.X3 + 3]
    np.testing.assert_allclose(wrench[0, 3:] + np.cross(arm, wrench[0, :3]), -wrench[1, 3:], atol=1e-12)
