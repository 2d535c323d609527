"""Bouncing Balls in miniature: the paper's dynamics, rewards and features, and nets near SHAPED.

An agent and five other balls move in a square arena with elastic walls; the agent is rewarded for
reaching a goal. A state holds all positions (agent first), all velocities, and the goal's position.
Nets are not trained: hidden layers are random and the last layer is a least-squares fit, which
takes a second and gives what benchmarks need, rewards of the real size, shape and cost.
"""

import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from array_api_compat import array_namespace

import dard
from dard.rewards import MlpReward, OnnxReward

BALLS, ARENA, STEP, RADIUS, DISCOUNT = 6, 60.0, 0.13, 2.0, 0.95
MOST_SPEED, STRONGEST, NOISE = 10.0, 5.0, 0.5
EPISODE = 400
WIDTH = 4 * BALLS + 2
POSITION, VELOCITY = slice(0, 2 * BALLS), slice(2 * BALLS, 4 * BALLS)
AGENT, OTHERS, GOAL = slice(0, 2), slice(2, 2 * BALLS), slice(4 * BALLS, WIDTH)
AGENT_VELOCITY = slice(2 * BALLS, 2 * BALLS + 2)
ACTIONS = dard.action_grid([-STRONGEST] * 2, [STRONGEST] * 2, 8)
# Size of random weights: with this, nets of 256 units are as near to SHAPED as learned ones.
GAIN = 0.3
FEATURE_WIDTHS = (4, 2, 4 + 2 * (BALLS - 1))

RewardFunction = Callable[[Any, Any, Any], Any]


def transition_model(state: Any, action: Any, rng: Any) -> Any:
    """Constant velocity, but for the agent's acceleration; speed clipped, walls reflect."""
    xp = array_namespace(state)
    velocity = xp.concat(
        [
            state[:, AGENT_VELOCITY] + STEP * action,
            state[:, AGENT_VELOCITY.stop : VELOCITY.stop],
        ],
        axis=1,
    )
    velocity = xp.clip(velocity, -MOST_SPEED, MOST_SPEED)
    position = state[:, POSITION] + STEP * velocity
    velocity = xp.where((position < 0) | (position > ARENA), -velocity, velocity)
    position = ARENA - xp.abs(ARENA - xp.abs(position))
    return xp.concat([position, velocity, state[:, GOAL]], axis=1)


def transitions(episodes: int, seed: int, *, eager: float = 0.0) -> dard.Transitions:
    """Simulate episodes of a policy: uniform actions, or towards the goal with chance `eager`.

    The transition that enters the goal is rewarded; the next one moves agent and goal elsewhere.
    """
    rng = np.random.default_rng(seed)
    state = np.concatenate(
        [
            rng.uniform(0, ARENA, (episodes, 2 * BALLS)),
            rng.uniform(-5, 5, (episodes, 2 * BALLS)),
            rng.uniform(0, ARENA, (episodes, 2)),
        ],
        axis=1,
    )
    states, actions = [state], []
    for _ in range(EPISODE):
        action = rng.uniform(-STRONGEST, STRONGEST, (episodes, 2))
        towards = rng.random(episodes) < eager
        action[towards] = _towards_goal(state[towards])
        following = transition_model(_disturbed(state, rng), action, None)
        reached = distance_to_goal(state) < RADIUS
        following[reached, AGENT] = rng.uniform(0, ARENA, (reached.sum(), 2))
        following[reached, GOAL] = rng.uniform(0, ARENA, (reached.sum(), 2))
        actions.append(action)
        states.append(following)
        state = following
    path = np.stack(states, axis=1).astype(np.float32)
    before, after = (x.reshape(-1, WIDTH) for x in (path[:, :-1], path[:, 1:]))
    taken = np.stack(actions, axis=1).astype(np.float32).reshape(-1, 2)
    return dard.Transitions(before, taken, after, np.repeat(np.arange(episodes), EPISODE))


def distance_to_goal(state: Any) -> Any:
    """Return the distance of the agent from the goal."""
    return np.hypot(state[:, 0] - state[:, GOAL.start], state[:, 1] - state[:, GOAL.start + 1])


