"""The exact oracle: numbers worked out by hand, identities, and slow, obvious loops."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dard import tabular
from dard.core.errors import (
    ConfigurationError,
    DataError,
    TransitionModelError,
    UndefinedDistanceWarning,
)
from dard.testing import TabularMDP, tabular_mdps

COUPLINGS = ("paper", "shared", "independent")
SHAPING_SEEDS = st.integers(0, 1000)


def switching_problem() -> tuple[np.ndarray, np.ndarray]:
    """Two states; action 0 stays, action 1 switches; R(0, 1, 1) = 1, else 0."""
    R = np.zeros((2, 2, 2))
    R[0, 1, 1] = 1
    T = np.stack([np.eye(2), np.eye(2)[::-1]], axis=1)
    return R, T


def shaped(R: np.ndarray, potential: np.ndarray, discount: float) -> np.ndarray:
    return R + discount * potential - potential[:, None, None]


def brute_force(mdp: TabularMDP, coupling: str) -> np.ndarray:
    """Loop over every outcome of the actions and next states in the definition."""
    R, T, g = mdp.R, mdp.T, mdp.discount
    states, actions = range(R.shape[0]), range(R.shape[1])
    p = mdp.action_dist if mdp.action_dist is not None else np.full(len(actions), 1 / len(actions))
    result = np.zeros_like(R)
    for s, a, z in itertools.product(states, actions, states):
        value = R[s, a, z]
        for u, x in itertools.product(actions, states):
            value += g * p[u] * T[z, u, x] * R[z, u, x] - p[u] * T[s, u, x] * R[s, u, x]
        for b, c, d in itertools.product(actions, repeat=3):  # make S', make S'', go into R
            chance = p[b] * p[c] * p[d]
            if coupling == "paper":
                chance = p[b] * p[c] * (c == d)
            elif coupling == "shared":
                chance = p[b] * (b == c == d)
            for x, y in itertools.product(states, states):
                value -= g * chance * T[s, b, x] * T[z, c, y] * R[x, d, y]
        result[s, a, z] = value
    return result


# Pearson distance


def test_pearson_is_exact_near_zero():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000) + 1
    assert tabular.pearson_distance(x, x) == 0
    noisy = x * (1 + 1e-12) + 1e-10 * rng.normal(size=1000)
    assert 1e-12 < tabular.pearson_distance(x, noisy) < 1e-9
    textbook = np.sqrt(max(0, 1 - np.corrcoef(x, noisy)[0, 1]) / 2)
    assert textbook == 0 or textbook > 1e-9, "1 - correlation cancels there, so it sees nothing"


@pytest.mark.parametrize(
    ("correlation", "expected"), [(1, 0.0), (0.5, 0.5), (0, 2**-0.5), (-1, 1.0)]
)
def test_pearson_follows_the_correlation(correlation: float, expected: float):
    x, orthogonal = np.array([1.0, 1, -1, -1]), np.array([1.0, -1, 1, -1])
    y = correlation * x + np.sqrt(1 - correlation**2) * orthogonal
    assert tabular.pearson_distance(x, 7 * y + 3) == pytest.approx(expected, abs=1e-15)


def test_pearson_weights_repeat_values():
    x, y = np.array([1.0, 2, 4]), np.array([3.0, -1, 0])
    repeated = tabular.pearson_distance(np.repeat(x, [3, 1, 2]), np.repeat(y, [3, 1, 2]))
    assert tabular.pearson_distance(x, y, [3, 1, 2]) == pytest.approx(repeated, abs=1e-15)
    assert tabular.pearson_distance(x, y) != pytest.approx(repeated, abs=0.01)


def test_pearson_ignores_values_without_weight():
    x, y = np.array([1.0, 2, 4, 1e300]), np.array([3.0, -1, 0, -1e300])
    expected = tabular.pearson_distance(x[:3], y[:3])
    assert tabular.pearson_distance(x, y, [1, 1, 1, 0]) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_pearson_neither_overflows_nor_underflows(scale: float):
    x, y = np.array([1.0, 2, 4]), np.array([3.0, -1, 0])
    expected = tabular.pearson_distance(x, y)
    assert tabular.pearson_distance(scale * x, y) == pytest.approx(expected, abs=1e-14)


def test_pearson_survives_a_large_offset():
    offset = 1e9 + np.random.default_rng(1).normal(size=500) * 1e-5
    signal = offset - 1e9  # exact: what the offset values still hold of it
    exact = tabular.pearson_distance(signal, signal[::-1])
    assert tabular.pearson_distance(offset, offset[::-1]) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(
    ("x", "y", "named"),
    [
        (np.full(9, 0.1), np.arange(9.0), r"^x has no variance"),
        (np.arange(9.0), np.full(9, 0.1), r"^y has no variance"),
        (np.zeros(9), np.full(9, 1e300), r"^x and y have no variance"),
        (1e6 * (1 + np.arange(9) % 2 * 2.0**-51), np.arange(9.0), r"^x has no variance"),
    ],
)
def test_pearson_without_variance_is_named(x: np.ndarray, y: np.ndarray, named: str):
    with pytest.warns(UndefinedDistanceWarning, match=named):
        assert np.isnan(tabular.pearson_distance(x, y))


def test_pearson_sees_small_but_real_variance():
    x = 1 + 1e-12 * np.arange(9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tabular.pearson_distance(x, np.arange(9.0)) < 1e-3
        assert tabular.pearson_distance([0, 0, 1e-200], [0, 0, 1]) < 1e-15


@pytest.mark.parametrize(
    ("x", "y", "weights", "message"),
    [
        ([1, np.nan], [1, 2], None, r"x has 1 values .* first at \(1,\)"),
        ([1, 2], [np.inf, 2], None, r"y has 1 values .* first at \(0,\)"),
        ([1, 2], [1, 2, 3], None, r"x has shape \(2,\) but y has \(3,\)"),
        ([], [], None, "empty"),
        ([1, 2], [1, 2], [1], r"weights has shape \(1,\); expected \(2,\)"),
        ([1, 2], [1, 2], [1, -1], "weights has a negative value"),
        ([1, 2], [1, 2], [0, 0], "weights is zero everywhere"),
    ],
)
def test_pearson_refuses(x: list, y: list, weights: list | None, message: str):
    with pytest.raises(DataError, match=message):
        tabular.pearson_distance(x, y, weights)


# Exact numbers


@pytest.mark.parametrize(("n", "expected"), [(2, 1), (3, 0.8660), (9, 0.75), (50, 0.7143)])
def test_epic_of_one_hot_state_rewards(n: int, expected: float):
    one, other = np.zeros((2, n, 3, n))
    one[0], other[n - 1] = 1, 1
    distance = tabular.epic_distance(one, other, 0.9)
    assert distance == pytest.approx(np.sqrt(n / (2 * (n - 1))), abs=1e-14)
    assert distance == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("coupling", "last"),
    [
        ("shared", [[0, 0], [0.45, 0]]),
        ("paper", [[0.225, 0], [0.225, 0]]),
        ("independent", [[0.1125, 0.1125], [0.1125, 0.1125]]),
    ],
)
def test_dard_last_term_of_the_switching_problem(coupling, last):
    R, T = switching_problem()
    mean = np.array([0.5, 0])  # E[R(s, A, T(s, A))]
    without_last = R - mean[:, None, None] + 0.9 * mean
    found = without_last - tabular.dard(R, T, 0.9, coupling=coupling)
    np.testing.assert_allclose(found, np.repeat(np.array(last)[:, None], 2, axis=1), atol=1e-15)


def test_canonical_rewards_of_the_switching_problem():
    R, T = switching_problem()
    shared = [[-0.05, -0.5], [-0.05, 0.5], [0, 0], [0, 0]]
    epic = [[-0.1375, -0.3625], [-0.1375, 0.6375], [0.1125, -0.1125], [0.1125, -0.1125]]
    found = tabular.dard(R, T, 0.9, coupling="shared")
    np.testing.assert_allclose(found.reshape(4, 2), shared, atol=1e-15)
    np.testing.assert_allclose(tabular.epic(R, 0.9).reshape(4, 2), epic, atol=1e-15)


# Identities


@given(mdp=tabular_mdps(), seed=SHAPING_SEEDS)
def test_potentials_canonicalise_to_zero(mdp: TabularMDP, seed: int):
    potential = np.random.default_rng(seed).normal(size=mdp.n_states)
    nothing = shaped(np.zeros_like(mdp.R), potential, mdp.discount)
    assert np.abs(nothing).max() > 1e-3 or mdp.discount == 1
    np.testing.assert_allclose(
        tabular.epic(nothing, mdp.discount, mdp.state_dist, mdp.action_dist), 0, atol=1e-14
    )
    for coupling in COUPLINGS:
        canonical = tabular.dard(nothing, mdp.T, mdp.discount, mdp.action_dist, coupling)
        np.testing.assert_allclose(canonical, 0, atol=1e-14)


@given(mdp=tabular_mdps(), seed=SHAPING_SEEDS, coupling=st.sampled_from(COUPLINGS))
def test_shaping_scale_and_shift_change_nothing(mdp: TabularMDP, seed: int, coupling):
    rng = np.random.default_rng(seed)
    other = rng.normal(size=mdp.R.shape)
    assume(np.ptp(mdp.R) > 0.1)
    changed = 3.7 * mdp.shaped(10 * rng.normal(size=mdp.n_states)).R + 5
    canonical = tabular.dard(mdp.R, mdp.T, mdp.discount, mdp.action_dist, coupling)
    assume(np.ptp(canonical[mdp.T > 0]) > 0.1)
    for distance in (epic_between(mdp), dard_between(mdp, coupling)):
        assert distance(changed, other) == pytest.approx(distance(mdp.R, other), abs=1e-10)
        assert distance(mdp.R, changed) < 1e-10
        assert distance(mdp.R, -changed) == pytest.approx(1, abs=1e-10)
        assert distance(mdp.R, mdp.R) == 0


@given(mdp=tabular_mdps(max_states=4), seed=SHAPING_SEEDS, coupling=st.sampled_from(COUPLINGS))
def test_distances_are_pseudometrics(mdp: TabularMDP, seed: int, coupling):
    first, second, third = np.random.default_rng(seed).normal(size=(3, *mdp.R.shape))
    support = mdp.T > 0
    assume(support.sum() > 2 and mdp.n_actions > 1)
    for distance in (epic_between(mdp), dard_between(mdp, coupling)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedDistanceWarning)
            near, far = distance(first, second), distance(second, third)
            direct = distance(first, third)
        assume(not np.isnan([near, far, direct]).any())
        assert 0 <= direct <= near + far + 1e-12
        assert distance(second, first) == near


def test_shaping_with_another_discount_is_seen():
    mdp = TabularMDP(*switching_problem(), discount=0.9)
    wrong = shaped(mdp.R, np.array([0.0, 5]), 0.5)
    assert tabular.epic_distance(mdp.R, wrong, 0.9) > 0.01
    assert tabular.dard_distance(mdp.R, wrong, mdp.T, 0.9) > 0.01


# Slow, obvious loops


@settings(max_examples=10)
@given(mdp=tabular_mdps(max_states=3, max_actions=2))
def test_dard_equals_the_loops(mdp: TabularMDP):
    for coupling in COUPLINGS:
        found = tabular.dard(mdp.R, mdp.T, mdp.discount, mdp.action_dist, coupling)
        np.testing.assert_allclose(found, brute_force(mdp, coupling), atol=1e-12)


def test_couplings_differ():
    rng = np.random.default_rng(0)
    R, T = rng.normal(size=(3, 2, 3)), rng.dirichlet(np.ones(3), size=(3, 2))
    found = [tabular.dard(R, T, 0.9, [0.3, 0.7], coupling) for coupling in COUPLINGS]
    for one, other in itertools.combinations(found, 2):
        assert np.abs(one - other).max() > 0.01


def test_epic_equals_the_loops():
    rng = np.random.default_rng(0)
    R, d, p, g = rng.normal(size=(3, 2, 3)), rng.dirichlet(np.ones(3)), np.array([0.2, 0.8]), 0.8
    expected = R.copy()
    for s, a, z in itertools.product(range(3), range(2), range(3)):
        for x, u, y in itertools.product(range(3), range(2), range(3)):
            inner = g * R[z, u, y] - R[s, u, y] - g * R[x, u, y]
            expected[s, a, z] += d[x] * p[u] * d[y] * inner
    np.testing.assert_allclose(tabular.epic(R, g, d, p), expected, atol=1e-14)


def test_a_hundred_states_and_twenty_actions():
    rng = np.random.default_rng(0)
    R, T = rng.normal(size=(100, 20, 100)), rng.dirichlet(np.ones(100), size=(100, 20))
    for coupling in COUPLINGS:
        assert tabular.dard_distance(R, R + 1, T, 0.95, coupling=coupling) < 1e-14


# Coverage and bad input


def test_default_coverages():
    rng = np.random.default_rng(0)
    R_a, R_b = rng.normal(size=(2, 3, 2, 3))
    T, d, p = rng.dirichlet(np.ones(3), size=(3, 2)), rng.dirichlet(np.ones(3)), [0.2, 0.8]
    product = np.einsum("s,a,x->sax", d, p, d)
    assert tabular.epic_distance(R_a, R_b, 0.9, None, d, p) == pytest.approx(
        tabular.pearson_distance(
            tabular.epic(R_a, 0.9, d, p), tabular.epic(R_b, 0.9, d, p), product
        )
    )
    assert tabular.epic_distance(R_a, R_b, 0.9) == pytest.approx(
        tabular.epic_distance(R_a, R_b, 0.9, np.ones((3, 2, 3)))
    )
    followed = np.einsum("s,a,sax->sax", d, p, T)
    assert tabular.dard_distance(R_a, R_b, T, 0.9, None, d, p) == pytest.approx(
        tabular.dard_distance(R_a, R_b, T, 0.9, followed, None, p)
    )


def test_pure_shaping_is_undefined_not_noise():
    rng = np.random.default_rng(0)
    R, T = rng.normal(size=(9, 3, 9)), rng.dirichlet(np.ones(9), size=(9, 3))
    nothing = shaped(np.zeros_like(R), 1e5 * rng.normal(size=9), 0.95)
    with pytest.warns(UndefinedDistanceWarning, match="canonical reward of R_b has no variance"):
        assert np.isnan(tabular.epic_distance(R, nothing, 0.95))
    with pytest.warns(UndefinedDistanceWarning, match="canonical reward of R_a has no variance"):
        assert np.isnan(tabular.dard_distance(nothing, R, T, 0.95))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"R": np.zeros((2, 2))}, DataError, r"R has shape \(2, 2\); expected \(S, A, S\)"),
        ({"R": np.zeros((2, 2, 3))}, DataError, "expected"),
        ({"R": np.full((2, 2, 2), np.nan)}, DataError, "R has 8 values"),
        ({"T": np.full((2, 3, 2), 0.5)}, TransitionModelError, r"T has shape \(2, 3, 2\)"),
        ({"T": np.full((2, 2, 2), 0.4)}, TransitionModelError, r"T\[0, 0\] .* \(sum 0.8"),
        ({"T": np.full((2, 2, 2), [1.5, -0.5])}, TransitionModelError, "least -0.5"),
        ({"discount": 1.1}, ConfigurationError, "discount is 1.1"),
        ({"discount": float("nan")}, ConfigurationError, "discount is nan"),
        ({"discount": "high"}, ConfigurationError, "discount is 'high'"),
        ({"action_dist": [1.0]}, ConfigurationError, r"action_dist has shape \(1,\)"),
        ({"action_dist": [0.5, 0.6]}, ConfigurationError, "action_dist sums to 1.1"),
        ({"action_dist": [1.5, -0.5]}, ConfigurationError, "action_dist has a negative"),
        ({"coupling": "loose"}, ConfigurationError, "coupling is 'loose'; expected one of paper"),
    ],
)
def test_dard_refuses(change: dict, error: type[Exception], message: str):
    R, T = switching_problem()
    with pytest.raises(error, match=message):
        tabular.dard(**({"R": R, "T": T, "discount": 0.9} | change))


def test_distances_refuse_contradictions():
    R, T = switching_problem()
    with pytest.raises(DataError, match=r"R_a has shape \(2, 2, 2\) but R_b has \(3, 2, 3\)"):
        tabular.epic_distance(R, np.zeros((3, 2, 3)), 0.9)
    with pytest.raises(ConfigurationError, match="state_dist sums to"):
        tabular.epic(R, 0.9, state_dist=[0.5, 0.4])
    with pytest.raises(ConfigurationError, match="state_dist only shapes the default coverage"):
        tabular.dard_distance(R, R, T, 0.9, np.ones((2, 2, 2)), state_dist=[0.5, 0.5])


def epic_between(mdp: TabularMDP):
    return lambda one, other: tabular.epic_distance(
        one, other, mdp.discount, np.ones_like(mdp.R), mdp.state_dist, mdp.action_dist
    )


def dard_between(mdp: TabularMDP, coupling):
    return lambda one, other: tabular.dard_distance(
        one, other, mdp.T, mdp.discount, mdp.T, None, mdp.action_dist, coupling
    )
