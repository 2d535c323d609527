import contextlib
import json
import os
import pickle
import sys

import numpy as np
import pytest
import safetensors.numpy
import torch
from hypothesis import given
from hypothesis import strategies as st

from dard.core.errors import ConfigurationError, FileFormatError, MissingExtraError
from dard.rewards import MlpReward, load_reward
from dard.rewards.mlp_file import encode

from .nets import network, transitions

METADATA = {
    "format": "dard.mlp",
    "schema": "1",
    "activation": "relu",
    "input": "state,action,next_state",
}
TENSORS = {"weight.0": np.ones((7, 1), np.float32), "bias.0": np.zeros(1, np.float32)}


@pytest.fixture
def written(tmp_path):
    """Write a safetensors file with the official package, changed here and there."""

    def write(metadata=METADATA, tensors=TENSORS, **changes):
        file = tmp_path / "net.safetensors"
        file.write_bytes(safetensors.numpy.save(tensors, metadata and metadata | changes))
        return file

    return write


def error_of(file):
    with pytest.raises(FileFormatError) as caught:
        load_reward(file)
    message = str(caught.value)
    assert message.startswith(str(file))
    assert "\n" not in message
    return message


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_a_saved_network_comes_back_equal(tmp_path, dtype, normalised, activation):
    net = network(activation=activation, dtype=dtype, normalised=normalised)
    net.save(tmp_path / "net.safetensors")
    loaded = load_reward(tmp_path / "net.safetensors")
    assert isinstance(loaded, MlpReward)
    assert repr(loaded) == repr(net)
    assert np.array_equal(loaded(*transitions()), net(*transitions()))


def test_the_official_package_reads_what_we_write(tmp_path):
    net, file = network(), tmp_path / "net.safetensors"
    net.save(file)
    tensors = safetensors.numpy.load_file(file)
    assert np.array_equal(tensors["weight.1"], net.layers[1][0])
    assert np.array_equal(tensors["input_std"], net.input_std)


def test_we_read_what_the_official_package_writes(written):
    assert repr(load_reward(written())) == "MlpReward([7, 1], relu, float32)"
    assert load_reward(str(written()))(*transitions()).shape == (50,)


def test_equal_networks_give_equal_bytes_and_others_other():
    assert encode(network()) == encode(network())
    assert encode(network()) != encode(network(seed=1))


def test_saving_replaces_a_file_and_leaves_nothing_else(tmp_path):
    file = tmp_path / "net.safetensors"
    network().save(file)
    network(seed=1).save(file)
    assert file.read_bytes() == encode(network(seed=1))
    assert list(tmp_path.iterdir()) == [file]


def test_saving_under_another_suffix_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match=r"expected a name in \.safetensors"):
        network().save(tmp_path / "net.pt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "does not say that they are a dard.mlp network (format is 'other')"),
        ({"schema": "2"}, "has schema 2, newer than 1"),
        ({"schema": "one"}, "its schema is 'one'"),
        ({"schema": "0"}, "its schema is '0'"),
        ({"activation": "gelu"}, "activation is 'gelu'"),
        ({"input": "state"}, "reads 'state'; expected 'state,action,next_state'"),
    ],
)
def test_metadata_that_cannot_be_used(written, changes, message):
    assert message in error_of(written(**changes))


def test_metadata_that_is_missing(written):
    assert "format is None" in error_of(written(metadata=None))
    without = {key: value for key, value in METADATA.items() if key != "activation"}
    assert "does not name its activation" in error_of(written(metadata=without))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bias.0": None}, "missing ['bias.0']"),
        ({"weight.0": None, "bias.0": None}, "missing ['bias.0', 'weight.0']"),
        ({"conv": np.ones(1, np.float32)}, "unknown ['conv']"),
        ({"weight.2": TENSORS["weight.0"], "bias.2": TENSORS["bias.0"]}, "missing ['bias.1'"),
        ({"weight.0": np.full((7, 1), np.nan, np.float32)}, "not finite"),
        ({"weight.0": np.ones((7, 2), np.float32)}, "bias.0 has shape (1,); expected (2,)"),
        ({"weight.0": np.ones((7, 1), np.float16)}, "has tensors of F16"),
        ({"weight.0": np.ones((7, 1), np.int64)}, "has tensors of I64"),
        ({"input_mean": np.zeros(7, np.float32)}, "both input_mean and input_std"),
    ],
)
def test_tensors_that_make_no_network(written, changes, message):
    tensors = {k: v for k, v in (TENSORS | changes).items() if v is not None}
    assert message in error_of(written(tensors=tensors))


