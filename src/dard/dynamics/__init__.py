"""Transition models for environments that do not bring one: MuJoCo's simulator, and noise.

A transition model is any callable ``(state, action, rng) -> next_state``.
"""

from dard.dynamics.mujoco_model import MujocoModel, mujoco
from dard.dynamics.noise import NoisyModel, noisy

__all__ = ["MujocoModel", "NoisyModel", "mujoco", "noisy"]
