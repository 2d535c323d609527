"""MuJoCo as a transition model: the paper's "simulator itself", in parallel, for any MJCF file."""

import os
from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.errors import ConfigurationError, TransitionModelError
from dard.dynamics.simulator import Simulator

Mapping = Callable[[np.ndarray], np.ndarray]


class MujocoModel:
    """A deterministic transition model that steps MuJoCo; see :func:`mujoco`."""

    library = "numpy"

    def __init__(
        self, simulator: Simulator, to_physics: Mapping | None, from_physics: Mapping | None
    ) -> None:
        self.simulator = simulator
        self.to_physics, self.from_physics = to_physics, from_physics

    def __call__(self, state: Any, action: Any, rng: Any = None) -> np.ndarray:
        """Return the next states as a NumPy array.

        Parameters
        ----------
        state : array, shape (n, d)
            In any library.
        action : array, shape (n, controls)
            Held for all steps; clipped to the ranges of the controls that the model limits.
        rng : object
            Not used: the simulator is deterministic.
        """
        given = arrays.to_numpy(state)
        physics = given if self.to_physics is None else np.asarray(self.to_physics(given))
        control = arrays.to_numpy(action)
        self._check(physics, control)
        after = self.simulator(physics, control)
        self._check_stable(after)
        if self.from_physics is not None:
            return np.asarray(self.from_physics(after))
        return after.astype(given.dtype, copy=False) if given.dtype.kind == "f" else after

    def _check(self, physics: np.ndarray, control: np.ndarray) -> None:
        name, size, model = self.simulator.name, self.simulator.size, self.simulator.model
        if physics.ndim != 2 or physics.shape[1] != size:
            activations = f" + {model.na} activations" if model.na else ""
            mapped = "to_physics returned" if self.to_physics else "states have"
            raise TransitionModelError(
                f"{mapped} shape {physics.shape}, but {name} has {model.nq} positions + "
                f"{model.nv} velocities{activations}: expected (n, {size}); map states with "
                "to_physics and from_physics"
            )
        if control.shape != (len(physics), model.nu):
            raise TransitionModelError(
                f"actions have shape {control.shape} for {len(physics)} states, but {name} has "
                f"{model.nu} controls: expected ({len(physics)}, {model.nu})"
            )
        for what, values in (("states", physics), ("actions", control)):
            bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
            if len(bad):
                raise TransitionModelError(
                    f"{what} for {name} have NaN or infinite entries in {len(bad)} of "
                    f"{len(values)} rows, the first in row {bad[0]}"
                )

    def _check_stable(self, after: np.ndarray) -> None:
        bad = np.flatnonzero(~np.isfinite(after).all(axis=1))
        if len(bad):
            raise TransitionModelError(
                f"{self.simulator.name} is unstable: the simulation exploded for {len(bad)} of "
                f"{len(after)} states, the first in row {bad[0]}; are these states of this model, "
                "and is its time step small enough?"
            )

    def close(self) -> None:
        """End the threads; a later call starts them again."""
        self.simulator.close()

    def __enter__(self) -> "MujocoModel":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def mujoco(
    model: str | PathLike[str],
    frame_skip: int,
    *,
    to_physics: Mapping | None = None,
    from_physics: Mapping | None = None,
    threads: int | None = None,
) -> MujocoModel:
    """Return a transition model that steps MuJoCo, for any MJCF model.

    This is how the paper treats Reacher: "the simulator itself, in parallel". A batch is stepped
    on threads that stay alive between calls, until ``close()`` or the end of a ``with`` block.

    Parameters
    ----------
    model : path or str
        An MJCF (or URDF) file, or its text.
    frame_skip : int
        Steps of the simulator in a transition.
    to_physics : callable, optional
        Maps states, shape (n, d), to physical states, shape (n, nq + nv + na): MuJoCo's ``qpos``,
        ``qvel`` and ``act`` side by side. By default a state is a physical state.
    from_physics : callable, optional
        Maps physical states back to states. By default they are returned as they are, in the
        dtype of the states.
    threads : int, optional
        By default one for each core. The result does not depend on it.

    Examples
    --------
    A cart on a rail that is pushed for a tenth of a second:

    >>> import numpy as np
    >>> from dard import dynamics
    >>> cart = '''
    ... <mujoco>
    ...   <option timestep="0.01"/>
    ...   <worldbody>
    ...     <body><joint name="rail" type="slide" axis="1 0 0"/><geom size="1" mass="2"/></body>
    ...   </worldbody>
    ...   <actuator><motor joint="rail"/></actuator>
    ... </mujoco>'''
    >>> with dynamics.mujoco(cart, frame_skip=10) as model:
    ...     model(np.zeros((1, 2)), np.ones((1, 1))).round(5)
    array([[0.00275, 0.05   ]])
    """
    threads = (os.cpu_count() or 1) if threads is None else _at_least_one("threads", threads)
    simulator = Simulator(model, _at_least_one("frame_skip", frame_skip), threads)
    return MujocoModel(simulator, to_physics, from_physics)


def _at_least_one(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ConfigurationError(f"{name} is {value}; expected an integer of at least 1")
    return int(value)
