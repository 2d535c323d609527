"""The states of episodes, one after the other."""

from collections.abc import Callable, Iterator

import numpy as np

from dard.core.errors import ConfigurationError
from dard.core.placement import Placement
from dard.core.random import stream
from dard.data.policy import Policy, bind_policy
from dard.envs.environment import Environment
from dard.envs.simulation import Simulation, within_bounds


def acting(
    policy: Policy | str, environment: Environment, seed: int
) -> Callable[[np.ndarray, int], np.ndarray]:
    """Return the function of a state, shape (1, n), and the number of its step, that acts."""
    bound = bind_policy(policy, Simulation(environment, seed, count=2).state)
    if bound is None:
        rng = stream(seed, "render policy")
        low, high = environment.action_low, environment.action_high
        return lambda state, number: rng.uniform(low, high)[None]

    def act(state: np.ndarray, number: int) -> np.ndarray:
        action = bound([state], Placement("numpy"), (seed, "render policy", number))
        try:
            return within_bounds(environment, action, 1)
        except ConfigurationError as error:
            raise ConfigurationError(f"the policy's {error}") from error

    return act


def states_of(
    environment: Environment,
    act: Callable[[np.ndarray, int], np.ndarray],
    episodes: int,
    steps: int | None,
    seed: int,
) -> Iterator[np.ndarray]:
    """Yield the states of episodes one after the other, each from its first to its last."""
    simulation = Simulation(environment, seed)
    number = 0
    for episode in range(episodes):
        if number == steps:
            return
        if episode:
            simulation.restart(np.array([0]))
        yield simulation.state[0]
        while number != steps and simulation.steps[0] < environment.horizon:
            simulation.advance(act(simulation.state, number))
            number += 1
            yield simulation.state[0]
            if environment.terminated(simulation.state)[0]:
                break
