"""`dard.dynamics.mujoco` against bare `mujoco.rollout`.

Reacher of Gymnasium's own model file, five steps of MuJoCo for one transition, on a thread for each
core. The bare side is given physics states and repeated controls that were made beforehand; the
transition model makes them from states and actions, checks them, and returns the last states.
"""

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from environments import CORES, FRAME_SKIP
from harness import Row, Scale, interleaved, row

from dard import dynamics

BATCHES: dict[Scale, tuple[int, ...]] = {
    "tiny": (16,),
    "small": (320, 5_000),
    "full": (320, 100_000),
}
REPETITIONS: dict[Scale, int] = {"tiny": 1, "small": 5, "full": 5}
ROWS: dict[Scale, int] = {"tiny": 16, "small": 5_000, "full": 50_000}
SHARE = 0.9


def run(scale: Scale, seed: int) -> list[Row]:
    """Measure."""
    return [_share(batch, ROWS[scale], REPETITIONS[scale], seed) for batch in BATCHES[scale]]


def _share(batch: int, rows: int, repetitions: int, seed: int) -> Row:
    import gymnasium

    mujoco: Any = importlib.import_module("mujoco")
    rollout: Any = importlib.import_module("mujoco.rollout")
    assets = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
    file, times = assets / "reacher.xml", max(1, rows // batch)
    model = mujoco.MjModel.from_xml_path(str(file))
    rng = np.random.default_rng(seed)
    state = np.zeros((batch, model.nq + model.nv))
    state[:, :2] = rng.uniform(-0.1, 0.1, (batch, 2))
    action = rng.uniform(-1, 1, (batch, model.nu))

    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    physics = np.zeros((batch, mujoco.mj_stateSize(model, full)))
    physics[:, 1 : 1 + state.shape[1]] = state
    control = np.repeat(action[:, None], FRAME_SKIP, axis=1)
    data = [mujoco.MjData(model) for _ in range(CORES)]
    pool = rollout.Rollout(nthread=CORES)
    ours = dynamics.mujoco(file, FRAME_SKIP)

    def bare() -> None:
        for _ in range(times):
            pool.rollout(model, data, physics, control)

    def modelled() -> None:
        for _ in range(times):
            ours(state, action)

    bare()
    modelled()
    seconds = interleaved(repetitions, bare=bare, modelled=modelled)
    what = f"dynamics.mujoco, Reacher, batch {batch:,}"
    found = row(what, seconds["bare"] / seconds["modelled"], "of the rate of mujoco.rollout", SHARE)
    return replace(found, at_least=True)
