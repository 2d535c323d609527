"""Opening ONNX files from strangers: parsed, checked to be whole, then given to ONNX Runtime."""

import re
from collections.abc import Iterator
from typing import Any

from dard.core.errors import FileFormatError, MissingExtraError


def open_session(file: str, model: bytes, threads: int | None) -> Any:
    """Return an ONNX Runtime session (CPU, deterministic) of the serialised `model`.

    `file` is for messages only: nothing is read from disk, so a model that keeps tensors in other
    files is refused.
    """
    try:
        import onnx
        import onnxruntime
    except ImportError as error:
        package = error.name or "onnxruntime"
        raise MissingExtraError(package, "learn", "reading an .onnx reward") from error
    proto = _parse(onnx, file, model)
    options = onnxruntime.SessionOptions()
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # errors are raised; they need not be printed as well
    if threads is not None:
        options.intra_op_num_threads = threads
    try:
        # Without enable_fallback=0 a failure is printed, and the same thing tried once more.
        return onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except Exception as error:
        reason = runtime_message(error)
        if re.search(r"unsupported model ir|opset", reason, re.IGNORECASE):
            opsets = ", ".join(f"{o.domain or 'ai.onnx'} {o.version}" for o in proto.opset_import)
            raise FileFormatError(
                f"{file}: needs ONNX IR version {proto.ir_version} and opset {opsets}, which ONNX "
                f"Runtime {onnxruntime.__version__} does not have: pip install --upgrade "
                "onnxruntime, or export for an older opset"
            ) from error
        raise FileFormatError(f"{file}: ONNX Runtime cannot open it: {reason}") from error


def runtime_message(error: Exception) -> str:
    """Return ONNX Runtime's message in one line, without its codes."""
    text = " ".join(str(error).split())
    return re.sub(r"\[ONNXRuntimeError\] : \d+ : \w+ : ", "", text)


def _parse(onnx: Any, file: str, model: bytes) -> Any:
    from google.protobuf.message import DecodeError

    try:
        proto = onnx.load_model_from_string(model)
    except (DecodeError, RecursionError, ValueError) as error:
        raise FileFormatError(
            f"{file}: is truncated or not an ONNX file: copy or export it again"
        ) from error
    if not proto.HasField("graph") or not proto.graph.output:
        raise FileFormatError(f"{file}: has no graph with an output: copy or export it again")
    for message in _messages(proto):
        if not _is_text(message):
            raise FileFormatError(
                f"{file}: is damaged, a name in it is no text: copy or export it again"
            )
        if isinstance(message, onnx.TensorProto) and (
            message.data_location == onnx.TensorProto.EXTERNAL or message.external_data
        ):
            raise FileFormatError(
                f"{file}: keeps its tensor {message.name!r} in another file, which is not read: "
                "export it as one file (onnx.save with save_as_external_data=False)"
            )
    return proto


def _messages(message: Any) -> Iterator[Any]:
    """Yield `message` and all messages inside: graphs of branches, functions, attributes."""
    yield message
    for descriptor, value in message.ListFields():
        if descriptor.message_type is not None:
            for child in [value] if hasattr(value, "ListFields") else value:
                yield from _messages(child)


def _is_text(message: Any) -> bool:
    """Say whether all texts of `message` are; protobuf gives those that are not as bytes."""
    texts = (
        [value] if isinstance(value, str | bytes) else value
        for descriptor, value in message.ListFields()
        if descriptor.type == descriptor.TYPE_STRING
    )
    return all(isinstance(text, str) for group in texts for text in group)
