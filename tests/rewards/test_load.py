import operator
from typing import Any

import numpy as np
import pytest

from dard.core.errors import ConfigurationError, FileFormatError, RewardError
from dard.rewards import MlpReward, load_reward

from .nets import network


def test_a_function_and_an_object_are_returned_as_they_are():
    assert load_reward("operator:add") is operator.add
    assert load_reward("numpy:linalg.norm") is np.linalg.norm


def test_a_function_in_a_file(tmp_path):
    (tmp_path / "mine.py").write_text("def reward(s, a, t):\n    return t[:, 0] - s[:, 0]\n")
    reward = load_reward(f"{tmp_path}/mine.py:reward")
    assert reward(np.zeros((2, 1)), np.zeros((2, 1)), np.ones((2, 1))).tolist() == [1, 1]


def test_suffixes_are_known_in_capitals_too(tmp_path):
    network().save(tmp_path / "a.safetensors")
    (tmp_path / "a.safetensors").rename(tmp_path / "a.SAFETENSORS")
    assert isinstance(load_reward(tmp_path / "a.SAFETENSORS"), MlpReward)


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".pkl", ".pickle", ".joblib", ".PT"])
def test_files_that_would_run_code_are_refused_by_name(suffix):
    with pytest.raises(FileFormatError, match=r"would run code.*weights_only=True.*ONNX"):
        load_reward(f"model{suffix}")


def test_a_class_is_not_a_reward():
    with pytest.raises(RewardError, match=r"is a class; .* 'reward = Fraction\(...\)'"):
        load_reward("fractions:Fraction")


def test_a_number_is_not_a_reward():
    with pytest.raises(RewardError, match="of type float, which cannot be called"):
        load_reward("math:pi")


@pytest.mark.parametrize("source", ["reward", "reward.h5", "folder/reward", ""])
def test_neither_a_file_nor_an_attribute(source):
    with pytest.raises(ConfigurationError, match=r"expected a \.onnx or \.safetensors file"):
        load_reward(source)


def test_a_callable_needs_no_loading():
    reward: Any = operator.add
    with pytest.raises(ConfigurationError, match="already needs no loading"):
        load_reward(reward)


def test_no_such_module():
    with pytest.raises(ConfigurationError, match=r"^reward 'no_such_module:f': there is no module"):
        load_reward("no_such_module:f")
