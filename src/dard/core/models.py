"""Calling transition models and action samplers of any library."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dard.core import arrays
from dard.core.callables import call, close, failure, none_worked, tried_to_write, writes
from dard.core.errors import DardError, TransitionModelError
from dard.core.placement import Placement, candidates, read_only
from dard.core.random import library_stream


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
        try:
            return self.attempt(inputs, home, key)
        except DardError:
            raise
        except Exception as error:
            raise TransitionModelError(failure(f"{self.name} raised", error)) from error

    def attempt(self, inputs: Sequence[Any], home: Placement, key: tuple[int, str, int]) -> Any:
        """Do the same, and let the errors of the function through as they are."""
        placed = [read_only(self.placement.put(array)) for array in inputs]
        rng = library_stream(*key, like=placed[0])
        result, wrote = call(self.placement, self.function, placed, rng)
        if wrote:
            raise TransitionModelError(writes(self.name))
        if arrays.library_of(result) is None or getattr(result.dtype, "kind", "f") not in "biufV":
            dtype = f" of dtype {result.dtype}" if hasattr(result, "dtype") else ""
            raise TransitionModelError(
                f"{self.name} returned {type(result).__name__}{dtype}; expected an array of real "
                "numbers"
            )
        return home.put(result)


def bind_model(name: str, function: Any, inputs: Sequence[Any]) -> BoundModel:
    """Find the placement in which a model works on a probe, and check that it repeats itself."""
    if not callable(function):
        raise TransitionModelError(f"{name} is a {type(function).__name__}, not a callable")
    failures: dict[Placement, Exception] = {}
    for placement in candidates(function, inputs[0]):
        bound = BoundModel(name, function, placement)
        host = Placement("numpy")
        try:
            first, second = (bound.attempt(inputs, host, (0, "probe", 0)) for _ in range(2))
        except DardError:
            raise
        except Exception as error:
            if tried_to_write(error):
                raise TransitionModelError(writes(name)) from error
            failures[placement] = error
            continue
        if first.shape != second.shape or not close(first, second).all():
            raise TransitionModelError(
                f"{name} gave two results for the same inputs and the same rng: draw random "
                "numbers from the rng that is passed in, and keep no state"
            )
        return bound
    raise TransitionModelError(none_worked(name, failures)) from next(iter(failures.values()))
