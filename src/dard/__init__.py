"""Compare reward functions without training a policy."""

from dard import tabular
from dard.core.actions import action_grid
from dard.core.errors import DardError, DardWarning
from dard.core.transitions import Transitions
from dard.data import load_transitions, save_transitions
from dard.metrics.compare import Comparison, compare
from dard.metrics.dard import DARD
from dard.metrics.epic import EPIC
from dard.metrics.estimate import Estimate, distance
from dard.metrics.pearson import Pearson
from dard.rewards import load_reward

__version__ = "0.1.0"

__all__ = [
    "DARD",
    "EPIC",
    "Comparison",
    "DardError",
    "DardWarning",
    "Estimate",
    "Pearson",
    "Transitions",
    "action_grid",
    "compare",
    "distance",
    "load_reward",
    "load_transitions",
    "save_transitions",
    "tabular",
]
