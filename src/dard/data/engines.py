"""Which library steps the environment."""

from typing import Literal

from dard.core.errors import ConfigurationError, MissingExtraError
from dard.data.rollout import Prepared, Task
from dard.data.rollout_jax import jax_rollout
from dard.data.rollout_numpy import numpy_rollout
from dard.data.unreadable import reason

EngineName = Literal["auto", "jax", "numpy"]


def choose_engine(task: Task, engine: EngineName) -> tuple[str, Prepared]:
    """Return the name of the engine, as stores note it, and what prepares its rollout."""
    if engine == "numpy":
        return "numpy", numpy_rollout(task)
    if engine not in ("auto", "jax"):
        raise ConfigurationError(f"engine is {engine!r}; expected 'auto', 'jax' or 'numpy'")
    try:
        import jax
    except ImportError as error:
        if engine == "jax":
            raise MissingExtraError("jax", "learn", "engine 'jax'") from error
        return "numpy", numpy_rollout(task)
    try:
        prepared = jax_rollout(task)
    except Exception as error:  # code of others, which may fail in any way when it is traced
        if engine == "jax":
            raise ConfigurationError(
                f"JAX cannot trace the environment or the policy ({type(error).__name__}: "
                f"{reason(error)}): write them for jax.numpy, or take engine 'numpy'"
            ) from error
        # What is wrong with them anyway, NumPy will say.
        return "numpy", numpy_rollout(task)
    platform = jax.default_backend()
    return "jax" if platform == "cpu" else f"jax on {platform}", prepared
