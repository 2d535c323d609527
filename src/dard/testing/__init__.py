"""Property batteries and hypothesis strategies for your own metric, reward or environment."""

from dard.testing.battery import check_reward, check_transition_model
from dard.testing.functions import ShapedReward, SmoothPotential, SmoothReward
from dard.testing.metric_battery import check_metric
from dard.testing.strategies import potentials, rewards, tabular_mdps, transitions
from dard.testing.tabular import TabularMDP, TabularReward, TabularTransitionModel

__all__ = [
    "ShapedReward",
    "SmoothPotential",
    "SmoothReward",
    "TabularMDP",
    "TabularReward",
    "TabularTransitionModel",
    "check_metric",
    "check_reward",
    "check_transition_model",
    "potentials",
    "rewards",
    "tabular_mdps",
    "transitions",
]
