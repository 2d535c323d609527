"""The environments behind Gymnasium's interfaces; importing this module registers them.

>>> import gymnasium
>>> import dard.envs.gymnasium
>>> gymnasium.make("dard/Reacher-v0").action_space.shape
(2,)
>>> gymnasium.make_vec("dard/Reacher-v0", num_envs=320).action_space.shape
(320, 2)

Gymnasium 1 finds no environments of other packages by itself. Where an import is out of reach, as
in a configuration file, ``"dard.envs.gymnasium:dard/Reacher-v0"`` names the module too.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.callables import bind_reward
from dard.core.errors import ConfigurationError, MissingExtraError, RewardError
from dard.core.placement import read_only
from dard.core.protocols import Reward
from dard.core.random import stream
from dard.core.transitions import Transitions
from dard.envs import ENVIRONMENTS
from dard.envs.environment import Environment
from dard.envs.simulation import Simulation, within_bounds
from dard.envs.window import Window

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode, VectorEnv
except ImportError as missing:
    raise MissingExtraError("gymnasium", "envs", "dard.envs.gymnasium") from missing

FRAMES_PER_SECOND = 20
_PROBES = 32

RewardFunction = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class DardEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """One copy of an environment.

    Observations are what the paper's policies see, scaled, in float64. ``info["state"]`` is the
    state that rewards and transition models take: after a step, the true next state. Actions
    outside the bounds are clipped, before the reward sees them too.

    Made by ``gymnasium.make``, episodes are truncated by its ``max_episode_steps``, which is the
    horizon unless you say otherwise; made directly, they are truncated at the horizon. Only
    Reacher terminates earlier: when a joint turns too fast to be trusted.

    Parameters
    ----------
    environment : Environment or str
        Or its name on the command line, e.g. ``"reacher"``.
    reward : str or callable, optional
        ``"GT"``, ``"SHAPED"`` or ``"FEASIBILITY"``, or any reward ``(state, action, next_state)
        -> values`` that `dard.compare` would take, such as a learned one.
    render_mode : {"rgb_array", "human"}, optional
        ``"human"`` opens a window, and shows 20 steps in a second.
    size : int, optional
        Width and height of frames in pixels.

    Notes
    -----
    ``reset(seed=s)`` begins the stream of copy 0 with seed s: episodes are those of copy 0 in a
    `DardVectorEnv` with that seed.
    """

    metadata = {  # noqa: RUF012 (as Gymnasium declares it)
        "render_modes": ["rgb_array", "human"],
        "render_fps": FRAMES_PER_SECOND,
    }

    def __init__(
        self,
        environment: Environment | str,
        reward: str | Reward = "GT",
        render_mode: str | None = None,
        size: int = 480,
    ) -> None:
        self.environment = _environment(environment)
        self.render_mode = _render_mode(render_mode, self.metadata["render_modes"])
        self.observation_space, self.action_space = _spaces(self.environment)
        self._reward = _reward_function(self.environment, reward)
        self._size = size
        self._simulation: Simulation | None = None
        self._window: Window | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode, and with `seed` a new stream of random numbers."""
        super().reset(seed=seed)
        _refuse(options)
        if seed is None and self._simulation is not None:
            self._simulation.restart(np.array([0]))
        else:
            key = int(self.np_random.integers(2**63)) if seed is None else seed
            self._simulation = Simulation(self.environment, key)
        self._show()
        return self._observe(self._simulation)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Move one step."""
        simulation = _begun(self._simulation)
        clipped = within_bounds(self.environment, action)
        before = simulation.state
        simulation.advance(clipped)
        reward = self._reward(before, clipped, simulation.state)
        terminated = bool(self.environment.terminated(simulation.state)[0])
        # Within `gymnasium.make`, a wrapper counts.
        limit = self.spec is None and int(simulation.steps[0]) >= self.environment.horizon
        self._show()
        observation, info = self._observe(simulation)
        return observation, float(reward[0]), terminated, limit, info

    def render(self) -> np.ndarray | None:
        """Return a frame, shape (size, size, 3); None where a window shows it already."""
        if self.render_mode != "rgb_array":
            return None
        return self._frame()

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()

    def _observe(self, simulation: Simulation) -> tuple[np.ndarray, dict[str, Any]]:
        state = simulation.state
        return self.environment.observation(state)[0].copy(), {"state": state[0].copy()}

    def _frame(self) -> np.ndarray:
        return self.environment.render(_begun(self._simulation).state[0], self._size)

    def _show(self) -> None:
        if self.render_mode == "human":
            if self._window is None:
                self._window = Window(self.environment.name, FRAMES_PER_SECOND)
            self._window.show(self._frame())


class DardVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """Many copies of an environment, stepped together by one call of its batched functions.

    Observations, actions and rewards are those of `DardEnv`. Copies reset in the step that ends
    their episode (``AutoresetMode.SAME_STEP``): where ``terminations | truncations``, the
    observation and ``info["state"]`` belong to the next episode already, and

    - ``info["final_obs"][i]`` is the last observation of the episode (an array of objects, None
      in copies that go on; ``info["_final_obs"]`` says which end, as Gymnasium has it);
    - ``info["final_state"][i]`` is the true next state (NaN in copies that go on).

    So a transition's next state is ``info["final_state"]`` where an episode ends, and
    ``info["state"]`` elsewhere.

    Parameters
    ----------
    environment : Environment or str
        Or its name on the command line, e.g. ``"reacher"``.
    num_envs : int, optional
    reward : str or callable, optional
        As for `DardEnv`.
    max_episode_steps : int, optional
        Steps after which an episode is truncated; by default the horizon.
    render_mode : "rgb_array", optional
    size : int, optional
        Width and height of frames in pixels.

    Notes
    -----
    After ``reset(seed=s)``, copy i is a function of (s, i) and of the actions that it gets: not of
    `num_envs`, and not of the others.
    """

    metadata = {  # noqa: RUF012 (as Gymnasium declares it)
        "render_modes": ["rgb_array"],
        "render_fps": FRAMES_PER_SECOND,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        environment: Environment | str,
        num_envs: int = 1,
        reward: str | Reward = "GT",
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        size: int = 480,
    ) -> None:
        self.environment = _environment(environment)
        self.num_envs = _at_least_one("num_envs", num_envs)
        limit = self.environment.horizon if max_episode_steps is None else max_episode_steps
        self._limit = _at_least_one("max_episode_steps", limit)
        self.render_mode = _render_mode(render_mode, self.metadata["render_modes"])
        observations, actions = _spaces(self.environment)
        self.single_observation_space, self.single_action_space = observations, actions
        self.observation_space = gymnasium.vector.utils.batch_space(observations, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(actions, num_envs)
        self._reward = _reward_function(self.environment, reward)
        self._size = size
        self._simulation: Simulation | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode in every copy, and with `seed` new streams of random numbers."""
        super().reset(seed=seed)
        _refuse(options)
        if seed is None and self._simulation is not None:
            self._simulation.restart(np.arange(self.num_envs))
        else:
            key = int(self.np_random.integers(2**63)) if seed is None else seed
            self._simulation = Simulation(self.environment, key, self.num_envs)
        state = self._simulation.state
        return np.array(self.environment.observation(state)), {"state": state.copy()}

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Move all copies one step, and begin new episodes where that ended one."""
        simulation = _begun(self._simulation)
        clipped = within_bounds(self.environment, actions, self.num_envs)
        before = simulation.state
        simulation.advance(clipped)
        after = simulation.state
        reward = self._reward(before, clipped, after)
        terminated = np.array(self.environment.terminated(after))
        truncated = simulation.steps >= self._limit
        observation = np.array(self.environment.observation(after))
        info: dict[str, Any] = {}
        ended = terminated | truncated
        if ended.any():
            rows = np.flatnonzero(ended)
            info = _final(observation, after, ended, rows)
            simulation.restart(rows)
            observation[rows] = self.environment.observation(simulation.state[rows])
        info["state"] = simulation.state.copy()
        return observation, reward, terminated, truncated, info

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return a frame of each copy, where `render_mode` is ``"rgb_array"``."""
        if self.render_mode is None:
            return None
        states = _begun(self._simulation).state
        return tuple(self.environment.render(state, self._size) for state in states)


