"""Calling what users bring: rewards, transition models and action samplers of any library.

Every call is checked (shape, finite values), every failure names the callable, and nothing that
is called can change its inputs or keep gradients.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.errors import DardError, RewardError, TransitionModelError
from dard.core.placement import Placement, candidates, read_only, torch_module
from dard.core.random import library_stream
from dard.core.transitions import Transitions

PROBE_ROWS = 32


@dataclass(frozen=True)
class BoundReward:
    """A reward with its name and the placement of its inputs."""

    name: str
    function: Callable[..., Any]
    placement: Placement

    def __call__(self, state: Any, action: Any, next_state: Any) -> Any:
        """Return the values, shape (n,), of inputs that are placed, and read-only, already."""
        if self.placement.library != "torch":
            values = self.function(state, action, next_state)
        else:
            inputs = (state, action, next_state)
            # PyTorch counts in-place writes; nothing else could stop or show them.
            versions = [array._version for array in inputs]
            with no_gradients():
                values = self.function(*inputs)
            if versions != [array._version for array in inputs]:
                raise RewardError(f"reward {self.name!r} writes into its inputs; it must not")
        return _one_per_row(values, int(state.shape[0]), self.name)


def bind_reward(name: str, function: Any, data: Transitions) -> BoundReward:
    """Find the placement in which a reward works, and check on a probe that it is a function."""
    if not callable(function):
        raise RewardError(
            f"reward {name!r} is a {type(function).__name__}, not a callable "
            "(state, action, next_state) -> values"
        )
    probe = data[: min(len(data), PROBE_ROWS)]
    failures: list[Exception] = []
    for placement in candidates(function, data.state):
        bound = BoundReward(name, function, placement)
        try:
            first = _probe_values(bound, probe)
        except DardError:
            raise
        except Exception as error:
            failures.append(error)
            continue
        _check_repeatable(first, _probe_values(bound, probe), name)
        return bound
    raise RewardError(failure(f"reward {name!r} raised on the first transitions", failures[0]))


def failure(what: str, error: BaseException) -> str:
    """Return one line that says what failed and why."""
    return " ".join(f"{what}: {type(error).__name__}: {error}".split())


def _probe_values(bound: BoundReward, probe: Transitions) -> np.ndarray:
    inputs = (bound.placement.put(x) for x in (probe.state, probe.action, probe.next_state))
    return arrays.to_numpy(bound(*map(read_only, inputs)))


def _check_repeatable(first: np.ndarray, second: np.ndarray, name: str) -> None:
    if not np.array_equal(first, second, equal_nan=True) and not np.allclose(
        first, second, rtol=1e-5, atol=1e-7 * float(np.abs(first).max(initial=0)), equal_nan=True
    ):
        row = int(np.flatnonzero(first != second)[0])
        raise RewardError(
            f"reward {name!r} is not a function: the same transition gave {first[row]:.6g}, then "
            f"{second[row]:.6g} (it keeps state, draws random numbers, or changes its inputs)"
        )


def _one_per_row(values: Any, rows: int, name: str) -> Any:
    if arrays.library_of(values) is None:
        values = np.asarray(values)
        if values.dtype.kind not in "biuf":
            raise RewardError(
                f"reward {name!r} returned {type(values).__name__} of {values.dtype}; expected "
                f"an array of {rows} real numbers"
            )
    shape = tuple(values.shape)
    if shape == (rows,):
        return values
    if shape != (rows, 1):
        raise RewardError(
            f"reward {name!r} returned shape {shape} for {rows} transitions; expected ({rows},) "
            f"or ({rows}, 1): rewards are called on whole batches"
        )
    return values.reshape((rows,))


@contextlib.contextmanager
def no_gradients() -> Iterator[None]:
    """Switch PyTorch's gradient tracking off, where PyTorch is in use."""
    torch: Any = arrays.imported("torch")
    if torch is None or not hasattr(torch, "no_grad"):
        yield
        return
    with torch.no_grad():
        yield


@contextlib.contextmanager
def evaluation_mode(functions: Sequence[Any]) -> Iterator[None]:
    """Put PyTorch modules into evaluation mode, and every submodule back as it was."""
    found = [m for m in map(torch_module, functions) if m is not None]
    modules = [part for module in found for part in module.modules()]
    before = [part.training for part in modules]
    try:
        for module in found:
            module.eval()
        yield
    finally:
        for part, training in zip(modules, before, strict=True):
            part.training = training


@dataclass(frozen=True)
class BoundModel:
    """A transition model or action sampler with its name and placement.

    ``bound(inputs, like, key)`` calls it in its own library with a generator of that library,
    and returns the result in the library of `like`.
    """

    name: str
    function: Callable[..., Any]
    placement: Placement

    def __call__(self, inputs: Sequence[Any], home: Placement, key: tuple[int, str, int]) -> Any:
        """Return the result for `inputs`, placed at `home`."""
        placed = [read_only(self.placement.put(array)) for array in inputs]
        rng = library_stream(*key, like=placed[0])
        with no_gradients():
            result = self.function(*placed, rng)
        if arrays.library_of(result) is None:
            raise TransitionModelError(
                f"{self.name} returned {type(result).__name__}; expected an array"
            )
        return home.put(result)


def bind_model(name: str, function: Any, inputs: Sequence[Any]) -> BoundModel:
    """Find the placement in which a model works on a probe, and check that it repeats itself."""
    if not callable(function):
        raise TransitionModelError(f"{name} is a {type(function).__name__}, not a callable")
    failures: list[Exception] = []
    for placement in candidates(function, inputs[0]):
        bound = BoundModel(name, function, placement)
        host = Placement("numpy")
        try:
            first = bound(inputs, host, (0, "probe", 0))
        except DardError:
            raise
        except Exception as error:
            failures.append(error)
            continue
        if not np.allclose(first, bound(inputs, host, (0, "probe", 0)), 1e-5, 1e-7, True):
            raise TransitionModelError(
                f"{name} gave two results for the same inputs and the same rng: draw random "
                "numbers from the rng that is passed in, and keep no state"
            )
        return bound
    raise TransitionModelError(failure(f"{name} raised on the first transitions", failures[0]))
