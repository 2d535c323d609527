"""
Five rewards, three metrics
===========================

A parking robot, its true reward, and four others that somebody might have written or learned. The
three metrics disagree about them, and each disagreement says something.
"""

import matplotlib.pyplot as plt
import numpy as np

import dard

DISCOUNT = 0.95
SPOT = np.array([0.4, -0.2])

# %%
# The robot and the rewards
# -------------------------
# The state is the position, the action a displacement, and walls keep the robot in the square.


def move(state: np.ndarray, action: np.ndarray, rng: object = None) -> np.ndarray:
    return np.clip(state + 0.25 * action, -1, 1)


def to_spot(state: np.ndarray) -> np.ndarray:
    return np.linalg.norm(state - SPOT, axis=1)


def true(state: np.ndarray, action: np.ndarray, next_state: np.ndarray) -> np.ndarray:
    """1 within reach of the spot."""
    return (to_spot(next_state) < 0.3).astype(float)


def shaped(state: np.ndarray, action: np.ndarray, next_state: np.ndarray) -> np.ndarray:
    """The true reward, with potential shaping: progress pays as well."""
    progress = to_spot(state) - DISCOUNT * to_spot(next_state)
    return true(state, action, next_state) + 3 * progress


def learned(state: np.ndarray, action: np.ndarray, next_state: np.ndarray) -> np.ndarray:
    """Shaped, for jumps of up to three steps; nonsense for any that nobody ever recorded."""
    jump = abs(next_state - state).max(axis=1)
    nonsense = 20 * np.sin(5 * state[:, 0]) * np.cos(4 * state[:, 1])
    return np.where(jump < 0.76, shaped(state, action, next_state), nonsense)


def timid(state: np.ndarray, action: np.ndarray, next_state: np.ndarray) -> np.ndarray:
    """The true reward, less the cost of effort."""
    return true(state, action, next_state) - 0.3 * (action**2).sum(axis=1)


def opposite(state: np.ndarray, action: np.ndarray, next_state: np.ndarray) -> np.ndarray:
    return -true(state, action, next_state)


# %%
# Compare them
# ------------
# Each reward is evaluated once for each metric. The transitions are those of a robot that drives
# about at random, and are held in episodes, so that the standard errors are right.

rng = np.random.default_rng(0)
actions = rng.uniform(-1, 1, (60, 100, 2))
path = [rng.uniform(-1, 1, (100, 2))]
for action in actions:
    path.append(move(path[-1], action))
state, next_state = np.stack(path[:-1]), np.stack(path[1:])
data = dard.Transitions(
    *(column.swapaxes(0, 1).reshape(-1, 2) for column in (state, actions, next_state)),
    episode=np.repeat(np.arange(100), 60),
)

rewards = {f.__name__: f for f in (true, shaped, learned, timid, opposite)}
metrics = {
    "DARD": dard.DARD(move, dard.action_grid([-1, -1], [1, 1], 8), DISCOUNT),
    "EPIC": dard.EPIC(DISCOUNT),
    "Pearson": dard.Pearson(),
}
comparison = dard.compare(rewards, data, metrics, seed=0)
print(comparison)

# %%
# See them
# --------
# Distances from the true reward, with their 95 % intervals. (``comparison.plot()`` draws heatmaps
# of all pairs.)

figure, axis = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
others = list(rewards)[1:]
looks = {"DARD": ("o", "#0072b2"), "EPIC": ("s", "#e69f00"), "Pearson": ("D", "#009e73")}
for place, (name, (marker, colour)) in enumerate(looks.items()):
    found = [comparison[name].estimate("true", other) for other in others]
    value = np.array([float(estimate) for estimate in found])
    error = abs(np.array([estimate.interval() for estimate in found]) - value[:, None]).T
    height = np.arange(len(others)) + 0.2 * (place - 1)
    axis.errorbar(value, height, xerr=error, fmt=marker, color=colour, capsize=3, label=name)
axis.set(xlim=(-0.03, 1.03), xlabel="distance from the true reward")
axis.set_yticks(range(len(others)), others)
axis.invert_yaxis()
axis.grid(axis="x", linewidth=0.4)
axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)

# %%
# - *shaped* is *true* for DARD and EPIC, and far from it for Pearson.
# - *learned* is *true* for DARD, and far from it for EPIC, which asked about jumps across the
#   square. No policy makes those, so DARD's answer is the one that predicts how policies do.
# - *timid* is further from *true* for DARD than for Pearson: DARD looks at what an action earns
#   compared with other actions nearby, and effort matters more on that scale.
# - *opposite* is at distance 1 from *true* in all three.
