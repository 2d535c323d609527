"""
Where EPIC and DARD look: figure 1 of the paper
===============================================

A reward that is nothing but potential shaping is worth the same as no reward at all, and both
metrics say so: its canonical value is 0. They differ in *which transitions they ask the reward
about* on the way, and this picture shows every one of them, for a single transition from
:math:`s = 1` to :math:`s' = 2`.

The state is a number, the action is a displacement in :math:`[-1, 1]`, and the transition model
adds the two. Nothing further than 1 away can be reached in one step.
"""

import argparse
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import dard

DISCOUNT = 0.95
LOW, HIGH = -1.0, 4.0
START, END = 1.0, 2.0


def potential(state: np.ndarray) -> np.ndarray:
    return 1.5 * np.sin(1.3 * state) + 0.5 * state


def reward(state: np.ndarray, action: np.ndarray, next_state: np.ndarray) -> np.ndarray:
    """Zero everywhere, shaped by the potential."""
    return (DISCOUNT * potential(next_state) - potential(state))[:, 0]


# %%
# Two metrics, one transition
# ---------------------------
# The dataset is the one transition in question. EPIC's states are spread over the whole line;
# DARD has the transition model instead. Both use the same eight actions, the midpoints of eight
# equal parts of :math:`[-1, 1]`, and the paper's own estimator, which uses all of them.

transition = dard.Transitions([[START]], [[END - START]], [[END]])
actions = dard.action_grid(-7 / 8, 7 / 8, 8)
states = np.linspace(LOW, HIGH, 17)[1::2, None]

epic = dard.EPIC(DISCOUNT, estimator="full", states=states, actions=actions)
dynamics_aware = dard.DARD(lambda s, a, rng: s + a, actions, DISCOUNT, estimator="full")

# %%
# Listen to the questions
# -----------------------
# A reward is any callable, so one that takes notes shows what a metric asks. The terms of a
# canonical reward tell themselves apart by their first state: :math:`s`, :math:`s'`, or anything
# else.


def queries(metric: dard.DARD | dard.EPIC) -> tuple[float, np.ndarray]:
    """Return the canonical value of the transition, and all (state, next state) it took."""
    asked = []

    def taking_notes(state: np.ndarray, action: np.ndarray, next_state: np.ndarray) -> np.ndarray:
        asked.append(np.hstack([state, next_state]))
        return reward(state, action, next_state)

    (value,) = metric.canonicalize(taking_notes, transition)
    return float(value), np.unique(np.concatenate(asked), axis=0)


def by_term(asked: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the queries that start in s', those that start in s, and all others."""
    first, second = asked.T
    own = (first == START) & (second == END)
    yield asked[first == END]
    yield asked[(first == START) & ~own]
    yield asked[(first != START) & (first != END)]


# %%
# Draw them
# ---------
# Contours are the reward, over every pair of a state and a next state. Between the dashed lines
# lies what can happen in one step. The red triangle stands at the transition, and for its
# canonical value.

LEVELS = np.arange(-4, 5)
CONTOURS: dict[str, Any] = {"colors": "#606060", "linewidths": 0.5, "linestyles": "solid"}
TERMS = {
    "EPIC": ("R(s', A, S')", "R(s, A, S')", "R(S, A, S')"),
    "DARD": ("R(s', A, S'')", "R(s, A, S')", "R(S', A, S'')"),
}
LOOKS: tuple[dict[str, Any], ...] = (
    {"marker": "s", "color": "#0072b2", "s": 34},
    {"marker": "D", "color": "#e69f00", "s": 34},
    {"marker": "o", "color": "white", "s": 20},
)
CANONICAL: dict[str, Any] = {"marker": "^", "color": "#d00000", "s": 130, "zorder": 3}
LEGEND: dict[str, Any] = {
    "loc": "upper center",
    "bbox_to_anchor": (0.5, -0.11),
    "ncols": 3,
    "frameon": False,
    "fontsize": 9,
    "handlelength": 1.6,
    "handletextpad": 0.4,
    "columnspacing": 1.0,
    "labelspacing": 0.7,
    "borderpad": 0.8,
}


def draw_reward(axis: Axes) -> None:
    line = np.linspace(LOW, HIGH, 200)
    state, next_state = (grid.reshape(-1, 1) for grid in np.meshgrid(line, line))
    values = reward(state, next_state - state, next_state).reshape(200, 200)
    axis.contourf(line, line, values, levels=LEVELS, cmap="Greys", vmin=-4, vmax=12)
    contours = axis.contour(line, line, values, levels=LEVELS, **CONTOURS)
    axis.clabel(contours, fmt="%g", fontsize=8)
    axis.plot(line, line - 1, "--", color="black", linewidth=0.9, label="reach of one step")
    axis.plot(line, line + 1, "--", color="black", linewidth=0.9)


def draw_panel(axis: Axes, name: str, asked: np.ndarray) -> None:
    draw_reward(axis)
    for points, term, look in zip(by_term(asked), TERMS[name], LOOKS, strict=True):
        axis.scatter(*points.T, label=f"${term}$", edgecolors="black", linewidths=0.7, **look)
    axis.scatter(START, END, edgecolors="black", label="canonical: 0", **CANONICAL)
    axis.set(xlim=(LOW, HIGH), ylim=(LOW, HIGH), aspect="equal", anchor="N", title=name)
    axis.set_xlabel("state $S$")
    axis.legend(**LEGEND)


found = {name: queries(metric) for name, metric in {"EPIC": epic, "DARD": dynamics_aware}.items()}
figure, axes = plt.subplots(1, 2, figsize=(9, 5.4), sharey=True, layout="constrained")
for axis, (name, (_, asked)) in zip(axes, found.items(), strict=True):
    draw_panel(axis, name, asked)
axes[0].set_ylabel("next state $S'$")

# %%
# EPIC scatters its questions over the whole plane, mostly onto transitions that no action can
# make. DARD stays near the transition. Nearly half of its last term leaves the dashed lines, since
# :math:`S''` follows from :math:`s'` rather than from :math:`S'`, but not by more than a step or
# two. Both arrive at the unshaped value, to rounding:

raw = reward(transition.state, transition.action, transition.next_state)[0]
print(f"the reward itself: {raw:+.3f}")
for name, (value, asked) in found.items():
    impossible = np.mean(abs(asked[:, 1] - asked[:, 0]) > 1)
    print(f"{name}: canonical value {value:+.0e}, {impossible:.0%} of its questions impossible")
    assert abs(value) < 1e-14

# %%
# As a script, ``python examples/plot_figure_1.py --out figure-1.png`` saves the picture.

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Draw figure 1 of the paper.")
    parser.add_argument("--out", help="file to save the picture to")
    out = parser.parse_args().out
    if out:
        figure.savefig(out, dpi=160)
        print(f"saved {out}")