def ground_truth(state: Any, action: Any, next_state: Any) -> Any:
    """1 for a next state in the goal."""
    return (distance_to_goal(next_state) < RADIUS).astype(np.float32)


def shaped(state: Any, action: Any, next_state: Any) -> Any:
    """GROUND TRUTH plus potential shaping with minus the root of the distance."""
    before, after = np.sqrt(distance_to_goal(state)), np.sqrt(distance_to_goal(next_state))
    return ground_truth(state, action, next_state) + before - DISCOUNT * after


def features(state: Any, action: Any, next_state: Any) -> tuple[Any, Any, Any]:
    """Return the paper's features and roots of distances: of the state, the action, the rest."""
    before, after = distance_to_goal(state), distance_to_goal(next_state)
    first, last = (np.empty((len(state), FEATURE_WIDTHS[k]), np.float32) for k in (0, 2))
    first[:, 0], first[:, 1], first[:, 2:] = before, np.sqrt(before), state[:, AGENT_VELOCITY]
    last[:, 0], last[:, 1], last[:, 2] = after, np.sqrt(after), before - after
    last[:, 3] = after < RADIUS
    np.square(next_state[:, OTHERS] - state[:, OTHERS], out=last[:, 4:])
    return first, action, last


def fitted_net(data: dard.Transitions, hidden: int, seed: int) -> RewardFunction:
    """Return a [hidden, hidden] tanh net on features, near SHAPED, evaluated by ONNX Runtime.

    Its random hidden layers, and the transitions that its last layer is fitted on, follow `seed`.
    """
    rng = np.random.default_rng(seed)
    rows = data[np.sort(rng.choice(len(data), min(len(data), 40_000), replace=False))]
    arguments = rows.state, rows.action, rows.next_state
    inputs = np.concatenate(features(*arguments), axis=1, dtype=np.float64)
    mean, std = inputs.mean(axis=0), inputs.std(axis=0)
    x, layers = (inputs - mean) / np.where(std > 0, std, 1), []
    for _ in range(2):
        weight = GAIN * rng.normal(size=(x.shape[1], hidden)) / np.sqrt(x.shape[1])
        layers.append((weight, rng.normal(size=hidden)))
        x = np.tanh(x @ weight + layers[-1][1])
    x = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    ridge = 1e-6 * len(x) * np.eye(hidden + 1)
    last = np.linalg.solve(x.T @ x + ridge, x.T @ shaped(*arguments))
    layers.append((last[:-1, None], last[-1:]))
    layers = [(w.astype(np.float32), b.astype(np.float32)) for w, b in layers]
    net = MlpReward(layers, "tanh", mean.astype(np.float32), std.astype(np.float32))
    session = in_onnx_runtime(net, FEATURE_WIDTHS)
    return lambda s, a, s2: session(*features(s, a, s2))


def in_onnx_runtime(net: MlpReward, widths: tuple[int, int, int]) -> OnnxReward:
    """Return the same net, evaluated by ONNX Runtime."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "net.onnx"
        net.to_onnx(file, widths=widths)
        return OnnxReward(file)


def random_net(hidden: int, seed: int) -> MlpReward:
    """Return a random [hidden, hidden] tanh net of state, action and next state."""
    rng = np.random.default_rng(seed)
    widths = (2 * WIDTH + 2, hidden, hidden, 1)
    layers = [
        ((rng.normal(size=(m, n)) / np.sqrt(m)).astype(np.float32), np.zeros(n, np.float32))
        for m, n in itertools.pairwise(widths)
    ]
    return MlpReward(layers)


def _disturbed(state: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Add the other balls' random accelerations to their velocities."""
    state = state.copy()
    others = state[:, AGENT_VELOCITY.stop : VELOCITY.stop]
    others += STEP * rng.normal(0, NOISE, others.shape)
    return state


def _towards_goal(state: np.ndarray) -> np.ndarray:
    """Return the acceleration of a plain controller, with damping."""
    gap = state[:, GOAL] - state[:, AGENT]
    return np.clip(0.8 * gap - 1.5 * state[:, AGENT_VELOCITY], -STRONGEST, STRONGEST)
