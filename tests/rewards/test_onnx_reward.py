import contextlib
import pickle
import sys
from typing import Any

import jax.numpy as jnp
import numpy as np
import onnx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from dard.core.errors import (
    ConfigurationError,
    FileFormatError,
    MissingExtraError,
    RewardError,
)
from dard.rewards import OnnxReward, load_reward

from .nets import network, transitions

FLOAT, DOUBLE, INT64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64


def model(inputs, nodes, output=("reward", FLOAT, ["n", 1]), constants=(), ir=8, opset=17):
    """A serialised graph; `inputs` and `output` are (name, type, shape)."""
    graph = helper.make_graph(
        [helper.make_node(*node) for node in nodes],
        "reward",
        [helper.make_tensor_value_info(*put) for put in inputs],
        [helper.make_tensor_value_info(*output)],
        list(constants),
    )
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir).SerializeToString()


def three(names=("state", "action", "next_state"), kind=FLOAT, batch: Any = "n"):
    """r = s - 10 a + 100 s' for columns of width one, whatever the names and order."""
    tens = [numpy_helper.from_array(np.array(x, np.float32), f"c{x}") for x in (1, -10, 100)]
    if kind == DOUBLE:
        tens = [numpy_helper.from_array(np.array(x, float), f"c{x}") for x in (1, -10, 100)]
    products = [
        ("Mul", [name, ten.name], [f"{name}*"]) for name, ten in zip(names, tens, strict=True)
    ]
    return model(
        [(name, kind, [batch, 1]) for name in names],
        [*products, ("Sum", [f"{name}*" for name in names], ["reward"])],
        ("reward", kind, [batch, 1]),
        tens,
    )


@pytest.fixture
def written(tmp_path):
    def write(content):
        file = tmp_path / "net.onnx"
        file.write_bytes(content)
        return file

    return write


def error_of(file):
    with pytest.raises(FileFormatError) as caught:
        load_reward(file)
    message = str(caught.value)
    assert message.startswith(str(file))
    assert "\n" not in message
    return message


COLUMNS = np.array([[1.0]]), np.array([[2.0]]), np.array([[3.0]])


def test_three_inputs_are_taken_by_name(written):
    reward = load_reward(written(three()))
    assert isinstance(reward, OnnxReward)
    assert reward(*COLUMNS).tolist() == [1 - 20 + 300]


def test_names_decide_over_order(written):
    graph = onnx.load_model_from_string(three()).graph
    swapped = [graph.input[2], graph.input[0], graph.input[1]]
    proto = onnx.load_model_from_string(three())
    del proto.graph.input[:]
    proto.graph.input.extend(swapped)
    assert load_reward(written(proto.SerializeToString()))(*COLUMNS).tolist() == [281]


def test_other_names_are_taken_in_order(written):
    assert load_reward(written(three(("obs", "act", "obs2"))))(*COLUMNS).tolist() == [281]


@pytest.mark.parametrize("kind", [FLOAT, DOUBLE])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_data_is_converted_to_what_the_graph_declares(written, kind, dtype):
    values = load_reward(written(three(kind=kind)))(*(column.astype(dtype) for column in COLUMNS))
    assert values.tolist() == [281]
    assert values.dtype == (np.float32 if kind == FLOAT else np.float64)


def test_discrete_actions_may_be_integers_without_a_column_axis(written):
    nodes = [
        ("Cast", ["action"], ["a"], "cast"),
        ("ReduceSum", ["state", "one"], ["s"], "sum_s"),
        ("ReduceSum", ["next_state", "one"], ["t"], "sum_t"),
        ("Sum", ["s", "a", "t"], ["reward"], "sum"),
    ]
    proto = onnx.load_model_from_string(
        model(
            [("state", FLOAT, ["n", 2]), ("action", INT64, ["n"]), ("next_state", FLOAT, ["n", 2])],
            nodes,
            ("reward", FLOAT, ["n"]),
            [numpy_helper.from_array(np.array([1]), "one")],
        )
    )
    proto.graph.node[0].attribute.append(helper.make_attribute("to", FLOAT))
    for node in proto.graph.node[1:3]:
        node.attribute.append(helper.make_attribute("keepdims", 0))
    reward = load_reward(written(proto.SerializeToString()))
    states = np.ones((3, 2))
    assert reward(states, np.arange(3), states).tolist() == [4, 5, 6]
    assert reward(states, np.arange(3)[:, None], states).tolist() == [4, 5, 6]
    with pytest.raises(RewardError, match="input 'action' is int64; action came as float64"):
        reward(states, np.full(3, 0.5), states)


