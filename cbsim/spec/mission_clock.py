"""The clock of a mission: when it starts, when it is paused, and where it begins anew.

The mission is given at 0 s. RUN comes after a delay, and 5 s later the mission starts: until then an alarm warns of
vehicles that are about to move (DARPA, *Urban Challenge Rules* and *Technical Evaluation Criteria*, A.1).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cbsim.errors import Location
from cbsim.spec.events import Condition

__all__ = ["ALARM", "LATEST_RUN", "MissionClock", "Pause"]

ALARM = 5.0  # [s] from RUN until vehicles may move
LATEST_RUN = 295.0  # [s] vehicles have to move within five minutes of the mission


@dataclass(frozen=True, slots=True)
class Pause:
    """An E-stop PAUSE, from a condition on.

    Attributes
    ----------
    when : Condition
        What it begins with.
    duration : float or None
        Until RUN [s]; None leaves RUN to an event of the scenario.
    """

    when: Condition
    duration: float | None = None
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class MissionClock:
    """Run states of a mission.

    Attributes
    ----------
    delay : float or None
        Time of RUN [s], with an alarm; None for RUN from the start, without one.
    pauses : tuple of Pause
    restart : bool
        Whether the first bot is set to the lane of the next checkpoint where no way leads there.
    """

    delay: float | None = None
    pauses: tuple[Pause, ...] = ()
    restart: bool = False
    location: Location = field(default=Location(""), compare=False)
