"""A door into the middle of a step: where an iterate is, what it misses, which way Newton's method goes from it."""

from __future__ import annotations

import numpy as np

from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.columns import STEP_LENGTH
from cbsim.dynamics.kernels.cone_steps import keep_pairs, step_pairs
from cbsim.dynamics.kernels.interior import assess, factorize, solve_direction
from cbsim.dynamics.kernels.newton import begin, keep, restore
from cbsim.dynamics.kernels.rows import begin_row
from cbsim.jit import kernel

BEGIN, SEE, AIM, KEEP, MOVE = range(5)
SLIPS = ((1, 1.0), (1, -1.0), (0, 1.0), (0, -1.0))  # of the linear law: which tangent, which way


@kernel
def door(model, work, z, inputs, external, settings, what, number):
    """Do one thing with an iterate; the largest residual where that is asked for."""
    h, link_work, contact_work, limit_work = settings[STEP_LENGTH], work.link_work, work.contact_work, work.limit_work
    if what == BEGIN:
        begin(model.links, model.link, model.joint, link_work, z, inputs, external, settings, h, h, 0.0)
        for i in range(len(limit_work)):
            begin_row(model.link, model.joint, link_work, model.row_link, model.row, limit_work, i, inputs, h, h, h)
    elif what == SEE:
        assess(model, work, h, number, 1.0)
    elif what == AIM:
        factorize(model, work, h)
        solve_direction(model, work, number, False, 0.0)
    elif what == KEEP:
        keep(model.links, link_work)
        keep_pairs(contact_work, limit_work)
    else:
        restore(model.links, model.link, model.joint, link_work, number)
        step_pairs(model.contact_link, contact_work, limit_work, number)


class Iterate:
    """Node 3 of a step, with slacks and impulses: where Newton's method might be on its way."""

    def __init__(self, mechanism, z, u):
        self.model, self.work = mechanism.compiled.model, mechanism.work
        self.settings, _ = mechanism.settings()
        self.given = np.array(z, float).reshape(-1, 13), np.array(u, float), mechanism.none
        self.do(BEGIN)

    def do(self, what, number=0.0):
        door(self.model, self.work, *self.given, self.settings, what, number)

    def scatter(self, random, size=0.05):
        """Move every unknown at random; slacks and impulses of a cone stay each other's inverse, but for a factor."""
        model, work = self.model, self.work
        link_work, contact_work, limit_work = work.link_work, work.contact_work, work.limit_work
        link_work[:, c.STEP : c.STEP + 6] = size * random.normal(size=(len(link_work), 6))
        contact_work[:, c.ACTIVE] = 1.0
        contact_work[:, c.LEAD] = contact_work[:, c.COUPLING] = 1.0
        contact_work[:, c.WEIGHT] = random.uniform(0.5, 1.0, len(contact_work))
        self.do(KEEP)
        self.do(MOVE, 1.0)
        for pair, count, places in ((contact_work, 6, (c.SLACK, c.FORCE)), (limit_work, 2, (c.ROW_SLACK, c.ROW_ROOM))):
            for first in places:
                pair[:, first : first + count] = random.uniform(0.1, 1.0, (len(pair), count))
        limit_work[:, c.ROW_FORCE] = random.uniform(
            0.1, 1.0, len(limit_work)
        )  # wherever its room says it is: all are unknowns
        for i in np.flatnonzero(model.contact_link[:, c.LAW] == c.NONLINEAR):
            row = contact_work[i]
            row[c.SLACK + 2 : c.SLACK + 4] = random.uniform(-0.5, 0.5, 2)
            row[c.SLACK + 1] = np.hypot(*row[c.SLACK + 2 : c.SLACK + 4]) + random.uniform(0.1, 0.5)
            eta, u, v = row[c.SLACK + 1 : c.SLACK + 4]
            row[c.FORCE + 1 : c.FORCE + 4] = 0.2 * np.array([eta, -u, -v]) / (eta * eta - u * u - v * v)

    def residual(self, target):
        """Every equation's residual, as docs/theory/contact.md §3 has them, products of pairs aiming at ``target``."""
        self.do(SEE, target)
        link, link_work = self.model.link, self.work.link_work
        out = [link_work[b, c.MISSING : c.MISSING + link[b, c.DOF]] for b in range(len(link))]
        for row in self.work.limit_work:
            count = max(0, int(row[c.ROW_PAIRS]))
            products = row[c.ROW_SLACK : c.ROW_SLACK + count] * row[c.ROW_ROOM : c.ROW_ROOM + count]
            out.append([row[c.ROW_MISSING], *(products - target)])
        for i, row in enumerate(self.work.contact_work):
            out.append(
                self._touching(
                    row, self.model.contact_link[i, c.LAW], self.model.contact[i, c.MU], row[c.WEIGHT] * target
                )
            )
        return np.concatenate(out)

    @staticmethod
    def _touching(row, law, mu, target):
        s, g = row[c.SLACK : c.SLACK + 6], row[c.FORCE : c.FORCE + 6]
        out = [row[c.GAP] - s[0], s[0] * g[0] - target]
        if law == c.NONLINEAR:
            out += [g[0] - g[1], mu * row[c.SLIP] - s[2], mu * row[c.SLIP + 1] - s[3], s[1:4] @ g[1:4] - target]
            out += [s[1] * g[2] + g[1] * s[2], s[1] * g[3] + g[1] * s[3]]
        elif law == c.LINEAR:
            out += [g[0] - g[2:6].sum() - s[1]]
            out += [sign * mu * row[c.SLIP + k] + g[1] - s[2 + i] for i, (k, sign) in enumerate(SLIPS)]
            out += list(s[1:6] * g[1:6] - target)
        return out

    def left_over(self, target, e=1e-4):
        """What Newton's direction leaves of the residual, by differences along it; and the residual."""
        now = self.residual(target)
        self.do(AIM, target)
        self.do(KEEP)

        def across(e):
            ends = []
            for sign in (1.0, -1.0):
                self.do(MOVE, sign * e)
                ends.append(self.residual(target))
            return (ends[0] - ends[1]) / (2.0 * e)

        change = (4.0 * across(e) - across(2.0 * e)) / 3.0
        return now + change, now
