"""Reward models: rewards from files and modules, and the MLP that files hold."""

from dard.rewards.load import load_reward
from dard.rewards.mlp_reward import MlpReward
from dard.rewards.noise import NoisyReward, noisy
from dard.rewards.onnx_reward import OnnxReward

__all__ = ["MlpReward", "NoisyReward", "OnnxReward", "load_reward", "noisy"]
