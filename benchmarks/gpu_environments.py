"""How fast environments are stepped on a GPU, compiled by JAX, random numbers included.

Sixteen steps in a call, under one random action for each environment. It needs NumPy, JAX and
array-api-compat only. Where JAX sees no GPU it measures nothing.
"""

from dataclasses import replace

import numpy as np
from environments import jitted_task
from harness import Row, Scale, interleaved, row

from dard.envs import ENVIRONMENTS, Environment

BATCHES: dict[Scale, tuple[int, ...]] = {
    "tiny": (8,),
    "small": (320, 100_000),
    "full": (320, 100_000, 1_000_000),
}
CALLS: dict[Scale, int] = {"tiny": 1, "small": 4, "full": 16}
REPETITIONS: dict[Scale, int] = {"tiny": 1, "small": 3, "full": 5}
STEPS = 16


def run(scale: Scale, seed: int, platform: str = "gpu") -> list[Row]:
    """Measure where JAX's default device is a `platform`."""
    import jax

    device = jax.devices()[0]
    if device.platform != platform:
        print("  gpu_environments: JAX sees no GPU here; measured nothing")
        return []
    return [
        _rate(environment, batch, scale, seed, device.device_kind)
        for environment in ENVIRONMENTS.values()
        for batch in BATCHES[scale]
    ]


def _rate(environment: Environment, batch: int, scale: Scale, seed: int, device: str) -> Row:
    rng, reset = np.random.default_rng(seed), environment.reset_draws
    start = environment.initial_state(
        rng.random((batch, reset.uniform)), rng.standard_normal((batch, reset.normal))
    )
    action = rng.uniform(environment.action_low, environment.action_high, (batch, 2))
    task = jitted_task(environment, start, action, CALLS[scale], STEPS)
    steps = task()
    seconds = interleaved(REPETITIONS[scale], task=task)["task"]
    found = row(f"{environment.name}, batch {batch:,}", steps / seconds / 1e6, "million steps/s")
    return replace(found, note=device)
