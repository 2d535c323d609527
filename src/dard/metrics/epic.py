"""The Equivalent-Policy Invariant Comparison: Gleave et al. 2020, quoted in section 3.3."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.errors import ConfigurationError
from dard.core.groups import MOST_BLOCK_GROUPS, Groups, jackknife_groups
from dard.core.permutation import KeyedPermutation
from dard.core.placement import of_array
from dard.core.random import stream
from dard.core.transitions import Transitions
from dard.metrics.canonical import Floats, canonical_rewards
from dard.metrics.plan import (
    Block,
    Estimator,
    Part,
    Properties,
    Term,
    Use,
    check_common,
    check_finite,
    own_rewards,
    rows_of,
)

PAIRED_DRAWS = 8
FULL_DRAWS = 32_768
QUERIES_PER_BLOCK = 2**22
CENTRES_PER_BLOCK = 64
CENTRE_SIZES = (16, 64)


@dataclass(frozen=True)
class EPIC:
    r"""The EPIC distance.

    The Pearson distance of canonically shaped rewards

    .. math::
        C(R)(s, a, s') = R(s, a, s') + \mathbb{E}[\gamma R(s', A, S') - R(s, A, S')
            - \gamma R(S, A, S')]

    (equation 1 of the DARD paper), with A, S and S' independent. It does not need the dynamics,
    and pays for it: it asks rewards about transitions that cannot happen.

    Parameters
    ----------
    discount : float
        The discount of the problem.
    estimator : {"paired", "full"}
        ``"full"`` is the estimator of Gleave et al., appendix A.1.1: one batch of `samples` pairs
        (u, x) shared by every state. ``"paired"`` estimates the same quantity without bias from
        two independent replicates of a few pairs for each small random block of transitions,
        ``4 K + 1`` evaluations for each transition.
    samples : int, optional
        Pairs (u, x) drawn: N_M of the full estimator (default: every pair of `states` and
        `actions`, if both are given and there are at most 32,768 pairs, else 32,768 draws); K for
        each block and replicate of the paired one (default 8).
    states, actions : arrays, optional
        The state and action distributions, equally likely rows. By default the dataset's
        marginals: half source and half next states, and its actions.

    Examples
    --------
    >>> import dard
    >>> dard.EPIC(discount=0.99).estimator
    'paired'
    """

    discount: float = 0.95
    estimator: Estimator = "paired"
    samples: int | None = None
    states: Any = None
    actions: Any = None

    properties = Properties()

    def __post_init__(self) -> None:
        check_common(self.estimator, self.discount)
        if self.samples is not None and self.samples < 1:
            raise ConfigurationError(f"samples is {self.samples}; expected at least 1")
        for name in ("states", "actions"):
            rows = getattr(self, name)
            if rows is not None:
                rows = arrays.as_array(rows, name)
                if rows.ndim == 0 or rows.shape[0] == 0:
                    raise ConfigurationError(f"{name} is empty; expected shape (rows, ...)")
                xp = arrays.namespace(rows)
                if not bool(xp.all(xp.isfinite(rows))):
                    raise ConfigurationError(f"{name} has NaN or infinite entries")
                object.__setattr__(self, name, rows)

    def canonicalize(self, reward: Callable[..., Any], data: Transitions, seed: int = 0) -> Floats:
        """Return the canonically shaped reward on each transition, float64, shape (n,)."""
        return canonical_rewards(self, reward, data, seed)

    def plan(self, data: Transitions, seed: int) -> "FullEPICPlan | PairedEPICPlan":
        """Return the queries for `data`."""
        home = of_array(data.state)
        given = {}
        for name, column in (("states", data.state), ("actions", data.action)):
            rows = getattr(self, name)
            if rows is not None and tuple(rows.shape[1:]) != tuple(column.shape[1:]):
                raise ConfigurationError(
                    f"{name} has rows of shape {tuple(rows.shape[1:])}, but the data's have "
                    f"{tuple(column.shape[1:])}"
                )
            given[name] = None if rows is None else home.put(rows)
        marginals = Marginals(data, **given)
        groups = jackknife_groups(data)
        if self.estimator == "paired":
            return PairedEPICPlan(
                data, seed, self.discount, self.samples or PAIRED_DRAWS, marginals, groups
            )
        mesh = marginals.mesh_size
        everything = self.samples is None and mesh is not None and mesh <= FULL_DRAWS
        samples = mesh if everything and mesh else self.samples or FULL_DRAWS
        return FullEPICPlan(data, seed, self.discount, samples, everything, marginals, groups)


@dataclass(frozen=True)
class Marginals:
    """The state and action distributions that EPIC's expectations run over."""

    data: Transitions
    states: Any
    actions: Any

    @property
    def mesh_size(self) -> int | None:
        """Number of (action, state) pairs, where both were given as finite sets."""
        if self.states is None or self.actions is None:
            return None
        return int(self.states.shape[0]) * int(self.actions.shape[0])

    def mesh(self) -> tuple[Any, Any]:
        """Return every pair of an action and a state."""
        number = np.arange(self.mesh_size or 0)
        size = int(self.states.shape[0])
        return _rows(self.actions, number // size), _rows(self.states, number % size)

    def draw(self, rng: np.random.Generator, count: int) -> tuple[Any, Any]:
        """Draw independent pairs of an action and a state."""
        actions = self.data.action if self.actions is None else self.actions
        drawn = rng.integers(0, actions.shape[0], count)
        action = _rows(actions, drawn)
        if self.actions is None:
            check_finite(action, "action", drawn)
        if self.states is not None:
            return action, _rows(self.states, rng.integers(0, self.states.shape[0], count))
        number, n = rng.integers(0, 2 * len(self.data), count), len(self.data)
        source = _rows(self.data.state, number % n)
        following = _rows(self.data.next_state, number % n)
        check_finite(source, "state", number % n)
        check_finite(following, "next_state", number % n)
        xp = arrays.namespace(source)
        is_source = Part((number < n).reshape((-1, 1)))
        choose = of_array(source).put(is_source.values)
        choose = choose.reshape((count, *(1 for _ in source.shape[1:])))
        return action, xp.where(choose, source, following)


@dataclass(frozen=True)
class FullEPICPlan:
    """One batch of pairs for everything; the mean over it is taken once for a distinct state."""

    data: Transitions
    seed: int
    discount: float
    samples: int
    everything: bool
    marginals: Marginals
    groups: Groups
    replicates: int = 1

    @property
    def block_size(self) -> int:
        """Transitions in a block: enough to share states along a trajectory."""
        return min(max(QUERIES_PER_BLOCK // self.samples, 64), 4096)

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return -(-len(self.data) // self.block_size)

    @property
    def queries(self) -> int:
        """Number of evaluations of each reward, if no states are shared."""
        return len(self.data) * (2 * self.samples + 1)

    @cached_property
    def batch(self) -> tuple[Any, Any]:
        """The pairs (u, x) of the paper's B_M."""
        if self.everything:
            return self.marginals.mesh()
        return self.marginals.draw(stream(self.seed, "batch"), self.samples)

    def block(self, number: int, *, whole: bool = False) -> Block:
        """Cross the distinct states of one block with the batch."""
        size = self.block_size
        index = np.arange(number * size, min((number + 1) * size, len(self.data)))
        rows = rows_of(self.data, index)
        states, current, following = _distinct_states(rows)
        uses = (Use(self.discount, following[None]), Use(-1.0, current[None]))
        action, state = (Part(x[None]) for x in self.batch)
        means = Term(int(states.shape[0]), self.samples, Part(states[:, None]), action, state, uses)
        return Block(number, index, (own_rewards(rows), means))

    def offset(self) -> Block:
        """Cross the batch's states with the batch: the constant that a distance does not need."""
        action, state = self.batch
        every = np.arange(self.samples)[None, None]
        parts = Part(state[:, None]), Part(action[None]), Part(state[None])
        term = Term(self.samples, self.samples, *parts, uses=(Use(-self.discount, every),))
        return Block(self.blocks, np.zeros(1, np.int64), (term,))

    def centre_groups(self, number: int) -> None:
        """Return None: all share one batch, and are centred on the mean of everything."""
        return


@dataclass(frozen=True)
class PairedEPICPlan:
    """Random small blocks of transitions, each with two replicates of its own few pairs.

    A block of the plan holds 64 of these small blocks (`centres`), each centred on its own mean.
    """

    data: Transitions
    seed: int
    discount: float
    samples: int
    marginals: Marginals
    groups: Groups
    replicates: int = 2

    @property
    def centres(self) -> int:
        """Number of small blocks: of 64 transitions, smaller where there are few."""
        n = len(self.data)
        size = min(max(n // MOST_BLOCK_GROUPS, CENTRE_SIZES[0]), CENTRE_SIZES[1])
        return max(n // size, 1)

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return -(-self.centres // CENTRES_PER_BLOCK)

    @property
    def queries(self) -> int:
        """Number of evaluations of each reward."""
        return len(self.data) * (4 * self.samples + 1)

    def block(self, number: int, *, whole: bool = False) -> Block:
        """Draw one run of small blocks and their pairs."""
        bounds = self._bounds(number)
        sizes = np.diff(bounds)
        centre = np.repeat(np.arange(len(sizes)), sizes)
        index = KeyedPermutation(len(self.data), self.seed)(np.arange(bounds[0], bounds[-1]))
        # Sorted within a small block: its set is what is random, and memory is read in order.
        index = index[np.lexsort((index, centre))]
        rows = rows_of(self.data, index)
        terms = self._terms(rows, centre, len(sizes), number, whole=whole)
        return Block(number, index, terms, centre)

    def offset(self) -> None:
        """Return None: the constants belong to small blocks, and come with them."""
        return

    def centre_groups(self, number: int) -> tuple[np.ndarray, int]:
        """Join small blocks into at most 64 groups for the jackknife."""
        first, count = self._span(number)
        groups = min(self.centres, MOST_BLOCK_GROUPS)
        return np.arange(first, first + count) * groups // self.centres, groups

    def _span(self, number: int) -> tuple[int, int]:
        first = number * CENTRES_PER_BLOCK
        return first, min(CENTRES_PER_BLOCK, self.centres - first)

    def _bounds(self, number: int) -> np.ndarray:
        first, count = self._span(number)
        return np.arange(first, first + count + 1) * len(self.data) // self.centres

    def _terms(
        self, rows: Transitions, centre: np.ndarray, centres: int, number: int, *, whole: bool
    ) -> tuple[Term, ...]:
        n, k = len(rows), self.samples
        rng = stream(self.seed, "pairs", number)
        action, state = (
            x.reshape((2 * centres, k, *x.shape[1:]))
            for x in self.marginals.draw(rng, 2 * centres * k)
        )
        xp = arrays.namespace(rows.state)
        both = xp.concat([rows.state, rows.next_state])
        # Outer positions: replicate, then state or next state, then transition.
        position = np.arange(4 * n).reshape((2, 2, n))
        of_state = (position % (2 * n)).reshape(-1)
        of_centre = (np.arange(2)[:, None, None] * centres + centre + 0 * position).reshape(-1)
        uses = Use(self.discount, position[:, 1]), Use(-1.0, position[:, 0])
        drawn = Part(action, outer=of_centre), Part(state, outer=of_centre)
        means = Term(4 * n, k, Part(both[:, None], outer=of_state), *drawn, uses=uses)
        if not whole:
            return own_rewards(rows), means
        number_of_pair = np.arange(2 * centres * k).reshape((2, centres, k))
        flat = state.reshape((2 * centres * k, 1, *state.shape[2:]))
        own = np.arange(2 * centres * k) // k
        parts = Part(flat), Part(action, outer=own), Part(state, outer=own)
        constant = Use(-self.discount, number_of_pair[:, centre])
        return own_rewards(rows), means, Term(2 * centres * k, k, *parts, uses=(constant,))


def _distinct_states(rows: Transitions) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return states and next states without repeats along a trajectory, and where each stands.

    Along a trajectory the next state of one transition is the state of the following one, and its
    mean need not be computed twice.
    """
    n = len(rows)
    xp = arrays.namespace(rows.state)
    same = arrays.to_numpy(rows.next_state[:-1] == rows.state[1:])
    same = same.reshape((n - 1, -1)).all(axis=1) if n > 1 else np.zeros(0, bool)
    own = np.flatnonzero(np.concatenate([~same, [True]]))
    following = np.arange(1, n + 1)
    following[own] = n + np.arange(len(own))
    states = xp.concat([rows.state, _rows(rows.next_state, own)])
    return states, np.arange(n), following


def _rows(array: Any, index: np.ndarray) -> Any:
    part = Part(array.reshape((array.shape[0], 1, *array.shape[1:])), outer=index)
    return part.expand(slice(0, len(index)), slice(0, 1))
