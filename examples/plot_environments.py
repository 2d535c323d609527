"""
The three environments
======================

One frame of each environment of the paper, in the middle of an episode. Every environment draws a
single state with ``render``, in NumPy alone; ``dard render`` makes films of the same pictures.
"""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np

from dard.envs import Draws, Environment, bouncing_balls, point_maze, reacher

Policy = Callable[[np.ndarray], np.ndarray]

# %%
# Three simple policies
# ---------------------
# A policy is a function from a batch of states to a batch of actions. The agent of Bouncing Balls
# accelerates towards its goal and brakes in time; the arm turns its joints to the angles at which
# the fingertip is at the goal; the sphere goes round the free end of the barrier.


def seek(state: np.ndarray) -> np.ndarray:
    goal, position, velocity = state[:, 24:26], state[:, 0:2], state[:, 12:14]
    return goal - position - 2 * velocity


def reach(state: np.ndarray) -> np.ndarray:
    joints, goal, velocity = np.split(state[:, :6], 3, axis=1)
    cosine = ((goal**2).sum(axis=1) - 0.1**2 - 0.11**2) / (2 * 0.1 * 0.11)
    elbow = np.arccos(np.clip(cosine, -1, 1))
    ahead = np.arctan2(0.11 * np.sin(elbow), 0.1 + 0.11 * np.cos(elbow))
    shoulder = np.arctan2(goal[:, 1], goal[:, 0]) - ahead
    return 0.5 * (np.stack([shoulder, elbow], axis=1) - joints) - 0.1 * velocity


def detour(state: np.ndarray) -> np.ndarray:
    below = state[:, 1:2] < 0.38
    waypoint = np.where(below, [0.5, 0.4], point_maze.ORIGINAL.target)
    return 4 * (waypoint - state[:, :2]) - 0.5 * state[:, 3:5]


# %%
# A moment of an episode
# ----------------------
# The functions of an environment draw nothing themselves: random numbers are passed in, as many
# for each row as ``reset_draws`` and ``step_draws`` say.


def after(world: Environment, policy: Policy, steps: int, seed: int) -> np.ndarray:
    """Return the state in which an episode is after some steps."""
    rng = np.random.default_rng(seed)

    def numbers(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
        return rng.random((1, draws.uniform)), rng.standard_normal((1, draws.normal))

    state = world.initial_state(*numbers(world.reset_draws))
    for _ in range(steps):
        state = world.transition(state, policy(state), *numbers(world.step_draws))
    return state[0]


moments = {
    "Bouncing Balls": (bouncing_balls.environment, after(bouncing_balls.environment, seek, 20, 6)),
    "Reacher": (reacher.environment, after(reacher.environment, reach, 3, 2)),
    "Point Maze": (point_maze.original, after(point_maze.original, detour, 8, 0)),
}

# %%
# Three pictures
# --------------

figure, axes = plt.subplots(1, 3, figsize=(9, 3.3), layout="constrained")
for axis, (name, (world, state)) in zip(axes, moments.items(), strict=True):
    axis.imshow(world.render(state, size=720))
    axis.set_title(name)
    axis.set_axis_off()
caption = "Agent, fingertip and sphere seek the orange targets; trails show how they move."
figure.supxlabel(caption, fontsize=10)

# %%
# - **Bouncing Balls**: the agent is blue, the other balls are grey. Within the outer ring of the
#   target it is rewarded, and moved elsewhere by the next step.
# - **Reacher**: both links turn under the torques of two motors. The fingertip is rewarded within
#   the ring; the thin circle is as far as the arm reaches.
# - **Point Maze**: two motors push the sphere, round the barrier and past its free end.
