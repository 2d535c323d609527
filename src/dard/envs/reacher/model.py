"""The transition model and the action distribution that DARD uses in Reacher."""

from typing import Any

from dard.core.actions import action_grid
from dard.envs.reacher.constants import CONSTANTS
from dard.envs.reacher.dynamics import simulate


def transition_model(state: Any, action: Any, rng: Any) -> Any:
    """Return the next states: the arm itself, which is deterministic. `rng` is not used."""
    return simulate(state, action, CONSTANTS.frame_skip)


actions = action_grid((-1.0, -1.0), (1.0, 1.0), CONSTANTS.actions_per_dimension)
actions.flags.writeable = False
