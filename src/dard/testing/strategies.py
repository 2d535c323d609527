"""Hypothesis strategies for transitions, rewards, potentials and small MDPs.

They need hypothesis (``pip install hypothesis``); importing this module does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dard.core.errors import MissingExtraError
from dard.core.transitions import Transitions
from dard.testing.functions import SmoothPotential, SmoothReward
from dard.testing.tabular import TabularMDP

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

_LARGEST_SEED = 2**16


def tabular_mdps(
    max_states: int = 5,
    max_actions: int = 3,
    deterministic: bool | None = None,
) -> SearchStrategy[TabularMDP]:
    """Draw small MDPs as tables.

    Parameters
    ----------
    max_states, max_actions : int
        Most states (at least 2 are drawn) and most actions (at least 1).
    deterministic : bool, optional
        True for dynamics without chance, False for rows of at least two possible next states;
        both kinds if not given.

    Returns
    -------
    SearchStrategy[TabularMDP]
        Rewards are multiples of 1/8 in [-10, 10]; distributions are positive, or None (uniform).
    """
    st = _strategies()
    numpy_strategies = _numpy_strategies()

    def table(shape: tuple[int, ...], least: int, most: int) -> SearchStrategy[Any]:
        # No fill: most entries would be equal, and rewards without variance have no distance.
        elements = st.integers(least, most)
        return numpy_strategies.arrays(np.int64, shape, elements=elements, fill=st.nothing())

    @st.composite
    def build(draw: DrawFn) -> TabularMDP:
        n, m = draw(st.integers(2, max_states)), draw(st.integers(1, max_actions))
        without_chance = draw(st.booleans()) if deterministic is None else deterministic
        if without_chance:
            probability = np.eye(n)[draw(table((n, m), 0, n - 1))]
        else:
            # Two next states of positive weight make every row a real draw.
            weights = draw(table((n, m, n), 0, 4)) + (np.arange(n) < 2)
            probability = weights / weights.sum(axis=2, keepdims=True)
        chances = [
            None if draw(st.booleans()) else _normalised(draw(table((size,), 1, 4)))
            for size in (n, m)
        ]
        discount = draw(st.sampled_from((0.0, 0.5, 0.9, 0.99, 1.0)))
        return TabularMDP(draw(table((n, m, n), -80, 80)) / 8, probability, discount, *chances)

    return build()


def transitions(
    min_size: int = 2,
    max_size: int = 32,
    max_dimensions: int = 3,
    episodes: bool | None = None,
) -> SearchStrategy[Transitions]:
    """Draw batches of continuous transitions in NumPy float64.

    Parameters
    ----------
    min_size, max_size : int
        Fewest and most transitions.
    max_dimensions : int
        Most components of a state and of an action.
    episodes : bool, optional
        Whether episode ids are given; both if not given.

    Returns
    -------
    SearchStrategy[Transitions]
        Standard normal states and actions, from a drawn seed: values drawn one by one would be
        mostly ties, on which rewards have no variance.
    """
    st = _strategies()

    def build(size: int, widths: tuple[int, int], with_episodes: bool, seed: int) -> Transitions:
        rng = np.random.default_rng(seed)
        state, next_state = rng.normal(size=(2, size, widths[0]))
        action = rng.normal(size=(size, widths[1]))
        ids = np.sort(rng.integers(0, size, size)) if with_episodes else None
        return Transitions(state, action, next_state, episode=ids)

    width = st.integers(1, max_dimensions)
    return st.builds(
        build,
        st.integers(min_size, max_size),
        st.tuples(width, width),
        st.booleans() if episodes is None else st.just(episodes),
        st.integers(0, _LARGEST_SEED),
    )


def rewards() -> SearchStrategy[SmoothReward]:
    """Draw random smooth rewards that take transitions of any size."""
    st = _strategies()
    return st.builds(SmoothReward, st.integers(0, _LARGEST_SEED))


def potentials() -> SearchStrategy[SmoothPotential]:
    """Draw random smooth potentials that take states of any size."""
    st = _strategies()
    return st.builds(SmoothPotential, st.integers(0, _LARGEST_SEED))


def _normalised(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum()


def _strategies() -> Any:
    try:
        from hypothesis import strategies
    except ImportError:
        purpose = "dard.testing.strategies (pip install hypothesis is enough)"
        raise MissingExtraError("hypothesis", "dev", purpose) from None
    return strategies


def _numpy_strategies() -> Any:
    from hypothesis.extra import numpy as numpy_strategies

    return numpy_strategies
