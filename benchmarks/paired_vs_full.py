"""How much less the paired estimators cost than the paper's own, at equal error.

Bouncing Balls with 26-dimensional states and N_A = 64; the ground truth and two similar nets. Both
estimators measure the same random disjoint subsets of n transitions, and their root-mean-square
errors are taken against the distance on all the data (paired, K = 16). The mean square error falls
with 1 / n, so the cost of a given error goes with (cost of a transition) x (mean square error), and
a row is the ratio of two such products, full over paired. Ranges: 90 %, from resampling subsets.

- Evaluations are counted. Wall time is measured per transition, estimators in turn, with two
  [256, 256] tanh nets in ONNX Runtime; features are computed in NumPy and belong to the reward.
- DARD: errors with these nets. Full EPIC asks 2 x 32,768 + 1 questions per transition, so that its
  errors are measured with [32, 32] nets of the same kind; only its times are with [256, 256].
- Full EPIC is favoured: with few transitions and N_M = 32,768 its batch adds next to no error, as
  it would where n = N_M. In turn transitions here are independent, so that it cannot share states
  along a trajectory; where it can, it asks half as many questions: halve its rows.
- The data is of a policy that heads for the goal half of the time (as often rewarded as the paper's
  expert). Under the uniform policy most subsets that full EPIC can afford hold no reward at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import bouncing
import numpy as np
from harness import Row, Scale, interleaved

import dard
from dard.metrics.dard import PAIRED_DRAWS as DARD_DRAWS
from dard.metrics.epic import PAIRED_DRAWS as EPIC_DRAWS

PAIRS = {"GT and a net": ("GT", "net 1"), "two similar nets": ("net 1", "net 2")}
DRAWS, MOST_DRAWS = {2, 4, 8}, 16
# Evaluations and wall time, of each metric's default K.
TARGETS = {"DARD": (50.0, 30.0), "EPIC": (500.0, 300.0)}
DEFAULTS = {"DARD": DARD_DRAWS, "EPIC": EPIC_DRAWS}

PAPER_BATCH = 32_768

Estimators = Mapping[str, dard.DARD | dard.EPIC]
Rewards = Mapping[str, bouncing.RewardFunction]


@dataclass(frozen=True)
class Setting:
    """How one metric is measured.

    Attributes
    ----------
    subsets, transitions, hidden : int
        For errors: repetitions, n, and hidden units.
    batch : int
        N_M of full EPIC.
    timed, timed_hidden, timings : int
        For times: transitions of the full estimator, hidden units, repetitions.
    episodes : int
        Episodes of all the data.
    """

    subsets: int
    transitions: int
    hidden: int
    timed: int
    timed_hidden: int
    timings: int
    episodes: int
    batch: int = PAPER_BATCH


SETTINGS: dict[Scale, dict[str, Setting]] = {
    "tiny": {
        "DARD": Setting(3, 50, 16, 10, 16, 1, 4),
        "EPIC": Setting(3, 50, 16, 10, 16, 1, 4, batch=128),
    },
    "small": {
        "DARD": Setting(12, 250, 64, 100, 256, 2, 200),
        "EPIC": Setting(12, 200, 32, 32, 256, 2, 200, batch=4_096),
    },
    "full": {
        "DARD": Setting(48, 800, 256, 500, 256, 5, 1_000),
        "EPIC": Setting(24, 300, 32, 32, 256, 5, 1_000),
    },
}


def run(scale: Scale, seed: int) -> list[Row]:
    """Measure."""
    rows = []
    for metric, setting in SETTINGS[scale].items():
        data = bouncing.transitions(setting.episodes, seed, eager=0.5)
        data = dard.Transitions(data.state, data.action, data.next_state)
        data = data[np.random.default_rng(seed).permutation(len(data))]
        estimators = _estimators(metric, setting, data)
        truth, squares = _square_errors(estimators, setting, data)
        costs = {
            "evaluations": {k: m.plan(data, 0).queries / len(data) for k, m in estimators.items()},
            "wall time": _seconds(estimators, setting, data),
        }
        for k, pair in enumerate(PAIRS):
            errors = {name: square[:, k] for name, square in squares.items()}
            note = f"D = {truth[k]:.3f}, n = {setting.transitions:,}"
            found = _rows(metric, pair, errors, costs, note)
            # Targets are for the paper's N_M; smaller scales have a smaller one.
            judged = metric == "DARD" or setting.batch == PAPER_BATCH
            rows += found if judged else [replace(row, target=None) for row in found]
    return rows


def _rows(
    metric: str,
    pair: str,
    squares: Mapping[str, np.ndarray],
    costs: Mapping[str, Mapping[str, float]],
    note: str,
) -> list[Row]:
    """Return the two ratios of every K, with the targets at the default one."""
    rows = []
    for draws in _draws(metric):
        paired = f"K = {draws}"
        ratios = _ratio_of_means(squares["full"], squares[paired])
        roots = [f"{np.sqrt(squares[name].mean()):.2g} {name}" for name in ("full", paired)]
        for (unit, cost), target in zip(costs.items(), TARGETS[metric], strict=True):
            value, low, high = (cost["full"] / cost[paired] * ratio for ratio in ratios)
            rows.append(
                Row(
                    f"{metric}, {pair}, {paired}: {unit}",
                    value,
                    "times less than full",
                    target if draws == DEFAULTS[metric] else None,
                    at_least=True,
                    low=low,
                    high=high,
                    note=f"{note}; RMS error {', '.join(roots)}" if unit == "evaluations" else "",
                )
            )
    return rows


def _estimators(metric: str, setting: Setting, data: dard.Transitions) -> Estimators:
    """Return the full estimator, and the paired ones of every K."""
    base: Any
    if metric == "DARD":
        base, draws = dard.DARD(bouncing.transition_model, bouncing.ACTIONS), "action_samples"
        full = replace(base, estimator="full")
    else:
        # The distributions of all the data, for subsets too.
        states = np.concatenate([data.state, data.next_state])
        base, draws = dard.EPIC(states=states, actions=data.action), "samples"
        full = replace(base, estimator="full", samples=setting.batch)
    return {"full": full} | {
        f"K = {k}": replace(base, **{draws: k}) for k in (*_draws(metric), MOST_DRAWS)
    }


def _draws(metric: str) -> list[int]:
    """Return the K that are measured, the metric's default among them."""
    return sorted(DRAWS | {DEFAULTS[metric]})


