"""Our safetensors format of an MLP: tensors by name, everything else in the header's metadata.

Metadata (text, as safetensors demands): ``format`` "dard.mlp", ``schema`` "1", ``activation``
"tanh" or "relu", ``input`` "state,action,next_state". Tensors, all float32 or all float64:
``weight.0`` (in, out), ``bias.0`` (out,), ``weight.1``, ..., and ``input_mean`` with
``input_std`` (in,) where inputs are normalised.
"""

import json
import re
from os import PathLike, fspath
from typing import Any

import numpy as np

from dard.core.errors import FileFormatError, MissingExtraError
from dard.rewards.files import read_bytes
from dard.rewards.inputs import COLUMNS
from dard.rewards.mlp import Mlp

_FORMAT, _SCHEMA, _INPUT = "dard.mlp", 1, ",".join(COLUMNS)
# A zip archive (torch.save), or a pickle of protocol 2 to 5. The third byte keeps the two apart
# from the header's length that our files begin with, which may be any number.
_PICKLE = re.compile(rb"PK\x03\x04|\x80[\x02-\x05][^\x00]")
_DTYPES = {"F32": "<f4", "F64": "<f8"}


def encode(network: Mlp) -> bytes:
    """Return the file of `network`; equal networks give equal bytes.

    The package's own writer orders the metadata at random, hence these few lines: 8 bytes of
    length, a JSON header, the tensors one after the other.
    """
    metadata = {
        "format": _FORMAT,
        "schema": str(_SCHEMA),
        "activation": network.activation,
        "input": _INPUT,
    }
    header: dict[str, Any] = {"__metadata__": metadata}
    code = {4: "F32", 8: "F64"}[network.dtype.itemsize]
    chunks, start = [], 0
    for name, array in _tensors(network).items():
        chunks.append(array.astype(_DTYPES[code]).tobytes())
        offsets = [start, start + len(chunks[-1])]
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": offsets}
        start = offsets[1]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors begin at a multiple of 8 bytes
    return len(text).to_bytes(8, "little") + text + b"".join(chunks)


def _tensors(network: Mlp) -> dict[str, np.ndarray]:
    tensors = {}
    for k, (weight, bias) in enumerate(network.layers):
        tensors |= {f"weight.{k}": weight, f"bias.{k}": bias}
    if network.normalisation is not None:
        tensors |= {"input_mean": network.input_mean, "input_std": network.input_std}
    return tensors


def decode(file: str | PathLike[str]) -> tuple[list[tuple[Any, Any]], str, Any, Any]:
    """Return ``(layers, activation, input_mean, input_std)`` of `file`, or say what is wrong."""
    metadata, tensors = _read(file)
    _check_metadata(file, metadata)
    input_mean, input_std = tensors.pop("input_mean", None), tensors.pop("input_std", None)
    depth = len(tensors) // 2
    expected = [f"{kind}.{k}" for k in range(max(depth, 1)) for kind in ("weight", "bias")]
    missing, unknown = set(expected) - set(tensors), set(tensors) - set(expected)
    if missing or unknown:
        raise FileFormatError(
            f"{file}: its tensors do not make an MLP (missing {sorted(missing)}, unknown "
            f"{sorted(unknown)[:5]}): write it again with MlpReward.save"
        )
    layers = [(tensors[f"weight.{k}"], tensors[f"bias.{k}"]) for k in range(depth)]
    return layers, metadata["activation"], input_mean, input_std


def _read(file: str | PathLike[str]) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise MissingExtraError("safetensors", "learn", "reading a .safetensors reward") from error
    content = read_bytes(file, "a .safetensors file")
    try:
        with safe_open(fspath(file), framework="numpy") as opened:
            names = opened.keys()
            kinds = {opened.get_slice(name).get_dtype() for name in names}
            if not kinds <= _DTYPES.keys():
                raise FileFormatError(
                    f"{file}: has tensors of {', '.join(sorted(kinds - _DTYPES.keys()))}; "
                    "expected F32 or F64: convert the weights to float32 and save again"
                )
            tensors = {name: opened.get_tensor(name) for name in names}
            return opened.metadata() or {}, tensors
    except SafetensorError as error:
        if _PICKLE.match(content):
            raise FileFormatError(
                f"{file}: is a pickle, as torch.save writes them, under another name; reading it "
                "would run its code: save the network with MlpReward.save"
            ) from error
        reason = " ".join(str(error).split())
        raise FileFormatError(
            f"{file}: is truncated or not a safetensors file ({reason}): copy or save it again"
        ) from error


def _check_metadata(file: str | PathLike[str], metadata: dict[str, str]) -> None:
    if metadata.get("format") != _FORMAT:
        raise FileFormatError(
            f"{file}: holds tensors but does not say that they are a {_FORMAT} network (format is "
            f"{metadata.get('format')!r}): write it with MlpReward.save, or pass a function that "
            "builds your model as 'module:attribute'"
        )
    schema = metadata.get("schema", "")
    if not schema.isdecimal() or int(schema) < 1:
        raise FileFormatError(f"{file}: its schema is {schema!r}; expected a version number")
    if int(schema) > _SCHEMA:
        raise FileFormatError(
            f"{file}: has schema {schema}, newer than {_SCHEMA}, the newest that this version "
            "reads: pip install --upgrade dard"
        )
    if metadata.get("input") != _INPUT:
        raise FileFormatError(
            f"{file}: reads {metadata.get('input')!r}; expected {_INPUT!r}: save it again"
        )
    if "activation" not in metadata:
        raise FileFormatError(f"{file}: does not name its activation: save it again")