def _final(
    observation: np.ndarray, state: np.ndarray, ended: np.ndarray, rows: np.ndarray
) -> dict[str, Any]:
    """Return what info says of episodes that end."""
    last = np.full(len(ended), None, dtype=object)
    for row in rows:
        last[row] = observation[row].copy()
    final_state = np.where(ended[:, None], state, np.nan)
    return {
        "final_obs": last,
        "_final_obs": ended,
        "final_state": final_state,
        "_final_state": ended.copy(),
    }


def _environment(environment: Environment | str) -> Environment:
    if isinstance(environment, Environment):
        return environment
    if environment not in ENVIRONMENTS:
        raise ConfigurationError(
            f"environment is {environment!r}; expected one of {', '.join(ENVIRONMENTS)}"
        )
    return ENVIRONMENTS[environment]


def _spaces(environment: Environment) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    low, high = np.array(environment.action_low), np.array(environment.action_high)
    shape = (environment.observation_size,)
    return (
        gymnasium.spaces.Box(-np.inf, np.inf, shape, np.float64),
        gymnasium.spaces.Box(low, high, dtype=np.float64),
    )


def _reward_function(environment: Environment, reward: str | Reward) -> RewardFunction:
    """Return the reward by its name, or a given one checked and in the library that it needs."""
    if isinstance(reward, str):
        if reward not in environment.rewards:
            raise ConfigurationError(
                f"reward is {reward!r}; expected one of {', '.join(environment.rewards)}, or a "
                "callable (state, action, next_state) -> values"
            )
        return environment.rewards[reward]
    bound = bind_reward("reward", reward, _probe(environment))

    def values(state: np.ndarray, action: np.ndarray, next_state: np.ndarray) -> np.ndarray:
        inputs = (read_only(bound.placement.put(x)) for x in (state, action, next_state))
        found = arrays.to_numpy(bound(*inputs)).astype(np.float64)
        if not np.isfinite(found).all():
            raise RewardError("the reward returned NaN or an infinite value")
        return found

    return values