def test_bfloat16_is_refused_by_name(tmp_path):
    import safetensors.torch

    tensors = {"weight.0": torch.ones(7, 1, dtype=torch.bfloat16), "bias.0": torch.zeros(1)}
    safetensors.torch.save_file(tensors, tmp_path / "b.safetensors", METADATA)
    assert "has tensors of BF16" in error_of(tmp_path / "b.safetensors")


class Bomb:
    """Unpickling one leaves a mark."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.mark.parametrize("suffix", [".safetensors", ".onnx", ".pt", ".pth", ".pkl", ".joblib"])
@pytest.mark.parametrize("writer", ["pickle", "torch"])
def test_loading_runs_nothing_from_a_file(tmp_path, suffix, writer):
    file, mark = tmp_path / f"net{suffix}", tmp_path / "ran"
    with file.open("wb") as stream:
        (pickle.dump if writer == "pickle" else torch.save)(Bomb(mark), stream)
    error_of(file)
    assert not mark.exists()


def test_the_bomb_works(tmp_path):
    """Negative control of the test above."""
    pickle.loads(pickle.dumps(Bomb(tmp_path / "ran")))
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("writer", ["pickle", "torch"])
def test_a_pickle_under_our_name_is_called_one(tmp_path, writer):
    file = tmp_path / "net.safetensors"
    with file.open("wb") as stream:
        (pickle.dump if writer == "pickle" else torch.save)({"weight": 1}, stream)
    assert "is a pickle" in error_of(file)


def test_a_header_that_begins_like_a_pickle_is_no_pickle(written):
    """The first bytes of a good file are the length of its header: any bytes."""
    file = written()
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + length].ljust(0x0480)
    file.write_bytes(len(header).to_bytes(8, "little") + header + content[8 + length :])
    assert file.read_bytes()[:2] == b"\x80\x04"
    assert MlpReward.load(file).width == 7


CONTENT = encode(network())


@given(st.integers(0, len(CONTENT) - 1))
def test_a_truncated_file_is_named(tmp_path_factory, length):
    file = tmp_path_factory.mktemp("truncated") / "net.safetensors"
    file.write_bytes(CONTENT[:length])
    assert "truncated or not a safetensors file" in error_of(file)


@given(st.data())
def test_a_damaged_header_is_an_error_or_still_a_network(tmp_path_factory, data):
    """Whatever the bytes of the header, nothing but a FileFormatError comes out."""
    position = data.draw(st.integers(0, 700))
    content = bytearray(CONTENT)
    content[position] = data.draw(st.integers(0, 255))
    file = tmp_path_factory.mktemp("damaged") / "net.safetensors"
    file.write_bytes(bytes(content))
    with contextlib.suppress(FileFormatError):
        assert isinstance(load_reward(file), MlpReward)


def test_a_header_that_lies_about_offsets(written):
    file = written()
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["weight.0"]["data_offsets"] = [0, 10**12]
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length :])
    error_of(file)


def test_a_file_that_is_not_there_or_a_folder(tmp_path):
    assert "No such file" in error_of(tmp_path / "none.safetensors")
    (tmp_path / "folder.safetensors").mkdir()
    assert "Is a directory" in error_of(tmp_path / "folder.safetensors")


def test_a_missing_package_says_what_to_install(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'dard\[learn\]'"):
        load_reward(written())
