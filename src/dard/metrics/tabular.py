"""Exact EPIC, DARD and Pearson distances of rewards given as tables ``R[s, a, s']``.

Everything is float64 on the host, without sampling: the oracle that the sampled metrics are held
against, and the fastest way to compare rewards of an MDP small enough to write down.
"""

import math
import warnings
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from dard.core.errors import ConfigurationError, DataError, UndefinedDistanceWarning
from dard.metrics.tables import (
    Table,
    checked_discount,
    distribution,
    finite_table,
    reward_pair,
    reward_table,
    transition_table,
    weight_table,
)

Coupling = Literal["paper", "shared", "independent"]

_EPSILON = float(np.finfo(np.float64).eps)
_CANONICAL = "the canonical reward of R_a", "the canonical reward of R_b"


def pearson_distance(x: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> float:
    r"""Return the Pearson distance of two arrays of values.

    .. math:: D_\rho(X, Y) = \sqrt{(1 - \rho(X, Y)) / 2}

    It is computed as half the Euclidean norm of the difference of the two centred unit vectors:
    algebraically the same, and exact near 0, where :math:`1 - \rho` cancels.

    Parameters
    ----------
    x, y : array_like
        Values of two rewards on the same transitions, of one shape.
    weights : array_like, optional
        Non-negative weight of each transition, of the same shape; uniform if not given. Only
        values of positive weight count.

    Returns
    -------
    float
        A distance in [0, 1]; NaN, with an :class:`~dard.core.errors.UndefinedDistanceWarning`
        that names the side, where `x` or `y` has no variance beyond rounding.

    References
    ----------
    Gleave et al., *Quantifying differences in reward functions*, ICLR 2021, definition 4.4.

    Examples
    --------
    >>> from dard.tabular import pearson_distance
    >>> round(pearson_distance([1, 2, 3], [3, 2, 1]), 12)
    1.0
    >>> pearson_distance([1, 2, 3], [10, 20, 30]) < 1e-15
    True
    """
    first, second = finite_table(x, "x"), finite_table(y, "y")
    if first.shape != second.shape:
        raise DataError(f"x has shape {first.shape} but y has {second.shape}; give equal shapes")
    if first.size == 0:
        raise DataError("x and y are empty; a distance needs at least two values")
    mass = weight_table(weights, "weights", first.shape)
    return _pearson(("x", "y"), [first, second], [0.0, 0.0], mass)


def epic(
    R: ArrayLike,
    discount: float,
    state_dist: ArrayLike | None = None,
    action_dist: ArrayLike | None = None,
) -> Table:
    r"""Return the canonically shaped reward of EPIC, exactly.

    .. math::

        C(R)(s, a, s') = R(s, a, s')
            + E[\gamma R(s', A, S') - R(s, A, S') - \gamma R(S, A, S')]

    with independent :math:`S, S' \sim D_S` and :math:`A \sim D_A`.

    Parameters
    ----------
    R : array_like, shape (S, A, S)
        Reward ``R[s, a, s']``.
    discount : float
        Discount factor in [0, 1].
    state_dist : array_like, shape (S,), optional
        :math:`D_S`; uniform if not given.
    action_dist : array_like, shape (A,), optional
        :math:`D_A`; uniform if not given.

    Returns
    -------
    ndarray, shape (S, A, S)
        The canonical reward.

    References
    ----------
    Gleave et al., ICLR 2021, definition 4.1; quoted as equation (1) of Wulfe et al.,
    *Dynamics-aware comparison of learned reward functions*, ICLR 2022, section 3.
    """
    reward = reward_table(R, "R")
    n_states, n_actions, _ = reward.shape
    gamma = checked_discount(discount)
    states = distribution(state_dist, "state_dist", n_states)
    actions = distribution(action_dist, "action_dist", n_actions)
    mean = actions @ (reward @ states).T  # E[R(y, A, S')] for each state y
    constant = gamma * (states @ mean)
    return reward + gamma * mean - mean[:, None, None] - constant


def dard(
    R: ArrayLike,
    T: ArrayLike,
    discount: float,
    action_dist: ArrayLike | None = None,
    coupling: Coupling = "paper",
) -> Table:
    r"""Return the dynamics-aware transformation of a reward, exactly.

    .. math::

        C_T(R)(s, a, s') = R(s, a, s')
            + E[\gamma R(s', A, S'') - R(s, A, S') - \gamma R(S', A, S'')]

    with :math:`A \sim D_A`, :math:`S' \sim T(s, A)` and :math:`S'' \sim T(s', A)`: in both places
    :math:`S''` depends on :math:`s'`, not on :math:`S'`.

    Parameters
    ----------
    R : array_like, shape (S, A, S)
        Reward ``R[s, a, s']``.
    T : array_like, shape (S, A, S)
        Transition probabilities ``T[s, a, s']``; each ``T[s, a]`` sums to 1.
    discount : float
        Discount factor in [0, 1].
    action_dist : array_like, shape (A,), optional
        :math:`D_A`; uniform if not given.
    coupling : {"paper", "shared", "independent"}
        Which actions meet in the last term :math:`E[R(S', A, S'')]`. ``"paper"`` follows the
        sample formula of the paper's appendix: S' comes from an action of its own, and the action
        passed to R is the one that made S''. ``"shared"``: one action makes S' and S'' and is
        passed to R. ``"independent"``: three independent actions.

    Returns
    -------
    ndarray, shape (S, A, S)
        The transformed reward.

    References
    ----------
    Wulfe et al., *Dynamics-aware comparison of learned reward functions*, ICLR 2022, section 4,
    equation (3); the sample formula is in its appendix, "Reward Evaluation".
    """
    reward = reward_table(R, "R")
    n_actions = reward.shape[1]
    transition = transition_table(T, reward.shape)
    gamma = checked_discount(discount)
    actions = distribution(action_dist, "action_dist", n_actions)
    if coupling not in get_args(Coupling):
        choices = ", ".join(get_args(Coupling))
        raise ConfigurationError(f"coupling is {coupling!r}; expected one of {choices}")
    mean = np.einsum("a,sax,sax->s", actions, transition, reward)  # E[R(y, A, T(y, A))]
    pair = mean[None, :] - _last_term(reward, transition, actions, coupling)
    return reward - mean[:, None, None] + gamma * pair[:, None, :]


def epic_distance(
    R_a: ArrayLike,
    R_b: ArrayLike,
    discount: float,
    coverage: ArrayLike | None = None,
    state_dist: ArrayLike | None = None,
    action_dist: ArrayLike | None = None,
) -> float:
    r"""Return the EPIC distance of two rewards, exactly.

    .. math:: D_{EPIC}(R_A, R_B) = D_\rho(C(R_A)(S, A, S'), C(R_B)(S, A, S'))

    Parameters
    ----------
    R_a, R_b : array_like, shape (S, A, S)
        Rewards ``R[s, a, s']``.
    discount : float
        Discount factor in [0, 1].
    coverage : array_like, shape (S, A, S), optional
        Weight of each transition. If not given, states, actions and next states are independent,
        with the distributions below; so it is uniform where these are.
    state_dist : array_like, shape (S,), optional
        :math:`D_S`; uniform if not given.
    action_dist : array_like, shape (A,), optional
        :math:`D_A`; uniform if not given.

    Returns
    -------
    float
        A distance in [0, 1]; NaN with a warning where a canonical reward has no variance.

    References
    ----------
    Gleave et al., ICLR 2021, definition 4.6; equation (2) of Wulfe et al., ICLR 2022, section 3.
    """
    raw = reward_pair(R_a, R_b)
    n_states, n_actions, _ = raw[0].shape
    if coverage is None:
        states = distribution(state_dist, "state_dist", n_states)
        actions = distribution(action_dist, "action_dist", n_actions)
        mass = np.einsum("s,a,x->sax", states, actions, states)
    else:
        mass = weight_table(coverage, "coverage", raw[0].shape)
    canonical = [epic(reward, discount, state_dist, action_dist) for reward in raw]
    return _pearson(_CANONICAL, canonical, _term_sizes(raw), mass)


def dard_distance(
    R_a: ArrayLike,
    R_b: ArrayLike,
    T: ArrayLike,
    discount: float,
    coverage: ArrayLike | None = None,
    state_dist: ArrayLike | None = None,
    action_dist: ArrayLike | None = None,
    coupling: Coupling = "paper",
) -> float:
    r"""Return the DARD distance of two rewards, exactly.

    .. math:: D_{DARD}(R_A, R_B) = D_\rho(C_T(R_A)(S, A, S'), C_T(R_B)(S, A, S'))

    Parameters
    ----------
    R_a, R_b : array_like, shape (S, A, S)
        Rewards ``R[s, a, s']``.
    T : array_like, shape (S, A, S)
        Transition probabilities ``T[s, a, s']``.
    discount : float
        Discount factor in [0, 1].
    coverage : array_like, shape (S, A, S), optional
        Weight of each transition. If not given, states and actions follow the distributions
        below and next states follow `T`.
    state_dist : array_like, shape (S,), optional
        Distribution of states in the default coverage; uniform if not given.
    action_dist : array_like, shape (A,), optional
        :math:`D_A`, also that of the default coverage; uniform if not given.
    coupling : {"paper", "shared", "independent"}
        See :func:`dard`.

    Returns
    -------
    float
        A distance in [0, 1]; NaN with a warning where a canonical reward has no variance.

    References
    ----------
    Wulfe et al., ICLR 2022, section 4, equation (4).
    """
    raw = reward_pair(R_a, R_b)
    n_states, n_actions, _ = raw[0].shape
    if coverage is None:
        states = distribution(state_dist, "state_dist", n_states)
        actions = distribution(action_dist, "action_dist", n_actions)
        transition = transition_table(T, raw[0].shape)
        mass = np.einsum("s,a,sax->sax", states, actions, transition)
    elif state_dist is not None:
        raise ConfigurationError("state_dist only shapes the default coverage; drop it or coverage")
    else:
        mass = weight_table(coverage, "coverage", raw[0].shape)
    canonical = [dard(reward, T, discount, action_dist, coupling) for reward in raw]
    return _pearson(_CANONICAL, canonical, _term_sizes(raw), mass)


def _last_term(reward: Table, transition: Table, actions: Table, coupling: Coupling) -> Table:
    """Return E[R(S', A, S'')] for each pair (s, s'), shape (S, S), in at most (A, S, S) memory."""
    if coupling == "shared":
        made = np.swapaxes(transition, 0, 1)  # (A, S, S)
        queried = np.swapaxes(reward, 0, 1)
        return np.tensordot(actions, made @ queried @ np.swapaxes(made, 1, 2), axes=1)
    step = np.einsum("a,sax->sx", actions, transition)
    if coupling == "independent":
        return step @ np.einsum("a,sax->sx", actions, reward) @ step.T
    weighted = actions[:, None] * transition
    # Rows x', columns s': the mean over A and S'' ~ T(s', A) of R(x', A, S'').
    return step @ np.tensordot(reward, weighted, axes=([1, 2], [1, 2]))


def _term_sizes(raw: list[Table]) -> list[float]:
    """Return the size of what canonicalisation sums: pure shaping leaves rounding noise of it."""
    return [float(np.abs(table).max()) for table in raw]


def _pearson(names: tuple[str, str], sides: list[Table], sizes: list[float], mass: Table) -> float:
    """Return the distance of two tables whose values were summed from terms of size `sizes`."""
    support = mass > 0
    root = np.sqrt(mass[support] / mass[support].sum())
    units = [
        _centred_unit(side[support], root, size) for side, size in zip(sides, sizes, strict=True)
    ]
    if units[0] is None or units[1] is None:
        flat = [name for name, unit in zip(names, units, strict=True) if unit is None]
        warnings.warn(
            f"{' and '.join(flat)} {'has' if len(flat) == 1 else 'have'} no variance beyond "
            "rounding where the weights are positive: the distance is undefined (nan)",
            UndefinedDistanceWarning,
            stacklevel=3,
        )
        return math.nan
    return min(1.0, 0.5 * float(np.linalg.norm(units[0] - units[1])))


def _centred_unit(values: Table, root: Table, size: float) -> Table | None:
    """Return the centred unit vector of `values` under weights `root` squared.

    None where the spread of the values is rounding: a few units of their own last place, or what
    summing terms of size `size` leaves behind.
    """
    largest = float(np.abs(values).max())
    # Powers of two rescale without rounding, and keep squares from overflowing.
    exponent = math.frexp(max(largest, size))[1]
    values = np.ldexp(values, -exponent)
    largest, size = math.ldexp(largest, -exponent), math.ldexp(size, -exponent)
    if float(np.ptp(values)) <= _EPSILON * max(8 * largest, 64 * size):
        return None
    weights = root * root
    for _ in range(2):  # The second pass removes what a large offset leaves behind.
        values = values - weights @ values
    scaled = root * values
    scaled = scaled / np.abs(scaled).max()
    return scaled / np.linalg.norm(scaled)
