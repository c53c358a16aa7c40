"""Numbers of columns of the tables of agents; `cbsim.gym.agents` names and documents them."""

from __future__ import annotations

__all__: list[str] = []

# of measures
X, Y, HEADING, SPEED, YAW_RATE, ACCELERATION, STEERING, OFFSET, HEADING_ERROR, HALF_WIDTH, LIMIT = range(11)
STOP_DISTANCE, WAY_LEFT, PROGRESS, COLLIDED, OFF_LANE, RAN_STOP, MADE_STOP, ARRIVED = range(11, 19)
ALONG, ASIDE, JERK, JERK_ALONG, TURNING, TURNING_RATE = range(19, 25)
MEASURES = 25
# of places on routes: number of the lanelet, sample of its centreline, way to its begin, way to the agent, whether it
# has stood before the stop line at its end (2: is past it), speed after the last step of the environment
NUMBER, SAMPLE, BASE, WAY, STOOD, SPEED_BEFORE = range(6)
PLACES = 6
# of the history of motion that comfort is measured from: velocity east and north, yaw rate, direction
EAST, NORTH, RATE, AHEAD_EAST, AHEAD_NORTH = range(5)
HISTORY = 5
# of outcomes of a step
CONTACTS = 1
# of the numbers of a lanelet
WIDTH, LENGTH, SPEED_LIMIT, HAS_STOP = range(4)
# of samples of centrelines
SAMPLE_X, SAMPLE_Y, SAMPLE_HEADING, SAMPLE_STATION = range(4)
# of an observation
OWN, POINT, OBJECT, PIECE = 7, 3, 7, 7
