"""Checks that a reward or a transition model is what dard takes it to be.

Each check is a plain function that raises :class:`AssertionError` with one line that says what is
wrong. Call them from your own tests.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.callables import BoundReward, evaluation_mode, failure, no_gradients
from dard.core.errors import DardError
from dard.core.models import BoundModel
from dard.core.placement import Placement, candidates
from dard.core.random import library_stream, stream
from dard.core.transitions import Transitions

_HOST = Placement("numpy")
# Matrix products of another batch size round differently; networks compute in single precision.
_ROUNDING = 1e-5


def check_reward(reward: Any, data: Transitions, seed: int = 0) -> None:
    """Check that a reward is a function of single transitions.

    Parameters
    ----------
    reward : callable
        ``(state, action, next_state) -> values``.
    data : Transitions
        Transitions to call it on, at least two.
    seed : int
        Seed of the order in which they are shuffled.

    Raises
    ------
    AssertionError
        If the reward raises, writes into its inputs, returns anything but one finite real number
        for each transition, gives another value for the same transition the second time, or lets
        the value of a transition depend on the order or size of the batch.

    Examples
    --------
    >>> import numpy as np
    >>> from dard import Transitions
    >>> data = Transitions(np.zeros((4, 2)), np.ones((4, 1)), np.arange(8.0).reshape(4, 2))
    >>> check_reward(lambda state, action, next_state: -abs(next_state[:, 0]), data)
    >>> check_reward(lambda state, action, next_state: next_state, data)
    Traceback (most recent call last):
        ...
    AssertionError: reward 'under test' returned shape (4, 2) for 4 transitions; expected (4,) or \