@pytest.mark.parametrize("widths", [None, (3, 1, 3)])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("data", [np.float32, np.float64])
def test_an_exported_network_is_equal(tmp_path, widths, activation, normalised, data):
    net = network(activation=activation, normalised=normalised)
    net.to_onnx(tmp_path / "net.onnx", widths=widths)
    reward = load_reward(tmp_path / "net.onnx")
    for n in (0, 1, 50):  # the batch axis takes any length
        columns = transitions(n, data)
        values = reward(*columns)
        assert values.shape == (n,)
        assert values.dtype == np.float32
        np.testing.assert_allclose(values, net(*columns), atol=1e-5)


def test_another_network_is_not_equal(tmp_path):
    """Negative control of the test above."""
    network().to_onnx(tmp_path / "net.onnx")
    values = load_reward(tmp_path / "net.onnx")(*transitions())
    assert np.abs(values - network(seed=1)(*transitions())).max() > 0.1


def test_an_exported_float64_network_computes_in_float64(tmp_path):
    net, columns = network(dtype=np.float64), transitions(dtype=np.float64)
    net.to_onnx(tmp_path / "net.onnx")
    values = load_reward(tmp_path / "net.onnx")(*columns)
    np.testing.assert_allclose(values, net(*columns), rtol=1e-12, atol=1e-12)


