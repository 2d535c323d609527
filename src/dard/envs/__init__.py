"""The environments of the paper, as pure and batched functions."""

from dard.envs import bouncing_balls, point_maze, reacher
from dard.envs.environment import Draws, Environment

ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        bouncing_balls.environment,
        reacher.environment,
        point_maze.original,
        point_maze.large_step,
    )
}
"""Every environment by its name on the command line."""

__all__ = ["ENVIRONMENTS", "Draws", "Environment", "bouncing_balls", "point_maze", "reacher"]
