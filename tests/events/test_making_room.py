"""People who make room for cars that turn round, which wait for them: neither waits for the other for good."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.simulation.advance import advance
from cbsim.world.events.tables import LINK, STEPS_BACK
from cbsim.world.traffic.tables import ABSENT, BODY, HIT, PHASE
from tests.traffic.test_blocked_roads import crowded

PATIENCE = 120.0  # [s]
KERB = 5.5  # [m] from the middle of the road
QUICK = {1, 2, 4}


def check_that_nobody_waits_for_good(seed: int, step: float) -> None:
    made = crowded(seed, step)
    snapshot, cars = made.start, made.traffic.road.car_rows[:, BODY]
    people = np.array([made[f"P{n}"].row for n in range(40)])
    bodies, first = np.concatenate([people, cars]), made.layout.bodies - made.layout.cars
    places, since = snapshot.columns.position[bodies, :2].copy(), np.zeros(len(bodies))
    for second in range(320):
        # people may touch each other
        assert not any(max(row[1], row[2]) >= first for row in advance(made, snapshot, round(1.0 / step))[2])
        now = snapshot.columns.position[bodies, :2]
        moved = np.hypot(*(now - places).T) > 0.5
        moved[: len(people)] |= np.abs(now[: len(people), 0]) > KERB
        moved[len(people) :] |= np.isin(snapshot.columns.intent[:, PHASE], (HIT, ABSENT))
        places[moved], since[moved] = now[moved], second
        assert np.all(second - since < PATIENCE)
    assert np.all(np.abs(snapshot.columns.position[people, 0]) > KERB)  # everybody has come across


@pytest.mark.parametrize("seed", sorted(QUICK))
def test_people_and_cars_that_turn_do_not_wait_for_each_other_for_good(seed):
    check_that_nobody_waits_for_good(seed, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.05, 0.1])
@pytest.mark.parametrize("seed", sorted(set(range(12)) - QUICK))
def test_people_and_cars_that_turn_do_not_wait_for_each_other_in_any_order(seed, step):
    check_that_nobody_waits_for_good(seed, step)


def test_a_run_from_any_moment_in_which_somebody_goes_back_has_the_same_bits():
    made = crowded(1, 0.1)
    snapshot, copies = made.start, []
    for _ in range(150):
        advance(made, snapshot, 10)
        copies.append(snapshot.copy())
    back = [k for k, copy in enumerate(copies) if np.any(copy.columns.guided[:, LINK] == STEPS_BACK)]
    assert len(back) > 3
    for number in back[:: max(len(back) // 4, 1)]:
        again = made.restore(copies[number].to_bytes())
        advance(made, again, 10 * (len(copies) - 1 - number))
        assert again.hash == copies[-1].hash
