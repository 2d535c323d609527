"""Calling rewards of any library.

Every call is checked, every failure names the reward, and nothing that is called can change its
inputs or keep gradients. Transition models are called the same way (`models`).
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.errors import DardError, DeviceMemoryError, RewardError
from dard.core.placement import Placement, candidates, read_only, torch_module
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
        values, wrote = call(self.placement, self.function, (state, action, next_state))
        if wrote:
            raise RewardError(writes(f"reward {self.name!r}"))
        return _one_per_row(values, int(state.shape[0]), self.name)


def call(
    placement: Placement, function: Callable[..., Any], inputs: Sequence[Any], *rng: Any
) -> tuple[Any, bool]:
    """Return the result without gradients, and whether `function` wrote into its inputs."""
    if placement.library != "torch":
        return function(*inputs, *rng), False
    versions = list(map(_version, inputs))
    with no_gradients():
        result = function(*inputs, *rng)
    return result, versions != list(map(_version, inputs))


def _version(tensor: Any) -> int | None:
    """Return PyTorch's count of in-place writes; nothing else could stop or show them."""
    return None if tensor.is_inference() else tensor._version


def writes(who: str) -> str:
    """Return the line for a callable that changes what it is given."""
    return f"{who} writes into its inputs; it must not: let it work on copies"


def none_worked(who: str, failures: Mapping[Placement, Exception]) -> str:
    """Return one line with the first error, and with those of other libraries that differ."""
    first, *others = failures.items()
    line = failure("", first[1])
    differ = [
        f"; with {arrays.type_name[placement.library]} arrays{other}"
        for placement, error in others
        if (other := failure("", error)) != line
    ]
    return "".join([f"{who} raised on the first transitions", line, *differ])


def tried_to_write(error: BaseException) -> bool:
    """Return whether NumPy stopped a write: another library would only hide it."""
    return isinstance(error, ValueError) and "is read-only" in str(error)


def bind_reward(name: str, function: Any, data: Transitions) -> BoundReward:
    """Find the placement in which a reward works, and check on a probe that it is a function."""
    if not callable(function):
        raise RewardError(
            f"reward {name!r} is a {type(function).__name__}, not a callable "
            "(state, action, next_state) -> values"
        )
    probe = data[: min(len(data), PROBE_ROWS)]
    failures: dict[Placement, Exception] = {}
    for placement in candidates(function, data.state):
        bound = BoundReward(name, function, placement)
        try:
            first, second = (_probe_values(bound, probe) for _ in range(2))
            middle = (len(probe) + 1) // 2
            halves = [_probe_values(bound, part) for part in (probe[:middle], probe[middle:])]
        except DardError:
            raise
        except Exception as error:
            if out_of_memory(error):
                raise DeviceMemoryError(too_little_memory(name, len(probe))) from error
            if tried_to_write(error):
                raise RewardError(writes(f"reward {name!r}")) from error
            failures[placement] = error
            continue
        _check_repeatable(first, second, name)
        _check_row_by_row(first, halves, name)
        return bound
    raise RewardError(none_worked(f"reward {name!r}", failures)) from next(iter(failures.values()))


def failure(what: str, error: BaseException) -> str:
    """Return one line that says what failed and why."""
    return " ".join(f"{what}: {type(error).__name__}: {error}".split())


def out_of_memory(error: BaseException) -> bool:
    """Return whether a library says that its device's memory ran out."""
    text = str(error)
    return "out of memory" in text.lower() or "RESOURCE_EXHAUSTED" in text


def too_little_memory(name: str, rows: int) -> str:
    """Return the line for a reward that cannot be evaluated in smaller batches than `rows`."""
    return (
        f"reward {name!r} ran out of memory with {rows} transitions at a time: free memory, or "
        "move it to another device"
    )


def _probe_values(bound: BoundReward, probe: Transitions) -> np.ndarray:
    inputs = (bound.placement.put(x) for x in (probe.state, probe.action, probe.next_state))
    values = bound(*map(read_only, inputs))
    for wrong, what in (
        (isinstance(values, np.ma.MaskedArray), "a masked array"),
        ("complex" in str(values.dtype), "complex numbers"),
    ):
        if wrong:
            raise RewardError(f"reward {bound.name!r} returned {what}; expected real numbers")
    return arrays.to_numpy(values)


def _check_repeatable(first: np.ndarray, second: np.ndarray, name: str) -> None:
    different = np.flatnonzero(~close(first, second))
    if len(different):
        row = int(different[0])
        raise RewardError(
            f"reward {name!r} is not a function: the same transition gave {first[row]:.6g}, then "
            f"{second[row]:.6g} (it keeps state, draws random numbers, or changes its inputs)"
        )


def _check_row_by_row(whole: np.ndarray, halves: Sequence[np.ndarray], name: str) -> None:
    """Refuse rewards whose values depend on which other transitions they are asked about with."""
    apart, finite = np.concatenate(halves), whole[np.isfinite(whole)]
    tolerance = max(arrays.precision(whole) ** 0.5, 1e-6) * np.abs(finite).max(initial=0)
    different = np.flatnonzero(~np.isclose(whole, apart, rtol=0, atol=tolerance, equal_nan=True))
    if len(different):
        row = int(different[0])
        raise RewardError(
            f"reward {name!r} is not a function of the transition: among {len(whole)} transitions "
            f"the same one gave {whole[row]:.6g}, among fewer {apart[row]:.6g} (batch "
            "normalisation in training mode, or a mean over the batch)"
        )


def close(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return where two results are equal, up to sums that run in another order."""
    size = float(np.abs(first[np.isfinite(first)]).max(initial=0))
    return np.isclose(first, second, rtol=1e-5, atol=1e-7 * size, equal_nan=True)


def _one_per_row(values: Any, rows: int, name: str) -> Any:
    if arrays.library_of(values) is None:
        values = np.asarray(values)
    if isinstance(values, np.ndarray) and values.dtype.kind not in "biufV":  # V: bfloat16
        raise RewardError(
            f"reward {name!r} returned values of dtype {values.dtype}; expected an array of "
            f"{rows} real numbers"
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
