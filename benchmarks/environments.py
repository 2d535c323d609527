"""How fast environments are stepped, and how fast a data set is there.

Steps per second, each with the random numbers that it consumes, under one random action for each
environment: compiled by JAX (float32; on whatever device JAX has), with one step in a call or 16,
whichever is faster; and in NumPy (float64). Beside the arm of Reacher, in turn with it, the same
physics in MuJoCo: `mujoco.rollout` on a thread for each core, bare, with the same batch; and
`gymnasium.make("Reacher-v5", frame_skip=5)` behind Gymnasium's vector environments, AsyncVectorEnv
with eight processes for each core. They cannot be made for 100,000, so the larger batch is compared
with their speed at the smaller one.

Collection is the whole command, from the shell's prompt to the finished store: start of Python,
imports, compilation, simulation, checksums, and the bytes on the disk.
"""

import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from harness import Row, Scale, interleaved, row

from dard.envs import ENVIRONMENTS, Environment

CORES = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
# Millions of steps per second.
TARGETS = {"bouncing-balls": (3.0, 1.0), "reacher": (2.0, 0.25), "point-maze": (None, None)}
RIVALS = {"mujoco.rollout": 40.0, "SyncVectorEnv": 100.0, "AsyncVectorEnv": 100.0}
COLLECT_SECONDS = 30.0
FRAME_SKIP = 5
STEPS_IN_A_CALL = (1, 16)

Task = Callable[[], int]
"""Steps many environments, and returns how many steps that were."""


@dataclass(frozen=True)
class Setting:
    """What is stepped.

    Attributes
    ----------
    batches : tuple of int
    rows, simulated, vectored : int
        Steps in a repetition: ours, of `mujoco.rollout`, and of Gymnasium's vectors.
    vector, processes : int
        Environments in a SyncVectorEnv and in an AsyncVectorEnv.
    collected : int
        Transitions.
    engine : str
    repetitions : int
    """

    batches: tuple[int, ...]
    rows: int
    simulated: int
    vectored: int
    vector: int
    processes: int
    collected: int
    engine: str
    repetitions: int


SETTINGS: dict[Scale, Setting] = {
    "tiny": Setting((16,), 32, 32, 4, 2, 2, 500, "numpy", 1),
    "small": Setting((320, 100_000), 200_000, 20_000, 1_000, 16, 2, 400_000, "auto", 3),
    "full": Setting(
        (320, 100_000), 1_000_000, 100_000, 5_000, 320, 8 * CORES, 4_000_000, "auto", 5
    ),
}


def run(scale: Scale, seed: int) -> list[Row]:
    """Measure."""
    setting = SETTINGS[scale]
    rows: list[Row] = []
    with ExitStack() as opened:
        vectors = _gymnasium_tasks(setting, seed, opened)
        for name, targets in TARGETS.items():
            for batch in setting.batches:
                tasks = _tasks(ENVIRONMENTS[name], batch, setting.rows, seed)
                if name == "reacher":
                    tasks["mujoco.rollout"] = _rollout_task(batch, setting.simulated, seed)
                    tasks |= vectors
                rows += _compared(f"{name}, batch {batch:,}", tasks, targets, setting)
    return [*rows, _collection(setting, scale, seed)]


def _compared(
    what: str,
    tasks: Mapping[str, Task],
    targets: tuple[float | None, float | None],
    setting: Setting,
) -> list[Row]:
    """Time tasks in turn; rows of their rates, and of what the compiled one has over the others."""
    steps = {name: task() for name, task in tasks.items()}  # compiles, and starts threads
    seconds = interleaved(setting.repetitions, **tasks)
    rates = {name: steps[name] / seconds[name] / 1e6 for name in tasks}
    ways = {steps: rates.pop(f"jitted {steps}") for steps in STEPS_IN_A_CALL}
    best = max(ways, key=lambda steps: float(np.median(ways[steps])))
    rows = [
        _row(f"{what}, jitted", ways[best], "million steps/s", targets[0], f"{best} in a call"),
        _row(f"{what}, NumPy", rates.pop("NumPy"), "million steps/s", targets[1]),
    ]
    for name, rate in rates.items():
        rows.append(_row(f"{what}, {name}", rate, "million steps/s"))
        rows.append(_row(f"{what}, jitted over {name}", ways[best] / rate, "times", RIVALS[name]))
    return rows


def _row(
    what: str, samples: np.ndarray, unit: str, target: float | None = None, note: str = ""
) -> Row:
    return replace(row(what, samples, unit, target, note=note), at_least=True)