def _probe(environment: Environment) -> Transitions:
    simulation = Simulation(environment, 0, _PROBES)
    rng = stream(0, "probe")
    shape = (_PROBES, environment.action_size)
    action = rng.uniform(environment.action_low, environment.action_high, shape)
    state = simulation.state
    simulation.advance(action)
    return Transitions(state, action, simulation.state)


def _begun(simulation: Simulation | None) -> Simulation:
    if simulation is None:
        raise gymnasium.error.ResetNeeded("there is no episode yet: call reset() first")
    return simulation


def _refuse(options: dict[str, Any] | None) -> None:
    if options:
        raise ConfigurationError(f"reset takes no options here, but got {', '.join(options)}")


def _render_mode(mode: str | None, known: list[str]) -> str | None:
    if mode is not None and mode not in known:
        raise ConfigurationError(f"render_mode is {mode!r}; expected None, {' or '.join(known)}")
    return mode


def _at_least_one(what: str, number: int) -> int:
    if not isinstance(number, int | np.integer) or number < 1:
        raise ConfigurationError(f"{what} is {number!r}; expected a whole number of at least 1")
    return int(number)


_NAMES = {
    "BouncingBalls": "bouncing-balls",
    "Reacher": "reacher",
    "PointMaze": "point-maze",
    "PointMazeLargeStep": "point-maze-large-step",
}
for _name, _key in _NAMES.items():
    gymnasium.register(
        f"dard/{_name}-v0",
        entry_point=f"{__name__}:DardEnv",
        vector_entry_point=f"{__name__}:DardVectorEnv",
        max_episode_steps=ENVIRONMENTS[_key].horizon,
        kwargs={"environment": _key},
    )
