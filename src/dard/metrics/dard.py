"""The Dynamics-Aware Reward Distance: Wulfe et al., ICLR 2022, section 4."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.callables import failure
from dard.core.errors import ConfigurationError, DardError, TransitionModelError
from dard.core.groups import Groups, jackknife_groups
from dard.core.models import BoundModel, bind_model
from dard.core.placement import Placement, of_array
from dard.core.random import distinct_draws, stream
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
    own_rewards,
    rows_of,
)

PAIRED_DRAWS = 4
FULL_DRAWS = 64
SUCCESSORS_PER_BLOCK = 2**16
MOST_TRANSITIONS = 2**13

_MODEL = "the transition model"


@dataclass(frozen=True)
class DARD:
    r"""The Dynamics-Aware Reward Distance.

    The Pearson distance of rewards after the dynamics-aware transformation

    .. math::
        C_T(R)(s, a, s') = R(s, a, s') + \mathbb{E}[\gamma R(s', A, S'')
            - R(s, A, S') - \gamma R(S', A, S'')],
        \quad S' \sim T(s, A),\; S'' \sim T(s', A)

    (definition 4.1 of the DARD paper), which is the same for rewards that differ by potential
    shaping, and asks rewards only about transitions that the model T can make.

    Parameters
    ----------
    transition_model : callable ``(state, action, rng) -> next_state``
        The environment's dynamics, batch first: a simulator, a formula or a learned model.
    actions : array, shape (N_A, ...), or callable ``(state, rng) -> action``
        The action distribution: a finite set (see :func:`dard.action_grid`), equally likely, or a
        sampler.
    discount : float
        The discount of the problem; shaping cancels for potentials shaped with this discount.
    next_states : int
        N_T, next states drawn for each action; 1 is enough for deterministic models.
    estimator : {"paired", "full"}
        ``"full"`` is the paper's own estimator: every action, every pair of actions,
        ``(N_A N_T)² + 2 N_A N_T + 1`` evaluations for each transition. ``"paired"`` estimates the
        same quantity without bias from two independent replicates of a few actions,
        ``6 K N_T + 1`` evaluations.
    action_samples : int, optional
        K, the actions drawn for each inner expectation and replicate (default: 4, or N_A where
        that is fewer). With ``"full"`` and a sampler: N_A (default 64).

    Examples
    --------
    >>> import numpy as np
    >>> import dard
    >>> rng = np.random.default_rng(0)
    >>> state, action = rng.normal(size=(1000, 1)), rng.uniform(-1, 1, (1000, 1))
    >>> data = dard.Transitions(state, action, state + action)
    >>> metric = dard.DARD(lambda s, a, rng: s + a, dard.action_grid(-1, 1, 5))
    >>> near = lambda s, a, s2: -abs(s2[:, 0])
    >>> shaped = lambda s, a, s2: near(s, a, s2) + 0.95 * s2[:, 0] ** 2 - s[:, 0] ** 2
    >>> f"{float(dard.distance(near, shaped, data, metric)):.6f}"
    '0.000000'
    """

    transition_model: Callable[..., Any]
    actions: Any
    discount: float = 0.95
    next_states: int = 1
    estimator: Estimator = "paired"
    action_samples: int | None = None

    properties = Properties()

    def __post_init__(self) -> None:
        check_common(self.estimator, self.discount)
        if not callable(self.transition_model):
            raise ConfigurationError(
                f"transition_model is a {type(self.transition_model).__name__}; expected a "
                "callable (state, action, rng) -> next_state"
            )
        for name in ("next_states", "action_samples"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigurationError(f"{name} is {value}; expected at least 1")
        if not callable(self.actions):
            self._check_action_set()

    def _check_action_set(self) -> None:
        actions = arrays.as_array(self.actions, "actions")
        if actions.ndim == 0 or actions.shape[0] == 0:
            raise ConfigurationError("actions is empty: DARD needs at least one action")
        if not bool(arrays.namespace(actions).all(arrays.namespace(actions).isfinite(actions))):
            raise ConfigurationError("actions has NaN or infinite entries")
        size = int(actions.shape[0])
        if self.action_samples is not None and self.estimator == "full":
            raise ConfigurationError(
                'action_samples has no meaning with estimator="full" and a set of actions, of '
                "which every one is used: leave it out, or pass a sampler as actions"
            )
        if self.action_samples is not None and self.action_samples > size:
            raise ConfigurationError(
                f"action_samples is {self.action_samples}, but there are {size} actions, and "
                "they are drawn without replacement"
            )
        object.__setattr__(self, "actions", actions)

    def canonicalize(self, reward: Callable[..., Any], data: Transitions, seed: int = 0) -> Floats:
        """Return the transformed reward of each transition, float64, shape (n,)."""
        return canonical_rewards(self, reward, data, seed)

    def plan(self, data: Transitions, seed: int) -> "DARDPlan":
        """Return the queries for `data`."""
        home = of_array(data.state)
        probe = data[: min(len(data), 8)]
        actions: Any = self.actions
        if callable(actions):
            sampler = bind_model("the action sampler", actions, (probe.state,))
            actions, draws = sampler, self._draws(FULL_DRAWS)
        else:
            actions = _like(home.put(actions), probe.action)
            draws = self._draws(int(actions.shape[0]))
        model = bind_model(_MODEL, self.transition_model, (probe.state, probe.action))
        return DARDPlan(data, seed, self, home, model, actions, draws, jackknife_groups(data))

    def _draws(self, size: int) -> int:
        if self.estimator == "full":
            return size if self.action_samples is None else self.action_samples
        return min(PAIRED_DRAWS, size) if self.action_samples is None else self.action_samples


@dataclass(frozen=True)
class DARDPlan:
    """Successors of ``s`` and ``s'`` under drawn actions, and the triples made of them.

    An outer position is a transition (full), or a transition in one of two replicates (paired).
    Each has `draws` actions for ``s``, as many for ``s'``, and `next_states` successors of each.
    """

    data: Transitions
    seed: int
    metric: DARD
    home: Placement
    model: BoundModel
    actions: Any
    draws: int
    groups: Groups

    @property
    def replicates(self) -> int:
        """Two independent ones for the paired estimator."""
        return 2 if self.metric.estimator == "paired" else 1

    @property
    def successors(self) -> int:
        """Successors of each of ``s`` and ``s'`` in a replicate."""
        return self.draws * self.metric.next_states

    @property
    def block_size(self) -> int:
        """Transitions in a block: as many as keep its successors in the processor's cache.

        Paired blocks have the same size on every device, and so the same draws. The full
        estimator draws no actions, and its blocks may fill a GPU.
        """
        room = SUCCESSORS_PER_BLOCK
        if self.replicates == 1 and arrays.device_kind(self.data.state) != "cpu":
            room *= 16
        size = room // (2 * self.replicates * self.successors)
        return min(max(size, 1), MOST_TRANSITIONS)

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return -(-len(self.data) // self.block_size)

    @property
    def queries(self) -> int:
        """Number of evaluations of each reward."""
        m = self.successors
        pairs = m if self.replicates == 2 else m * m
        return len(self.data) * (1 + self.replicates * (2 * m + pairs))

    def block(self, number: int, *, whole: bool = False) -> Block:
        """Draw the actions and successors of one block, and lay out its four terms."""
        size = self.block_size
        index = np.arange(number * size, min((number + 1) * size, len(self.data)))
        rows = rows_of(self.data, index)
        first, second = self._action_sets(rows, number)
        ahead, beyond = self._successor_sets(rows, first, second, number)
        return Block(number, index, self._terms(rows, first, second, ahead, beyond))

    def offset(self) -> None:
        """Return None: the transformation leaves no constant out."""
        return

    def centre_groups(self, number: int) -> None:
        """Return None: transitions share no draws, and are centred on the mean of everything."""
        return

    def _action_sets(self, rows: Transitions, number: int) -> tuple[Any, Any]:
        """Return the actions taken in ``s`` and in ``s'``, each (outer or 1, draws, ...).

        Paired: two independent sets for each outer position, without replacement and in random
        order, so that position k of both holds equal actions with probability 1 / N_A.
        """
        outer = self.replicates * len(rows)
        if isinstance(self.actions, BoundModel):
            return tuple(
                self._sampled(state, outer, (self.seed, purpose, number))
                for state, purpose in ((rows.state, "actions"), (rows.next_state, "next actions"))
            )
        if self.replicates == 1:
            return self.actions[None], self.actions[None]
        rng = stream(self.seed, "actions", number)
        size = int(self.actions.shape[0])
        drawn = distinct_draws(rng, 2 * outer, size, self.draws)
        picked = Part(self.actions[:, None], outer=drawn.reshape(-1).astype(np.intp))
        flat = picked.expand(slice(0, drawn.size), slice(0, 1))
        sets = flat.reshape((2, outer, self.draws, *flat.shape[1:]))
        return sets[0], sets[1]

    def _sampled(self, state: Any, outer: int, key: tuple[int, str, int]) -> Any:
        """Return actions of the sampler in each state, shape (outer, draws, ...)."""
        rows = np.arange(outer) % state.shape[0]
        states = Part(state[:, None], outer=rows).expand(slice(0, outer), slice(0, self.draws))
        drawn = self._called(self.actions, (states,), key)
        example = tuple(self.data.action.shape[1:])
        _check_shape(drawn, (outer * self.draws, *example), "the action sampler")
        return drawn.reshape((outer, self.draws, *example))

    def _called(self, model: BoundModel, inputs: tuple[Any, ...], key: tuple[int, str, int]) -> Any:
        try:
            return model(inputs, self.home, key)
        except DardError:
            raise
        except Exception as error:
            what = f"{model.name} raised in block {key[-1]}"
            raise TransitionModelError(failure(what, error)) from error

    def _successor_sets(
        self, rows: Transitions, first: Any, second: Any, number: int
    ) -> tuple[Any, Any]:
        """Return the successors of ``s`` and of ``s'``, each (outer, draws * N_T, ...)."""
        outer, m = self.replicates * len(rows), self.successors
        span, inner = (slice(0, outer), slice(0, m)), self._action_of_successor()
        repeat = np.arange(outer) % len(rows)
        xp = arrays.namespace(rows.state)
        states = [Part(x[:, None], repeat).expand(*span) for x in (rows.state, rows.next_state)]
        actions = [Part(x, inner=inner).expand(*span) for x in (first, second)]
        inputs = xp.concat(states), xp.concat(actions)
        result = self._called(self.model, inputs, (self.seed, "model", number))
        _check_shape(result, tuple(inputs[0].shape), _MODEL)
        finite = xp.isfinite(result)
        if not bool(xp.all(finite)):
            host = arrays.to_numpy(finite).reshape((2 * outer * m, -1))
            bad = len(host) - int(np.count_nonzero(host.all(axis=1)))
            raise TransitionModelError(
                f"{_MODEL} returned NaN or infinity for {bad} of {len(host)} states in block "
                f"{number}"
            )
        if xp.isdtype(result.dtype, "real floating") and xp.isdtype(
            rows.state.dtype, "real floating"
        ):
            result = xp.astype(result, rows.state.dtype, copy=False)
        sets = result.reshape((2, outer, m, *result.shape[1:]))
        return sets[0], sets[1]

    def _terms(
        self, rows: Transitions, first: Any, second: Any, ahead: Any, beyond: Any
    ) -> tuple[Term, ...]:
        outer, m = self.replicates * len(rows), self.successors
        discount, of = self.metric.discount, self._action_of_successor()
        repeat = None if outer == len(rows) else np.arange(outer) % len(rows)
        state, next_state = (Part(x[:, None], repeat) for x in (rows.state, rows.next_state))
        after, later = Part(first, inner=of), Part(second, inner=of)
        successor, second_successor = Part(ahead), Part(beyond)
        terms = (
            own_rewards(rows),
            Term(outer, m, next_state, later, second_successor, (Use(discount),)),
            Term(outer, m, state, after, successor, (Use(-1.0),)),
        )
        if self.replicates == 2:
            # Each successor of s meets one successor of s': the pairing of two random sets.
            pairs = Term(outer, m, successor, later, second_successor, (Use(-discount),))
        else:
            from_s, from_next = np.divmod(np.arange(m * m), m)
            pairs = Term(
                outer,
                m * m,
                Part(ahead, inner=from_s),
                Part(second, inner=of[from_next]),
                Part(beyond, inner=from_next),
                (Use(-discount),),
            )
        return (*terms, pairs)

    def _action_of_successor(self) -> np.ndarray:
        return np.arange(self.successors) // self.metric.next_states


def _check_shape(result: Any, expected: tuple[int, ...], who: str) -> None:
    if tuple(result.shape) != expected:
        raise TransitionModelError(
            f"{who} returned shape {tuple(result.shape)}; expected {expected}: one row for each "
            "row of its inputs"
        )


def _like(actions: Any, example: Any) -> Any:
    """Return the action set with the trailing shape and kind of dtype of the data's actions."""
    wanted = tuple(example.shape[1:])
    if tuple(actions.shape[1:]) != wanted:
        if np.prod(actions.shape[1:]) != np.prod(wanted):
            raise ConfigurationError(
                f"actions has shape {tuple(actions.shape)}, but actions in the data have shape "
                f"{wanted}; expected (N_A, {', '.join(map(str, wanted))})"
            )
        actions = actions.reshape((actions.shape[0], *wanted))
    xp = arrays.namespace(actions)
    for kind in ("real floating", "integral"):
        if xp.isdtype(actions.dtype, kind) and xp.isdtype(example.dtype, kind):
            return xp.astype(actions, example.dtype)
    return actions
