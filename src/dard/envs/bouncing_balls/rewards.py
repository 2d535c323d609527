"""The hand-written rewards: GROUND TRUTH, SHAPED and FEASIBILITY."""

from typing import Any

from dard.core import arrays
from dard.core.noise import standard_normal
from dard.envs.bouncing_balls.constants import CONSTANTS
from dard.envs.bouncing_balls.state import (
    OTHER_POSITIONS,
    POSITIONS,
    at_goal,
    goal,
    goal_distance,
)


def ground_truth(state: Any, action: Any, next_state: Any) -> Any:
    """Return 1 where the agent is at its goal in ``s'``, unless it was relocated there; else 0.

    The reward is for the transition that reaches the goal. The next transition relocates, and
    its random places may lie within the goal radius of each other: those are not earned. A
    relocation shows in the transition itself: the agent was at its goal in ``s``, and the goal has
    moved. Where the goal has not moved the transition was made by a model, which relocates
    nothing, and an agent that is still at its goal is rewarded, as in any other transition.

    Anywhere else this is a function of ``s'`` alone, as in the paper, also on the pairs of
    unrelated states that EPIC asks about.
    """
    xp = arrays.namespace(state, next_state)
    relocated = at_goal(state) & ~_same_goal(state, next_state)
    return xp.astype(at_goal(next_state) & ~relocated, state.dtype)


def shaped(state: Any, action: Any, next_state: Any) -> Any:
    r"""Return the ground truth with potential shaping that points to the goal.

    .. math::
        R(s, a, s') + \gamma \Phi(s') - \Phi(s), \qquad \Phi(s) = -\sqrt{d(s)}

    where d is the distance of the agent to the goal (section 5.1 of the paper).
    """
    xp = arrays.namespace(state, next_state)
    before, after = (xp.sqrt(goal_distance(s)) for s in (state, next_state))
    return ground_truth(state, action, next_state) + (before - CONSTANTS.discount * after)


def feasibility(state: Any, action: Any, next_state: Any, seed: int = 0) -> Any:
    """Return the shaped reward of transitions that can happen, and noise for all others.

    The noise is standard normal, and a function of the transition and of `seed` (section 5.1 of
    the paper). See `feasible` for what can happen.
    """
    xp = arrays.namespace(state, next_state)
    noise = standard_normal(seed, state, action, next_state)
    possible = feasible(state, next_state)
    return xp.where(possible, shaped(state, action, next_state), noise)


def feasible(state: Any, next_state: Any) -> Any:
    """Return whether the dynamics could lead from ``s`` to ``s'`` within two steps, with slack.

    One step would be enough for the data and for successors of its states. The last term of DARD
    asks about the pair of a successor S' of ``s`` and a successor S'' of ``s'``, where ``s'`` is
    itself one step from ``s``: two states that are up to two steps apart.

    The other balls must lie within that reach. So must the agent, and the goal must be where it
    was, unless a relocation may lie between: it does when ``s`` is at its goal, and in the pair
    (S', S'') when ``s`` was, which S' may have left by a step. So near the goal the agent and the
    goal may jump. Velocities are not judged.

    Returns
    -------
    boolean array, shape (n,)
    """
    xp = arrays.namespace(state, next_state)
    reach = CONSTANTS.feasible_steps * CONSTANTS.max_speed * CONSTANTS.time_step
    near = xp.abs(next_state[..., POSITIONS] - state[..., POSITIONS]) <= reach
    others, agent = xp.all(near[..., OTHER_POSITIONS], axis=-1), xp.all(near[..., :2], axis=-1)
    may_relocate = goal_distance(state) < CONSTANTS.goal_radius + reach
    return others & (may_relocate | (agent & _same_goal(state, next_state)))


def _same_goal(state: Any, next_state: Any) -> Any:
    return arrays.namespace(state, next_state).all(goal(state) == goal(next_state), axis=-1)
