"""Collection with JAX: whole shards of episodes, compiled once."""

from typing import Any

import numpy as np

from dard.core import random
from dard.data.rollout import (
    Draws,
    Episodes,
    Prepared,
    Rollout,
    Task,
    check_shape,
    step,
    uniform_action,
)


def jax_rollout(task: Task) -> Prepared:
    """Trace the episodes of a task, and return what compiles them.

    Every shard has the same shape, so there is one program, and threads share it. The environment
    and the policy raise here whatever they raise when they are traced.
    """
    import jax
    import jax.numpy as jnp

    environment, count = task.environment, task.episodes
    episode_key, policy_key = (
        random.library_stream(task.seed, purpose, 0, like=jnp.zeros(0))
        for purpose in ("episodes", "policy")
    )

    def shard(first: Any) -> tuple[Any, Any, Any]:
        numbers = first + jnp.arange(count, dtype=jnp.uint32)
        draws = _draw(jax, task, jax.vmap(jax.random.fold_in, (None, 0))(episode_key, numbers))
        acting = jax.random.fold_in(policy_key, first)

        def one_step(carry: tuple[Any, Any], now: tuple[Any, ...]) -> tuple[Any, Any]:
            (state, ended), (t, uniform, normal, action) = carry, now
            if task.policy is None:
                action = uniform_action(jnp, environment, action)
            else:
                action = task.policy.function(state, jax.random.fold_in(acting, t))
                action = check_shape(jnp.asarray(action), count, task.action_size)
            noise = uniform, normal
            following, action, over = step(jnp, environment, state, ended, action, noise)
            return (following, over), (following, action, ~ended)

        state = environment.initial_state(draws.reset_uniform, draws.reset_normal)
        state = state.astype(jnp.float32)
        steps = jnp.arange(environment.horizon), draws.uniform, draws.normal, draws.action
        start = state, jnp.zeros(count, bool)
        _, made = jax.lax.scan(one_step, start, steps)
        followings, actions, kept = (jnp.swapaxes(values, 0, 1) for values in made)
        return jnp.concatenate([state[:, None], followings], axis=1), actions, kept

    traced = jax.jit(shard).lower(np.uint32(0))

    def prepared() -> Rollout:
        program = traced.compile()
        return lambda first: Episodes(*map(np.asarray, program(np.uint32(first))))

    return prepared


def _draw(jax: Any, task: Task, keys: Any) -> Draws:
    """Draw for the episodes of `keys`; time comes first, as a scan wants it."""
    reset, each = task.environment.reset_draws, task.environment.step_draws
    horizon = task.environment.horizon
    parts = jax.vmap(lambda key: jax.random.split(key, 5))(keys)

    def numbers(kind: Any, part: int, *shape: int) -> Any:
        one = lambda key: kind(key, shape, np.float32)  # noqa: E731
        return jax.vmap(one, out_axes=len(shape) - 1)(parts[:, part])

    uniform, normal = jax.random.uniform, jax.random.normal
    return Draws(
        numbers(uniform, 0, reset.uniform),
        numbers(normal, 1, reset.normal),
        numbers(uniform, 2, horizon, each.uniform),
        numbers(normal, 3, horizon, each.normal),
        numbers(uniform, 4, horizon, task.action_draws),
    )
