"""The public face as type checkers see it; at run time it is resolved lazily."""

from cbsim import errors as errors
from cbsim import multibody as multibody
from cbsim.evaluation.judge import judge as judge
from cbsim.evaluation.metrics import metrics as metrics
from cbsim.evaluation.outcome import execute as execute
from cbsim.evaluation.replay import replay as replay
from cbsim.formats import write as write
from cbsim.loading.load import load as load
from cbsim.models import read as read
from cbsim.recording.recording import Recording as Recording
from cbsim.sensing import sense as sense
from cbsim.simulation.loop import run as run
from cbsim.simulation.loop import step as step
from cbsim.simulation.steering import steer as steer
from cbsim.spec.command import Command as Command
from cbsim.spec.command import Observation as Observation
from cbsim.world.forks import fork as fork
from cbsim.world.snapshot import Snapshot as Snapshot
from cbsim.world.world import World as World

__version__: str
__all__: list[str]
