"""The transition model and the action distribution that DARD uses in Reacher."""

from typing import Any

import numpy as np

from dard.envs.reacher.constants import CONSTANTS
from dard.envs.reacher.dynamics import simulate


def transition_model(state: Any, action: Any, rng: Any) -> Any:
    """Return the next states: the arm itself, which is deterministic. `rng` is not used."""
    return simulate(state, action, CONSTANTS.frame_skip)


def _action_grid() -> np.ndarray:
    points = np.linspace(-1.0, 1.0, CONSTANTS.actions_per_dimension)
    grid = np.stack(np.meshgrid(points, points, indexing="ij"), axis=-1).reshape(-1, 2)
    grid.flags.writeable = False
    return grid


actions = _action_grid()
