"""What dard asks of the callables that users bring: signatures, nothing to inherit from."""

from typing import Any, Protocol


class Reward(Protocol):
    """Any callable ``(state, action, next_state) -> values``, batch first.

    `values` has shape (n,) or (n, 1), in NumPy, PyTorch or JAX. A reward is a function: the same
    transitions give the same values, and inputs are not written to.
    """

    def __call__(self, state: Any, action: Any, next_state: Any, /) -> Any: ...


class TransitionModel(Protocol):
    """Any callable ``(state, action, rng) -> next_state``, batch first.

    `rng` is a random generator of the states' own library (NumPy ``Generator``,
    ``torch.Generator``, JAX key). Deterministic models ignore it.
    """

    def __call__(self, state: Any, action: Any, rng: Any, /) -> Any: ...


class ActionSampler(Protocol):
    """Any callable ``(state, rng) -> action``, batch first: the action distribution of DARD."""

    def __call__(self, state: Any, rng: Any, /) -> Any: ...