def test_exports_have_equal_bytes(tmp_path):
    for name in "ab":
        network().to_onnx(tmp_path / f"{name}.onnx", widths=(3, 1, 3))
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_an_export_that_makes_no_sense(tmp_path):
    with pytest.raises(ConfigurationError, match="expected a sum of 7"):
        network().to_onnx(tmp_path / "net.onnx", widths=(3, 2, 3))
    with pytest.raises(ConfigurationError, match=r"expected a name in \.onnx"):
        network().to_onnx(tmp_path / "net.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_module_that_pytorch_exported_gives_the_same_values(tmp_path):
    """The same network, through PyTorch: user's own exports are not ours."""
    net = network(normalised=False)
    layers = []
    for k, (weight, bias) in enumerate(net.layers):
        layer = torch.nn.Linear(*weight.shape)
        layer.weight.data, layer.bias.data = torch.tensor(weight.T), torch.tensor(bias)
        layers += [torch.nn.Tanh(), layer] if k else [layer]
    module = torch.nn.Sequential(*layers)
    columns = [torch.tensor(column) for column in transitions()]
    expected = module(torch.cat(columns, dim=1)).detach().numpy()[:, 0]
    np.testing.assert_allclose(net(*columns).numpy(), expected, atol=1e-6)
    net.to_onnx(tmp_path / "net.onnx")
    np.testing.assert_allclose(load_reward(tmp_path / "net.onnx")(*columns), expected, atol=1e-5)


@pytest.mark.parametrize("convert", [np.asarray, torch.tensor, jnp.asarray])
def test_any_library_goes_in_and_numpy_comes_out(tmp_path, convert):
    network().to_onnx(tmp_path / "net.onnx", widths=(3, 1, 3))
    reward = OnnxReward(tmp_path / "net.onnx", threads=1)
    assert reward.library == "numpy"
    values = reward(*(convert(column) for column in transitions()))
    assert type(values) is np.ndarray
    np.testing.assert_allclose(values, network()(*transitions()), atol=1e-5)


def test_pickling_carries_the_model_and_not_the_file(tmp_path):
    file = tmp_path / "net.onnx"
    network().to_onnx(file)
    reward = OnnxReward(file, threads=1)
    pickled = pickle.dumps(reward)
    network(seed=1).to_onnx(file)  # overwritten since
    file.unlink()
    copy = pickle.loads(pickled)
    assert np.array_equal(copy(*transitions()), reward(*transitions()))
    assert repr(copy) == repr(reward) == f"OnnxReward({str(file)!r}, transition=(7))"


def test_widths_are_checked_against_the_graph(tmp_path):
    state, action, next_state = transitions()
    network().to_onnx(tmp_path / "net.onnx", widths=(3, 1, 3))
    with pytest.raises(
        RewardError, match=r"input 'action' expects rows of shape \(1\); action .*\(2\)"
    ):
        load_reward(tmp_path / "net.onnx")(state, np.ones((50, 2)), next_state)
    network().to_onnx(tmp_path / "net.onnx")
    with pytest.raises(RewardError, match=r"\(7\); state, action and next_state together .*\(8\)"):
        load_reward(tmp_path / "net.onnx")(state, np.ones((50, 2)), next_state)
    with pytest.raises(RewardError, match="batches of one length"):
        load_reward(tmp_path / "net.onnx")(state, action[:-1], next_state)


def test_an_error_while_it_runs_is_one_line(written):
    """The widths are only names here, so that the graph itself finds out."""
    inputs = [(name, FLOAT, ["n", "width"]) for name in ("state", "action", "next_state")]
    reward = load_reward(written(model(inputs, [("Sum", [i[0] for i in inputs], ["reward"])])))
    with pytest.raises(RewardError, match=r"net\.onnx: .*Sum") as caught:
        reward(np.ones((2, 3)), np.ones((2, 4)), np.ones((2, 3)))
    assert "\n" not in str(caught.value)


def test_an_output_of_the_wrong_length_is_named(written):
    content = model(
        [("x", FLOAT, ["n", 3])],
        [("ReduceSum", ["x"], ["reward"])],
        ("reward", FLOAT, ["m", 1]),
    )
    reward = load_reward(written(content))
    with pytest.raises(RewardError, match=r"gave shape \(1, 1\) for 4 transitions"):
        reward(np.ones((4, 1)), np.ones((4, 1)), np.ones((4, 1)))


@pytest.mark.parametrize("threads", [0, -1, 1.5])
def test_threads_must_be_a_positive_integer(written, threads):
    with pytest.raises(ConfigurationError, match="expected a positive integer"):
        OnnxReward(written(three()), threads=threads)


IDENTITY = [("Identity", ["x"], ["reward"])]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (three(batch=1), "expected a batch axis of any length"),
        (three(batch=64), "expected a batch axis of any length"),
        (model([("x", FLOAT, [])], IDENTITY, ("reward", FLOAT, [])), "batch axis of any length"),
        (model([("x", FLOAT, ["n"])], IDENTITY, ("reward", FLOAT, ["n"])), "its only input 'x'"),
        (model([("x", FLOAT, ["n", 3])], IDENTITY, ("reward", FLOAT, ["n", 3])), "output 'reward'"),
        (
            model([("x", FLOAT, ["n", 1, 1])], IDENTITY, ("reward", FLOAT, ["n", 1, 1])),
            "its only input 'x'",
        ),
        (
            model(
                [("x", TensorProto.BOOL, ["n", 1])],
                IDENTITY,
                ("reward", TensorProto.BOOL, ["n", 1]),
            ),
            r"input 'x' is tensor(bool)",
        ),
        (
            model(
                [("x", FLOAT, ["n", 1]), ("y", FLOAT, ["n", 1])], [("Add", ["x", "y"], ["reward"])]
            ),
            "has 2 inputs ['x', 'y']",
        ),
        (
            model([("x", FLOAT, ["n", 1])], IDENTITY, opset=99),
            "opset ai.onnx 99, which ONNX Runtime",
        ),
        (model([("x", FLOAT, ["n", 1])], IDENTITY, ir=99), "needs ONNX IR version 99"),
        (model([("x", FLOAT, ["n", 1])], [("Nonsense", ["x"], ["reward"])]), "cannot open it"),
        (b"", "has no graph"),
        (b"hello world\n" * 9, "truncated or not an ONNX file"),
        (b"PK\x03\x04", "truncated or not an ONNX file"),
    ],
)
def test_files_that_cannot_be_used(written, content, message):
    assert message in error_of(written(content))


