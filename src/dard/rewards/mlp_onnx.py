"""An MLP as an ONNX graph."""

from typing import Any

from dard.core.errors import MissingExtraError
from dard.rewards.inputs import COLUMNS
from dard.rewards.mlp import Mlp

# Old enough for every ONNX Runtime that supports our Pythons, new enough for all we need.
_OPSET, _IR_VERSION = 17, 8


def onnx_model(network: Mlp, widths: tuple[int, int, int] | None) -> bytes:
    """Return the ONNX file of `network`; see :meth:`dard.rewards.MlpReward.to_onnx`."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("onnx", "learn", "exporting a reward to ONNX") from error
    kind = onnx.helper.np_dtype_to_tensor_dtype(network.dtype)
    columns = {"transition": network.width}
    if widths is not None:
        columns = dict(zip(COLUMNS, widths, strict=True))
    nodes, constants = _nodes(onnx, network, tuple(columns))
    describe = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes,
        "reward",
        [describe(name, kind, ["batch", width]) for name, width in columns.items()],
        [describe("reward", kind, ["batch", 1])],
        [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = onnx.helper.make_model(
        graph,
        producer_name="dard",
        ir_version=_IR_VERSION,
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
    )
    onnx.checker.check_model(model)
    return model.SerializeToString(deterministic=True)


def _nodes(onnx: Any, network: Mlp, columns: tuple[str, ...]) -> tuple[list[Any], dict[str, Any]]:
    """Return the graph's nodes, in order, and its constants by name."""
    nodes: list[Any] = []
    constants: dict[str, Any] = {}
    current = columns[0]

    def apply(operator: str, *operands: str, result: str | None = None, **attributes: Any) -> None:
        nonlocal current
        result = result or f"value.{len(nodes)}"
        nodes.append(onnx.helper.make_node(operator, operands, [result], **attributes))
        current = result

    if len(columns) > 1:
        apply("Concat", *columns, axis=1)
    if network.normalisation is not None:
        constants |= {"input_mean": network.input_mean, "input_std": network.input_std}
        apply("Sub", current, "input_mean")
        apply("Div", current, "input_std")
    last = len(network.layers) - 1
    for k, (weight, bias) in enumerate(network.layers):
        constants |= {f"weight.{k}": weight, f"bias.{k}": bias}
        apply("MatMul", current, f"weight.{k}")
        apply("Add", current, f"bias.{k}", result="reward" if k == last else None)
        if k < last:
            apply({"tanh": "Tanh", "relu": "Relu"}[network.activation], current)
    return nodes, constants
