import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import dard
from dard.core.errors import ConfigurationError
from dard.rewards import noisy

RNG = np.random.default_rng(0)
BATCH = tuple(RNG.normal(size=(4_000, 3)).astype(np.float32) for _ in range(3))


def first(state, action, next_state):
    return state[:, 0]


def test_noise_has_the_standard_deviation_and_is_a_function_of_the_transition():
    reward = noisy(first, 0.5)
    noise = reward(*BATCH) - first(*BATCH)
    assert abs(noise.std() - 0.5) < 0.03
    assert abs(noise.mean()) < 0.03
    order = RNG.permutation(len(noise))
    np.testing.assert_array_equal(reward(*(x[order] for x in BATCH)), reward(*BATCH)[order])


def test_every_part_of_the_transition_and_the_seed_change_the_noise():
    noise = noisy(lambda s, a, s2: 0 * s[:, 0], 1.0)(*BATCH)
    for part in range(3):
        moved = list(BATCH)
        moved[part] = BATCH[part] + np.float32(1e-3)
        other = noisy(lambda s, a, s2: 0 * s[:, 0], 1.0)(*moved)
        assert abs(np.corrcoef(noise, other)[0, 1]) < 0.06
    seeded = noisy(lambda s, a, s2: 0 * s[:, 0], 1.0, seed=1)(*BATCH)
    assert abs(np.corrcoef(noise, seeded)[0, 1]) < 0.06


def test_libraries_agree_and_jax_can_trace_it():
    expected = noisy(first, 1.0)(*BATCH)
    in_torch = noisy(first, 1.0)(*map(torch.tensor, BATCH))
    traced = jax.jit(noisy(first, 1.0))(*map(jnp.asarray, BATCH))
    np.testing.assert_allclose(in_torch.numpy(), expected, atol=3e-6)
    np.testing.assert_allclose(np.asarray(traced), expected, atol=3e-6)


def test_a_wrapped_module_is_found_and_put_into_evaluation_mode():
    net = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Dropout(0.5))

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, state, action, next_state):
            return self.net(state)

    data = dard.Transitions(*(x.astype(np.float64) for x in BATCH))
    estimate = dard.distance(noisy(Net(), 1e-3), Net(), data, dard.Pearson())
    assert 0 < estimate.value < 0.1


def test_noise_makes_distance():
    # Pearson of x and x + noise of equal variance: correlation sqrt(1/2).
    data = dard.Transitions(*BATCH)
    spread = float(BATCH[0][:, 0].std())
    estimate = dard.distance(first, noisy(first, spread), data, dard.Pearson())
    low, high = estimate.interval(0.999)
    assert low < np.sqrt((1 - np.sqrt(0.5)) / 2) < high


@pytest.mark.parametrize("sigma", [-1.0, float("nan")])
def test_bad_sigma(sigma):
    with pytest.raises(ConfigurationError, match="sigma is"):
        noisy(first, sigma)


def test_not_a_reward():
    with pytest.raises(ConfigurationError, match="reward is a int"):
        noisy(3, 1.0)  # type: ignore[arg-type]
