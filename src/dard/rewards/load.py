"""Rewards by name: a file, or an attribute of a module."""

import os
from os import PathLike
from pathlib import Path
from typing import Any

from dard.core.attribute import load_attribute
from dard.core.errors import ConfigurationError, FileFormatError, RewardError
from dard.core.protocols import Reward
from dard.rewards.mlp_reward import MlpReward
from dard.rewards.onnx_reward import OnnxReward

_PICKLED = (".pt", ".pth", ".pkl", ".pickle", ".joblib")


def load_reward(source: str | PathLike[str]) -> Reward:
    """Load a reward: a callable ``(state, action, next_state) -> values``.

    Parameters
    ----------
    source : str or path
        - ``"file.onnx"``: an ONNX model, see :class:`dard.rewards.OnnxReward`;
        - ``"file.safetensors"``: a network that :meth:`dard.rewards.MlpReward.save` wrote;
        - ``"module:attribute"`` or ``"path/to/file.py:attribute"``: a function or an object that
          can be called, returned as it is. **This runs the module's code**, on purpose. Modules
          in the current directory are found too; see :func:`dard.core.attribute.load_attribute`.

    Returns
    -------
    callable
        The reward. Nothing in an ONNX or safetensors file is ever run as code.

    Raises
    ------
    FileFormatError
        If the file is missing, truncated, not what its name says, from a newer version, or of a
        kind that would run code when it is read (pickles, as `torch.save` writes them).
    ConfigurationError
        If there is no such module or attribute, or `source` is none of the above.
    RewardError
        If the attribute cannot be called, or is a class.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib, dard
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "linear.safetensors"
    >>> dard.rewards.MlpReward([(np.ones((5, 1)), np.zeros(1))]).save(file)
    >>> dard.load_reward(file)
    MlpReward([5, 1], tanh, float64)
    """
    if not isinstance(source, str | PathLike):
        raise ConfigurationError(
            f"source is {type(source).__name__}; expected a path or 'module:attribute' (a reward "
            "that is a Python object already needs no loading)"
        )
    name = os.fspath(source)
    suffix = Path(name).suffix.lower()
    if suffix == ".onnx":
        return OnnxReward(name)
    if suffix == ".safetensors":
        return MlpReward.load(name)
    if suffix in _PICKLED:
        raise FileFormatError(
            f"{name}: reading {suffix} files would run code from them. Give 'module:attribute', "
            "a function of yours that builds the model and loads its state_dict with "
            "torch.load(..., weights_only=True), or export the model to ONNX"
        )
    if ":" not in name:
        raise ConfigurationError(
            f"source is {name!r}; expected a .onnx or .safetensors file or 'module:attribute'"
        )
    return _checked(load_attribute(name, "reward"), name)


def _checked(reward: Any, name: str) -> Reward:
    if isinstance(reward, type):
        raise RewardError(
            f"{name}: is a class; expected a function or an object: add "
            f"'reward = {reward.__name__}(...)' to the module and name that"
        )
    if not callable(reward):
        raise RewardError(
            f"{name}: is of type {type(reward).__name__}, which cannot be called; expected a "
            "callable (state, action, next_state) -> values"
        )
    return reward
