"""Policies: what decides in the episodes that are collected."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from dard.core.errors import ConfigurationError
from dard.core.models import BoundModel, bind_model
from dard.core.placement import torch_module

UNIFORM = "uniform"
"""The policy that draws actions uniformly between their bounds."""

Policy = Callable[..., Any]
"""A callable ``(state) -> action``, or ``(state, rng) -> action`` where it draws; batch first."""


def bind_policy(policy: Policy | str, probe: np.ndarray) -> BoundModel | None:
    """Return the policy in the library that it works with, or None for the uniform one.

    `probe` are a few states, on which it is called twice: a policy that gives two answers for
    the same state and rng would make data that nobody can make again.
    """
    if policy == UNIFORM:
        return None
    if isinstance(policy, str):
        raise ConfigurationError(
            f"policy is {policy!r}; expected 'uniform' or a callable (state) -> action"
        )
    return bind_model("policy", _with_rng(policy) if callable(policy) else policy, [probe])


def name_of(policy: Policy | str) -> str:
    """Return what data says of the policy that it was made with."""
    if isinstance(policy, str):
        return policy
    named = policy if hasattr(policy, "__qualname__") else type(policy)
    return f"{named.__module__}:{named.__qualname__}"


def _with_rng(policy: Policy) -> Policy:
    """Return a policy that takes an rng, whether or not the given one does."""
    # A PyTorch module is called through a method that hides the parameters of this one.
    signature = inspect.signature(getattr(torch_module(policy), "forward", policy))
    if "rng" in signature.parameters:
        return policy

    @functools.wraps(policy, updated=())
    def deterministic(state: Any, rng: Any) -> Any:
        return policy(state)

    if (library := getattr(policy, "library", None)) is not None:
        vars(deterministic)["library"] = library
    return deterministic
