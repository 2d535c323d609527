"""What DARD needs: the maze itself as transition model, and a grid of actions."""

from typing import Any

import numpy as np

from dard.envs.point_maze.constants import ORIGINAL, PointMazeConstants
from dard.envs.point_maze.dynamics import transition


def transition_model(
    state: Any, action: Any, rng: Any, constants: PointMazeConstants = ORIGINAL
) -> Any:
    """Return the next states; the maze is deterministic, and ignores the generator."""
    return transition(state, action, None, None, constants)


def _grid(per_dimension: int) -> np.ndarray:
    axis = np.linspace(-1.0, 1.0, per_dimension)
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)


actions = _grid(ORIGINAL.actions_per_dimension)
actions.flags.writeable = False