(4, 1): rewards are called on whole batches
    """
    require(len(data) >= 2, f"data has {len(data)} transitions; the checks need at least two")
    columns = (data.state, data.action, data.next_state)
    with evaluation_mode([reward]):
        placement = _placement("the reward", reward, columns, None)
        bound = BoundReward("under test", reward, placement)
        values = _values(bound, data)
        infinite = ~np.isfinite(values)
        require(
            not infinite.any(),
            f"the reward gave {infinite.sum()} values that are NaN or infinite, the first for "
            f"transition {infinite.argmax()}",
        )
        _agree(
            values,
            _values(bound, data),
            "the reward gave another value for the same transition the second time: it keeps "
            "state or draws random numbers",
        )
        _check_batch_independence("the reward", lambda part: _values(bound, part), data, seed)


def check_transition_model(
    model: Any, data: Transitions, actions: Any = None, seed: int = 0
) -> None:
    """Check that a transition model is a function of states, actions and its generator.

    Parameters
    ----------
    model : callable
        ``(state, action, rng) -> next_state``.
    data : Transitions
        Transitions whose states it is called on, at least two.
    actions : array, shape (N_A, ...), optional
        Actions to take, one after the other; those of `data` if not given.
    seed : int
        Seed of the generators handed to the model.

    Raises
    ------
    AssertionError
        If the model raises, writes into its inputs, returns anything but finite states of the
        shape and kind of `data`'s, gives two results for generators of one seed, or, where it
        is deterministic, lets a next state depend on the order or size of the batch.
    """
    require(len(data) >= 2, f"data has {len(data)} transitions; the checks need at least two")
    if actions is not None:
        actions = arrays.as_array(actions, "actions")
        cycled = np.arange(len(data)) % len(actions)
        data = Transitions(data.state, _like(data.state, actions[cycled]), data.next_state)
    placement = _placement("the transition model", model, (data.state, data.action), seed)
    bound = BoundModel("the transition model", model, placement)

    def draw(part: Transitions, number: int = 0) -> np.ndarray:
        try:
            return bound((part.state, part.action), _HOST, (seed, "battery", number))
        except DardError as error:
            raise AssertionError(str(error)) from error

    drawn = draw(data)
    _check_states(drawn, arrays.to_numpy(data.state))
    _agree(
        drawn,
        draw(data),
        "the transition model gave two results for generators of one seed: draw random numbers "
        "from the rng that is passed in, and keep no state",
    )
    if all(np.array_equal(drawn, draw(data, number)) for number in (1, 2)):
        _check_batch_independence("the transition model", draw, data, seed)


def require(condition: bool | np.bool_, message: str) -> None:
    """Raise :class:`AssertionError` with `message` unless `condition` holds."""
    if not condition:
        raise AssertionError(message)


def _placement(what: str, function: Any, columns: Sequence[Any], seed: int | None) -> Placement:
    """Find where `function` works, and check that it leaves writable inputs as they are."""
    require(callable(function), f"{what} is a {type(function).__name__}, not a callable")
    failures: list[Exception] = []
    for placement in candidates(function, columns[0]):
        placed = [placement.put(column) for column in columns]
        inputs = [arrays.namespace(column).asarray(column, copy=True) for column in placed]
        rng = [] if seed is None else [library_stream(seed, "battery", 0, like=placed[0])]
        try:
            with no_gradients():
                function(*inputs, *rng)
        except Exception as error:  # Whatever a user's code raises is a reason to report.
            failures.append(error)
            continue
        names = ("state", "action", "next_state")[: len(placed)]
        for name, before, after in zip(names, placed, inputs, strict=True):
            unchanged = np.array_equal(arrays.to_numpy(before), arrays.to_numpy(after))
            require(unchanged, f"{what} writes into its input {name}")
        return placement
    raise AssertionError(failure(f"{what} raised", failures[0])) from failures[0]


def _values(bound: BoundReward, data: Transitions) -> np.ndarray:
    put = bound.placement.put
    try:
        values = bound(put(data.state), put(data.action), put(data.next_state))
    except DardError as error:
        raise AssertionError(str(error)) from error
    return arrays.to_numpy(values)


def _check_states(drawn: np.ndarray, state: np.ndarray) -> None:
    require(
        drawn.shape == state.shape,
        f"the transition model returned shape {drawn.shape} for states of shape {state.shape}; "
        "expected the same",
    )
    kinds = {"i": "integers", "u": "integers", "b": "booleans", "f": "real numbers"}
    expected, found = kinds[state.dtype.kind], kinds.get(drawn.dtype.kind, "no real numbers")
    require(
        expected == found,
        f"the transition model returned dtype {drawn.dtype} for states of {state.dtype}; "
        f"expected {expected}",
    )
    infinite = ~np.isfinite(drawn.reshape(len(drawn), -1)).all(axis=1)
    require(
        not infinite.any(),
        f"the transition model gave {infinite.sum()} next states with NaN or infinity, the first "
        f"for transition {infinite.argmax()}",
    )


def _check_batch_independence(what: str, function: Any, data: Transitions, seed: int) -> None:
    whole = function(data)
    order = stream(seed, "battery").permutation(len(data))
    _agree(
        whole[order],
        function(data[_like(data.state, order)]),
        f"{what} depends on the order of the batch: another order gave another value",
    )
    cut = (len(data) + 1) // 3
    parts = [function(data[:cut]), function(data[cut:])] if cut else [function(data)]
    _agree(
        whole,
        np.concatenate(parts),
        f"{what} depends on the rest of the batch: a smaller one gave another value",
    )


def _agree(first: np.ndarray, second: np.ndarray, message: str) -> None:
    size = float(np.abs(first).max(initial=0))
    tolerance = max(_ROUNDING, 8 * arrays.precision(first)) * size
    close = np.abs(first.astype(np.float64) - second.astype(np.float64)) <= tolerance
    if not close.all():
        row = int(np.argwhere(~close)[0][0])
        raise AssertionError(f"{message} (transition {row}: {first[row]} and {second[row]})")


def _like(array: Any, other: Any) -> Any:
    """Return `other` in the library of `array`."""
    return Placement(str(arrays.library_of(array)), getattr(array, "device", None)).put(other)
