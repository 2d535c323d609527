"""The same bytes for any number of workers; another seed, other draws; sharing changes nothing."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import dard
from dard.testing import SmoothReward

ACTIONS = dard.action_grid([-1, -1], [1, 1], 3)


def model(state: Any, action: Any, rng: Any) -> Any:
    return 0.7 * state + 0.5 * action + 0.1 * rng.normal(size=state.shape)


METRICS: dict[str, Any] = {
    "Pearson": dard.Pearson(),
    "EPIC": dard.EPIC(),
    "full EPIC": dard.EPIC(estimator="full", samples=16),
    "DARD": dard.DARD(model, ACTIONS),
    "full DARD": dard.DARD(model, ACTIONS, estimator="full"),
    "sampled DARD": dard.DARD(model, lambda s, rng: rng.normal(size=(len(s), 2))),
}
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)


@pytest.fixture(scope="module")
def data() -> dard.Transitions:
    """Enough for several blocks of every metric, with episodes that do not end with blocks."""
    rng = np.random.default_rng(0)
    state, action = rng.normal(size=(9000, 2)), rng.uniform(-1, 1, (9000, 2))
    episode = np.arange(9000) // 37
    return dard.Transitions(state, action, model(state, action, rng), episode)


@pytest.fixture(scope="module")
def rewards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One reward of each library, and a file."""
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    onnx = pytest.importorskip("onnx")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = net

        def forward(self, state: Any, action: Any, next_state: Any) -> Any:
            return self.net(torch.cat([state, action, next_state], dim=1))

    @jax.jit
    def compiled(state: Any, action: Any, next_state: Any) -> Any:
        return jax.numpy.sin(state @ jax.numpy.ones(2)) * next_state[:, 0] + action[:, 1]

    path = tmp_path_factory.mktemp("rewards") / "reward.onnx"
    onnx.save(linear(onnx), path)
    return {
        "numpy": SmoothReward(1),
        "torch": Net(),
        "jax": compiled,
        "onnx": dard.load_reward(path),
    }


def linear(onnx: Any) -> Any:
    """Return a model of ``state - 2 action + next_state``, summed and squashed."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    names = "state", "action", "next_state"
    inputs = [helper.make_tensor_value_info(name, kind, ["n", 2]) for name in names]
    output = helper.make_tensor_value_info("reward", kind, ["n", 1])
    weight = np.array([[1, 0.5], [-2, 1], [1, 3]], np.float32).reshape(6, 1)
    nodes = [
        helper.make_node("Concat", list(names), ["joined"], axis=1),
        helper.make_node("MatMul", ["joined", "weight"], ["sum"]),
        helper.make_node("Tanh", ["sum"], ["reward"]),
    ]
    held = [onnx.numpy_helper.from_array(weight, "weight")]
    graph = helper.make_graph(nodes, "reward", inputs, [output], held)
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


@every_metric
def test_any_number_of_workers_gives_the_same_bytes(metric, data, rewards):
    found = [dard.compare(rewards, data, metric, seed=3, workers=k) for k in (1, 2, 4)]
    assert found[0].to_json() == found[1].to_json() == found[2].to_json()
    assert "null" not in found[0].to_json().replace('"undefined": null', "")


@every_metric
def test_another_seed_draws_anew(metric, data, rewards):
    pair = rewards["numpy"], rewards["jax"]
    first, again, other = (dard.distance(*pair, data, metric, seed=seed) for seed in (0, 0, 1))
    assert first == again
    same = {field.name for field in dataclasses.fields(first)} - {"seed"}
    unchanged = all(getattr(first, name) == getattr(other, name) for name in same)
    assert unchanged == isinstance(metric, dard.Pearson)


@every_metric
def test_other_rewards_do_not_matter(metric, data, rewards):
    """Only the order in which NumPy sums may differ."""
    pair = {name: rewards[name] for name in ("torch", "numpy")}
    alone = next(iter(dard.compare(pair, data[:4200], metric).values()))
    among = next(iter(dard.compare(rewards, data[:4200], metric).values()))
    one, other = (result.estimate("numpy", "torch") for result in (alone, among))
    assert float(one) == pytest.approx(float(other), abs=1e-13)
    assert one.standard_error == pytest.approx(other.standard_error, abs=1e-13)


def test_canonical_rewards_repeat(data, rewards):
    for metric in METRICS.values():
        first, again = (metric.canonicalize(rewards["onnx"], data, seed=2) for _ in range(2))
        assert first.tobytes() == again.tobytes()


def test_numpy_global_randomness_is_neither_used_nor_changed(data):
    np.random.seed(0)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    dard.distance(SmoothReward(1), SmoothReward(2), data[:500], METRICS["DARD"])
    assert np.random.random() == expected  # noqa: NPY002