def _nets(data: dard.Transitions, hidden: int) -> Rewards:
    return {f"net {seed}": bouncing.fitted_net(data, hidden, seed) for seed in (1, 2)}


def _square_errors(
    estimators: Estimators, setting: Setting, data: dard.Transitions
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the distances on all data, and square errors on subsets, (subsets, pairs)."""
    rewards = {"GT": bouncing.ground_truth, **_nets(data, setting.hidden)}
    n = setting.transitions
    truth = _distances(rewards, data, estimators[f"K = {MOST_DRAWS}"], seed=0)
    found: dict[str, list[np.ndarray]] = {name: [] for name in estimators}
    for number in range(setting.subsets):
        subset = data[number * n : (number + 1) * n]
        for name, metric in estimators.items():
            found[name].append(_distances(rewards, subset, metric, seed=number + 1))
    return truth, {name: (np.array(values) - truth) ** 2 for name, values in found.items()}


def _distances(rewards: Rewards, data: dard.Transitions, metric: Any, seed: int) -> np.ndarray:
    """Return the distance of each of `PAIRS`; an undefined one (no variance) counts as 1."""
    found = dard.compare(rewards, data, {"metric": metric}, seed)["metric"]
    return np.nan_to_num([found.estimate(*pair).value for pair in PAIRS.values()], nan=1.0)


def _seconds(estimators: Estimators, setting: Setting, data: dard.Transitions) -> dict[str, float]:
    """Return the seconds that each estimator takes for a transition and two nets."""
    nets = _nets(data, setting.timed_hidden)
    # Long enough for every estimator that a call's fixed costs do not count.
    many = min(len(data), 40 * setting.timed)
    sizes = {name: setting.timed if name == "full" else many for name in estimators}

    def task(name: str) -> Any:
        return lambda: dard.compare(nets, data[: sizes[name]], estimators[name])

    seconds = interleaved(setting.timings, **{name: task(name) for name in estimators})
    return {name: float(np.median(x)) / sizes[name] for name, x in seconds.items()}


def _ratio_of_means(over: np.ndarray, under: np.ndarray) -> tuple[float, float, float]:
    """Return the ratio of means, and its 90 % interval from resampling both together."""
    draws = np.random.default_rng(0).integers(0, len(over), (2_000, len(over)))
    resampled = over[draws].mean(axis=1) / under[draws].mean(axis=1)
    low, high = np.quantile(resampled, (0.05, 0.95))
    return float(over.mean() / under.mean()), float(low), float(high)
