"""MuJoCo behind one function: a batch of physical states in, the states some steps later out."""

import os
import threading
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from dard.core.errors import FileFormatError, MissingExtraError

# Numbers that one call of MuJoCo may return: 64 MiB, so that memory stays bounded.
_NUMBERS_AT_A_TIME = 1 << 23

# Pools of threads that a fork left behind: never to be closed.
_orphans: list[Any] = []


class Simulator:
    """A model that MuJoCo has loaded, with the threads that step it.

    A physical state has MuJoCo's positions, velocities and activations side by side.

    Parameters
    ----------
    source : path or str
        An MJCF (or URDF) file, or its text.
    frame_skip : int
        Steps in a call.
    threads : int
    """

    def __init__(self, source: str | PathLike[str], frame_skip: int, threads: int) -> None:
        is_text = isinstance(source, str) and "<" in source
        self.source = source if is_text else Path(source).absolute()
        self.frame_skip, self.threads = frame_skip, threads
        self._prepare()

    def _prepare(self) -> None:
        """Load the model; the threads start when they are first needed."""
        engine = _mujoco()
        self.model = _load(engine, self.source)
        everything = engine.mjtState.mjSTATE_FULLPHYSICS
        self._start = np.empty(engine.mj_stateSize(self.model, everything))
        engine.mj_getState(self.model, engine.MjData(self.model), self._start, everything)
        # MuJoCo starts anew, at time 0, when a simulation explodes. The clock tells it.
        self._start[0] = self.model.opt.timestep
        self._pool: tuple[int, Any, list[Any]] | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Name of the model's file."""
        return self.source.name if isinstance(self.source, Path) else "the model"

    @property
    def size(self) -> int:
        """Width of a physical state."""
        return self.model.nq + self.model.nv + self.model.na

    def __call__(self, physics: np.ndarray, control: np.ndarray) -> np.ndarray:
        """Return the physical states after all steps; NaN where the simulation exploded."""
        after = np.empty((len(physics), self.size))
        rows = max(1, _NUMBERS_AT_A_TIME // (self.frame_skip * len(self._start)))
        with self._lock:
            for k in range(0, len(physics), rows):
                block = slice(k, k + rows)
                after[block] = self._steps(physics[block], control[block])
        return after

    def _steps(self, physics: np.ndarray, control: np.ndarray) -> np.ndarray:
        columns = slice(1, 1 + self.size)
        start = np.repeat(self._start[None], len(physics), axis=0)
        start[:, columns] = physics
        held = np.repeat(control[:, None].astype(np.float64), self.frame_skip, axis=1)
        pool, data = self._running()
        states, _ = pool.rollout(self.model, data, start, held)
        last = states[:, -1]
        exploded = last[:, 0] < self._start[0] * (self.frame_skip + 0.5)
        return np.where(exploded[:, None], np.nan, last[:, columns])

    def _running(self) -> tuple[Any, list[Any]]:
        """Return the pool of threads and a workspace for each."""
        if self._pool is None or self._pool[0] != os.getpid():
            if self._pool is not None:
                # In a forked process they are gone: waiting for their end would take forever.
                _orphans.append(self._pool)
            from mujoco import rollout

            engine = _mujoco()
            data = [engine.MjData(self.model) for _ in range(self.threads)]
            # A pool of no threads works on the caller's.
            pool = rollout.Rollout(nthread=self.threads if self.threads > 1 else 0)
            self._pool = os.getpid(), pool, data
        return self._pool[1], self._pool[2]

    def close(self) -> None:
        """End the threads; a later call starts them again."""
        with self._lock:
            if self._pool is not None and self._pool[0] == os.getpid():
                self._pool[1].close()
                self._pool = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a copy in another process is made of: the model is loaded there again."""
        return type(self), (self.source, self.frame_skip, self.threads)


def _mujoco() -> ModuleType:
    try:
        import mujoco
    except ImportError as error:
        raise MissingExtraError("mujoco", "envs", "A MuJoCo transition model") from error
    return mujoco


def _load(engine: ModuleType, source: str | PathLike[str]) -> Any:
    is_file = isinstance(source, Path)
    if is_file and not source.is_file():
        raise FileFormatError(f"{source}: no such file; expected an MJCF model, or its text")
    try:
        if is_file:
            return engine.MjModel.from_xml_path(str(source))
        return engine.MjModel.from_xml_string(source)
    except ValueError as error:
        name, reason = source if is_file else "the model", " ".join(str(error).split())
        raise FileFormatError(f"{name}: MuJoCo cannot load it: {reason}") from error
