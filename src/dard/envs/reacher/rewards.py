"""The paper's hand-written rewards of Reacher."""

from typing import Any

from dard.core import arrays
from dard.core.noise import standard_normal
from dard.envs.reacher.constants import CONSTANTS


def ground_truth(state: Any, action: Any, next_state: Any) -> Any:
    """Return GROUND TRUTH, ``1[d(s) < 0.05] - d(s) - |a|²``, with d the distance to the goal.

    It depends on the current state only. The action is the one that acts: clipped to ±1.
    """
    xp = arrays.namespace(state, action, next_state)
    distance = _distance(state)
    applied = xp.clip(action, -1.0, 1.0)
    near = xp.astype(distance < CONSTANTS.success_radius, distance.dtype)
    return near - distance - xp.sum(applied * applied, axis=-1)


def shaped(state: Any, action: Any, next_state: Any) -> Any:
    """Return SHAPED: GROUND TRUTH shaped by the potential 10 d, ``+ 10 (0.95 d(s') - d(s))``."""
    shaping = CONSTANTS.discount * _distance(next_state) - _distance(state)
    return ground_truth(state, action, next_state) + CONSTANTS.shaping_scale * shaping


def feasibility(state: Any, action: Any, next_state: Any) -> Any:
    """Return FEASIBILITY: SHAPED where the arm could get to the next state, noise elsewhere.

    The noise is standard normal and a function of the transition. See :func:`feasible`.
    """
    xp = arrays.namespace(state, action, next_state)
    reward = shaped(state, action, next_state)
    noise = standard_normal(CONSTANTS.noise_seed, state, action, next_state)
    return xp.where(feasible(state, next_state), reward, xp.astype(noise, reward.dtype))


def feasible(state: Any, next_state: Any) -> Any:
    """Return whether the next state might be reached within two transitions, with slack.

    DARD compares two successors of neighbouring states, its pairs (S', S''), which lie as far
    apart as three transitions can bring them; none of them may be refused. So: the goal stays,
    and both joints turn and speed up no more than full control allows in that time. The elbow's
    limit can stop the forearm and throw it back, which is allowed for wherever it is.
    """
    xp = arrays.namespace(state, next_state)
    time = CONSTANTS.reachable_steps * CONSTANTS.duration
    speed_gain = CONSTANTS.reachable_acceleration * time
    change = xp.abs(next_state - state)
    speed1, speed2 = xp.abs(state[..., 4]), xp.abs(state[..., 5])
    rotation = 0.5 * speed_gain * time
    return (
        xp.all(change[..., 2:4] <= CONSTANTS.goal_tolerance, axis=-1)
        & xp.all(change[..., 6:8] <= CONSTANTS.goal_tolerance, axis=-1)
        & (change[..., 0] <= speed1 * time + rotation)
        & (change[..., 1] <= speed2 * time + rotation)
        & (change[..., 4] <= speed_gain)
        & (change[..., 5] <= speed_gain + 2.0 * speed2)
    )


def _distance(state: Any) -> Any:
    xp = arrays.namespace(state)
    difference = state[..., 8:11]
    return xp.sqrt(xp.sum(difference * difference, axis=-1))