def _tasks(environment: Environment, batch: int, rows: int, seed: int) -> dict[str, Task]:
    """Return how NumPy and JAX step `batch` environments about `rows` times in all."""
    reset, each = environment.reset_draws, environment.step_draws
    rng = np.random.default_rng(seed)
    draws = rng.random((batch, reset.uniform)), rng.standard_normal((batch, reset.normal))
    start = environment.initial_state(*draws)
    action = rng.uniform(environment.action_low, environment.action_high, (batch, 2))
    times = max(1, rows // batch)

    def numpy() -> int:
        state = start
        for _ in range(times):
            uniform = rng.random((batch, each.uniform))
            normal = rng.standard_normal((batch, each.normal))
            state = environment.transition(state, action, uniform, normal)
        return times * batch

    jitted = {
        f"jitted {steps}": jitted_task(environment, start, action, max(1, times // steps), steps)
        for steps in STEPS_IN_A_CALL
    }
    return {**jitted, "NumPy": numpy}


def jitted_task(
    environment: Environment, start: np.ndarray, action: np.ndarray, calls: int, steps: int
) -> Task:
    """Return the compiled environment, with so many steps in a call."""
    import jax

    each, batch = environment.step_draws, len(start)

    def one(state: Any, action: Any, key: Any) -> Any:
        uniform = jax.random.uniform(jax.random.fold_in(key, 0), (batch, each.uniform))
        normal = jax.random.normal(jax.random.fold_in(key, 1), (batch, each.normal))
        return environment.transition(state, action, uniform, normal)

    @jax.jit
    def several(state: Any, action: Any, key: Any) -> tuple[Any, Any]:
        keys = jax.random.split(key, steps + 1)
        state, _ = jax.lax.scan(lambda s, k: (one(s, action, k), None), state, keys[1:])
        return state, keys[0]

    placed = jax.device_put((start.astype(np.float32), action.astype(np.float32)))

    def task() -> int:
        state, key = placed[0], jax.random.key(0)
        for _ in range(calls):
            state, key = several(state, placed[1], key)
        jax.block_until_ready(state)
        return calls * steps * batch

    return task


def _rollout_task(batch: int, rows: int, seed: int) -> Task:
    """Return bare `mujoco.rollout` of Reacher, with five steps of MuJoCo for one of ours."""
    import gymnasium

    mujoco: Any = importlib.import_module("mujoco")
    rollout: Any = importlib.import_module("mujoco.rollout")
    assets = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
    model = mujoco.MjModel.from_xml_path(str(assets / "reacher.xml"))
    data = [mujoco.MjData(model) for _ in range(CORES)]
    rng = np.random.default_rng(seed)
    start = np.zeros((batch, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1:3] = rng.uniform(-0.1, 0.1, (batch, 2))
    control = np.repeat(rng.uniform(-1, 1, (batch, 1, model.nu)), FRAME_SKIP, axis=1)
    times = max(1, rows // batch)
    pool = rollout.Rollout(nthread=CORES)

    def task() -> int:
        state = start
        for _ in range(times):
            states, _ = pool.rollout(model, data, state, control)
            state = states[:, -1]
        return times * batch

    return task


def _gymnasium_tasks(setting: Setting, seed: int, opened: ExitStack) -> dict[str, Task]:
    import gymnasium

    def make() -> gymnasium.Env[Any, Any]:
        return gymnasium.make("Reacher-v5", frame_skip=FRAME_SKIP)

    # Processes are spawned: JAX has threads, and those do not survive a fork.
    kinds: dict[str, gymnasium.vector.VectorEnv[Any, Any, Any]] = {
        "SyncVectorEnv": gymnasium.vector.SyncVectorEnv([make] * setting.vector),
        "AsyncVectorEnv": gymnasium.vector.AsyncVectorEnv(
            [make] * setting.processes, context="spawn"
        ),
    }
    return {name: _vector_task(envs, setting, seed, opened) for name, envs in kinds.items()}


def _vector_task(envs: Any, setting: Setting, seed: int, opened: ExitStack) -> Task:
    opened.callback(envs.close)
    envs.reset(seed=seed)
    times = max(1, setting.vectored // envs.num_envs)
    action = np.random.default_rng(seed).uniform(-1, 1, (envs.num_envs, 2)).astype(np.float32)

    def task() -> int:
        for _ in range(times):
            envs.step(action)
        return times * envs.num_envs

    return task


def _collection(setting: Setting, scale: Scale, seed: int) -> Row:
    """Return the time of the command that collects the paper's training data of Reacher."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "dard", "collect", "reacher", "--out", f"{folder}/data"]
        command += ["--transitions", str(setting.collected), "--engine", setting.engine]
        command += ["--workers", str(CORES), "--seed", str(seed), "--quiet"]
        start = time.perf_counter()
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - start
    what = f"dard collect reacher --transitions {setting.collected}"
    return row(what, [seconds], "s", COLLECT_SECONDS if scale == "full" else None)
