"""What DARD needs: the maze itself as transition model, and a grid of actions."""

from typing import Any

from dard.core.actions import action_grid
from dard.envs.point_maze.constants import ORIGINAL, PointMazeConstants
from dard.envs.point_maze.dynamics import transition


def transition_model(
    state: Any, action: Any, rng: Any, constants: PointMazeConstants = ORIGINAL
) -> Any:
    """Return the next states; the maze is deterministic, and ignores the generator."""
    return transition(state, action, None, None, constants)


actions = action_grid((-1.0, -1.0), (1.0, 1.0), ORIGINAL.actions_per_dimension)
actions.flags.writeable = False