def test_two_outputs_are_refused(written):
    proto = onnx.load_model_from_string(three())
    proto.graph.output.append(helper.make_tensor_value_info("state*", FLOAT, ["n", 1]))
    assert "has 2 outputs" in error_of(written(proto.SerializeToString()))


def with_external_data(location, branch):
    """Keep the weight of a graph, or of a branch inside it, in a file of that name."""
    weight = numpy_helper.from_array(np.ones((3, 1), np.float32), "weight")
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=location)
    product = ("MatMul", ["x", "weight"], ["reward"])
    if not branch:
        return model([("x", FLOAT, ["n", 3])], [product], constants=[weight])
    output = [helper.make_tensor_value_info("inner", FLOAT, ["n", 1])]
    node = helper.make_node("MatMul", ["x", "weight"], ["inner"])
    inner = helper.make_graph([node], "inner", [], output, [weight])
    proto = onnx.load_model_from_string(model([("x", FLOAT, ["n", 3])], [product]))
    del proto.graph.node[:]
    true = numpy_helper.from_array(np.array(True), "true")
    proto.graph.initializer.append(true)
    proto.graph.node.append(
        helper.make_node("If", ["true"], ["reward"], then_branch=inner, else_branch=inner)
    )
    return proto.SerializeToString()


@pytest.mark.parametrize("branch", [False, True])
@pytest.mark.parametrize("where", ["beside", "absolute", "above"])
def test_data_in_other_files_is_not_read(written, tmp_path, monkeypatch, branch, where):
    (tmp_path / "secret.bin").write_bytes(np.ones(3, np.float32).tobytes())
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below" if where == "above" else tmp_path)
    names = {"beside": "secret.bin", "above": "../secret.bin"}
    location = names.get(where, str(tmp_path / "secret.bin"))
    message = error_of(written(with_external_data(location, branch)))
    assert "keeps its tensor 'weight' in another file, which is not read" in message


CONTENT = three()


@given(st.integers(0, len(CONTENT) - 1))
def test_a_truncated_file_is_named(tmp_path_factory, length):
    file = tmp_path_factory.mktemp("truncated") / "net.onnx"
    file.write_bytes(CONTENT[:length])
    error_of(file)


@pytest.mark.parametrize(
    "name", [b"state*", b"state", b"Mul", b"reward", b"c100", b"n"], ids=lambda name: name.decode()
)
@pytest.mark.parametrize("everywhere", [False, True])
def test_names_that_are_no_text_are_an_error(written, capfd, name, everywhere):
    assert name in CONTENT
    content = CONTENT.replace(name, name[:-1] + b"\xbc", -1 if everywhere else 1)
    error_of(written(content))
    assert capfd.readouterr() == ("", "")  # ONNX Runtime prints some of its troubles


def test_a_damaged_file_is_an_error_or_still_a_reward(written):
    """Whatever the bytes, nothing but errors of ours come out."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        content = bytearray(CONTENT)
        content[rng.integers(len(content))] = rng.integers(256)
        with contextlib.suppress(FileFormatError, RewardError):
            assert load_reward(written(bytes(content)))(*COLUMNS).shape == (1,)


def test_a_missing_package_says_what_to_install(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"needs onnxruntime: pip install 'dard\[learn\]'"):
        load_reward(written(three()))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match="needs onnx: "):
        network().to_onnx("never.onnx")
